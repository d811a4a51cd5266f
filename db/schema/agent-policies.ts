/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface AgentPoliciesRow {
  id: string;
  organization_id: string;
  api_key_id: string | null;
  oauth_grant_id: string | null;
  name: string;
  enabled: boolean;
  /** Names of db/models/agent-policy.ts CAPABILITIES. */
  capabilities: string[];
  /** The mailboxes that it may use without a person. */
  mailbox_ids: string[];
  max_recipients_per_run: number;
  max_recipients_per_day: number;
  max_actions_per_day: number;
  /** The most that one order's monthly total may be; null: a person approves every order. */
  max_monthly_mailbox_spend_cents: number | null;
  expires_at: Date;
  created_by: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface AgentPoliciesInsert {
  id: string;
  organization_id: string;
  api_key_id?: string | null;
  oauth_grant_id?: string | null;
  name: string;
  enabled: boolean;
  capabilities: string[];
  mailbox_ids: string[];
  max_recipients_per_run: number;
  max_recipients_per_day: number;
  max_actions_per_day: number;
  max_monthly_mailbox_spend_cents?: number | null;
  expires_at: Date;
  created_by?: string | null;
  created_at: Date;
  updated_at: Date;
}
