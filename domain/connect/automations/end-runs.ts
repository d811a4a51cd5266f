import { json } from '../../../db/connection.ts';
import type { Message } from '../../../messages/index.ts';
import { withdrawActions } from '../integrations/settle.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { signalOpen } from '../../../temporal/dispatch.ts';
import { automationWorkflow } from '../../../workflows/automation/contract.ts';

/**
 * Ends the runs of an automation that are under way: what they have done stays, what they wait for is not done. What they have asked of providers and is not sent yet is
 * taken back.
 * @param why reason that the runs show
 */
export async function endOpenRuns(tx: Tx, automationId: string, why: Message): Promise<void> {
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
