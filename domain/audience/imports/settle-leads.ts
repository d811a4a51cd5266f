import type { ContactImportRow } from '../../../db/models/contact-import.ts';
import { requesterOf } from '../../approvals/standing.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { settleImportedLeads } from '../leads/add.ts';

/**
 * Decides about the leads of an ended import that an API key or application requested. Leads within its policy may be
 * mailed; all others wait for an approval. Stores the approval with the import.
 */
export async function settleLeads(
  { config }: Pick<Ctx, 'config'>,
  tx: Tx,
  { id, options: { campaign_id: campaignId, requested_by: credential } }: Pick<ContactImportRow, 'id' | 'options'>,
): Promise<void> {
  if (!campaignId || !credential) return;
  const requester = requesterOf(credential);
  const approval = await settleImportedLeads(tx, config, { campaignId, importId: id, requester });
  if (approval)
    await tx.org.sql('update contact_imports set approval_id = :approval where organization_id = :org and id = :id', {
      id,
      approval: approval.id,
    });
}
