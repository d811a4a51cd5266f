import type { OrgScope } from '../../db/tenancy.ts';
import type { Problem } from '../../lib/errors.ts';
import { message, type MessageCode } from '../../messages/index.ts';

/** Ids of other rows of the workspace to which deals and tasks refer. They must be well-formed UUIDs. */
export interface References {
  contact_id?: string | null | undefined;
  deal_id?: string | null | undefined;
  campaign_id?: string | null | undefined;
  source_mailbox_id?: string | null | undefined;
  assigned_to?: string | null | undefined;
  assigned_team_id?: string | null | undefined;
}

const TARGETS = {
  contact_id: { from: 'contacts where organization_id = :org and id', fault: 'directory.unknown_contact' },
  deal_id: { from: 'crm_deals where organization_id = :org and id', fault: 'directory.unknown_deal' },
  campaign_id: { from: 'campaigns where organization_id = :org and id', fault: 'directory.unknown_campaign' },
  source_mailbox_id: { from: 'mailboxes where organization_id = :org and id', fault: 'directory.unknown_mailbox' },
  assigned_to: { from: 'memberships where organization_id = :org and user_id', fault: 'directory.unknown_member' },
  assigned_team_id: { from: 'teams where organization_id = :org and id', fault: 'directory.unknown_team' },
} as const satisfies Record<keyof References, { from: string; fault: MessageCode }>;

/**
 * Lists a problem for each id that matches no row of the workspace.
 * @param lock true to lock the referenced rows until the transaction ends. In this case call it before locking a deal
 * or task, because the deletion of a contact, deal or team locks that row before its deals and tasks.
 */
export async function referenceProblems(org: OrgScope, named: References, { lock = false } = {}): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const field of Object.keys(TARGETS) as (keyof References)[]) {
    const id = named[field];
    if (id === undefined || id === null) continue;
    const { from, fault } = TARGETS[field];
    const rows = await org.sql(`select 1 from ${from} = :id${lock ? ' for key share' : ''}`, { id });
    if (rows.length === 0) problems.push({ path: `body.${field}`, message: message(fault) });
  }
  return problems;
}
