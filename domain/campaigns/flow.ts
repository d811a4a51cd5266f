import { ZERO_UUID } from '../../lib/ids.ts';
import { sumCounts, SUMMED, type Counts } from '../reporting/aggregates/metrics.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';

/** Numbers of a campaign's leads by step and by followed link, and the results of each text. */
export interface CampaignFlow {
  campaignId: string;
  /** Number of leads that have not begun. */
  pending: number;
  steps: StepStanding[];
  /** Numbers of leads that went from one step to another. Includes steps that were removed later. */
  links: { from: string; to: string; leads: number }[];
  /** Results of emails by step and variant. `variantId` is null for the step's own text. */
  wordings: { stepId: string; variantId: string | null; counts: Counts }[];
}

/** Numbers of leads at one step. The step may have been removed since. */
interface StepStanding {
  stepId: string;
  /** Number of active leads that are at this step now. */
  standing: number;
  /** Number of leads whose sequence ended at this step, for any reason. */
  ended: number;
  /** Number of leads that have reached this step, including those that are at it now. */
  reached: number;
}

/**
 * Returns the numbers of a campaign's leads by step and by followed link (GET /campaigns/:id/flow). Reads counts that
 * triggers maintain, so the cost does not depend on the number of leads.
 * @throws AppError not_found
 */
export async function readCampaignFlow(ctx: Ctx, id: string): Promise<CampaignFlow> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, id);
  const [counts, wordings] = await Promise.all([
    org.sql<{ step_id: string | null; state: string | null; from_step_id: string | null; leads: number }>(
      `select step_id, state, from_step_id, sum(leads)::int as leads from campaign_flow_counts
       where organization_id = :org and campaign_id = :id group by 1, 2, 3 having sum(leads) <> 0 order by 1, 2, 3`,
      { id: campaign.id },
    ),
    org.sql<Counts & { step_id: string; variant_id: string }>(
      `select step_id, variant_id, ${SUMMED} from fact_steps
       where organization_id = :org and campaign_id = :id group by 1, 2 order by 1, 2`,
      { id: campaign.id },
    ),
  ]);
  const steps = new Map<string, StepStanding>();
  const links: CampaignFlow['links'] = [];
  let pending = 0;
  for (const { step_id: stepId, state, from_step_id: from, leads } of counts) {
    if (state === 'pending') pending += leads;
    if (stepId === null || state === 'pending') continue;
    const at = steps.get(stepId) ?? { stepId, standing: 0, ended: 0, reached: 0 };
    steps.set(stepId, at);
    at[state === null ? 'reached' : state === 'active' ? 'standing' : 'ended'] += leads;
    if (from !== null) links.push({ from, to: stepId, leads });
  }
  return {
    campaignId: campaign.id,
    pending,
    steps: [...steps.values()],
    links,
    wordings: wordings.map(({ step_id: stepId, variant_id: variantId, ...counts }) => ({
      stepId,
      variantId: variantId === ZERO_UUID ? null : variantId,
      counts: sumCounts([counts]),
    })),
  };
}
