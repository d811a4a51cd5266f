/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ReactionParkedEventsRow {
  id: string;
  organization_id: string;
  subscriber: string;
  event_id: string;
  event_type: string;
  position: number;
  attempts: number;
  last_error: string;
  state: 'parked' | 'replayed' | 'discarded';
  parked_at: Date;
  settled_at: Date | null;
}

export interface ReactionParkedEventsInsert {
  id: string;
  organization_id: string;
  subscriber: string;
  event_id: string;
  event_type: string;
  position: number;
  attempts: number;
  last_error: string;
  state: 'parked' | 'replayed' | 'discarded';
  parked_at: Date;
  settled_at?: Date | null;
}
