import { Anchor, Button, Checkbox, Group, SegmentedControl, Select, Table, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import IconDatabase from 'tabler:database-search';
import IconX from 'tabler:x';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, HeronError, type AnswerOf, type FoundBy } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { useFilter } from '../../components/filter.ts';
import { usePaged } from '../../components/paged.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Answered, Empty, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { Companies } from './catalogue-companies.tsx';
import { nameOf } from './contacts.tsx';
import { LeadsPage } from './pages.tsx';

type Metadata = AnswerOf<'/v1/b2b-database/metadata'>;
type Person = FoundBy<'/v1/b2b-database/people'>;
/** Maximum number of people per import. */
const MOST = 100;

/**
 * Page of the installation's prospect catalogue: people who are not contacts yet, and companies. Without a catalogue it
 * explains how to get one.
 */
export default function CataloguePage() {
  const t = useText();
  const metadata = useQuery({
    queryKey: ['catalogue'],
    queryFn: () => dataOf(heron.GET('/v1/b2b-database/metadata')),
    staleTime: 60 * 60_000,
    retry: false,
  });
  const { error } = metadata;
  return (
    <LeadsPage lead={t('leads.catalogue.lead')}>
      {error instanceof HeronError && error.code === 'b2b_unavailable' ? (
        <Empty icon={IconDatabase} title={t('leads.catalogue.missing')}>
          {error.fix ?? error.said}
        </Empty>
      ) : (
        <Answered query={metadata} skeleton={<ListSkeleton rows={8} />}>
          {(data) => <Search metadata={data} />}
        </Answered>
      )}
    </LeadsPage>
  );
}

function Search({ metadata }: { metadata: Metadata }) {
  const t = useText();
  const [given, setBy] = useFilter('by');
  const by = given === 'companies' ? 'companies' : 'people';
  const filters = useFilters();
  const [company, setCompany] = useFilter('company');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  return (
    <>
      <Text size="sm" c="dimmed">
        {t('leads.catalogue.holds', {
          people: toNumber(metadata.people),
          companies: toNumber(metadata.companies),
          source: [metadata.source, metadata.source_period].filter(Boolean).join(', '),
        })}
      </Text>
      <Group>
        <SegmentedControl
          value={by}
          onChange={(value) => setBy(value === 'people' ? '' : value)}
          data={(['people', 'companies'] as const).map((value) => ({ value, label: t(`leads.database.${value}`) }))}
          aria-label={t('leads.database.by')}
        />
        {company && by === 'people' ? (
          <Button variant="light" rightSection={<IconX size={14} />} onClick={() => setCompany('')}>
            {t('leads.catalogue.ofCompany')}
          </Button>
        ) : null}
      </Group>
      <FilterFields filters={filters} metadata={metadata} by={by} />
      {by === 'companies' ? (
        <Companies filters={filled(filters.ofCompanies)} />
      ) : (
        <>
          <Import chosen={chosen} onDone={() => setChosen(new Set())} />
          <People filters={filled({ ...filters.values, company_id: company })} chosen={chosen} onToggle={toggle} />
        </>
      )}
    </>
  );
}

/** Returns the filters that have a value. */
const filled = (filters: Record<string, string>) =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));

/** Returns the filters from the URL, and functions to set them. */
function useFilters() {
  const [q, setQ] = useFilter('q');
  const [title, setTitle] = useFilter('title');
  const [country, setCountry] = useFilter('country');
  const [seniority, setSeniority] = useFilter('seniority');
  const [industry, setIndustry] = useFilter('industry');
  return {
    values: { q, title, industry, country, seniority },
    /** Filters that also apply to companies. */
    ofCompanies: { q, industry, country },
    set: { q: setQ, title: setTitle, industry: setIndustry, country: setCountry, seniority: setSeniority },
  };
}

function FilterFields({
  filters: { values, set },
  metadata,
  by,
}: {
  filters: ReturnType<typeof useFilters>;
  metadata: Metadata;
  by: 'people' | 'companies';
}) {
  const t = useText();
  const options = (facet: { key: string; count: number }[]) =>
    facet.flatMap(({ key, count }) => (key === '' ? [] : [{ value: key, label: `${key} (${toNumber(count)})` }]));
  const width = { base: '100%', xs: 190 };
  return (
    <Group gap="xs">
      <SearchField
        label={t(by === 'people' ? 'leads.catalogue.name' : 'leads.catalogue.company')}
        value={values.q}
        onChange={set.q}
        w={width}
      />
      {by === 'people' ? (
        <SearchField label={t('leads.catalogue.title')} value={values.title} onChange={set.title} w={width} />
      ) : null}
      <SearchField label={t('leads.catalogue.industry')} value={values.industry} onChange={set.industry} w={width} />
      <Select
        value={values.country || null}
        onChange={(value) => set.country(value ?? '')}
        data={options(metadata.countries)}
        placeholder={t('leads.catalogue.country')}
        aria-label={t('leads.catalogue.country')}
        clearable
        searchable
        w={width}
      />
      {by === 'people' ? (
        <Select
          value={values.seniority || null}
          onChange={(value) => set.seniority(value ?? '')}
          data={options(metadata.seniorities)}
          placeholder={t('leads.catalogue.seniority')}
          aria-label={t('leads.catalogue.seniority')}
          clearable
          w={width}
        />
      ) : null}
    </Group>
  );
}

/** Imports the selected people as contacts, and shows how many were already known or suppressed. */
function Import({ chosen, onDone }: { chosen: ReadonlySet<string>; onDone: () => void }) {
  const t = useText();
  const take = useAction(() => dataOf(heron.POST('/v1/b2b-database/import', { body: { person_ids: [...chosen] } })), {
    stale: [['contacts'], ['checklist']],
    isShown: true,
    onDone: ({ count, existing_ids, suppressed_ids }) => {
      notifications.show({
        message: [
          t('leads.catalogue.done', { count }),
          existing_ids.length > 0 ? t('leads.catalogue.known', { count: existing_ids.length }) : '',
          suppressed_ids.length > 0 ? t('leads.catalogue.suppressed', { count: suppressed_ids.length }) : '',
        ].join(' '),
        color: 'teal',
        autoClose: 8_000,
      });
      onDone();
    },
  });
  return (
    <>
      <ErrorNote error={take.error} />
      {chosen.size > 0 ? (
        <Group justify="space-between">
          <Text size="sm">{t('leads.catalogue.chosen', { count: chosen.size })}</Text>
          <Button onClick={() => take.mutate()} loading={take.isPending}>
            {t('leads.catalogue.import')}
          </Button>
        </Group>
      ) : null}
    </>
  );
}

/** Table of search results with a selection for the import. */
function People({
  filters,
  chosen,
  onToggle,
}: {
  filters: Record<string, string>;
  chosen: ReadonlySet<string>;
  onToggle: (id: string) => void;
}) {
  const t = useText();
  const list = usePaged(['catalogue', 'people', filters], (cursor, signal) =>
    dataOf(heron.POST('/v1/b2b-database/people', { body: { ...filters, limit: 100, ...cursor }, signal })),
  );
  return (
    <Answered query={list} skeleton={<ListSkeleton rows={8} />}>
      {() => (
        <VirtualTable
          list={list}
          minWidth={860}
          keyOf={({ id }) => id}
          columns={[
            { label: t('leads.catalogue.choose'), width: 48, isHidden: true },
            { label: t('leads.who') },
            { label: t('leads.catalogue.title') },
            { label: t('leads.company'), width: '19%', isExtra: true },
            { label: t('leads.catalogue.place'), width: '19%', isExtra: true },
            { label: t('team.email'), width: 150, isExtra: true },
          ]}
        >
          {(person) => (
            <PersonCells
              person={person}
              isChosen={chosen.has(person.id)}
              isFull={chosen.size >= MOST}
              onToggle={() => onToggle(person.id)}
            />
          )}
        </VirtualTable>
      )}
    </Answered>
  );
}

/** @param isFull true if no more people may be selected */
function PersonCells({
  person,
  isChosen,
  isFull,
  onToggle,
}: {
  person: Person;
  isChosen: boolean;
  isFull: boolean;
  onToggle: () => void;
}) {
  const t = useText();
  const mayImport = useCan('manage_contacts');
  return (
    <>
      <Table.Td>
        {mayImport && person.email ? (
          <Checkbox
            checked={isChosen}
            onChange={onToggle}
            disabled={!isChosen && isFull}
            aria-label={t('leads.catalogue.chooseOne', { name: nameOf(person) })}
          />
        ) : null}
      </Table.Td>
      <Table.Td className="clip" fw={600}>
        {nameOf(person)}
      </Table.Td>
      <Table.Td className="clip">{person.title}</Table.Td>
      <Table.Td className="clip">
        {person.company?.domain ? (
          <Anchor href={`https://${person.company.domain}`} rel="noreferrer" target="_blank" inherit>
            {person.company.name}
          </Anchor>
        ) : (
          person.company?.name
        )}
      </Table.Td>
      <Table.Td className="clip" c="dimmed">
        {[person.city, person.country].filter(Boolean).join(', ')}
      </Table.Td>
      <Table.Td className="clip" c="dimmed">
        {person.email ? t('leads.catalogue.hasEmail') : t('leads.catalogue.noEmail')}
      </Table.Td>
    </>
  );
}
