import { Button, Group, Stack, Text } from '@mantine/core';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { More, usePaged } from '../../components/paged.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Finding, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { text, useText } from '../../text/index.ts';
import { messageText, withServerTexts } from '../../text/server.ts';

type Run = RowOf<'/v1/campaigns/{id}/step-runs'>;
type Line = RowOf<'/v1/campaigns/{id}/logs'>;

/** Tab of a campaign with leads that wait for a retry, and with the activity log. */
export default function Log({ id }: { id: string }) {
  const blocked = useBlocked(id);
  return (
    <Stack gap="lg">
      <BlockedRuns id={id} list={blocked} />
      {blocked.isPending ? null : <Lines id={id} />}
    </Stack>
  );
}

/** Loads the app calls that have failed for good. */
function useBlocked(id: string) {
  return usePaged(['campaigns', id, 'blocked'], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/campaigns/{id}/step-runs', {
        params: { path: { id }, query: { state: 'blocked', limit: 50, ...cursor } },
        signal,
      }),
    ),
  );
}

/** List of app calls that have failed for good, whose leads wait. Hidden if there are none. */
function BlockedRuns({ id, list }: { id: string; list: ReturnType<typeof useBlocked> }) {
  const t = useText();
  const mayRetry = useCan('send_campaigns');
  const runs = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const retryAll = useRetry(id);
  if (list.data && runs.length === 0) return null;
  return (
    <Section
      title={t('blocked.title')}
      action={
        mayRetry && runs.length > 1 ? (
          <Button size="xs" onClick={() => retryAll.mutate(runs)} loading={retryAll.isPending}>
            {t('blocked.retryAll', { count: runs.length })}
          </Button>
        ) : null
      }
    >
      <Answered query={list} skeleton={<ListSkeleton rows={1} height={40} />}>
        {() => (
          <Stack gap="sm">
            <Text size="sm" c="dimmed">
              {t('blocked.why')}
            </Text>
            <Stack gap={0} component="ul" p={0} m={0} className="plain-list">
              {runs.map((run) => (
                <BlockedRun key={run.id} campaignId={id} run={run} mayRetry={mayRetry} />
              ))}
            </Stack>
            <More list={list} />
          </Stack>
        )}
      </Answered>
    </Section>
  );
}

function BlockedRun({ campaignId, run, mayRetry }: { campaignId: string; run: Run; mayRetry: boolean }) {
  const t = useText();
  const retry = useRetry(campaignId);
  return (
    <Group component="li" gap="sm" py="sm" wrap="nowrap" align="flex-start" className="divided">
      <Stack gap={4} miw={0} flex={1}>
        <Group gap="xs">
          <Text size="sm" fw={600} className="wrap-anywhere">
            {run.step_name ?? t('blocked.stepGone')}
          </Text>
          <PageLink to={`/campaigns/${campaignId}/leads/${run.contact_id}`} size="sm" underline="always">
            {t('campaign.log.lead')}
          </PageLink>
          <Text size="sm" c="dimmed">
            <Ago at={run.started_at} />
          </Text>
        </Group>
        <Text size="sm" component="div" className="wrap-anywhere">
          {run.error ? <Finding message={run.error.message} fix={run.error.fix} /> : run.detail}
        </Text>
      </Stack>
      {mayRetry ? (
        <Button size="xs" variant="default" flex="none" onClick={() => retry.mutate([run])} loading={retry.isPending}>
          {t('blocked.retry')}
        </Button>
      ) : null}
    </Group>
  );
}

/** Returns an action that retries blocked runs one after another. */
function useRetry(id: string) {
  const stale: readonly Key[] = [['campaigns', id]];
  return useAction(
    async (runs: readonly Run[]) => {
      for (const { id: runId } of runs)
        await dataOf(heron.POST('/v1/campaigns/{id}/step-runs/{runId}/retry', { params: { path: { id, runId } } }));
    },
    { stale, done: text('blocked.retried') },
  );
}

/** Activity log of the campaign, newest first. */
function Lines({ id }: { id: string }) {
  const t = useText();
  const list = usePaged(['campaigns', id, 'log'], async (cursor, signal) =>
    withServerTexts(
      await dataOf(
        heron.GET('/v1/campaigns/{id}/logs', { params: { path: { id }, query: { limit: 50, ...cursor } }, signal }),
      ),
    ),
  );
  return (
    <Section title={t('campaign.log')}>
      <Answered query={list} skeleton={<ListSkeleton rows={6} height={24} />}>
        {({ pages }) => (
          <Stack gap={8} component="ul" p={0} m={0} className="plain-list">
            {pages.flatMap(({ data }) => data.map((line) => <LogLine key={line.id} campaignId={id} line={line} />))}
            <More list={list} />
          </Stack>
        )}
      </Answered>
    </Section>
  );
}

function LogLine({ campaignId, line }: { campaignId: string; line: Line }) {
  const t = useText();
  const { contact_id: contactId } = line.metadata;
  return (
    <Group component="li" gap="xs" wrap="nowrap" align="baseline">
      <Text size="sm" miw={0} flex={1} className="wrap-anywhere">
        {messageText(line)}{' '}
        {typeof contactId === 'string' ? (
          <PageLink to={`/campaigns/${campaignId}/leads/${contactId}`} inherit underline="always">
            {t('campaign.log.lead')}
          </PageLink>
        ) : null}
      </Text>
      <Text size="sm" c="dimmed" flex="none">
        <Ago at={line.created_at} />
      </Text>
    </Group>
  );
}
