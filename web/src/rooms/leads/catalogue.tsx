import { Anchor, Button, Checkbox, Group, Select, Table, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import IconDatabase from '@tabler/icons-react/dist/esm/icons/IconDatabaseSearch.mjs';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, HeronError, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAct } from '../../parts/act.ts';
import { useFilter } from '../../parts/filter.ts';
import { usePaged } from '../../parts/paged.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Answered, Empty, ErrorNote, ListSkeleton } from '../../parts/states.tsx';
import { VirtualTable } from '../../parts/virtual-table.tsx';
import { saidPlainly, toNumber, useText } from '../../text/index.ts';
import { nameOf } from './contacts.tsx';
import { LeadsPage } from './pages.tsx';

type Metadata = AnswerOf<'/v1/b2b-database/metadata'>;
/** Most people that one import takes. */
const MOST = 100;

/** The prospect catalogue of the installation: people who are nobody's contacts yet; an installation without one says how to get it. */
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
          {saidPlainly(error.fix ?? error.said)}
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
  const mayImport = useCan('manage_contacts');
  const [q, setQ] = useFilter('q');
  const [title, setTitle] = useFilter('title');
  const [country, setCountry] = useFilter('country');
  const [seniority, setSeniority] = useFilter('seniority');
  const [industry, setIndustry] = useFilter('industry');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const filters = Object.fromEntries(
    Object.entries({ q, title, industry, country, seniority }).filter(([, value]) => value !== ''),
  );
  const list = usePaged(['catalogue', 'people', filters], (cursor, signal) =>
    dataOf(heron.POST('/v1/b2b-database/people', { body: { ...filters, limit: 100, ...cursor }, signal })),
  );
  const take = useAct(() => dataOf(heron.POST('/v1/b2b-database/import', { body: { person_ids: [...chosen] } })), {
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
      setChosen(new Set());
    },
  });
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const options = (facet: { key: string; count: number }[]) =>
    facet.flatMap(({ key, count }) => (key === '' ? [] : [{ value: key, label: `${key} (${toNumber(count)})` }]));
  const width = { base: '100%', xs: 190 };
  return (
    <>
      <Text size="sm" c="dimmed">
        {t('leads.catalogue.holds', {
          people: toNumber(metadata.people),
          companies: toNumber(metadata.companies),
          source: [metadata.source, metadata.source_period].filter(Boolean).join(', '),
        })}
      </Text>
      <Group gap="xs">
        <SearchField label={t('leads.catalogue.name')} value={q} onChange={setQ} w={width} />
        <SearchField label={t('leads.catalogue.title')} value={title} onChange={setTitle} w={width} />
        <SearchField label={t('leads.catalogue.industry')} value={industry} onChange={setIndustry} w={width} />
        <Select
          value={country || null}
          onChange={(value) => setCountry(value ?? '')}
          data={options(metadata.countries)}
          placeholder={t('leads.catalogue.country')}
          aria-label={t('leads.catalogue.country')}
          clearable
          searchable
          w={width}
        />
        <Select
          value={seniority || null}
          onChange={(value) => setSeniority(value ?? '')}
          data={options(metadata.seniorities)}
          placeholder={t('leads.catalogue.seniority')}
          aria-label={t('leads.catalogue.seniority')}
          clearable
          w={width}
        />
      </Group>
      <ErrorNote error={take.error} />
      {chosen.size > 0 ? (
        <Group justify="space-between">
          <Text size="sm">{t('leads.catalogue.chosen', { count: chosen.size })}</Text>
          <Button onClick={() => take.mutate()} loading={take.isPending}>
            {t('leads.catalogue.import')}
          </Button>
        </Group>
      ) : null}
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
              <>
                <Table.Td>
                  {mayImport && person.email ? (
                    <Checkbox
                      checked={chosen.has(person.id)}
                      onChange={() => toggle(person.id)}
                      disabled={!chosen.has(person.id) && chosen.size >= MOST}
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
            )}
          </VirtualTable>
        )}
      </Answered>
    </>
  );
}
