/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface AgentPolicyUsageRow {
  organization_id: string;
  /** Id of the API key or OAuth grant. */
  credential_id: string;
  /** UTC day (YYYY-MM-DD). */
  day: string;
  actions: number;
  recipients: number;
}

export interface AgentPolicyUsageInsert {
  organization_id: string;
  credential_id: string;
  day: string;
  actions: number;
  recipients: number;
}
