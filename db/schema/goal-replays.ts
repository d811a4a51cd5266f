/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface GoalReplaysRow {
  id: string;
  organization_id: string;
  goal_id: string;
  goal_revision: number;
  from_at: Date;
  to_at: Date;
  state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  error: string | null;
  cursor_at: Date | null;
  cursor_id: string | null;
  scanned: number;
  added: number;
  removed: number;
  kept: number;
  retained_without_event: number;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  blocked_reason: string | null;
}

export interface GoalReplaysInsert {
  id: string;
  organization_id: string;
  goal_id: string;
  goal_revision: number;
  from_at: Date;
  to_at: Date;
  state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  error?: string | null;
  cursor_at?: Date | null;
  cursor_id?: string | null;
  scanned?: number;
  added?: number;
  removed?: number;
  kept?: number;
  retained_without_event?: number;
  created_at: Date;
  started_at?: Date | null;
  finished_at?: Date | null;
  blocked_reason?: string | null;
}
