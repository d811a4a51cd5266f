import { Badge, Group, Select, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import IconUpload from '@tabler/icons-react/dist/esm/icons/IconUpload.mjs';
import IconUsers from '@tabler/icons-react/dist/esm/icons/IconUsers.mjs';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useFilter } from '../../parts/filter.ts';
import { usePaged } from '../../parts/paged.tsx';
import { Answered, Empty, ListSkeleton } from '../../parts/states.tsx';
import { Ago } from '../../parts/time.tsx';
import { To, ToButton } from '../../parts/to.tsx';
import { VirtualTable } from '../../parts/virtual-table.tsx';
import { useText } from '../../text/index.ts';
import { NewContact } from './new-contact.tsx';
import { LeadsPage } from './pages.tsx';
import { Tags, useTags } from './tags.tsx';

type Contact = RowOf<'/v1/contacts'>;
const SORTS = ['created_at', 'updated_at', 'email', 'last_name', 'campaign_count'] as const;

/** Everybody the workspace knows, newest first. */
export default function ContactsPage() {
  const t = useText();
  const mayWrite = useCan('manage_contacts');
  const [q, setQ] = useFilter('q');
  const [tag, setTag] = useFilter('tag');
  const [subscribed, setSubscribed] = useFilter('subscribed');
  const [sort, setSort] = useFilter('sort');
  const [query] = useDebouncedValue(q, 200);
  const tags = useTags();
  const isNarrow = Boolean(query || tag || subscribed);
  const list = usePaged(['contacts', 'list', query, tag, subscribed, sort], (cursor, signal) =>
    dataOf(
      heron.POST('/v1/contacts/search', {
        params: { query: { limit: 100, ...cursor } },
        body: {
          ...(query ? { query } : {}),
          ...(tag ? { category_ids: [tag] } : {}),
          ...(subscribed ? { subscribed: subscribed === 'yes' } : {}),
          ...(sort ? { sort_by: sort, reverse: sort === 'email' || sort === 'last_name' } : {}),
        },
        signal,
      }),
    ),
  );
  const actions = mayWrite ? (
    <>
      <NewContact />
      <ToButton to="/leads/imports/new" leftSection={<IconUpload size={16} />}>
        {t('leads.import')}
      </ToButton>
    </>
  ) : null;
  return (
    <LeadsPage lead={t('leads.lead')} actions={actions}>
      <Answered query={list} skeleton={<ListSkeleton rows={10} />}>
        {({ pages }) =>
          pages[0]?.data.length === 0 && !isNarrow ? (
            <Empty
              icon={IconUsers}
              title={t('leads.empty')}
              action={mayWrite ? <ToButton to="/leads/imports/new">{t('leads.import')}</ToButton> : null}
            >
              {t('leads.empty.why')}
            </Empty>
          ) : (
            <>
              <Group gap="xs">
                <TextInput
                  value={q}
                  onChange={(event) => setQ(event.currentTarget.value)}
                  placeholder={t('leads.search')}
                  aria-label={t('leads.search')}
                  w={{ base: '100%', sm: 260 }}
                />
                <Select
                  value={tag || null}
                  onChange={(value) => setTag(value ?? '')}
                  data={(tags.data?.data ?? []).map(({ id, title }) => ({ value: id, label: title }))}
                  placeholder={t('leads.anyTag')}
                  aria-label={t('leads.anyTag')}
                  clearable
                  searchable
                  w={170}
                />
                <Select
                  value={subscribed || null}
                  onChange={(value) => setSubscribed(value ?? '')}
                  data={(['yes', 'no'] as const).map((value) => ({ value, label: t(`leads.subscribed.${value}`) }))}
                  placeholder={t('leads.subscribed.any')}
                  aria-label={t('leads.subscribed.any')}
                  clearable
                  w={170}
                />
                <Select
                  value={sort || 'created_at'}
                  onChange={(value) => setSort(value === 'created_at' ? '' : (value ?? ''))}
                  data={SORTS.map((value) => ({ value, label: t(`leads.sort.${value}`) }))}
                  aria-label={t('leads.sort')}
                  allowDeselect={false}
                  w={190}
                />
              </Group>
              <VirtualTable<Contact>
                list={list}
                minWidth={760}
                keyOf={({ id }) => id}
                columns={[
                  { label: t('leads.who'), width: '38%' },
                  { label: t('leads.company'), width: '20%' },
                  { label: t('leads.tags'), width: '18%', isExtra: true },
                  { label: t('nav.campaigns'), isNumber: true, width: 110, isExtra: true },
                  { label: t('leads.added'), width: 150, isExtra: true },
                ]}
              >
                {(contact) => <Cells contact={contact} />}
              </VirtualTable>
            </>
          )
        }
      </Answered>
    </LeadsPage>
  );
}

function Cells({ contact }: { contact: Contact }) {
  const t = useText();
  const name = nameOf(contact);
  return (
    <>
      <Table.Td>
        <Group gap="xs" wrap="nowrap">
          <div className="clip">
            <To to={`/leads/${contact.id}`} fw={600} size="sm" title={`${name} ${contact.email}`}>
              {name || contact.email}
            </To>
            {name ? <Text span c="dimmed" size="sm">{` ${contact.email}`}</Text> : null}
          </div>
          {contact.subscribed ? null : (
            <Badge variant="light" color="yellow" tt="none" flex="none">
              {t('leads.subscribed.no')}
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td className="clip">{contact.company}</Table.Td>
      <Table.Td className="clip">
        <Tags tags={contact.categories} most={1} />
      </Table.Td>
      <Table.Td ta="right">{contact.campaigns.length || null}</Table.Td>
      <Table.Td c="dimmed" className="clip">
        <Ago at={contact.created_at} />
      </Table.Td>
    </>
  );
}

/** First and last name; empty where neither is known. */
export function nameOf({ first_name, last_name }: { first_name: string; last_name: string }): string {
  return [first_name, last_name].filter(Boolean).join(' ');
}
