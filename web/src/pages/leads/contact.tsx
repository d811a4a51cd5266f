import { Alert, Badge, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useCan } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { saveAs } from '../../components/download.ts';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { WhenSeen } from '../../components/when-seen.tsx';
import { PageLink, useGoTo } from '../../components/page-link.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { Activity } from './activity.tsx';
import { EditContact } from './contact-fields.tsx';
import { nameOf } from './contacts.tsx';
import { Notes } from './notes.tsx';
import { Tags, TagsInput } from './tags.tsx';

type Contact = AnswerOf<'/v1/contacts/{id}'>;

/** Page of one contact: data, campaigns and tags, suppression, and activity. */
export default function ContactPage() {
  const t = useText();
  const { id } = useParams({ from: '/leads/$id' });
  const mayWrite = useCan('manage_contacts');
  const contact = useQuery({
    queryKey: ['contacts', id],
    queryFn: () => dataOf(heron.GET('/v1/contacts/{id}', { params: { path: { id } } })),
  });
  const { data } = contact;
  return (
    <Page
      title={(data && (nameOf(data) || shownAddress(data.email))) ?? t('leads.one')}
      lead={data && nameOf(data) ? shownAddress(data.email) : null}
      back={{ to: '/leads', label: t('leads.contacts') }}
      actions={
        data && mayWrite ? (
          <>
            <DownloadData id={id} />
            <Erase id={id} email={data.email} />
          </>
        ) : null
      }
    >
      <Answered query={contact} skeleton={<ListSkeleton rows={3} height={140} />}>
        {(one) => (
          <>
            {one.suppression ? (
              <Alert role="note" color="yellow" variant="light" title={t('leads.suppressed')}>
                <Text size="sm" className="wrap-anywhere">
                  {textOf('leads.source', one.suppression.source)}
                  {one.suppression.reason ? `: ${one.suppression.reason}. ` : '. '}
                  <PageLink
                    to={`/leads/suppressions?q=${encodeURIComponent(one.email)}`}
                    inherit
                    c="inherit"
                    td="underline"
                  >
                    {t('leads.suppressed.open')}
                  </PageLink>
                </Text>
              </Alert>
            ) : null}
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
              <Section title={t('leads.fields')}>
                <EditContact key={one.id} contact={one} mayWrite={mayWrite} />
              </Section>
              <Stack gap="lg">
                <Filing contact={one} mayWrite={mayWrite} />
                <EmailOutcomes contact={one} />
                <Deals id={id} />
              </Stack>
            </SimpleGrid>
            <Notes id={id} mayWrite={mayWrite} />
            <WhenSeen height={200}>
              <Activity id={id} />
            </WhenSeen>
          </>
        )}
      </Answered>
    </Page>
  );
}

/**
 * Button that downloads all data that the workspace stores about the contact. Only for people who may also read emails
 * and the audit log.
 */
function DownloadData({ id }: { id: string }) {
  const t = useText();
  const mayReadMail = useCan('view_campaigns');
  const mayReadAudit = useCan('view_analytics');
  const download = useAction(
    () => dataOf(heron.GET('/v1/contacts/{id}/data', { params: { path: { id } }, parseAs: 'blob' })),
    { onDone: (file) => saveAs(file as unknown as Blob, `contact-${id}.json`) },
  );
  if (!mayReadMail || !mayReadAudit) return null;
  return (
    <Button
      variant="default"
      title={t('leads.data.why')}
      loading={download.isPending}
      onClick={() => download.mutate()}
    >
      {t('leads.data')}
    </Button>
  );
}

function Erase({ id, email }: { id: string; email: string }) {
  const t = useText();
  const go = useGoTo();
  const erase = useAction(() => dataOf(heron.DELETE('/v1/contacts/{id}', { params: { path: { id } } })), {
    stale: [['contacts', 'list']],
    done: t('leads.erased'),
    isShown: true,
    onDone: () => go('/leads'),
  });
  return (
    <ConfirmButton label={t('leads.erase')} title={t('leads.erase.ask')} act={erase} c="red">
      {t('leads.erase.why', { email })}
    </ConfirmButton>
  );
}

function Filing({ contact, mayWrite }: { contact: Contact; mayWrite: boolean }) {
  const t = useText();
  const path = { params: { path: { id: contact.id } } };
  const stale: readonly Key[] = [['contacts']];
  const file = useAction(
    (categories: string[]) => dataOf(heron.PATCH('/v1/contacts/{id}', { ...path, body: { categories } })),
    { stale },
  );
  const subscribe = useAction(
    (subscribed: boolean) => dataOf(heron.PATCH('/v1/contacts/{id}', { ...path, body: { subscribed } })),
    { stale, done: t('saved') },
  );
  return (
    <Section title={t('leads.filing')}>
      <Stack gap="sm">
        {mayWrite ? (
          <TagsInput
            label={t('leads.tags')}
            known={contact.categories}
            value={file.isPending ? file.variables : contact.categories.map(({ id }) => id)}
            onChange={(ids) => file.mutate(ids)}
            placeholder={contact.categories.length === 0 ? t('leads.tags.none') : ''}
          />
        ) : contact.categories.length > 0 ? (
          <Tags tags={contact.categories} />
        ) : null}
        <div>
          <Text size="sm" fw={500}>
            {t('nav.campaigns')}
          </Text>
          {contact.campaigns.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('leads.inNoCampaign')}
            </Text>
          ) : (
            contact.campaigns.map(({ id, name }) => (
              <Text key={id} size="sm" className="clip">
                <PageLink to={`/campaigns/${id}`} inherit title={name}>
                  {name}
                </PageLink>
              </Text>
            ))
          )}
        </div>
        <Group gap="xs" justify="space-between">
          <Group gap="xs">
            <Badge variant="light" color={contact.subscribed ? 'teal' : 'yellow'} tt="none">
              {t(contact.subscribed ? 'leads.subscribed.yes' : 'leads.subscribed.no')}
            </Badge>
            <Badge variant="light" color={contact.verification_status === 'invalid' ? 'red' : 'gray'} tt="none">
              {t(`leads.verified.${contact.verification_status}`)}
            </Badge>
          </Group>
          {mayWrite ? (
            <Button
              size="xs"
              variant="default"
              onClick={() => subscribe.mutate(!contact.subscribed)}
              loading={subscribe.isPending}
            >
              {t(contact.subscribed ? 'leads.unsubscribe' : 'leads.subscribe')}
            </Button>
          ) : null}
        </Group>
        {contact.verification_reason ? (
          <Text size="xs" c="dimmed" className="wrap-anywhere">
            {textOf('leads.verdict', contact.verification_reason, contact.verification_reason.replaceAll('_', ' '))}
          </Text>
        ) : null}
      </Stack>
    </Section>
  );
}

/** Outcomes of the emails to a contact; hidden before the first one. */
function EmailOutcomes({ contact: { engagement } }: { contact: Contact }) {
  const t = useText();
  if (engagement.total_sent === 0 || !engagement.last_sent_at) return null;
  const rows = [
    ['leads.engagement.opened', engagement.total_opened, engagement.last_opened_at],
    ['leads.engagement.clicked', engagement.total_clicked, engagement.last_clicked_at],
    ['leads.engagement.replied', engagement.total_replied, engagement.last_replied_at],
    ['leads.engagement.bounced', engagement.total_bounced, engagement.last_bounced_at],
  ] as const;
  return (
    <Section title={t('leads.engagement')}>
      <Text size="sm">
        {t('leads.engagement.sent', { count: engagement.total_sent })} <Ago at={engagement.last_sent_at} c="dimmed" />
      </Text>
      {rows.map(([key, count, at]) =>
        count > 0 ? (
          <Text key={key} size="sm">
            {`${t(key)}: ${toNumber(count)} `}
            {at ? <Ago at={at} c="dimmed" /> : null}
          </Text>
        ) : null,
      )}
    </Section>
  );
}

function Deals({ id }: { id: string }) {
  const t = useText();
  const deals = useQuery({
    queryKey: ['deals', 'contact', id],
    queryFn: () => dataOf(heron.GET('/v1/contacts/{id}/deals', { params: { path: { id } } })),
  });
  if (!deals.data?.length) return null;
  return (
    <Section title={t('nav.crm')}>
      {deals.data.map((deal) => (
        <Group key={deal.id} gap="xs" wrap="nowrap" justify="space-between">
          <Text size="sm" className="clip">
            <PageLink to={`/crm/deals/${deal.id}`} inherit title={deal.name}>
              {deal.name}
            </PageLink>
          </Text>
          {deal.value === null ? null : (
            <Text size="sm" flex="none" className="figures">
              {toNumber(deal.value, { style: 'currency', currency: deal.currency })}
            </Text>
          )}
        </Group>
      ))}
    </Section>
  );
}
