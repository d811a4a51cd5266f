import { Alert, Button, Group, NumberInput, Paper, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAct } from '../../parts/act.ts';
import { Section } from '../../parts/section.tsx';
import { Answered, ErrorNote, ListSkeleton } from '../../parts/states.tsx';
import { useText } from '../../text/index.ts';
import { useLeads } from './leads.ts';

type Step = AnswerOf<'/v1/campaigns/{id}/steps'>[number];

/** The letters of a campaign in their order, each with what it will look like to its first lead. */
export function Steps({ id, isRunning }: { id: string; isRunning: boolean }) {
  const t = useText();
  const may = useCan('manage_campaigns');
  const steps = useQuery({
    queryKey: ['campaigns', id, 'steps'],
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/steps', { params: { path: { id } } })),
  });
  const add = useAct(
    (count: number) =>
      dataOf(
        heron.POST('/v1/campaigns/{id}/steps', {
          params: { path: { id } },
          body: { name: t('step.name', { number: count + 1 }), wait_after: 3 },
        }),
      ),
    { stale: [['campaigns', id]] },
  );
  return (
    <Section title={t('campaign.letters')}>
      <Answered query={steps} skeleton={<ListSkeleton rows={2} height={160} />}>
        {(data) => (
          <Stack gap="lg">
            {isRunning ? (
              <Text size="sm" c="dimmed">
                {t('step.running')}
              </Text>
            ) : null}
            {data.map((step, at) => (
              <EditStep
                key={step.id}
                id={id}
                step={step}
                isFirst={at === 0}
                isOnly={data.length === 1}
                mayWrite={may}
              />
            ))}
            {may ? (
              <Group>
                <Button size="xs" variant="default" onClick={() => add.mutate(data.length)} loading={add.isPending}>
                  {t('step.add')}
                </Button>
              </Group>
            ) : null}
          </Stack>
        )}
      </Answered>
    </Section>
  );
}

function EditStep({
  id,
  step,
  isFirst,
  isOnly,
  mayWrite,
}: {
  id: string;
  step: Step;
  isFirst: boolean;
  isOnly: boolean;
  mayWrite: boolean;
}) {
  const t = useText();
  const [draft, setDraft] = useState({
    subject: step.subject,
    body_plain: step.body_plain,
    wait_after: step.wait_after,
  });
  const path = { params: { path: { id, sid: step.id } } };
  const stale = [['campaigns', id], ['checklist']];
  const save = useAct(() => dataOf(heron.PATCH('/v1/campaigns/{id}/steps/{sid}', { ...path, body: draft })), {
    stale,
    done: t('saved'),
    isShown: true,
  });
  const remove = useAct(() => dataOf(heron.DELETE('/v1/campaigns/{id}/steps/{sid}', path)), { stale });
  const isChanged =
    draft.subject !== step.subject || draft.body_plain !== step.body_plain || draft.wait_after !== step.wait_after;
  if (step.kind !== 'email')
    return (
      <Text size="sm">
        <b>{step.name}</b> {t('step.other')}
      </Text>
    );
  return (
    <Stack gap="xs" component="section" aria-label={step.name}>
      <Text fw={600} size="sm" className="wrap-anywhere">
        {step.name}
      </Text>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Stack gap="xs">
          {isFirst ? null : (
            <NumberInput
              label={t('step.wait')}
              min={0}
              max={365}
              value={draft.wait_after}
              onChange={(value) => setDraft({ ...draft, wait_after: Number(value) })}
              disabled={!mayWrite}
              maw={220}
            />
          )}
          <TextInput
            label={t('step.subject')}
            description={isFirst ? undefined : t('step.subject.why')}
            value={draft.subject}
            onChange={(event) => setDraft({ ...draft, subject: event.currentTarget.value })}
            disabled={!mayWrite}
          />
          <Textarea
            label={t('step.text')}
            description={t('step.text.why')}
            autosize
            minRows={6}
            value={draft.body_plain}
            onChange={(event) => setDraft({ ...draft, body_plain: event.currentTarget.value })}
            disabled={!mayWrite}
          />
        </Stack>
        <Preview id={id} stepId={step.id} subject={draft.subject} text={draft.body_plain} />
      </SimpleGrid>
      <ErrorNote error={save.error} />
      {mayWrite ? (
        <Group gap="xs">
          <Button size="xs" disabled={!isChanged} onClick={() => save.mutate()} loading={save.isPending}>
            {t('save')}
          </Button>
          {isOnly ? null : (
            <Button size="xs" variant="subtle" color="red" onClick={() => remove.mutate()} loading={remove.isPending}>
              {t('step.remove')}
            </Button>
          )}
        </Group>
      ) : null}
    </Stack>
  );
}

function Preview({ id, stepId, subject, text }: { id: string; stepId: string; subject: string; text: string }) {
  const t = useText();
  const [asked] = useDebouncedValue({ subject, text }, 300);
  const leads = useLeads(id);
  const lead = leads.data?.data[0];
  const preview = useQuery({
    queryKey: ['preview', id, stepId, asked, lead?.contact_id],
    enabled: leads.isFetched && asked.subject + asked.text !== '',
    placeholderData: keepPreviousData,
    queryFn: () =>
      dataOf(
        heron.POST('/v1/campaign-template-preview', {
          body: {
            subject: asked.subject,
            body_plain: asked.text,
            campaign_id: id,
            step_id: stepId,
            ...(lead ? { contact_id: lead.contact_id } : {}),
          },
        }),
      ),
  });
  const { data } = preview;
  const unresolved = data?.unresolved?.length ? [t('step.unresolved', { names: data.unresolved.join(', ') })] : [];
  return (
    <Paper withBorder radius="md" p="sm" bg="var(--app-canvas)">
      <Text size="xs" c="dimmed" mb={6} className="wrap-anywhere">
        {lead?.contact ? t('step.preview', { email: lead.contact.email }) : t('step.preview.nobody')}
      </Text>
      <ErrorNote error={preview.error} />
      {[...(data?.errors ?? []), ...unresolved].map((problem) => (
        <Alert key={problem} color="yellow" variant="light" py={6} mb={6} role="note">
          {problem}
        </Alert>
      ))}
      <Text fw={600} size="sm" className="wrap-anywhere">
        {data?.subject}
      </Text>
      <Text size="sm" className="wrap-anywhere" style={{ whiteSpace: 'pre-wrap' }}>
        {data?.body_plain}
      </Text>
    </Paper>
  );
}
