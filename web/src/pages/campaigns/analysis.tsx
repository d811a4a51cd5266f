import { Badge, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { DataTable } from '../../components/data-table.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { toPercent, useText } from '../../text/index.ts';
import { stepsQuery } from './queries.ts';

type Answer = AnswerOf<'/v1/campaigns/{id}/ab-analysis'>;
type Variant = Answer['variants'][number];
const RATES = ['open_rate', 'click_rate', 'reply_rate', 'bounce_rate'] as const;

/** Compares the A/B variants of each step, with 95 % intervals of their rates and the winner. */
export function Analysis({ id }: { id: string }) {
  const t = useText();
  const steps = useQuery(stepsQuery(id));
  const analysis = useQuery({
    queryKey: ['campaigns', id, 'analysis'],
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/ab-analysis', { params: { path: { id } } })),
  });
  return (
    <Answered query={analysis} skeleton={<ListSkeleton rows={2} height={120} />}>
      {(answer) => (
        <Stack gap="lg">
          <Text size="sm" c="dimmed">
            {answer.variants.length > 0 ? t(`analysis.rule.${answer.winning_rule}`) : t('analysis.none')}
          </Text>
          {answer.steps.map(({ step_id: stepId, winner_id: winner }) => {
            const step = steps.data?.find((one) => one.id === stepId) ?? steps.data?.[0];
            return (
              <StepAnalysis
                key={stepId ?? 'first'}
                name={step?.name || t('analysis.step', { number: (step?.position ?? 0) + 1 })}
                to={step ? `/campaigns/${id}?step=${step.id}` : `/campaigns/${id}`}
                variants={answer.variants.filter((one) => one.step_id === stepId)}
                winner={winner}
              />
            );
          })}
        </Stack>
      )}
    </Answered>
  );
}

function StepAnalysis({
  name,
  to,
  variants,
  winner,
}: {
  name: string;
  /** URL of the step's variants. */
  to: `/campaigns/${string}`;
  variants: readonly Variant[];
  winner: string | null;
}) {
  const t = useText();
  const shownRate = ({ total_sent: sent, intervals, ...variant }: Variant, rate: (typeof RATES)[number]) => {
    if (sent === 0) return '–';
    const { low, high } = intervals[rate];
    return t('analysis.interval', {
      rate: toPercent(variant[rate] / 100),
      low: toPercent(low / 100),
      high: toPercent(high / 100),
    });
  };
  return (
    <DataTable
      title={name}
      note={
        <>
          {t(winner ? 'analysis.won' : 'analysis.open')}{' '}
          <PageLink to={to} inherit underline="always">
            {t('analysis.edit')}
          </PageLink>
        </>
      }
      filename={`heron-variants-${name}`}
      rows={variants}
      keyOf={({ variant_id: id }) => id}
      columns={[
        {
          label: t('variants.name'),
          value: (one) => one.variant_name,
          show: (one) => (
            <>
              {one.variant_name}
              {one.variant_id === winner ? (
                <Badge ml={6} size="sm" variant="light" color="teal" tt="none">
                  {t('variants.winner')}
                </Badge>
              ) : null}
            </>
          ),
        },
        { label: t('campaigns.sent'), isNumber: true, value: (one) => one.total_sent },
        ...RATES.map((rate) => ({
          label: t(`analysis.rate.${rate}`),
          isNumber: true,
          value: (one: Variant) => one[rate],
          show: (one: Variant) => shownRate(one, rate),
        })),
      ]}
    />
  );
}
