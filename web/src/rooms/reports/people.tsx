import { Button, Table, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { dataOf, heron } from '../../app/api.ts';
import { saveCsv } from '../../parts/csv.ts';
import { Page } from '../../parts/page.tsx';
import { PagedTable, usePaged } from '../../parts/paged.tsx';
import { Answered, ListSkeleton } from '../../parts/states.tsx';
import { Ago } from '../../parts/time.tsx';
import { To } from '../../parts/to.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import type { FigureOf } from './behind.tsx';

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

/** Who and what is behind a number of a report: as many as the number says. */
export default function PeoplePage() {
  const t = useText();
  const { of, ...number } = useSearch({ strict: false }) as FigureOf;
  const list = usePaged(['reports', 'behind', of, number], async (cursor, signal) => {
    const query = { ...number, limit: 100, ...cursor };
    const page =
      of === 'acquisition'
        ? await dataOf(heron.GET('/v1/acquisition/explain', { params: { query: query as never }, signal }))
        : await dataOf(heron.GET('/v1/analytics/explain', { params: { query: query as never }, signal }));
    return { ...page, data: page.data as readonly Counted[] };
  });
  const name = textOf('reports.figure', number.figure);
  const total = list.data?.pages[0]?.pagination.total;
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const range =
    number.from && number.to ? t('reports.utcMoments', { from: toMinute(number.from), to: toMinute(number.to) }) : '';
  return (
    <Page
      title={total === undefined || total === null ? name : `${name}: ${toNumber(total)}`}
      lead={range || t('reports.everSince')}
      back={{ to: of === 'acquisition' ? '/reports/attribution' : '/reports', label: t('nav.reports') }}
      actions={
        rows.length > 0 ? (
          <Button
            variant="default"
            onClick={() =>
              saveCsv(
                `heron-${number.figure}`,
                [t('reports.person'), t('reports.what'), t('reports.at')],
                rows.map((one) => [one.contact_email, kindOf(one), one.at]),
              )
            }
          >
            {t('csv')}
          </Button>
        ) : null
      }
    >
      <Answered query={list} skeleton={<ListSkeleton rows={8} />}>
        {() => (
          <PagedTable
            list={list}
            minWidth={560}
            empty={t('reports.nobody')}
            columns={[
              { label: t('reports.person') },
              { label: t('reports.what') },
              { label: t('reports.campaign') },
              { label: t('reports.at') },
            ]}
          >
            {rows.map((one) => (
              <Table.Tr key={one.id}>
                <Table.Td maw={320} className="clip">
                  {one.contact_id ? (
                    <To to={`/leads/${one.contact_id}`} size="sm" fw={600}>
                      {one.contact_email ?? t('reports.erased')}
                    </To>
                  ) : (
                    (one.contact_email ?? (
                      <Text span c="dimmed" inherit>
                        {t('reports.erased')}
                      </Text>
                    ))
                  )}
                </Table.Td>
                <Table.Td>{kindOf(one)}</Table.Td>
                <Table.Td>
                  {one.campaign_id ? (
                    <To to={`/campaigns/${one.campaign_id}`} size="sm">
                      {t('reports.open')}
                    </To>
                  ) : null}
                </Table.Td>
                <Table.Td c="dimmed">
                  <Ago at={one.at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </PagedTable>
        )}
      </Answered>
    </Page>
  );
}

function kindOf({ kind, amount_minor: amount, currency }: Counted): string {
  if (amount !== undefined && amount !== null && currency)
    return toNumber(amount / 100, { style: 'currency', currency });
  return textOf('reports.kind', kind ?? 'person');
}

function toMinute(moment: string): string {
  return new Date(moment).toISOString().slice(0, 16).replace('T', ' ');
}
