import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { saveAs } from '../../components/download.ts';
import { Section } from '../../components/section.tsx';
import { ErrorNote } from '../../components/states.tsx';
import { toDateTime } from '../../components/time.tsx';
import { toNumber, useText } from '../../text/index.ts';

type Export = AnswerOf<'/v1/organizations/current/exports'>['data'][number];

/**
 * Exports of the workspace, with a button for a new one, the progress, and the files to download. Only for people who
 * may read all data.
 */
export function Exports() {
  const mays = [
    useCan('manage_settings'),
    useCan('manage_contacts'),
    useCan('view_campaigns'),
    useCan('view_analytics'),
  ];
  return mays.every(Boolean) ? <List /> : null;
}

function List() {
  const t = useText();
  const list = useQuery({
    queryKey: ['settings', 'exports'],
    queryFn: () => dataOf(heron.GET('/v1/organizations/current/exports')),
    refetchInterval: ({ state }) => (state.data?.data.some(isOpen) ? 2_000 : false),
  });
  const request = useAction(() => dataOf(heron.POST('/v1/organizations/current/exports')), {
    stale: [['settings', 'exports']],
    isShown: true,
  });
  const exports = list.data?.data ?? [];
  return (
    <Section title={t('workspace.data')}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('workspace.export.why')}
        </Text>
        <ErrorNote error={list.error ?? request.error} />
        {exports.map((one) => (
          <OneExport key={one.id} one={one} />
        ))}
        <Group>
          <Button
            variant="default"
            loading={request.isPending}
            disabled={exports.some(isOpen)}
            onClick={() => request.mutate()}
          >
            {t('workspace.export')}
          </Button>
        </Group>
      </Stack>
    </Section>
  );
}

const isOpen = ({ status }: Export) => status !== 'completed';

function OneExport({ one }: { one: Export }) {
  const t = useText();
  const label = t('workspace.export.of', { at: toDateTime(one.created_at) });
  const download = useAction(
    () =>
      dataOf(
        heron.GET('/v1/organizations/current/exports/{id}/file', {
          params: { path: { id: one.id } },
          parseAs: 'blob',
        }),
      ),
    { onDone: (file) => saveAs(file as unknown as Blob, `workspace-${one.created_at.slice(0, 10)}.ndjson.gz`) },
  );
  if (isOpen(one))
    return (
      <div>
        <Text size="sm">{one.blocked_reason ?? t('workspace.export.rows', { count: one.row_count })}</Text>
        <Progress.Root size="sm" mt={4}>
          <Progress.Section value={one.progress * 100} aria-label={label} />
        </Progress.Root>
      </div>
    );
  return (
    <Group justify="space-between" gap="xs">
      <div>
        <Text size="sm">{label}</Text>
        <Text size="xs" c="dimmed">
          {t('workspace.export.ready', {
            count: one.row_count,
            size: toNumber(Math.max(1, Math.round((one.size_bytes ?? 0) / 1024))),
            until: one.expires_at ? toDateTime(one.expires_at) : '',
          })}
        </Text>
      </div>
      <Button
        size="xs"
        variant="default"
        loading={download.isPending}
        onClick={() => download.mutate()}
        aria-label={`${t('workspace.export.download')}: ${label}`}
      >
        {t('workspace.export.download')}
      </Button>
    </Group>
  );
}
