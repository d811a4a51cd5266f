/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject, AutomationNodeResult, AutomationGraph, AutomationWaiting } from '../json-columns.ts';

export interface AutomationRunsRow {
  id: string;
  organization_id: string;
  automation_id: string;
  /** event/<id>, step/<step run> or node/<run>/<node>. */
  cause: string;
  trigger_event: string;
  contact_id: string | null;
  status: 'running' | 'success' | 'error';
  /** Data of the trigger; empty once its contact was erased. */
  data: JsonObject;
  node_results: AutomationNodeResult[];
  /** Empty where nothing failed. */
  error_detail: string;
  hops: number;
  /** What it began with; null once it has ended. */
  graph: AutomationGraph | null;
  /** The nodes it waits for; null once it has ended. */
  waiting: AutomationWaiting | null;
  blocked_reason: string | null;
  started_at: Date;
  finished_at: Date | null;
  /** What it may start; null counts as none. */
  rights: string[] | null;
}

export interface AutomationRunsInsert {
  id: string;
  organization_id: string;
  automation_id: string;
  cause: string;
  trigger_event: string;
  contact_id?: string | null;
  status: 'running' | 'success' | 'error';
  data: string;
  node_results: string;
  error_detail: string;
  hops: number;
  graph?: string | null;
  waiting?: string | null;
  blocked_reason?: string | null;
  started_at: Date;
  finished_at?: Date | null;
  rights?: string[] | null;
}
