/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface PaymentEventsRow {
  provider_event_id: string;
  organization_id: string;
  payment_id: string;
  type: string;
  /** What it did, as a code; `ignored` where it came too late to matter. */
  outcome: string;
  occurred_at: Date;
  created_at: Date;
}

export interface PaymentEventsInsert {
  provider_event_id: string;
  organization_id: string;
  payment_id: string;
  type: string;
  outcome: string;
  occurred_at: Date;
  created_at: Date;
}
