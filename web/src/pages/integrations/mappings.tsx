import { ActionIcon, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import IconX from 'tabler:x';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, queryClient, type AnswerOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useAction } from '../../components/action.ts';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';

type Mappings = AnswerOf<'/v1/integrations/connections/{id}/field-mappings'>;
const TRANSFORMS = ['none', 'trim', 'uppercase', 'lowercase', 'static'] as const;
type Transform = (typeof TRANSFORMS)[number];
interface Row {
  from: string;
  to: string;
  transform: Transform;
  fixed: string;
}
/**
 * All mappings of a connection are edited as one field. After two concurrent edits, the person must discard one of
 * them.
 */
interface Edited {
  rows: Row[];
  updated_at: string;
}
const editedOf = ({ mappings, updated_at }: Mappings): Edited => ({
  rows: mappings.map(({ sendsets_field, external_field, transform, static_value }) => ({
    from: sendsets_field,
    to: external_field,
    transform: TRANSFORMS.find((one) => one === transform) ?? 'none',
    fixed: static_value,
  })),
  updated_at,
});

/** Editor of the mapping of contact fields to the provider's fields. */
export function Mappings({ id, mayChange }: { id: string; mayChange: boolean }) {
  const t = useText();
  const mappings = useQuery({
    queryKey: ['integrations', id, 'mappings'],
    queryFn: () => dataOf(heron.GET('/v1/integrations/connections/{id}/field-mappings', { params: { path: { id } } })),
  });
  return (
    <Section title={t('integrations.mappings')}>
      <Answered query={mappings} skeleton={<ListSkeleton rows={3} />}>
        {(stored) => <Edit id={id} stored={stored} mayChange={mayChange} />}
      </Answered>
    </Section>
  );
}

function Edit({ id, stored, mayChange }: { id: string; stored: Mappings; mayChange: boolean }) {
  const t = useText();
  const path = { params: { path: { id } } };
  const keep = (now: Mappings) => {
    queryClient.setQueryData(['integrations', id, 'mappings'], now);
    return editedOf(now);
  };
  const put = async (given: readonly Row[], expected_updated_at: string) =>
    keep(
      await dataOf(
        heron.PUT('/v1/integrations/connections/{id}/field-mappings', {
          ...path,
          body: {
            mappings: given.map(({ from, to, transform, fixed }) => ({
              external_field: to,
              transform,
              ...(transform === 'static' ? { static_value: fixed } : { sendsets_field: from }),
            })),
            expected_updated_at,
          },
        }),
      ),
    );
  const readAgain = async () => keep(await dataOf(heron.GET('/v1/integrations/connections/{id}/field-mappings', path)));
  const stale: readonly Key[] = [['integrations', id]];
  const draft = useDraft<Edited>({
    stored: editedOf(stored),
    write: ({ rows = [] }, seen) => put(rows, seen.updated_at),
    readAgain,
    stale,
    done: t('saved'),
  });
  const { rows } = draft.value;
  const setRows = (next: Row[]) => draft.change({ rows: next });
  const reset = useAction(() => put([], stored.updated_at), { stale, done: t('saved'), onDone: draft.reset });
  const change = (at: number, row: Partial<Row>) =>
    setRows(rows.map((before, index) => (index === at ? { ...before, ...row } : before)));
  const fields = (
    <>
      {stored.mappings.every(({ is_default }) => is_default) ? (
        <Text size="sm" c="dimmed">
          {t('integrations.mappings.default')}
        </Text>
      ) : null}
      <Stack gap="xs">
        {rows.map((row, at) => (
          <Group key={at} gap="xs" role="group" aria-label={t('integrations.mapping', { number: at + 1 })}>
            <Select
              aria-label={t('integrations.mapping.how')}
              data={TRANSFORMS.map((value) => ({ value, label: t(`integrations.transform.${value}`) }))}
              value={row.transform}
              onChange={(value) => change(at, { transform: (value ?? 'none') as Transform })}
              allowDeselect={false}
              readOnly={!mayChange}
              w={150}
            />
            <TextInput
              aria-label={t(row.transform === 'static' ? 'integrations.mapping.fixed' : 'integrations.mapping.from')}
              value={row.transform === 'static' ? row.fixed : row.from}
              onChange={(event) =>
                change(
                  at,
                  row.transform === 'static'
                    ? { fixed: event.currentTarget.value }
                    : { from: event.currentTarget.value },
                )
              }
              readOnly={!mayChange}
              flex="1 1 9rem"
            />
            <Text c="dimmed" aria-hidden>
              →
            </Text>
            <TextInput
              aria-label={t('integrations.mapping.to')}
              value={row.to}
              onChange={(event) => change(at, { to: event.currentTarget.value })}
              readOnly={!mayChange}
              flex="1 1 9rem"
            />
            {mayChange ? (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t('integrations.mapping.remove', { number: at + 1 })}
                onClick={() => setRows(rows.filter((_, index) => index !== at))}
              >
                <IconX size={16} />
              </ActionIcon>
            ) : null}
          </Group>
        ))}
      </Stack>
      {mayChange ? (
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            onClick={() => setRows([...rows, { from: 'custom.', to: '', transform: 'none', fixed: '' }])}
          >
            {t('integrations.mapping.add')}
          </Button>
          {stored.mappings.some(({ is_default }) => !is_default) ? (
            <Button size="xs" variant="subtle" onClick={() => reset.mutate()} loading={reset.isPending}>
              {t('integrations.mappings.reset')}
            </Button>
          ) : null}
        </Group>
      ) : null}
    </>
  );
  if (!mayChange) return <Stack>{fields}</Stack>;
  return (
    <DraftForm
      draft={draft}
      names={{ rows: t('integrations.mappings') }}
      say={{
        rows: (theirs) =>
          theirs
            .map(({ from, to, transform, fixed }) => `${transform === 'static' ? `“${fixed}”` : from} → ${to}`)
            .join('\n'),
      }}
    >
      {fields}
    </DraftForm>
  );
}
