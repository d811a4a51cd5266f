/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WarmupStandingsRow {
  mailbox_id: string;
  organization_id: string;
  health_state: 'healthy' | 'watch' | 'throttled' | 'quarantined' | 'blocked';
  score: number;
  reason: string | null;
  blocked_until: Date | null;
  evaluated_at: Date | null;
  planned_day: string | null;
  run_blocked: string | null;
}

export interface WarmupStandingsInsert {
  mailbox_id: string;
  organization_id: string;
  health_state?: 'healthy' | 'watch' | 'throttled' | 'quarantined' | 'blocked';
  score?: number;
  reason?: string | null;
  blocked_until?: Date | null;
  evaluated_at?: Date | null;
  planned_day?: string | null;
  run_blocked?: string | null;
}
