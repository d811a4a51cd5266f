/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ConversionsRow {
  id: string;
  organization_id: string;
  goal_id: string;
  goal_revision: number;
  event_id: string;
  person_id: string;
  occurred_at: Date;
  /** In minor units of the currency. */
  value_minor: number | null;
  /** ISO 4217, upper-case. */
  currency: string | null;
  created_at: Date;
}

export interface ConversionsInsert {
  id: string;
  organization_id: string;
  goal_id: string;
  goal_revision: number;
  event_id: string;
  person_id: string;
  occurred_at: Date;
  value_minor?: number | null;
  currency?: string | null;
  created_at: Date;
}
