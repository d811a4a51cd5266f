import { Alert, Button, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { Facts } from '../../components/facts.tsx';
import { Figure } from '../../components/figure.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, FiguresSkeleton, ListSkeleton } from '../../components/states.tsx';
import { toSpan } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { Breakdown } from './breakdown.tsx';
import { FigureLink, type FigureOf } from './figure-link.tsx';
import { NothingSent } from './nothing.tsx';
import { ReportPage } from './frame.tsx';
import { PeriodControl, usePeriod, type Period } from './period.tsx';

const CreditRule = lazy(() => import('./credit-rule.tsx'));
const CreditBreakdown = lazy(() => import('./credit-breakdown.tsx'));

/** Page of the results of the emails sent in a period: replies, signups, customers, revenue, and their attribution. */
export default function AttributionPage() {
  const period = usePeriod();
  const query = { from: period.begin, to: period.end };
  const summary = useQuery({
    queryKey: ['reports', 'acquisition', period.begin],
    queryFn: () => dataOf(heron.GET('/v1/acquisition/summary', { params: { query } })),
  });
  return (
    <ReportPage actions={<PeriodControl />}>
      <Answered query={summary} skeleton={<FiguresSkeleton count={6} />}>
        {(data) =>
          data.confirmed_sends === 0 ? (
            <>
              <LacksGoal summary={data} />
              <NothingSent />
            </>
          ) : (
            <>
              <Stages summary={data} />
              <Breakdown period={period} />
            </>
          )
        }
      </Answered>
      {summary.isPending ? null : <Credit period={period} />}
    </ReportPage>
  );
}

function Stages({ summary }: { summary: AnswerOf<'/v1/acquisition/summary'> }) {
  const t = useText();
  const part = {
    of: 'acquisition',
    from: summary.from,
    to: summary.to,
    window_days: `${summary.window_days}`,
  } as const;
  return (
    <>
      <Text size="sm" c="dimmed">
        {t('reports.window', { period: toSpan(summary.from, summary.to), days: summary.window_days })}
      </Text>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
        <Figure
          label={t('reports.figure.prospects')}
          value={<FigureLink value={summary.prospects} number={{ ...part, figure: 'prospects' }} />}
          note={t('reports.emails', { count: summary.confirmed_sends })}
        />
        {summary.stages.map(({ stage, people, per_10k_sends: rate }) => (
          <Figure
            key={stage}
            label={t(`reports.figure.${stage}`)}
            value={<FigureLink value={people} number={{ ...part, figure: stage }} />}
            note={
              rate === null ? undefined : t('reports.per10k', { rate: toNumber(rate, { maximumFractionDigits: 1 }) })
            }
          />
        ))}
      </SimpleGrid>
      {summary.window_revenue.length > 0 ? (
        <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
          {summary.window_revenue.map(({ currency, amount_minor: amount, conversions }) => (
            <Figure
              key={currency}
              label={t('reports.figure.window_revenue')}
              value={
                <FigureLink value={conversions} number={{ ...part, figure: 'window_revenue', currency }}>
                  {toNumber(amount / 100, { style: 'currency', currency })}
                </FigureLink>
              }
              note={t('reports.conversions', { count: conversions })}
            />
          ))}
        </SimpleGrid>
      ) : null}
      <LacksGoal summary={summary} />
    </>
  );
}

function LacksGoal({ summary }: { summary: AnswerOf<'/v1/acquisition/summary'> }) {
  const t = useText();
  const lacks = summary.stages.some(({ stage, goal_id }) => stage === 'signup' && !goal_id);
  return lacks ? (
    <Alert color="blue" variant="light" role="note">
      {t('reports.noGoal')}{' '}
      <PageLink to="/reports/goals" c="inherit" inherit underline="always">
        {t('reports.noGoal.fix')}
      </PageLink>
    </Alert>
  ) : null;
}

function RuleButton() {
  const t = useText();
  const [isOpen, open] = useState(false);
  return (
    <>
      <Button size="xs" variant="default" aria-haspopup="dialog" onClick={() => open(true)}>
        {t('creditRule.open')}
      </Button>
      {isOpen ? (
        <Suspense>
          <CreditRule close={() => open(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

function Credit({ period }: { period: Period }) {
  const t = useText();
  const [isBroken, breakDown] = useState(false);
  const mayChange = useCan('manage_settings');
  const behind = (count: number, figure: string, more: Partial<FigureOf> = {}) => (
    <FigureLink value={count} number={{ of: 'customers', figure, from: period.begin, to: period.end, ...more }} />
  );
  const credit = useQuery({
    queryKey: ['reports', 'attribution', period.begin],
    queryFn: () =>
      dataOf(
        heron.GET('/v1/acquisition/attribution/summary', {
          params: { query: { from: period.begin, to: period.end } },
        }),
      ),
  });
  return (
    <Section title={t('reports.credit')} action={mayChange ? <RuleButton /> : null}>
      <Answered query={credit} skeleton={<ListSkeleton rows={3} height={24} />}>
        {(data) => (
          <Stack gap="sm">
            <Text size="sm" c="dimmed">
              {data.acquisition_goal
                ? t('reports.credit.why', { goal: data.acquisition_goal.name, days: data.settings.window_days })
                : t('reports.noGoal')}
            </Text>
            {data.customers > 0 ? (
              <Facts
                rows={[
                  [t('reports.customers'), behind(data.customers, 'customers')],
                  [t('reports.attributed'), behind(data.attributed, 'attributed', { status: 'attributed' })],
                  [t('reports.unattributed'), behind(data.unattributed, 'unattributed', { status: 'unattributed' })],
                  [
                    t('reports.corrected'),
                    data.corrected ? behind(data.corrected, 'corrected', { corrected: 'true' }) : null,
                  ],
                  ...Object.entries(data.match_methods)
                    .filter(([, count]) => count > 0)
                    .map(
                      ([method, count]) =>
                        [
                          textOf('reports.match', method),
                          behind(count, 'customers', { match_method: method }),
                        ] as const,
                    ),
                ]}
              />
            ) : data.acquisition_goal ? (
              <Text size="sm">{t('reports.noCustomers')}</Text>
            ) : null}
            {data.attributed > 0 && !isBroken ? (
              <Button size="xs" variant="default" w="fit-content" onClick={() => breakDown(true)}>
                {t('reports.credit.by')}
              </Button>
            ) : null}
            {isBroken ? (
              <Suspense fallback={<ListSkeleton rows={3} />}>
                <CreditBreakdown period={period} />
              </Suspense>
            ) : null}
          </Stack>
        )}
      </Answered>
    </Section>
  );
}
