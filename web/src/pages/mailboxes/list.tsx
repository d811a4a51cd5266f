import { Badge, Table, Text } from '@mantine/core';
import IconMailbox from 'tabler:mailbox';
import IconPlus from 'tabler:plus';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useFilter } from '../../components/filter.ts';
import { Page } from '../../components/page.tsx';
import { isEmptyList, PagedTable, usePaged } from '../../components/paged.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { HoldNote } from './hold.tsx';

type Mailbox = RowOf<'/v1/emails'>;

/** Page of all mailboxes with their state, limit and hold. */
export default function MailboxesPage() {
  const t = useText();
  const mayConnect = useCan('manage_settings');
  const [q, setQ] = useFilter('q');
  const list = usePaged(['mailboxes', 'list', q], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/emails', {
        params: { query: { limit: 50, ...(q ? { q } : {}), ...cursor } },
        signal,
      }),
    ),
  );
  const connect = mayConnect ? (
    <PageLinkButton to="/mailboxes/new" leftSection={<IconPlus size={16} />}>
      {t('mailboxes.connect')}
    </PageLinkButton>
  ) : null;
  return (
    <Page
      title={t('nav.mailboxes')}
      lead={t('mailboxes.lead')}
      actions={
        <>
          {mayConnect ? (
            <PageLinkButton to="/mailboxes/warmup" variant="default">
              {t('routing.title')}
            </PageLinkButton>
          ) : null}
          <PageLinkButton to="/mailboxes/orders" variant="default">
            {t('orders.title')}
          </PageLinkButton>
          {connect}
        </>
      }
    >
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          if (isEmptyList(list) && !q)
            return (
              <Empty icon={IconMailbox} title={t('mailboxes.empty')} action={connect}>
                {t('mailboxes.empty.why')}
              </Empty>
            );
          return (
            <>
              <SearchField label={t('mailboxes.search')} value={q} onChange={setQ} />
              <Held rows={rows} />
              <PagedTable
                list={list}
                minWidth={640}
                columns={[
                  { label: t('mailboxes.address') },
                  { label: t('mailboxes.state') },
                  { label: t('mailboxes.cap'), isNumber: true, isExtra: true },
                  { label: t('mailboxes.warmup'), isExtra: true },
                  { label: t('mailboxes.synced'), isExtra: true },
                ]}
              >
                {rows.map((one) => (
                  <MailboxRow key={one.id} mailbox={one} />
                ))}
              </PagedTable>
            </>
          );
        }}
      </Answered>
    </Page>
  );
}

function MailboxRow({ mailbox }: { mailbox: Mailbox }) {
  const t = useText();
  const warmup = mailbox.warmup ? (mailbox.warmup_paused_at ? 'paused' : 'on') : 'off';
  return (
    <Table.Tr>
      <Table.Td maw={{ base: 220, sm: 320 }} className="clip">
        <PageLink to={`/mailboxes/${mailbox.id}`} fw={600} size="sm">
          {mailbox.email}
        </PageLink>
        <Text size="xs" c="dimmed" className="clip">
          {mailbox.name}
        </Text>
      </Table.Td>
      <Table.Td>
        <MailboxState mailbox={mailbox} />
      </Table.Td>
      <Table.Td ta="right">{t('mailboxes.perDay', { count: toNumber(mailbox.campaign_limit) })}</Table.Td>
      <Table.Td>{t(`mailboxes.warmup.${warmup}`)}</Table.Td>
      <Table.Td c="dimmed">
        {mailbox.last_synced_at ? <Ago at={mailbox.last_synced_at} /> : t('mailboxes.never')}
      </Table.Td>
    </Table.Tr>
  );
}

/** Shows the state of a mailbox. */
export function MailboxState({ mailbox }: { mailbox: Pick<Mailbox, 'status' | 'hold'> }) {
  const t = useText();
  const [key, color] = mailbox.hold
    ? (['held', 'red'] as const)
    : mailbox.status === 'active'
      ? (['active', 'teal'] as const)
      : mailbox.status === 'revoked'
        ? (['revoked', 'red'] as const)
        : (['inactive', 'gray'] as const);
  return (
    <Badge variant="light" color={color} tt="none">
      {t(`mailboxes.state.${key}`)}
    </Badge>
  );
}

function Held({ rows }: { rows: Mailbox[] }) {
  return rows
    .filter(({ hold }) => hold)
    .slice(0, 5)
    .map(({ id, email, hold }) => (
      <HoldNote
        key={id}
        hold={hold!}
        title={
          <PageLink to={`/mailboxes/${id}`} c="inherit" className="wrap-anywhere">
            {email}
          </PageLink>
        }
      />
    ));
}
