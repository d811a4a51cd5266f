import { Alert, Anchor, Badge, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf, heron, HeronError } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useCan } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { useAction } from '../../components/action.ts';
import { Page } from '../../components/page.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { At } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { nameOf } from '../../components/name.ts';
import { textOf, useText } from '../../text/index.ts';
import { withServerTexts } from '../../text/server.ts';
import { Timeline, type LeadDetail } from './timeline.tsx';

/** Page of one contact in one campaign: its current wait and its history. */
export default function WayPage() {
  const t = useText();
  const { id, contactId } = useParams({ from: '/campaigns/$id/leads/$contactId' });
  const maySeeContacts = useCan('view_contacts');
  const way = useQuery({
    queryKey: ['campaigns', id, 'lead', contactId],
    queryFn: async () =>
      withServerTexts(
        await dataOf(heron.GET('/v1/campaigns/{id}/leads/{contactId}', { params: { path: { id, contactId } } })),
      ),
  });
  const { data } = way;
  const name = data?.contact ? nameOf(data.contact) : t('lead.title');
  return (
    <Page
      title={name}
      lead={
        data ? (
          <Group gap="xs">
            <Badge variant="light" tt="none" color={COLORS[data.status] ?? 'gray'}>
              {textOf('lead.status', data.status)}
            </Badge>
            {data.contact ? <span className="wrap-anywhere">{shownAddress(data.contact.email)}</span> : null}
            {data.contact && maySeeContacts ? (
              <PageLink to={`/leads/${contactId}`} size="sm">
                {t('lead.contact')}
              </PageLink>
            ) : null}
            {data.temporal_url ? (
              <Anchor href={data.temporal_url} target="_blank" rel="noreferrer" size="sm">
                {t('lead.temporal')}
              </Anchor>
            ) : null}
          </Group>
        ) : null
      }
      back={{ to: `/campaigns/${id}`, label: data?.campaign.name ?? t('nav.campaigns') }}
      actions={data ? <HoldButton way={data} /> : null}
    >
      <Answered query={way} skeleton={<ListSkeleton rows={4} height={90} />}>
        {(found) => (
          <Stack gap="lg" maw={820}>
            <Now way={found} />
            <Story way={found} />
          </Stack>
        )}
      </Answered>
    </Page>
  );
}

const UNHAPPY = new Set(['bounced', 'failed', 'undeliverable']);

const COLORS: Record<string, string> = {
  replied: 'teal',
  active: 'blue',
  paused: 'yellow',
  bounced: 'red',
  failed: 'red',
  undeliverable: 'red',
};

/** Shows the reason and the end of the contact's current wait, or the outcome if the contact has finished. */
function Now({ way }: { way: LeadDetail }) {
  const t = useText();
  const zone = way.campaign.timezone;
  const said = way.waiting_for ?? way.failure_reason;
  if (way.hold)
    return (
      <Alert color="yellow" variant="light" title={t('lead.held')} role="note">
        <Text size="sm" component="div" className="wrap-anywhere">
          {way.hold.reason ? `${way.hold.reason}. ` : null}
          {way.hold.until ? (
            <>
              {t('lead.until')} <At at={way.hold.until} zone={zone} />
            </>
          ) : (
            t('lead.held.open')
          )}
        </Text>
      </Alert>
    );
  if (way.failure_reason && UNHAPPY.has(way.status))
    return (
      <Alert color="red" variant="light" title={textOf('lead.status', way.status)} role="note">
        <span className="wrap-anywhere">{way.failure_reason}</span>
      </Alert>
    );
  return (
    <Paper withBorder radius="md" p="md" component="section" aria-label={t('lead.now')}>
      <Text size="xs" c="dimmed" fw={600}>
        {t('lead.now')}
      </Text>
      <Text fw={600} className="wrap-anywhere way-now">
        {said
          ? said
          : way.finished_at
            ? t('lead.finished')
            : way.campaign.status === 'active'
              ? t('lead.soon')
              : t('lead.campaign.idle')}
      </Text>
      {way.waiting_until ? (
        <Text size="sm" c="dimmed">
          {t('lead.until')} <At at={way.waiting_until} zone={zone} />
        </Text>
      ) : null}
      {way.blocked ? (
        <Text size="sm" c="red">
          {t('lead.blocked')}{' '}
          <PageLink to={`/campaigns/${way.campaign.id}?tab=log`} inherit underline="always">
            {t('lead.blocked.open')}
          </PageLink>
        </Text>
      ) : null}
    </Paper>
  );
}

/** History of the contact with the emails and their replies. */
function Story({ way }: { way: LeadDetail }) {
  const mayRead = useCan('view_campaigns');
  const sends = [way.reserved, ...way.steps.map(({ send }) => send)];
  const threads = [...new Set(sends.flatMap((send) => (send?.sent_at && send.thread_id ? [send.thread_id] : [])))];
  const conversations = useQueries({
    queries: threads.map((threadId) => ({
      queryKey: ['inbox', 'messages', threadId],
      enabled: mayRead,
      queryFn: async () => {
        try {
          const query = { thread_id: threadId, limit: 100 };
          return (await dataOf(heron.GET('/v1/unibox/thread', { params: { query } }))).data;
        } catch (error) {
          // The emails no longer exist: they were deleted together with their mailbox.
          if (error instanceof HeronError && error.status === 404) return [];
          throw error;
        }
      },
    })),
  });
  if (conversations.some(({ isLoading }) => isLoading)) return <ListSkeleton rows={4} height={90} />;
  return <Timeline way={way} messages={conversations.flatMap(({ data }) => data ?? [])} />;
}

function HoldButton({ way }: { way: LeadDetail }) {
  const t = useText();
  const may = useCan('manage_campaigns');
  const path = { params: { path: { id: way.campaign.id, contactId: way.contact_id } } };
  const stale: readonly Key[] = [['campaigns']];
  const pause = useAction(
    () => dataOf(heron.POST('/v1/campaigns/{id}/leads/{contactId}/pause', { ...path, body: {} })),
    {
      stale,
      done: t('lead.paused'),
    },
  );
  const resume = useAction(() => dataOf(heron.POST('/v1/campaigns/{id}/leads/{contactId}/resume', path)), {
    stale,
    done: t('lead.resumed'),
  });
  if (!may || way.finished_at) return null;
  const act = way.hold ? resume : pause;
  return (
    <Button variant={way.hold ? 'filled' : 'default'} onClick={() => act.mutate()} loading={act.isPending}>
      {t(way.hold ? 'lead.resume' : 'lead.pause')}
    </Button>
  );
}
