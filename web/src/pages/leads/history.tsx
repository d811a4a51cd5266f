import { Badge, Group, Stack, Table, Text } from '@mantine/core';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { More, PagedTable, usePaged } from '../../components/paged.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { textOf, useText } from '../../text/index.ts';

type Email = RowOf<'/v1/contacts/{id}/emails'>;
type Entry = RowOf<'/v1/contacts/{id}/timeline'>;

const COLORS = { sent: 'gray', uncertain: 'yellow', bounced: 'red', failed: 'red' } as const;

/** Emails to a contact with their outcomes, newest first. */
export function ContactEmails({ id }: { id: string }) {
  const t = useText();
  const list = usePaged(['contacts', id, 'emails'], async ({ cursor }, signal) => {
    // The cursor is the time and id of the last email of the previous page.
    const [before_at, before_id] = cursor?.split(' ') ?? [];
    const before = before_at && before_id ? { before_at, before_id } : {};
    const params = { path: { id }, query: { limit: 50, ...before } };
    const { data, pagination } = await dataOf(heron.GET('/v1/contacts/{id}/emails', { params, signal }));
    const next_cursor = pagination.has_more ? `${pagination.before_at} ${pagination.before_id}` : null;
    return { data, pagination: { next_cursor } };
  });
  return (
    <Answered query={list} skeleton={<ListSkeleton rows={4} height={32} />}>
      {({ pages }) => (
        <PagedTable
          list={list}
          minWidth={640}
          empty={t('leads.emails.none')}
          columns={[
            { label: t('leads.emails.subject') },
            { label: t('leads.emails.from'), isExtra: true },
            { label: t('leads.emails.outcome') },
            { label: t('leads.emails.at'), isExtra: true },
          ]}
        >
          {pages.flatMap(({ data }) => data.map((one) => <EmailRow key={one.task_id} email={one} />))}
        </PagedTable>
      )}
    </Answered>
  );
}

function EmailRow({ email }: { email: Email }) {
  const t = useText();
  const outcomes = (['opened', 'clicked', 'replied'] as const).filter((name) => email[`${name}_at`]);
  const place = [email.campaign_name, email.step_name].filter(Boolean).join(' · ');
  return (
    <Table.Tr>
      <Table.Td maw={{ base: 180, sm: 360 }}>
        <Text size="sm" className="clip" title={email.subject} dir="auto">
          {email.subject || t('leads.emails.noSubject')}
        </Text>
        {place ? (
          <Text size="xs" c="dimmed" className="clip" title={place}>
            {email.campaign_id ? (
              <PageLink to={`/campaigns/${email.campaign_id}`} inherit>
                {place}
              </PageLink>
            ) : (
              place
            )}
          </Text>
        ) : null}
      </Table.Td>
      <Table.Td maw={220} className="clip" c="dimmed" title={email.email_account_email ?? ''}>
        {email.email_account_email}
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          <Badge variant="light" tt="none" color={COLORS[email.status]}>
            {t(`leads.emails.${email.status}`)}
          </Badge>
          {outcomes.map((name) => (
            <Badge key={name} variant="light" tt="none" color={name === 'replied' ? 'teal' : 'blue'}>
              {t(`leads.engagement.${name}`)}
            </Badge>
          ))}
        </Group>
      </Table.Td>
      <Table.Td c="dimmed">
        <Ago at={email.sent_at} />
      </Table.Td>
    </Table.Tr>
  );
}

/** Every event of a contact, latest first: emails, responses, suppressions, notes, meetings and campaigns. */
export function ContactTimeline({ id }: { id: string }) {
  const t = useText();
  const list = usePaged(['contacts', id, 'timeline'], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/contacts/{id}/timeline', { params: { path: { id }, query: { limit: 50, ...cursor } }, signal }),
    ),
  );
  return (
    <Answered query={list} skeleton={<ListSkeleton rows={4} height={24} />}>
      {({ pages }) => {
        const entries = pages.flatMap(({ data }) => data);
        return entries.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t('leads.activity.none')}
          </Text>
        ) : (
          <Stack gap={6}>
            {entries.map((entry, at) => (
              <EntryLine key={`${entry.at} ${entry.type} ${at}`} entry={entry} />
            ))}
            <More list={list} />
          </Stack>
        );
      }}
    </Answered>
  );
}

function EntryLine({ entry }: { entry: Entry }) {
  const t = useText();
  const detail = [entry.subject ?? entry.content, entry.reason, entry.machine_reason].filter(Boolean).join(' · ');
  return (
    <Group gap="xs" wrap="nowrap" align="baseline">
      <Text size="sm" miw={0} flex={1} className="wrap-anywhere">
        {t(`leads.entry.${entry.type}`)}
        {detail ? <Text span inherit c="dimmed" dir="auto">{` ${detail}`}</Text> : null}
        {entry.intent ? (
          <Badge ml={6} size="sm" variant="light" color="gray" tt="none">
            {textOf('leads.intent', entry.intent)}
          </Badge>
        ) : null}
        {entry.machine ? (
          <Badge ml={6} size="sm" variant="light" color="gray" tt="none">
            {t('leads.entry.machine')}
          </Badge>
        ) : null}
        {entry.campaign_id && entry.campaign_name ? (
          <>
            {' '}
            <PageLink to={`/campaigns/${entry.campaign_id}`} inherit underline="always">
              {entry.campaign_name}
            </PageLink>
          </>
        ) : null}
      </Text>
      <Text size="sm" c="dimmed" flex="none">
        <Ago at={entry.at} />
      </Text>
    </Group>
  );
}
