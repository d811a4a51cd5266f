import { Button, Select, Stack, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { DataTable } from '../../components/data-table.tsx';
import { useFilter } from '../../components/filter.ts';
import { toMoneyOfMinor } from '../../components/money.ts';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { FigureLink } from './figure-link.tsx';
import type { Period } from './period.tsx';

const SpendDialog = lazy(() => import('./spend.tsx'));

const DIMENSIONS = [
  'campaign',
  'step',
  'variant',
  'offer',
  'angle',
  'cta',
  'copy',
  'mailbox',
  'segment',
  'category',
] as const;
type Dimension = (typeof DIMENSIONS)[number];
type Row = AnswerOf<'/v1/acquisition/breakdown'>['rows'][number];

/** Results of the period's emails, grouped by one of their properties. Grouped by campaign, they include the cost. */
export function Breakdown({ period }: { period: Period }) {
  const t = useText();
  const mayChange = useCan('manage_settings');
  const [spender, setSpender] = useState<Row | null>(null);
  const [given, setGiven] = useFilter('by');
  const dimension = (DIMENSIONS as readonly string[]).includes(given) ? (given as Dimension) : 'campaign';
  const breakdown = useQuery({
    queryKey: ['reports', 'breakdown', dimension, period.begin],
    queryFn: () =>
      dataOf(
        heron.GET('/v1/acquisition/breakdown', {
          params: { query: { from: period.begin, to: period.end, dimension } },
        }),
      ),
  });
  const stage = (name: 'replied' | 'positive_reply' | 'signup' | 'paid') => {
    const people = (row: Row) => row.stages.find((one) => one.stage === name)?.people ?? 0;
    return {
      label: t(`reports.figure.${name}`),
      isNumber: true,
      value: people,
      show: (row: Row) => <FigureLink value={people(row)} number={partOf(row, name)} />,
    };
  };
  const perPerson = (name: 'signup' | 'paid') => ({
    label: t(`spend.per.${name}`),
    isNumber: true,
    value: ({ spend }: Row) => moneyOf(spend, spend?.[`cost_per_${name}_minor`]),
  });
  const costs = [
    {
      label: t('spend.cost'),
      isNumber: true,
      value: ({ spend }: Row) => moneyOf(spend, spend?.amount_minor),
      show: (row: Row) => <Cost row={row} mayChange={mayChange} change={() => setSpender(row)} />,
    },
    perPerson('signup'),
    perPerson('paid'),
  ];
  const partOf = (row: Row, figure: string) =>
    ({
      of: 'acquisition',
      figure,
      from: period.begin,
      to: period.end,
      dimension,
      // An empty key selects the row without a value of this dimension.
      key: row.key ?? '',
    }) as const;
  return (
    <Stack gap="sm">
      <Select
        label={t('reports.by')}
        value={dimension}
        onChange={(value) => setGiven(value === 'campaign' ? '' : (value ?? ''))}
        data={DIMENSIONS.map((value) => ({ value, label: t(`reports.by.${value}`) }))}
        allowDeselect={false}
        w={240}
      />
      <Answered query={breakdown} skeleton={<ListSkeleton rows={4} />}>
        {({ rows }) => (
          <DataTable
            title={t('reports.breakdown')}
            note={period.note}
            filename={`heron-${dimension}-${period.from}-${period.to}`}
            rows={rows}
            keyOf={({ key }) => key ?? ''}
            empty={t('reports.none')}
            columns={[
              { label: t(`reports.by.${dimension}`), value: ({ name, key }) => name ?? key ?? t('reports.without') },
              {
                label: t('reports.figure.confirmed_sends'),
                isNumber: true,
                value: (row) => row.confirmed_sends,
                show: (row) => <FigureLink value={row.confirmed_sends} number={partOf(row, 'confirmed_sends')} />,
              },
              stage('replied'),
              stage('positive_reply'),
              stage('signup'),
              stage('paid'),
              ...(dimension === 'campaign' ? costs : []),
            ]}
          />
        )}
      </Answered>
      {spender?.key ? (
        <Suspense>
          <SpendDialog
            campaignId={spender.key}
            name={spender.name ?? ''}
            spend={spender.spend}
            close={() => setSpender(null)}
          />
        </Suspense>
      ) : null}
    </Stack>
  );
}

function Cost({ row: { key, name, spend }, mayChange, change }: { row: Row; mayChange: boolean; change: () => void }) {
  const t = useText();
  const shown = moneyOf(spend, spend?.amount_minor);
  // The cost of a deleted campaign is shown but cannot be edited. Such a campaign has no name.
  if (!mayChange || !key || name === null) return shown;
  return (
    <Button
      size="compact-xs"
      variant={shown ? 'subtle' : 'default'}
      aria-haspopup="dialog"
      title={t('spend.of', { name })}
      onClick={change}
    >
      {shown ?? t('spend.set')} <VisuallyHidden>{t('spend.of', { name })}</VisuallyHidden>
    </Button>
  );
}

const moneyOf = (spend: Row['spend'], amount: number | null | undefined) =>
  spend && typeof amount === 'number' ? toMoneyOfMinor(amount, spend.currency) : null;
