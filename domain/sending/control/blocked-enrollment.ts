import type { Columns } from '../../../db/rows.ts';
import { enrollmentWorkflow } from '../../../workflows/enrollment/contract.ts';
import type { RetryCause } from '../../platform/kernel/tx.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { logCampaign } from '../campaign/log.ts';
import { signalRetry } from './signals.ts';
import { message, type Message } from '../../../messages/index.ts';
import { json } from '../../../db/connection.ts';

/**
 * Marks the enrollment of a repeatedly failing workflow as blocked.
 * @returns its id, or undefined if the enrollment is deleted or finished
 */
export async function blockEnrollment(tx: Tx, workflowId: string, reason: Message): Promise<string | undefined> {
  const { campaignId, contactId } = enrollmentWorkflow.partsOf(workflowId)!;
  const [row] = await tx.org.sql<{ id: string }>(
    `update enrollments set blocked = true, waiting_for = cast(:reason as jsonb), waiting_until = null
     where organization_id = :org and campaign_id = :campaign and contact_id = :contact and state = 'active' returning id`,
    { campaign: campaignId, contact: contactId, reason: json(reason) },
  );
  if (row)
    await logCampaign(tx, campaignId, 'run_blocked', message('log.lead_blocked', { reason }), {
      contact_id: contactId,
    });
  return row?.id;
}

/** Removes the mark of a blocked enrollment and signals its workflow, unless the enrollment is deleted or finished. */
export async function retryEnrollment(tx: Tx, id: string, cause: RetryCause): Promise<void> {
  const [run] = await tx.org.sql<Columns<'enrollments', 'campaign_id' | 'contact_id'>>(
    `update enrollments set blocked = false where organization_id = :org and id = :id and state = 'active' returning campaign_id, contact_id`,
    { id },
  );
  if (run) signalRetry(tx, run, { cause, stepRunId: null });
}
