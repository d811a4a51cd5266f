import { z } from 'zod';
import { analyseVariants, type AbAnalysis, type AnalysedVariant } from '../../domain/campaigns/ab-analysis.ts';
import { route } from '../http/route.ts';
import { idParams, resource, uuid } from '../http/schemas.ts';

const rate = z.number().min(0).max(100);
const interval = z
  .strictObject({ low: rate, high: rate })
  .meta({ description: 'Range that contains the true rate with 95 % confidence, in percent' });

const analysis = resource('AbAnalysis', {
  campaign_id: uuid,
  variants: z.array(
    z.strictObject({
      variant_id: uuid,
      variant_name: z.string(),
      step_id: uuid.nullable(),
      total_sent: z.int(),
      opened: z.int(),
      clicked: z.int(),
      replied: z.int(),
      bounced: z.int(),
      open_rate: rate,
      click_rate: rate,
      reply_rate: rate,
      bounce_rate: rate,
      intervals: z.strictObject({
        open_rate: interval,
        click_rate: interval,
        reply_rate: interval,
        bounce_rate: interval,
      }),
    }),
  ),
  steps: z
    .array(z.strictObject({ step_id: uuid.nullable(), winner_id: uuid.nullable() }))
    .meta({ description: 'Steps with variants; `winner_id` is null while no variant is significantly better' }),
  winner_id: uuid.nullable().meta({ description: 'Winner, if only one step has variants' }),
  winner_name: z.string().nullable(),
  winning_rule: z.enum(['reply_rate', 'click_rate', 'open_rate']),
  confidence: z
    .enum(['low', 'high'])
    .meta({ description: '`high` if there is a winner: at most 5 % of tests without a difference have one' }),
});

/** Route of the comparison of A/B variants. */
export const abAnalysisRoutes = [
  route({
    area: 'campaigns',
    scope: ['READ_ANALYTICS'],
    permission: 'view_analytics',
    operationId: 'campaigns.getAbAnalysis',
    method: 'get',
    path: '/campaigns/:id/ab-analysis',
    summary: 'Compare the A/B variants of a campaign',
    description:
      'Counts the emails sent since the last change of each variant. Rates are percent of these emails, with 95 % intervals; opens and clicks of programs do not count. A winner is significantly better than every other variant of its step, by the same test as for automatic promotion.',
    params: idParams,
    success: { status: 200, body: analysis },
    handler: async (ctx, { params }) => present(await analyseVariants(ctx, params.id)),
  }),
];

function present({ campaignId, rule, variants, steps }: AbAnalysis): z.input<typeof analysis> {
  const winner = steps.length === 1 ? (steps[0]!.winner ?? null) : null;
  return {
    campaign_id: campaignId,
    variants: variants.map(presentVariant),
    steps: steps.map(({ stepId, winner: best }) => ({ step_id: stepId, winner_id: best?.variant_id ?? null })),
    winner_id: winner?.variant_id ?? null,
    winner_name: winner?.variant_name ?? null,
    winning_rule: rule,
    confidence: winner ? 'high' : 'low',
  };
}

function presentVariant(row: AnalysedVariant): z.input<typeof analysis>['variants'][number] {
  const { sent, opened, clicked, replied, bounced, intervals } = row;
  const rateOf = (count: number): number => (sent === 0 ? 0 : percent(count / sent));
  const between = ({ low, high }: { low: number; high: number }) => ({ low: percent(low), high: percent(high) });
  return {
    variant_id: row.variant_id,
    variant_name: row.variant_name,
    step_id: row.step_id,
    total_sent: sent,
    opened,
    clicked,
    replied,
    bounced,
    open_rate: rateOf(opened),
    click_rate: rateOf(clicked),
    reply_rate: rateOf(replied),
    bounce_rate: rateOf(bounced),
    intervals: {
      open_rate: between(intervals.opened),
      click_rate: between(intervals.clicked),
      reply_rate: between(intervals.replied),
      bounce_rate: between(intervals.bounced),
    },
  };
}

/** Returns a share in percent, with two decimals. */
function percent(share: number): number {
  return Math.round(share * 10_000) / 100;
}
