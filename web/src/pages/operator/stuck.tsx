import { Badge, Button, Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core';
import IconCheck from 'tabler:rosette-discount-check';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf, type RowOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Facts } from '../../components/facts.tsx';
import { useFilter } from '../../components/filter.ts';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { textOf, useText } from '../../text/index.ts';
import { OperatorPage } from './frame.tsx';

type DeadLetter = AnswerOf<'/v1/tasks/dlq'>['data'][number];
/** Row with the recipient and the email that a dead letter concerns. */
type About = RowOf<'/v1/analytics/explain'>;

const UNCERTAIN = 'uncertain_email';
/** Maximum number of rows that this page loads of dead letters and of uncertain emails. */
const LIMIT = 200;
const STALE: readonly Key[] = [['operator'], ['campaigns']];

/** Page of dead letters and uncertain emails, with their reasons and actions. */
export default function StuckPage() {
  const t = useText();
  const mayFigures = useCan('view_analytics');
  const mayContacts = useCan('view_contacts');
  const [filter, setFilter] = useFilter('status');
  const status = filter === 'replayed' ? 'replayed' : 'pending';
  const letters = useQuery({
    queryKey: ['operator', 'stuck', status],
    queryFn: () => dataOf(heron.GET('/v1/tasks/dlq', { params: { query: { status, limit: LIMIT } } })),
  });
  const people = useQuery({
    queryKey: ['operator', 'stuck', 'people'],
    enabled: mayFigures && mayContacts && (letters.data?.data.length ?? 0) > 0,
    queryFn: () =>
      dataOf(heron.GET('/v1/analytics/explain', { params: { query: { figure: 'dlq_pending', limit: LIMIT } } })),
  });
  const about = new Map(people.data?.data.map((one) => [one.id, one]));
  return (
    <OperatorPage>
      <SegmentedControl
        value={status}
        onChange={(value) => setFilter(value === 'pending' ? '' : value)}
        data={(['pending', 'replayed'] as const).map((value) => ({ value, label: t(`operator.stuck.${value}`) }))}
        aria-label={t('operator.stuck.filter')}
        maw={320}
      />
      <Answered query={letters} skeleton={<ListSkeleton rows={3} height={130} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={IconCheck} title={t('operator.stuck.none')}>
              {t('operator.stuck.none.why')}
            </Empty>
          ) : (
            <Stack>
              {data
                .toSorted((a, b) => Number(b.task_type === UNCERTAIN) - Number(a.task_type === UNCERTAIN))
                .map((letter) => (
                  <DeadLetterCard key={letter.id} letter={letter} about={about.get(letter.id)} />
                ))}
            </Stack>
          )
        }
      </Answered>
    </OperatorPage>
  );
}

function DeadLetterCard({ letter, about }: { letter: DeadLetter; about: About | undefined }) {
  const t = useText();
  const isUncertain = letter.task_type === UNCERTAIN;
  const campaign = about?.campaign_id ?? idIn(letter, 'campaign_id');
  const mailbox = about?.email_account_id ?? idIn(letter, 'mailbox_id');
  return (
    <Paper withBorder radius="md" p="lg" component="article" aria-label={textOf('operator.task', letter.task_type)}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Text fw={600}>{textOf('operator.task', letter.task_type)}</Text>
            {isUncertain && letter.status === 'pending' ? (
              <Badge variant="light" color="yellow" tt="none">
                {t('operator.undecided')}
              </Badge>
            ) : null}
          </Group>
          <Text size="sm" c="dimmed">
            <Ago at={letter.created_at} />
          </Text>
        </Group>
        <Text size="sm" className="wrap-anywhere">
          {letter.last_error}
        </Text>
        <Facts
          rows={[
            [t('operator.to'), about?.contact_email],
            [
              t('operator.leads'),
              campaign || mailbox ? (
                <Group gap="md">
                  {campaign ? (
                    <PageLink to={`/campaigns/${campaign}`} size="sm">
                      {t('operator.campaign')}
                    </PageLink>
                  ) : null}
                  {mailbox ? (
                    <PageLink to={`/mailboxes/${mailbox}`} size="sm">
                      {t('operator.mailbox')}
                    </PageLink>
                  ) : null}
                </Group>
              ) : null,
            ],
            [
              t('operator.attempts'),
              letter.max_attempts > 0
                ? t('operator.attemptsOf', { count: letter.attempts, most: letter.max_attempts })
                : letter.attempts || null,
            ],
            [t('operator.nextRetry'), letter.next_retry_at ? <Ago at={letter.next_retry_at} /> : null],
            [t('operator.replayedAt'), letter.replayed_at ? <Ago at={letter.replayed_at} /> : null],
          ]}
        />
        {letter.status === 'replayed' ? null : isUncertain ? (
          <Settlement id={letter.id} to={about?.contact_email ?? t('operator.somebody')} />
        ) : (
          <Replay id={letter.id} />
        )}
      </Stack>
    </Paper>
  );
}

/** Buttons that mark an email that may have been sent as sent, or send it again. A person must check first. */
function Settlement({ id, to }: { id: string; to: string }) {
  const t = useText();
  const settle = (as: 'sent' | 'again') => () =>
    dataOf(heron.POST('/v1/tasks/dlq/{id}/replay', { params: { path: { id } }, body: { as } }));
  const sent = useAction(settle('sent'), { stale: STALE, done: t('operator.sent.done'), isShown: true });
  const again = useAction(settle('again'), { stale: STALE, done: t('operator.again.done'), isShown: true });
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {t('operator.uncertain.why')}
      </Text>
      <Group gap="xs">
        <ConfirmButton size="xs" act={sent} label={t('operator.sent')} title={t('operator.sent.ask')}>
          {t('operator.sent.why', { to })}
        </ConfirmButton>
        <ConfirmButton size="xs" act={again} label={t('operator.again')} title={t('operator.again.ask')}>
          {t('operator.again.why', { to })}
        </ConfirmButton>
      </Group>
    </Stack>
  );
}

function Replay({ id }: { id: string }) {
  const t = useText();
  const replay = useAction(
    () => dataOf(heron.POST('/v1/tasks/dlq/{id}/replay', { params: { path: { id } }, body: {} })),
    {
      stale: STALE,
      done: t('operator.replay.done'),
    },
  );
  return (
    <Group>
      <Button size="xs" variant="default" onClick={() => replay.mutate()} loading={replay.isPending}>
        {t('operator.replay')}
      </Button>
    </Group>
  );
}

function idIn({ payload }: DeadLetter, name: string): string | undefined {
  const value = payload[name];
  return typeof value === 'string' ? value : undefined;
}
