import { Badge, Button, Checkbox, Group, Loader, Stack, Text, Timeline } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Finding, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { textOf, useText } from '../../text/index.ts';
import { testRunsQuery } from './queries.ts';
import { targetOf, TestTargetFields, useTestTarget } from './test-lead.tsx';

type Run = RowOf<'/v1/campaigns/{id}/test-runs'>;

/** Maximum wait (s) before each step of a shortened test. */
const HURRY_S = 5;
/** Interval (ms) of refetching an open test, because its steps emit no events. */
const LOOK_EVERY_MS = 1_500;
const OPEN = new Set(['running', 'waiting_for_event']);
const COLORS: Record<string, string> = {
  completed: 'teal',
  failed: 'red',
  cancelled: 'gray',
  waiting_for_event: 'yellow',
};

/** Returns the refetch interval (ms) of test runs; false if none is open. */
export function refetchWhileOpen({
  state,
}: {
  state: { data?: { data: readonly Run[] } | undefined };
}): number | false {
  return state.data?.data.some((run) => OPEN.has(run.state)) ? LOOK_EVERY_MS : false;
}

/** List of the campaign's test runs, which send real emails to the person's own address. Steps are updated live. */
export function TestRuns({ id }: { id: string }) {
  const t = useText();
  const maySend = useCan('send_campaigns');
  const [target, change] = useTestTarget(id);
  const [isHurried, setHurried] = useState(true);
  const runs = useQuery({ ...testRunsQuery(id), refetchInterval: refetchWhileOpen });
  const begin = useAction(
    () =>
      dataOf(
        heron.POST('/v1/campaigns/{id}/test', {
          params: { path: { id } },
          body: { ...targetOf(target), ...(isHurried ? { max_wait_seconds: HURRY_S } : {}) },
        }),
      ),
    { stale: [testRunsQuery(id).queryKey], isShown: true },
  );
  return (
    <Section title={t('trial.title')}>
      <Stack gap="lg">
        {maySend ? (
          <Form act={begin} submit={t('trial.do')}>
            <Text size="sm" c="dimmed">
              {t('trial.why')}
            </Text>
            <TestTargetFields campaignId={id} target={target} change={change} />
            <Checkbox
              label={t('trial.hurry', { count: HURRY_S })}
              checked={isHurried}
              onChange={(event) => setHurried(event.currentTarget.checked)}
            />
          </Form>
        ) : null}
        <Answered query={runs} skeleton={<ListSkeleton rows={1} />}>
          {({ data }) =>
            data.length === 0 ? (
              <Text size="sm" c="dimmed">
                {t('trial.none')}
              </Text>
            ) : (
              <Stack gap="xl">
                {data.map((run) => (
                  <TestRun key={run.id} campaignId={id} run={run} mayCancel={maySend} />
                ))}
              </Stack>
            )
          }
        </Answered>
      </Stack>
    </Section>
  );
}

/** One test run with the steps that it has reached. */
export function TestRun({ campaignId, run, mayCancel }: { campaignId: string; run: Run; mayCancel: boolean }) {
  const t = useText();
  const isOpen = OPEN.has(run.state);
  const cancel = useAction(
    () =>
      dataOf(
        heron.POST('/v1/campaigns/{id}/test-runs/{runId}/cancel', {
          params: { path: { id: campaignId, runId: run.id } },
        }),
      ),
    { stale: [testRunsQuery(campaignId).queryKey] },
  );
  return (
    <Stack gap="sm" component="article" aria-label={t('trial.of', { email: run.prospect_email })}>
      <Group gap="xs">
        {isOpen ? <Loader size={14} aria-hidden /> : null}
        <Text size="sm" fw={600} className="wrap-anywhere">
          {run.prospect_email}
        </Text>
        <Badge variant="light" color={COLORS[run.state] ?? 'blue'} tt="none">
          {textOf('trial.state', run.state)}
        </Badge>
        <Ago at={run.created_at} size="xs" c="dimmed" />
        {isOpen && mayCancel ? (
          <Button size="compact-xs" variant="subtle" onClick={() => cancel.mutate()} loading={cancel.isPending}>
            {t('trial.cancel')}
          </Button>
        ) : null}
      </Group>
      {run.waiting_event ? <Text size="sm">{t('trial.waitsFor', { event: run.waiting_event })}</Text> : null}
      {run.error ? (
        <Text size="sm" component="div">
          <Finding message={run.error.message} fix={run.error.fix} />
        </Text>
      ) : null}
      <Timeline active={run.steps.length} bulletSize={14} lineWidth={2}>
        {run.steps.map((step) => (
          <Timeline.Item
            key={step.step_run_id}
            title={<span className="wrap-anywhere">{step.name || textOf('step.kind', step.kind)}</span>}
          >
            <Text size="sm" c="dimmed" component="div" className="wrap-anywhere">
              {textOf('trial.step', step.state)}
              {step.outcome ? ` · ${textOf('sequence.outcome', step.outcome)}` : ''}
              {step.detail ? ` · ${step.detail}` : ''}
              {' · '}
              <Ago at={step.completed_at ?? step.started_at} />
            </Text>
            {step.error ? (
              <Text size="sm" component="div">
                <Finding message={step.error.message} fix={step.error.fix} />
              </Text>
            ) : null}
          </Timeline.Item>
        ))}
      </Timeline>
    </Stack>
  );
}
