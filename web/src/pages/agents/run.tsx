import { Alert, Anchor, Code, List, SimpleGrid, Text, Timeline } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Facts } from '../../components/facts.tsx';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Finding, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { RunState } from './run-state.tsx';

type Run = AnswerOf<'/v1/runs/{id}'>;
const ENDED = new Set(['completed', 'failed', 'denied', 'cancelled']);

/** Page of one run: its content, the check results and its events, live. */
export default function RunPage() {
  const t = useText();
  const { id } = useParams({ from: '/agents/runs/$id' });
  const maySend = useCan('send_campaigns');
  const run = useQuery({
    queryKey: ['runs', id],
    queryFn: () => dataOf(heron.GET('/v1/runs/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data && ENDED.has(state.data.state) ? false : 5_000),
  });
  return (
    <Page
      title={run.data?.input.name || t('agents.unnamed')}
      lead={run.data ? <RunState state={run.data.state} /> : null}
      back={{ to: '/agents', label: t('agents.runs') }}
      actions={run.data && maySend && !ENDED.has(run.data.state) ? <Cancel id={id} /> : null}
    >
      <Answered query={run} skeleton={<ListSkeleton rows={3} height={130} />}>
        {(data) => (
          <>
            {data.state === 'awaiting_approval' ? (
              <Alert color="yellow" variant="light" role="note">
                {t('agents.waits')}{' '}
                <PageLink to="/review" c="inherit" underline="always">
                  {t('nav.review')}
                </PageLink>
              </Alert>
            ) : null}
            {data.blocked_reason ? (
              <Alert color="red" variant="light">
                {data.blocked_reason}
              </Alert>
            ) : null}
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <About run={data} />
              <Events run={data} />
            </SimpleGrid>
            <Report report={data.preflight_report} />
          </>
        )}
      </Answered>
    </Page>
  );
}

function Cancel({ id }: { id: string }) {
  const t = useText();
  const cancel = useAction(() => dataOf(heron.POST('/v1/runs/{id}/cancel', { params: { path: { id } } })), {
    stale: [['runs'], ['approvals']],
    isShown: true,
  });
  return (
    <ConfirmButton act={cancel} label={t('agents.cancel')} title={t('agents.cancel.ask')}>
      {t('agents.cancel.why')}
    </ConfirmButton>
  );
}

function About({ run }: { run: Run }) {
  const t = useText();
  return (
    <Section title={t('agents.about')}>
      <Facts
        rows={[
          [t('agents.intent'), t(`agents.intent.${run.intent}`)],
          [t('agents.recipients'), toNumber(run.recipient_count)],
          [t('agents.senders'), run.frozen_sender_ids.length || null],
          [t('agents.steps'), run.input.steps?.length],
          [t('agents.daily'), toNumber(run.input.daily_limit)],
          [
            t('agents.campaign'),
            <PageLink key="campaign" to={`/campaigns/${run.campaign_id}`} size="sm">
              {t('agents.open')}
            </PageLink>,
          ],
          [
            t('agents.temporal'),
            run.temporal_url ? (
              <Anchor href={run.temporal_url} size="sm" target="_blank" rel="noreferrer">
                {t('agents.open')}
              </Anchor>
            ) : null,
          ],
        ]}
      />
      {run.error_details ? (
        <Code block mt="sm" className="wrap-anywhere" style={{ whiteSpace: 'pre-wrap' }} tabIndex={0}>
          {JSON.stringify(run.error_details, null, 2)}
        </Code>
      ) : null}
    </Section>
  );
}

/** List of the run's events, the latest last, updated live. */
function Events({ run: { events } }: { run: Run }) {
  const t = useText();
  return (
    <Section title={t('agents.events')}>
      <Timeline bulletSize={12} lineWidth={2} active={events.length - 1} aria-live="polite">
        {events.map((event) => (
          <Timeline.Item
            key={event.seq}
            title={
              <Text size="sm" fw={600}>
                {t(`agents.run.${event.state}`)}
              </Text>
            }
          >
            <Text size="xs" c="dimmed">
              <Ago at={event.created_at} /> · {t(event.actor.user_id ? 'agents.byPerson' : 'agents.byAgent')}
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
    </Section>
  );
}

/** Check results before a launch, if there is a report. */
function Report({ report }: { report: Run['preflight_report'] }) {
  const t = useText();
  const findings = findingsOf(report);
  if (findings.length === 0) return null;
  return (
    <Section title={t('agents.checks')}>
      <List listStyleType="none" spacing="xs">
        {findings.map(({ message, fix }) => (
          <List.Item key={message}>
            <Text size="sm" span className="wrap-anywhere">
              <Finding message={message} fix={fix} />
            </Text>
          </List.Item>
        ))}
      </List>
    </Section>
  );
}

function findingsOf(report: Run['preflight_report']): { message: string; fix: string }[] {
  const given: unknown = report?.findings;
  if (!Array.isArray(given)) return [];
  const wordsIn = (value: unknown) => (typeof value === 'string' ? value : '');
  return given.flatMap((one: { message?: unknown; fix?: unknown } | null) =>
    typeof one?.message === 'string' ? [{ message: one.message, fix: wordsIn(one.fix) }] : [],
  );
}
