/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { ImportOptions } from '../json-columns.ts';

export interface ContactImportsRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  filename: string;
  options: ImportOptions;
  blob_id: string | null;
  total_bytes: number;
  read_bytes: number;
  /** Rows read so far; `imported + updated + skipped + failed`. */
  total: number;
  imported: number;
  updated: number;
  skipped: number;
  failed: number;
  /** Rows of the file that were processed, failed ones included; a restarted job continues after them. */
  checkpoint: number;
  error: string | null;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  updated_at: Date;
  blocked_reason: string | null;
}

export interface ContactImportsInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  filename: string;
  options?: string;
  blob_id?: string | null;
  total_bytes?: number;
  read_bytes?: number;
  total?: number;
  imported?: number;
  updated?: number;
  skipped?: number;
  failed?: number;
  checkpoint?: number;
  error?: string | null;
  created_at: Date;
  started_at?: Date | null;
  ended_at?: Date | null;
  updated_at: Date;
  blocked_reason?: string | null;
}
