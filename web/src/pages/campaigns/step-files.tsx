import { Button, FileButton, Group, Pill, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { toNumber, useText } from '../../text/index.ts';

/** Attachments of a step's emails: those of the step, and those of the whole campaign. */
export function StepFiles({ campaignId, stepId, mayWrite }: { campaignId: string; stepId: string; mayWrite: boolean }) {
  const t = useText();
  const path = { id: campaignId };
  const key = ['campaigns', campaignId, 'attachments'] as const;
  const files = useQuery({
    queryKey: key,
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/attachments', { params: { path } })),
  });
  const stale = [['campaigns', campaignId]] as const;
  const attach = useAction(
    (file: File) =>
      dataOf(
        heron.POST('/v1/campaigns/{id}/attachments', {
          params: { path },
          body: {},
          bodySerializer: () => {
            const form = new FormData();
            form.set('file', file);
            form.set('step_id', stepId);
            return form;
          },
        }),
      ),
    { stale, isShown: true, done: t('files.attached') },
  );
  const remove = useAction(
    (attachmentId: string) =>
      dataOf(
        heron.DELETE('/v1/campaigns/{id}/attachments/{attachmentId}', { params: { path: { ...path, attachmentId } } }),
      ),
    { stale, done: t('files.removed') },
  );
  return (
    <Stack gap="xs" component="section" aria-label={t('files.title')}>
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {t('files.title')}
        </Text>
        {mayWrite ? (
          <FileButton onChange={(file) => (file ? attach.mutate(file) : undefined)}>
            {(button) => (
              <Button size="xs" variant="default" loading={attach.isPending} {...button}>
                {t('files.add')}
              </Button>
            )}
          </FileButton>
        ) : null}
      </Group>
      <Answered query={files} skeleton={<ListSkeleton rows={1} height={32} />}>
        {({ data }) => {
          const rows = data.filter(({ step_id }) => step_id === null || step_id === stepId);
          if (rows.length === 0)
            return (
              <Text size="xs" c="dimmed">
                {t('files.none')}
              </Text>
            );
          return (
            <Pill.Group>
              {rows.map(({ id, filename, size, step_id }) => (
                <Pill
                  key={id}
                  withRemoveButton={mayWrite}
                  removeButtonProps={{ 'aria-label': t('files.remove', { name: filename }), 'aria-hidden': false }}
                  disabled={remove.isPending}
                  onRemove={() => remove.mutate(id)}
                >
                  {t(step_id === null ? 'files.every' : 'files.file', {
                    name: filename,
                    size: toNumber(Math.max(1, Math.round(size / 1024))),
                  })}
                </Pill>
              ))}
            </Pill.Group>
          );
        }}
      </Answered>
      <ErrorNote error={attach.error} />
    </Stack>
  );
}
