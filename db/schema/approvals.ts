/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { PolicyReason, ApprovalContent, JsonObject } from '../json-columns.ts';

export interface ApprovalsRow {
  id: string;
  organization_id: string;
  action_type: 'campaign.launch' | 'email.compose' | 'inbox.reply' | 'mailbox.provision';
  subject_type: 'run' | 'campaign' | 'direct_send' | 'mailbox_order';
  subject_id: string;
  api_key_id: string | null;
  oauth_grant_id: string | null;
  /** Name of the key or application when it asked. */
  requester_name: string;
  status: 'pending' | 'approved' | 'denied' | 'expired' | 'executed';
  /** Why a person has to decide. */
  reasons: PolicyReason[];
  /** What the approver sees, frozen. */
  payload: ApprovalContent;
  /** SHA-256 of the payload in canonical form, hex. */
  payload_hash: string;
  /** Report of the checks when it was asked for. */
  preflight: JsonObject | null;
  created_at: Date;
  expires_at: Date;
  decided_by: string | null;
  decided_at: Date | null;
  /** What the person who decided wrote, or why it ended without a decision. */
  reason: string | null;
  executed_at: Date | null;
}

export interface ApprovalsInsert {
  id: string;
  organization_id: string;
  action_type: 'campaign.launch' | 'email.compose' | 'inbox.reply' | 'mailbox.provision';
  subject_type: 'run' | 'campaign' | 'direct_send' | 'mailbox_order';
  subject_id: string;
  api_key_id?: string | null;
  oauth_grant_id?: string | null;
  requester_name: string;
  status?: 'pending' | 'approved' | 'denied' | 'expired' | 'executed';
  reasons: string;
  payload: string;
  payload_hash: string;
  preflight?: string | null;
  created_at: Date;
  expires_at: Date;
  decided_by?: string | null;
  decided_at?: Date | null;
  reason?: string | null;
  executed_at?: Date | null;
}
