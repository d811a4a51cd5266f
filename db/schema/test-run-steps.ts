/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject, StoredIssue } from '../json-columns.ts';

export interface TestRunStepsRow {
  /** Also the id of the email that it sends, and of the call that it makes. */
  id: string;
  organization_id: string;
  test_run_id: string;
  step_id: string;
  contact_id: string;
  variant_id: string | null;
  seq: number;
  name: string;
  kind: string;
  state: 'running' | 'waiting' | 'completed' | 'skipped' | 'failed';
  outcome: string | null;
  detail: string | null;
  output_key: string | null;
  output: JsonObject | null;
  event_name: string | null;
  deadline: Date | null;
  event_id: string | null;
  attempts: number;
  error: StoredIssue | null;
  started_at: Date;
  completed_at: Date | null;
}

export interface TestRunStepsInsert {
  id: string;
  organization_id: string;
  test_run_id: string;
  step_id: string;
  contact_id: string;
  variant_id?: string | null;
  seq: number;
  name: string;
  kind: string;
  state: 'running' | 'waiting' | 'completed' | 'skipped' | 'failed';
  outcome?: string | null;
  detail?: string | null;
  output_key?: string | null;
  output?: string | null;
  event_name?: string | null;
  deadline?: Date | null;
  event_id?: string | null;
  attempts?: number;
  error?: string | null;
  started_at: Date;
  completed_at?: Date | null;
}
