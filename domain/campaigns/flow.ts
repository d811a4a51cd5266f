import { ZERO_UUID } from '../../lib/ids.ts';
import { sumCounts, SUMMED, type Counts } from '../reporting/aggregates/metrics.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';

/** Where the leads of a campaign stand in its graph, which ways they went, and what became of the emails of each wording. */
export interface CampaignFlow {
  campaignId: string;
  /** Leads who have not begun. */
  pending: number;
  steps: StepStanding[];
  /** Ways that leads went from a step to the next one they met; of steps that were removed as well. */
  links: { from: string; to: string; leads: number }[];
  /** By step and variant; `variantId` is null for the step's own wording. */
  wordings: { stepId: string; variantId: string | null; counts: Counts }[];
}

/** Leads at one step, removed steps included. */
interface StepStanding {
  stepId: string;
  /** Under way and at this step now. */
  standing: number;
  /** Their way ended here, whatever ended it. */
  ended: number;
  /** Have been here, those who are here now included. */
  reached: number;
}

/**
 * Where the leads of a campaign are in its graph (GET /campaigns/:id/flow), from counts that triggers keep: as quick for a million leads as for ten.
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
