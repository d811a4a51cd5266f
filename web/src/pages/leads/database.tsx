import { Button, Group, SegmentedControl, Select, SimpleGrid, Skeleton, Stack, Table, Text } from '@mantine/core';
import IconDownload from 'tabler:download';
import IconUsers from 'tabler:users';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { saveAs } from '../../components/download.ts';
import { Figure } from '../../components/figure.tsx';
import { useFilter } from '../../components/filter.ts';
import { SearchField } from '../../components/search-field.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, FiguresSkeleton } from '../../components/states.tsx';
import { PageLinkButton } from '../../components/page-link.tsx';
import { textOf, toNumber, toPercent, useText } from '../../text/index.ts';
import { complete, Conditions, type Audience } from './conditions.tsx';
import { CompanyTable, PeopleTable, type Question } from './database-tables.tsx';
import { LeadsPage } from './pages.tsx';

const FACETS = ['outreach_status', 'verification_status', 'esp_provider', 'seniority', 'department'] as const;

/** Page of the outreach coverage: figures, then the people or their companies. */
export default function DatabasePage() {
  const t = useText();
  const [q, setQ] = useFilter('q');
  const [segment, setSegment] = useFilter('segment');
  const [where, setWhere] = useFilter('where');
  const [by, setBy] = useFilter('by');
  const [audience, setAudience] = useState(() => readAudience(where));
  const [isOpened, open] = useState(false);
  const segments = useQuery({
    queryKey: ['segments', 'names'],
    enabled: isOpened || segment !== '',
    queryFn: () => dataOf(heron.GET('/v1/segments', { params: { query: { limit: 100 } } })),
  });
  const question: Question = {
    ...complete(readAudience(where)),
    ...(q ? { q } : {}),
    ...(segment ? { segment_id: segment } : {}),
  };
  const change = (next: Audience) => {
    setAudience(next);
    const ready = complete(next);
    setWhere(ready.conditions.length > 0 ? JSON.stringify(ready) : '');
  };
  const coverage = useCoverage(question);
  // Without conditions or a search, an empty result means that the workspace has no contacts.
  const asksForAll = question.conditions?.length === 0 && !q && !segment;
  if (asksForAll && !coverage.isPlaceholderData && coverage.data?.coverage.total === 0)
    return (
      <LeadsPage lead={t('leads.database.lead')}>
        <Empty
          icon={IconUsers}
          title={t('leads.database.none')}
          action={<PageLinkButton to="/leads">{t('leads.contacts')}</PageLinkButton>}
        >
          {t('leads.database.none.why')}
        </Empty>
      </LeadsPage>
    );
  return (
    <LeadsPage lead={t('leads.database.lead')} actions={<Export question={question} />}>
      <Section title={t('leads.database.whom')}>
        <Stack gap="sm">
          <Group gap="xs">
            <SearchField label={t('leads.search')} value={q} onChange={setQ} />
            <Select
              value={segment || null}
              onChange={(value) => setSegment(value ?? '')}
              data={(segments.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
              onFocus={() => open(true)}
              placeholder={t('leads.database.anySegment')}
              aria-label={t('leads.database.anySegment')}
              clearable
              searchable
              w={220}
            />
          </Group>
          <Conditions value={audience} onChange={change} />
        </Stack>
      </Section>
      <Coverage asked={coverage} />
      <Group justify="space-between">
        <SegmentedControl
          value={by === 'companies' ? 'companies' : 'people'}
          onChange={(value) => setBy(value === 'people' ? '' : value)}
          data={(['people', 'companies'] as const).map((value) => ({ value, label: t(`leads.database.${value}`) }))}
          aria-label={t('leads.database.by')}
        />
      </Group>
      {by === 'companies' ? <CompanyTable question={question} /> : <PeopleTable question={question} />}
    </LeadsPage>
  );
}

/** Parses the conditions in the URL; returns none if they are invalid. */
function readAudience(where: string): Audience {
  try {
    const { match, conditions } = JSON.parse(where) as Partial<Audience>;
    return { match: match === 'any' ? 'any' : 'all', conditions: Array.isArray(conditions) ? conditions : [] };
  } catch {
    return { match: 'all', conditions: [] };
  }
}

/** Skeleton of the figures and of the facets below them. */
function CoverageSkeleton() {
  return (
    <>
      <FiguresSkeleton />
      <Skeleton height={92} radius="md" />
    </>
  );
}

function useCoverage(question: Question) {
  return useQuery({
    queryKey: ['contacts', 'coverage', question],
    placeholderData: keepPreviousData,
    queryFn: async () => {
      const [coverage, facets] = await Promise.all([
        dataOf(heron.POST('/v1/lead-database/coverage', { body: question })),
        dataOf(heron.POST('/v1/lead-database/facets', { body: question })),
      ]);
      return { coverage, facets };
    },
  });
}

function Coverage({ asked }: { asked: ReturnType<typeof useCoverage> }) {
  const t = useText();
  return (
    <Answered query={asked} skeleton={<CoverageSkeleton />}>
      {({ coverage, facets }) =>
        coverage.total === 0 ? null : (
          <>
            <SimpleGrid cols={{ base: 2, md: 4 }}>
              <Figure
                label={t('leads.people')}
                value={toNumber(coverage.total)}
                note={coverage.companies > 0 ? t('leads.database.ofCompanies', { count: coverage.companies }) : null}
              />
              <Figure
                label={t('leads.database.contacted')}
                value={toNumber(coverage.contacted)}
                note={coverage.contacted > 0 ? toPercent(coverage.contacted_share ?? 0) : null}
              />
              <Figure
                label={t('leads.database.replied')}
                value={toNumber(coverage.replied)}
                note={coverage.positive > 0 ? t('leads.database.positive', { count: coverage.positive }) : null}
              />
              <Figure
                label={t('leads.database.fresh')}
                value={toNumber(coverage.fresh)}
                note={coverage.fresh > 0 ? t('leads.database.reachable', { count: coverage.fresh_reachable }) : null}
              />
            </SimpleGrid>
            {FACETS.some((name) => isInformative(name, facets[name])) ? (
              <SimpleGrid cols={{ base: 1, sm: 2, lg: 5 }} spacing="lg">
                {FACETS.filter((name) => isInformative(name, facets[name])).map((name) => (
                  <Facet key={name} name={name} counts={facets[name]} total={coverage.total} />
                ))}
              </SimpleGrid>
            ) : null}
          </>
        )
      }
    </Answered>
  );
}

/**
 * Returns true if the facet of a property should be shown: some values are known, and they do not only repeat the
 * figures.
 */
function isInformative(name: (typeof FACETS)[number], counts: { key: string }[]): boolean {
  if (name === 'outreach_status') return counts.length > 1;
  return counts.some(({ key }) => key !== '' && key !== 'unknown');
}

/** List of the most common values of one property. */
function Facet({
  name,
  counts,
  total,
}: {
  name: (typeof FACETS)[number];
  counts: { key: string; count: number }[];
  total: number;
}) {
  const t = useText();
  return (
    <div>
      <Text size="xs" fw={600} c="dimmed" mb={4}>
        {textOf('leads.field', name)}
      </Text>
      <Table verticalSpacing={2} horizontalSpacing={0} withRowBorders={false} layout="fixed">
        <Table.Tbody>
          {counts.slice(0, 5).map(({ key, count }) => (
            <Table.Tr key={key} title={toPercent(count / total)}>
              <Table.Td className="clip" fz="sm">
                {key === '' ? t('leads.value.unknown') : textOf('leads.value', key)}
              </Table.Td>
              <Table.Td ta="right" fz="sm" w={70}>
                {toNumber(count)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function Export({ question }: { question: Question }) {
  const t = useText();
  const download = useAction(
    () => dataOf(heron.POST('/v1/lead-database/export', { body: question, parseAs: 'blob' })),
    {
      onDone: (file) => saveAs(file as Blob, 'people.csv'),
    },
  );
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} />}
      onClick={() => download.mutate()}
      loading={download.isPending}
    >
      {t('leads.database.export')}
    </Button>
  );
}
