import { ZERO_UUID } from '../../lib/ids.ts';
import { addUp, SUMMED, type Counts } from '../facts/metrics.ts';
import { findCampaign } from '../engine/campaign/find.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader } from '../kernel/transact.ts';

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
export interface StepStanding {
  stepId: string;
  /** Under way and at this step now. */
  standing: number;
  /** Their way ended here, whatever ended it. */
  ended: number;
  /** Have been here, those who are here now included. */
  reached: number;
}

/**
 * Counts the leads of a campaign by where they are in its graph (GET /campaigns/:id/flow). It reads every lead of the campaign and every step
 * they met: for pages and not for loops.
 * @throws AppError not_found
 */
export async function readCampaignFlow(ctx: Ctx, id: string): Promise<CampaignFlow> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, id);
  const [states, ways, wordings] = await Promise.all([
    org.sql<{ step_id: string | null; state: string; leads: number }>(
      `select current_step_id as step_id, state, count(*)::int as leads from enrollments
       where organization_id = :org and campaign_id = :id group by 1, 2`,
      { id: campaign.id },
    ),
    org.sql<{ from: string; to: string | null; leads: number }>(
      `select here.step_id as "from", next.step_id as "to", count(*)::int as leads
       from enrollments e join step_runs here on here.enrollment_id = e.id
         left join step_runs next on next.enrollment_id = e.id and next.seq = here.seq + 1
       where e.organization_id = :org and e.campaign_id = :id group by 1, 2 order by 1, 2`,
      { id: campaign.id },
    ),
    org.sql<Counts & { step_id: string; variant_id: string }>(
      `select step_id, variant_id, ${SUMMED} from fact_steps
       where organization_id = :org and campaign_id = :id group by 1, 2 order by 1, 2`,
      { id: campaign.id },
    ),
  ]);
  const steps = new Map<string, StepStanding>();
  const at = (stepId: string): StepStanding => {
    const known = steps.get(stepId) ?? { stepId, standing: 0, ended: 0, reached: 0 };
    steps.set(stepId, known);
    return known;
  };
  for (const { step_id: stepId, state, leads } of states) {
    if (stepId === null || state === 'pending') continue;
    at(stepId)[state === 'active' ? 'standing' : 'ended'] += leads;
  }
  for (const { from, leads } of ways) at(from).reached += leads;
  return {
    campaignId: campaign.id,
    pending: states.filter(({ state }) => state === 'pending').reduce((sum, { leads }) => sum + leads, 0),
    steps: [...steps.values()],
    links: ways.flatMap(({ from, to, leads }) => (to === null ? [] : [{ from, to, leads }])),
    wordings: wordings.map(({ step_id: stepId, variant_id: variantId, ...counts }) => ({
      stepId,
      variantId: variantId === ZERO_UUID ? null : variantId,
      counts: addUp([counts]),
    })),
  };
}
