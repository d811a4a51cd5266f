/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface OrderStepsRow {
  order_id: string;
  /** Its key, by the place in the order: `domain:0`, `mailbox:3`, `dns:0`, `warmup:3`. */
  step: string;
  organization_id: string;
  seq: number;
  state: 'pending' | 'running' | 'done' | 'compensating' | 'compensated' | 'failed' | 'needs_person';
  provider_ref: string | null;
  detail: string | null;
  /** Calls to the provider, those that undo it included. */
  attempts: number;
  started_at: Date | null;
  completed_at: Date | null;
  undo_started_at: Date | null;
  undone_at: Date | null;
}

export interface OrderStepsInsert {
  order_id: string;
  step: string;
  organization_id: string;
  seq: number;
  state?: 'pending' | 'running' | 'done' | 'compensating' | 'compensated' | 'failed' | 'needs_person';
  provider_ref?: string | null;
  detail?: string | null;
  attempts?: number;
  started_at?: Date | null;
  completed_at?: Date | null;
  undo_started_at?: Date | null;
  undone_at?: Date | null;
}
