import { Button, Table, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { dataOf, heron, type QueryOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { ContactBar } from '../../components/bulk/lazy.ts';
import { useCampaigns } from '../../components/choices.ts';
import { saveCsv } from '../../components/csv.ts';
import { Page } from '../../components/page.tsx';
import { PagedTable, usePaged } from '../../components/paged.tsx';
import { SelectBox, selectColumn } from '../../components/select-box.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago, toSpan } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { useChosen, useSelection } from '../../hooks/selection.ts';
import { textOf, toNumber, useText } from '../../text/index.ts';
import type { FigureOf } from './figure-link.tsx';
import { readPredicates } from './goal-conditions.tsx';
import { readMarks, toStep, useMarkNames } from './marks.ts';

const CreditDialog = lazy(() => import('./credit.tsx'));

/** One email, reply, contact or conversion that a number counts. */
interface Counted {
  id: string;
  kind?: string;
  contact_id: string | null;
  contact_email: string | null;
  campaign_id?: string | null;
  at: string;
  amount_minor?: number | null;
  currency?: string | null;
}

/** URLs of the reports, by the name of the report in {@link FigureOf}. `analytics` is the default. */
const BACK = {
  analytics: '/reports',
  acquisition: '/reports/attribution',
  customers: '/reports/attribution',
  funnel: '/reports/funnels',
  trend: '/reports/events',
} as const;

/** Page of the people and emails that a number of a report counts. */
export default function PeoplePage() {
  const t = useText();
  const asked = useSearch({ strict: false }) as FigureOf;
  const list = usePaged(['reports', 'behind', asked], (cursor, signal) => readCounted(asked, cursor, signal));
  const name = useFigureName(asked);
  const total = list.data?.pages[0]?.pagination.total;
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const range = asked.from && asked.to ? t('reports.utc', { period: toSpan(asked.from, asked.to) }) : '';
  const save = () =>
    saveCsv(
      `heron-${asked.figure}`,
      [t('reports.person'), t('reports.what'), t('reports.at')],
      rows.map((one) => [one.contact_email, kindOf(one), one.at]),
    );
  return (
    <Page
      title={total === undefined || total === null ? name : `${name}: ${toNumber(total)}`}
      lead={range || t('reports.everSince')}
      back={{ to: BACK[asked.of ?? 'analytics'], label: t('nav.reports') }}
      actions={
        rows.length > 0 ? (
          <Button variant="default" onClick={save}>
            {t('csv')}
          </Button>
        ) : null
      }
    >
      <Answered query={list} skeleton={<ListSkeleton rows={8} />}>
        {() => <CountedTable list={list} rows={rows} of={asked.of} />}
      </Answered>
    </Page>
  );
}

/** Returns the display name of the figure. */
function useFigureName({ of, steps, step, lost, figure, name }: FigureOf): string {
  const t = useText();
  const nameOfMark = useMarkNames();
  const mark = of === 'funnel' ? readMarks(steps)[Number(step) - 1] : undefined;
  if (of === 'trend' && name) return t('trend.peopleOf', { name });
  if (mark === undefined) return textOf('reports.figure', figure);
  return lost ? t('funnels.lostAt', { name: nameOfMark(mark) }) : nameOfMark(mark);
}

/**
 * Table of the counted records, whose contacts can be chosen for bulk actions. People of a funnel or trend have no
 * campaign; customers have a credited email.
 */
function CountedTable({
  list,
  rows,
  of,
}: {
  list: Parameters<typeof PagedTable>[0]['list'];
  rows: readonly Counted[];
  of: FigureOf['of'];
}) {
  const t = useText();
  const [shown, show] = useState<Counted | null>(null);
  const mayWrite = useCan('manage_contacts');
  const selection = useSelection(of ?? '');
  const { ids } = useChosen(selection);
  selection.order = [...new Set(rows.flatMap(({ contact_id: id }) => id ?? []))];
  const isOfPeople = of === 'funnel' || of === 'trend';
  const hasCredit = of === 'customers';
  const nameOf = (one: Counted) => one.contact_email ?? t('reports.erased');
  const campaigns = useCampaigns();
  const campaignName = (id: string) => campaigns.data?.data.find((one) => one.id === id)?.name ?? t('reports.open');
  return (
    <>
      <PagedTable
        list={list}
        minWidth={isOfPeople ? 0 : 560}
        empty={t('reports.nobody')}
        columns={[
          ...(mayWrite ? [selectColumn(selection)] : []),
          { label: t('reports.person') },
          ...(isOfPeople
            ? []
            : [
                { label: t('reports.what'), isExtra: true },
                { label: t('reports.campaign'), isExtra: true },
              ]),
          { label: t('reports.at') },
          ...(hasCredit ? [{ label: t('credit.open'), isHidden: true }] : []),
        ]}
      >
        {rows.map((one) => (
          <Table.Tr key={one.id}>
            {mayWrite ? (
              <Table.Td>
                {one.contact_id ? <SelectBox selection={selection} id={one.contact_id} name={nameOf(one)} /> : null}
              </Table.Td>
            ) : null}
            <Table.Td maw={{ base: 190, sm: 320 }} className="clip" title={one.contact_email ?? undefined}>
              <Person one={one} />
            </Table.Td>
            {isOfPeople ? null : (
              <>
                <Table.Td>{kindOf(one)}</Table.Td>
                <Table.Td maw={260} className="clip">
                  {one.campaign_id ? (
                    <PageLink to={`/campaigns/${one.campaign_id}`} size="sm" title={campaignName(one.campaign_id)}>
                      {campaignName(one.campaign_id)}
                    </PageLink>
                  ) : null}
                </Table.Td>
              </>
            )}
            <Table.Td c="dimmed">
              <Ago at={one.at} />
            </Table.Td>
            {hasCredit ? (
              <Table.Td>
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-haspopup="dialog"
                  aria-label={t('credit.open.of', { email: nameOf(one) })}
                  onClick={() => show(one)}
                >
                  {t('credit.open')}
                </Button>
              </Table.Td>
            ) : null}
          </Table.Tr>
        ))}
      </PagedTable>
      {ids.size > 0 ? (
        <Suspense>
          <ContactBar selection={selection} filters={{}} mayChooseAll={false} />
        </Suspense>
      ) : null}
      {shown ? (
        <Suspense>
          <CreditDialog personId={shown.id} email={nameOf(shown)} close={() => show(null)} />
        </Suspense>
      ) : null}
    </>
  );
}

/** Shows a person's address. A person whose data was erased has no name. */
function Person({ one: { contact_id: id, contact_email: email } }: { one: Counted }) {
  const t = useText();
  if (id)
    return (
      <PageLink to={`/leads/${id}`} size="sm" fw={600}>
        {email ?? t('reports.erased')}
      </PageLink>
    );
  return (
    email ?? (
      <Text span c="dimmed" inherit>
        {t('reports.erased')}
      </Text>
    )
  );
}

function kindOf({ kind, amount_minor: amount, currency }: Counted): string {
  if (amount !== undefined && amount !== null && currency)
    return toNumber(amount / 100, { style: 'currency', currency });
  return textOf('reports.kind', kind ?? 'person');
}

interface Page {
  data: readonly Counted[];
  pagination: { next_cursor: string | null; total: number | null };
}

/** Loads a page of the records that a number counts. The API checks the parameters, which come from the URL. */
async function readCounted(
  { of, steps, step, lost, window_days: days, name, where, ...number }: FigureOf,
  cursor: { cursor?: string },
  signal: AbortSignal,
): Promise<Page> {
  const page = { limit: 100, ...cursor };
  const window = days ? { window_days: Number(days) } : {};
  const { figure: _, ...filter } = number;
  if (of === 'funnel')
    return dataOf(
      heron.POST('/v1/acquisition/funnels/people', {
        params: { query: page },
        body: {
          ...filter,
          ...window,
          steps: readMarks(steps).map(toStep),
          step: Number(step),
          ...(lost ? { lost: true } : {}),
        },
        signal,
      }),
    );
  if (of === 'trend')
    return dataOf(
      heron.POST('/v1/acquisition/event-trends/people', {
        params: { query: page },
        body: { ...filter, name: name ?? '', predicates: readPredicates(where) },
        signal,
      }),
    );
  if (of === 'customers') {
    const query = { ...filter, ...page } as QueryOf<'/v1/acquisition/attributions'>;
    const customers = await dataOf(heron.GET('/v1/acquisition/attributions', { params: { query }, signal }));
    const data = customers.data.map((one) => ({ ...one, id: one.person_id, kind: 'customer', at: one.acquired_at }));
    return { ...customers, data };
  }
  if (of === 'acquisition') {
    const query = { ...number, ...window, ...page } as QueryOf<'/v1/acquisition/explain'>;
    return dataOf(heron.GET('/v1/acquisition/explain', { params: { query }, signal }));
  }
  const query = { ...number, ...page } as QueryOf<'/v1/analytics/explain'>;
  return dataOf(heron.GET('/v1/analytics/explain', { params: { query }, signal }));
}
