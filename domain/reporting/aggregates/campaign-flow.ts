import { ZERO_UUID } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/**
 * Key of the lead counts. A row with a `state` has the number of leads by last step and state. A row with an empty
 * `state` has the number of entries into a step, by the previous step. The zero id means "no step", before the first
 * step.
 */
export const FLOW_KEY = ['campaign_id', 'step_id', 'state', 'from_step_id'] as const;

const KEY = `campaign_id, coalesce(step_id, '${ZERO_UUID}') as step_id, coalesce(state, '') as state, coalesce(from_step_id, '${ZERO_UUID}') as from_step_id`;

/** SQL for the counts that triggers maintain. */
export const STORED_FLOW = `select ${KEY}, sum(leads)::int as leads from campaign_flow_counts where organization_id = :org
     group by 1, 2, 3, 4 having sum(leads) <> 0`;

/** SQL for the same counts, computed from leads and their step runs. */
export const COUNTED_FLOW = `select ${KEY}, count(*)::int as leads from (
       select campaign_id, current_step_id as step_id, state, null::uuid as from_step_id from enrollments where organization_id = :org
       union all
       select r.campaign_id, r.step_id, null, b.step_id
       from step_runs r left join step_runs b on b.enrollment_id = r.enrollment_id and b.seq = r.seq - 1
       where r.organization_id = :org
     ) counted group by 1, 2, 3, 4`;

/** Recomputes the lead counts of every campaign in one statement. Triggers add concurrent changes to the new counts. */
export async function recountCampaignFlow(tx: Tx): Promise<void> {
  // Takes the same lock as the job that merges count rows, because both delete rows.
  await tx.org.lock(`campaign-flow/${tx.org.organizationId}`);
  await tx.org.sql(
    `with gone as (delete from campaign_flow_counts where organization_id = :org)
     insert into campaign_flow_counts (organization_id, campaign_id, step_id, state, from_step_id, leads, is_folded)
     select :org, campaign_id, nullif(step_id, '${ZERO_UUID}'), nullif(state, ''), nullif(from_step_id, '${ZERO_UUID}'), leads, true from (${COUNTED_FLOW}) counted`,
  );
}
