import type { Columns } from '../../../db/rows.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { findAutomation } from './automations.ts';

/** Columns of an automation run that the API returns. */
export type AutomationRun = Columns<
  'automation_runs',
  | 'id'
  | 'organization_id'
  | 'automation_id'
  | 'trigger_event'
  | 'status'
  | 'node_results'
  | 'error_detail'
  | 'blocked_reason'
  | 'started_at'
  | 'finished_at'
>;

/** Lists the newest runs of an automation, at most `limit`. @throws AppError not_found */
export async function listAutomationRuns(ctx: Ctx, id: string, limit: number): Promise<AutomationRun[]> {
  const org = reader(ctx);
  await findAutomation(org, id);
  return org.sql<AutomationRun>(
    `select id, organization_id, automation_id, trigger_event, status, node_results, error_detail, blocked_reason, started_at, finished_at
     from automation_runs where organization_id = :org and automation_id = :id order by id desc limit :limit`,
    { id, limit },
  );
}
