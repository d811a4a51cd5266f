import { json } from '../../../db/connection.ts';
import { signal } from '../../../temporal/dispatch.ts';
import { webhookVerifyWorkflow } from '../../../workflows/webhook-verify/contract.ts';
import type { RetryCause } from '../../platform/kernel/tx.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { message, type Message } from '../../../messages/index.ts';

/**
 * Stores the reason why the verification of an endpoint keeps failing, in the field that also shows a failed challenge.
 * @returns the endpoint's id, or undefined if it was deleted or needs no challenge
 */
export async function blockVerification(tx: Tx, workflowId: string, reason: Message): Promise<string | undefined> {
  const { endpointId } = webhookVerifyWorkflow.partsOf(workflowId)!;
  const changed = await tx.org
    .table('webhook_endpoints')
    .where({ id: endpointId, challenging: true })
    .whereNull('verified_at')
    .update({
      last_failure_at: tx.now,
      last_failure_reason: json(message('connect.verification_failing', { reason })),
      updated_at: tx.now,
    });
  return changed > 0 ? endpointId : undefined;
}

/** Signals the workflow that verifies an endpoint, unless the endpoint was deleted or needs no challenge. */
export async function retryVerification(tx: Tx, endpointId: string, cause: RetryCause): Promise<void> {
  const [open] = await tx.org.sql(
    'select 1 from webhook_endpoints where organization_id = :org and id = :id and challenging and verified_at is null',
    { id: endpointId },
  );
  const args = { organizationId: tx.org.organizationId, endpointId };
  if (open) tx.intend(signal(webhookVerifyWorkflow, args, 'retry', { cause }));
}
