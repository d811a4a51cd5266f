import { Badge, Button, Group, Select } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconDownload from 'tabler:download';
import IconUpload from 'tabler:upload';
import IconUsers from 'tabler:users';
import { lazy, memo, Suspense, useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { ContactBar } from '../../components/bulk/lazy.ts';
import { useTags } from '../../components/choices.ts';
import { useFilter } from '../../components/filter.ts';
import { isEmptyList, usePaged } from '../../components/paged.tsx';
import { useChosen, useSelection } from '../../hooks/selection.ts';
import { SearchField } from '../../components/search-field.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Moment } from '../../components/time.tsx';
import { PageLinkButton } from '../../components/page-link.tsx';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { useText } from '../../text/index.ts';
import { NewContact } from './new-contact.tsx';
import { LeadsPage } from './pages.tsx';
import { Tags } from './tags.tsx';

type Contact = RowOf<'/v1/contacts'>;
const ExportContacts = lazy(() => import('./export.tsx'));
const SORTS = ['created_at', 'updated_at', 'email', 'last_name', 'campaign_count'] as const;

/** Page of all contacts of the workspace, newest first. */
export default function ContactsPage() {
  const t = useText();
  const mayWrite = useCan('manage_contacts');
  const actions = mayWrite ? (
    <>
      <NewContact />
      <PageLinkButton to="/leads/imports/new" leftSection={<IconUpload size={16} />}>
        {t('leads.import')}
      </PageLinkButton>
    </>
  ) : null;
  return (
    <LeadsPage lead={t('leads.lead')} actions={actions}>
      <Contacts mayWrite={mayWrite} />
    </LeadsPage>
  );
}

/** List of contacts with its filters. State that changes while scrolling is kept here, not in the surrounding page. */
function Contacts({ mayWrite }: { mayWrite: boolean }) {
  const t = useText();
  const [q] = useFilter('q');
  const [tag] = useFilter('tag');
  const [subscribed] = useFilter('subscribed');
  const [sort] = useFilter('sort');
  const [isExporting, exporting] = useDisclosure();
  const isNarrow = Boolean(q || tag || subscribed);
  const selection = useSelection(`${q} ${tag} ${subscribed}`);
  const chosen = useChosen(selection);
  const filters = {
    ...(q ? { query: q } : {}),
    ...(tag ? { category_ids: [tag] } : {}),
    ...(subscribed ? { subscribed: subscribed === 'yes' } : {}),
  };
  const list = usePaged(['contacts', 'list', q, tag, subscribed, sort], (cursor, signal) =>
    dataOf(
      heron.POST('/v1/contacts/search', {
        params: { query: { limit: 100, ...cursor } },
        body: {
          ...filters,
          ...(sort
            ? { sort_by: sort as (typeof SORTS)[number], reverse: sort === 'email' || sort === 'last_name' }
            : {}),
        },
        signal,
      }),
    ),
  );
  return (
    <Answered query={list} skeleton={<ListSkeleton rows={10} />}>
      {() =>
        isEmptyList(list) && !isNarrow ? (
          <Empty
            icon={IconUsers}
            title={t('leads.empty')}
            action={
              mayWrite ? (
                <PageLinkButton to="/leads/imports/new" leftSection={<IconUpload size={16} />}>
                  {t('leads.import')}
                </PageLinkButton>
              ) : null
            }
          >
            {t('leads.empty.why')}
          </Empty>
        ) : (
          <>
            <Filters onExport={exporting.open} />
            <VirtualTable<Contact>
              list={list}
              minWidth={760}
              keyOf={idOf}
              select={mayWrite ? { selection, nameOf: labelOf } : undefined}
              columns={[
                { label: t('leads.who') },
                { label: t('leads.company'), width: '20%' },
                { label: t('leads.tags'), width: '18%', isExtra: true },
                { label: t('nav.campaigns'), isNumber: true, width: 110, isExtra: true },
                { label: t('leads.added'), width: 150, isExtra: true },
              ]}
            >
              {cellsOf}
            </VirtualTable>
            {isExporting ? (
              <Suspense>
                <ExportContacts filters={filters} isNarrow={isNarrow} onClose={exporting.close} />
              </Suspense>
            ) : null}
            {chosen.isAll || chosen.ids.size > 0 ? (
              <Suspense>
                <ContactBar selection={selection} filters={filters} />
              </Suspense>
            ) : null}
          </>
        )
      }
    </Answered>
  );
}

const Filters = memo(function Filters({ onExport }: { onExport: () => void }) {
  const t = useText();
  const [q, setQ] = useFilter('q');
  const [tag, setTag] = useFilter('tag');
  const [subscribed, setSubscribed] = useFilter('subscribed');
  const [sort, setSort] = useFilter('sort');
  const [isOpened, open] = useState(false);
  const tags = useTags(isOpened || tag !== '');
  return (
    <Group gap="xs">
      <SearchField label={t('leads.search')} value={q} onChange={setQ} />
      <Select
        value={tag || null}
        onChange={(value) => setTag(value ?? '')}
        data={tags.data ?? []}
        onFocus={() => open(true)}
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
        w={200}
      />
      <Select
        value={sort || 'created_at'}
        onChange={(value) => setSort(value === 'created_at' ? '' : (value ?? ''))}
        data={SORTS.map((value) => ({ value, label: t(`leads.sort.${value}`) }))}
        aria-label={t('leads.sort')}
        allowDeselect={false}
        w={190}
      />
      <Button
        variant="default"
        leftSection={<IconDownload size={16} />}
        aria-haspopup="dialog"
        onClick={onExport}
        ml={{ md: 'auto' }}
      >
        {t('leads.export')}
      </Button>
    </Group>
  );
});

const idOf = ({ id }: Contact) => id;
const labelOf = (contact: Contact) => nameOf(contact) || shownAddress(contact.email);
const cellsOf = (contact: Contact) => <Cells contact={contact} />;

function Cells({ contact }: { contact: Contact }) {
  const t = useText();
  const name = nameOf(contact);
  return (
    <>
      <td>
        <div className="line">
          <div className="clip">
            <a href={`/leads/${contact.id}`} title={`${name} ${contact.email}`}>
              {name || shownAddress(contact.email)}
            </a>
            {name ? <span className="dimmed">{` ${shownAddress(contact.email)}`}</span> : null}
          </div>
          {contact.subscribed ? null : (
            <Badge variant="light" color="yellow" tt="none" flex="none">
              {t('leads.subscribed.no')}
            </Badge>
          )}
        </div>
      </td>
      <td className="clip">{contact.company}</td>
      <td className="clip">{contact.categories.length > 0 ? <Tags tags={contact.categories} most={1} /> : null}</td>
      <td className="number">{contact.campaigns.length || null}</td>
      <td className="clip dimmed">
        <Moment at={contact.created_at} />
      </td>
    </>
  );
}

/** Returns first and last name; empty if both are unknown. */
export function nameOf({ first_name, last_name }: { first_name: string; last_name: string }): string {
  return [first_name, last_name].filter(Boolean).join(' ');
}
