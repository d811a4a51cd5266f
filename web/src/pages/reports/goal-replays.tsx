import { Alert, Anchor, Badge, Button, Group, Paper, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { daysAgo } from '../../components/day.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { Ago, toSpan } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { toPercent, useText } from '../../text/index.ts';
import type { Goal } from './goal-form.tsx';
import { nextDay } from './period.tsx';

type Replay = AnswerOf<'/v1/goals/{id}/replays'>['data'][number];
const COLORS: Record<Replay['state'], string> = {
  queued: 'gray',
  running: 'blue',
  completed: 'teal',
  failed: 'red',
  cancelled: 'gray',
};
/** Interval (ms) of refetching a running replay. */
const FOLLOW_MS = 2_000;

/** Replays of a goal with their results, and the form for a new one. */
export function GoalReplays({ goal }: { goal: Goal }) {
  const t = useText();
  const may = useCan('manage_settings');
  const replays = useQuery({
    queryKey: ['goals', goal.id, 'replays'],
    queryFn: () => dataOf(heron.GET('/v1/goals/{id}/replays', { params: { path: { id: goal.id } } })),
    refetchInterval: ({ state }) => (state.data?.data.some(isOpen) ? FOLLOW_MS : false),
  });
  return (
    <Section title={t('goals.replays')}>
      <Stack>
        <Text size="sm" c="dimmed">
          {t('goals.replays.why')}
        </Text>
        {may && goal.archived_at === null ? (
          <NewReplay goal={goal} isBusy={replays.data?.data.some(isOpen) ?? false} />
        ) : null}
        <Answered query={replays} skeleton={<ListSkeleton rows={2} height={72} />}>
          {({ data }) =>
            data.length === 0 ? (
              <Text size="sm">{t('goals.replays.none')}</Text>
            ) : (
              <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
                {data.map((replay) => (
                  <ReplayRow key={replay.id} replay={replay} goal={goal} may={may} />
                ))}
              </Stack>
            )
          }
        </Answered>
      </Stack>
    </Section>
  );
}

function isOpen({ state }: Replay): boolean {
  return state === 'queued' || state === 'running';
}

/** Form for a replay of whole UTC days, with a preview of its effects. */
function NewReplay({ goal, isBusy }: { goal: Goal; isBusy: boolean }) {
  const t = useText();
  const [from, setFrom] = useState(() => daysAgo(90));
  const [to, setTo] = useState(() => new Date().toISOString().slice(0, 10));
  const range = () => ({ from: `${from}T00:00:00Z`, to: nextDay(to) });
  const path = { id: goal.id };
  const preview = useAction(
    () => dataOf(heron.POST('/v1/goals/{id}/replays/preview', { params: { path }, body: range() })),
    { isShown: true },
  );
  const start = useAction(() => dataOf(heron.POST('/v1/goals/{id}/replays', { params: { path }, body: range() })), {
    stale: [['goals', goal.id]],
    isShown: true,
    onDone: preview.reset,
  });
  const day = (label: string, value: string, set: (value: string) => void) => (
    <TextInput
      type="date"
      label={label}
      value={value}
      onChange={(event) => {
        set(event.currentTarget.value);
        preview.reset();
      }}
      required
    />
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        preview.mutate();
      }}
    >
      <Stack gap="xs">
        <Group align="flex-end" gap="xs">
          {day(t('goals.replay.from'), from, setFrom)}
          {day(t('goals.replay.to'), to, setTo)}
          <Button type="submit" variant="default" loading={preview.isPending} disabled={from === '' || to === ''}>
            {t('goals.replay.preview')}
          </Button>
        </Group>
        {preview.data ? (
          <Alert color="blue" variant="light" role="status" title={t('goals.replay.would')}>
            <Stack gap="xs" align="flex-start">
              <Counts
                {...preview.data}
                added={preview.data.would_add}
                removed={preview.data.would_remove}
                kept={preview.data.would_keep}
              />
              {isBusy ? (
                <Text size="sm">{t('goals.replay.busy')}</Text>
              ) : (
                <Button size="xs" onClick={() => start.mutate()} loading={start.isPending}>
                  {t('goals.replay.start')}
                </Button>
              )}
            </Stack>
          </Alert>
        ) : null}
        <ErrorNote error={preview.error ?? start.error} />
      </Stack>
    </form>
  );
}

/** Shows the actual or previewed effects of a replay. */
function Counts({
  scanned,
  added,
  removed,
  kept,
  retained_without_event: retained,
}: Pick<Replay, 'scanned' | 'added' | 'removed' | 'kept' | 'retained_without_event'>) {
  const t = useText();
  return (
    <Text size="sm">
      {t('goals.replay.counts', { scanned, added, removed, kept })}
      {retained > 0 ? ` ${t('goals.replay.retained', { count: retained })}` : ''}
    </Text>
  );
}

function ReplayRow({ replay, goal, may }: { replay: Replay; goal: Goal; may: boolean }) {
  const t = useText();
  const maySend = useCan('send_campaigns');
  return (
    <Paper component="li" withBorder radius="md" p="sm">
      <Stack gap={6}>
        <ReplayHead replay={replay} goal={goal} may={may} />
        {isOpen(replay) ? <ReplayProgress replay={replay} /> : null}
        {replay.scanned > 0 || replay.state === 'completed' ? <Counts {...replay} /> : null}
        {replay.passed_over.length > 0 ? (
          <Text size="sm">
            {t('goals.replay.passedOver', { count: replay.passed_over.length })}{' '}
            {maySend ? (
              <PageLink to="/operations/stuck" inherit c="inherit" underline="always">
                {t('goals.replay.passedOver.again')}
              </PageLink>
            ) : null}
          </Text>
        ) : null}
        {replay.error ? (
          <Text size="sm" c="red">
            {replay.error === 'goal_changed' ? t('goals.replay.changed') : replay.error}
          </Text>
        ) : null}
        {replay.blocked_reason ? (
          <Text size="sm" c="red" className="wrap-anywhere">
            {replay.blocked_reason}
          </Text>
        ) : null}
      </Stack>
    </Paper>
  );
}

/** Shows state, range and revision of a replay, with its actions. */
function ReplayHead({ replay, goal, may }: { replay: Replay; goal: Goal; may: boolean }) {
  const t = useText();
  const path = { id: goal.id, replayId: replay.id };
  const cancel = useAction(() => dataOf(heron.POST('/v1/goals/{id}/replays/{replayId}/cancel', { params: { path } })), {
    stale: [['goals', goal.id]],
    isShown: true,
  });
  return (
    <Group justify="space-between" gap="xs">
      <Group gap="xs">
        <Badge variant="light" color={COLORS[replay.state]} tt="none">
          {t(`goals.replay.state.${replay.state}`)}
        </Badge>
        <Text size="sm" fw={600}>
          {t('reports.utc', { period: toSpan(replay.from, replay.to) })}
        </Text>
        <Text size="sm" c="dimmed">
          {t('goals.version', { number: replay.goal_revision })}
        </Text>
      </Group>
      <Group gap="xs">
        {replay.temporal_url ? (
          <Anchor href={replay.temporal_url} size="xs" underline="always" target="_blank" rel="noreferrer">
            {t('goals.temporal')}
          </Anchor>
        ) : null}
        <Text size="xs" c="dimmed">
          <Ago at={replay.finished_at ?? replay.created_at} />
        </Text>
        {may && isOpen(replay) ? (
          <ConfirmButton
            size="compact-xs"
            act={cancel}
            label={t('goals.replay.cancel')}
            title={t('goals.replay.cancel.ask')}
          >
            {t('goals.replay.cancel.why')}
          </ConfirmButton>
        ) : null}
      </Group>
    </Group>
  );
}

function ReplayProgress({ replay }: { replay: Replay }) {
  const t = useText();
  const share = shareDone(replay);
  return (
    <Group gap="xs" wrap="nowrap">
      <Progress value={share * 100} flex={1} aria-label={t('goals.replay.progress')} />
      <Text size="xs" className="figures">
        {toPercent(share)}
      </Text>
    </Group>
  );
}

/** Returns the share of its range that a replay has done, from 0 to 1. */
function shareDone({ from, to, reached }: Replay): number {
  if (reached === null) return 0;
  const share = (Date.parse(reached) - Date.parse(from)) / (Date.parse(to) - Date.parse(from));
  return Math.min(1, Math.max(0, share));
}
