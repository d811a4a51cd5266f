import { json } from '../../../db/connection.ts';
import type { Message } from '../../../messages/index.ts';
import { withdrawActions } from '../integrations/settle.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { signalOpen } from '../../../temporal/dispatch.ts';
import { automationWorkflow } from '../../../workflows/automation/contract.ts';

/**
 * Ends the active runs of an automation. Effects of completed nodes stay; waiting nodes are not executed. Provider
 * actions that are not yet sent are withdrawn.
 * @param why reason stored with the runs
 */
export async function endOpenAutomationRuns(tx: Tx, automationId: string, why: Message): Promise<void> {
  const ended = await tx.org.sql<{ id: string }>(
    `update automation_runs set status = 'error', error_detail = cast(:why as jsonb), finished_at = :now, graph = null, waiting = null, blocked_reason = null
     where organization_id = :org and automation_id = :id and status = 'running' returning id`,
    { id: automationId, why: json(why), now: tx.now },
  );
  await withdrawActions(
    tx,
    ended.map(({ id }) => id),
  );
  for (const { id: runId } of ended)
    tx.intend(
      signalOpen(automationWorkflow, { organizationId: tx.org.organizationId, runId }, 'changed', { cause: 'ended' }),
    );
}
