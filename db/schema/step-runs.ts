/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface StepRunsRow {
  id: string;
  organization_id: string;
  enrollment_id: string;
  campaign_id: string;
  contact_id: string;
  step_id: string;
  seq: number;
  kind: string;
  state: 'running' | 'waiting' | 'completed' | 'skipped' | 'failed' | 'blocked';
  outcome: string | null;
  detail: string | null;
  attempts: number;
  output_key: string | null;
  output: JsonObject | null;
  error: JsonObject | null;
  started_at: Date;
  completed_at: Date | null;
}

export interface StepRunsInsert {
  id: string;
  organization_id: string;
  enrollment_id: string;
  campaign_id: string;
  contact_id: string;
  step_id: string;
  seq: number;
  kind: string;
  state: 'running' | 'waiting' | 'completed' | 'skipped' | 'failed' | 'blocked';
  outcome?: string | null;
  detail?: string | null;
  attempts?: number;
  output_key?: string | null;
  output?: string | null;
  error?: string | null;
  started_at: Date;
  completed_at?: Date | null;
}
