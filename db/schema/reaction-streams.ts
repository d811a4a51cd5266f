/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ReactionStreamsRow {
  organization_id: string;
  subscriber: string;
  position: number;
  head: number;
  attempts: number;
  next_attempt_at: Date | null;
  last_error: string | null;
  waits_for: string | null;
}

export interface ReactionStreamsInsert {
  organization_id: string;
  subscriber: string;
  position: number;
  head: number;
  attempts?: number;
  next_attempt_at?: Date | null;
  last_error?: string | null;
  waits_for?: string | null;
}
