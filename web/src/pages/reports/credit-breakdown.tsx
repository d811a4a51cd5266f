import { Select, Stack } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { FigureLink } from './figure-link.tsx';
import type { Period } from './period.tsx';

const DIMENSIONS = [
  'campaign',
  'step',
  'variant',
  'offer',
  'angle',
  'cta',
  'copy',
  'mailbox',
  'audience_source',
  'segment',
  'category',
  'match_method',
] as const;
type Dimension = (typeof DIMENSIONS)[number];
type Row = AnswerOf<'/v1/acquisition/attribution/breakdown'>['rows'][number];

/** Attributed customers, grouped by a property of the credited email. The property is that at the time of sending. */
export default function CreditBreakdown({ period }: { period: Period }) {
  const t = useText();
  const [dimension, setDimension] = useState<Dimension>('campaign');
  const breakdown = useQuery({
    queryKey: ['reports', 'credit-breakdown', dimension, period.begin],
    placeholderData: keepPreviousData,
    queryFn: () =>
      dataOf(
        heron.GET('/v1/acquisition/attribution/breakdown', {
          params: { query: { from: period.begin, to: period.end, dimension } },
        }),
      ),
  });
  const nameOf = ({ name, key }: Row) =>
    dimension === 'match_method' ? textOf('reports.match', key ?? 'none') : (name ?? key ?? t('reports.without'));
  return (
    <Stack gap="sm">
      <Select
        label={t('reports.by')}
        value={dimension}
        onChange={(value) => setDimension((value ?? dimension) as Dimension)}
        data={DIMENSIONS.map((value) => ({ value, label: t(`reports.by.${value}`) }))}
        allowDeselect={false}
        w={240}
      />
      <Answered query={breakdown} skeleton={<ListSkeleton rows={3} />}>
        {({ rows }) => (
          <DataTable
            title={t('reports.credit.customers')}
            note={period.note}
            filename={`heron-customers-${dimension}-${period.from}-${period.to}`}
            rows={rows}
            keyOf={({ key }) => key ?? ''}
            empty={t('reports.noCustomers')}
            columns={[
              { label: t(`reports.by.${dimension}`), value: nameOf },
              {
                label: t('reports.customers'),
                isNumber: true,
                value: (row) => row.customers,
                show: (row) => <Customers row={row} dimension={dimension} period={period} />,
              },
              { label: t('reports.credit.silent'), isNumber: true, value: (row) => row.attributed_without_engagement },
              { label: t('reports.corrected'), isNumber: true, value: (row) => row.corrected },
              { label: t('reports.credit.estimated'), isNumber: true, value: (row) => row.company_estimate },
            ]}
          />
        )}
      </Answered>
    </Stack>
  );
}

/** Number of customers. It links to these customers if their list can be filtered by the property. */
function Customers({ row, dimension, period }: { row: Row; dimension: Dimension; period: Period }) {
  const filter =
    row.key === null
      ? undefined
      : dimension === 'campaign'
        ? { campaign_id: row.key }
        : dimension === 'match_method'
          ? { match_method: row.key }
          : undefined;
  if (!filter) return toNumber(row.customers);
  const range = { from: period.begin, to: period.end, status: 'attributed' };
  return <FigureLink value={row.customers} number={{ of: 'customers', figure: 'attributed', ...range, ...filter }} />;
}
