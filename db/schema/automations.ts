/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { AutomationFilter, AutomationGraph } from '../json-columns.ts';

export interface AutomationsRow {
  id: string;
  organization_id: string;
  name: string;
  enabled: boolean;
  /** Of domain/connect/triggers, or automation.called. */
  trigger_event: string;
  /** Which events of the trigger count. */
  filter: AutomationFilter;
  graph: AutomationGraph;
  created_at: Date;
  updated_at: Date;
  /** Of records/automation-rights.ts, of whoever saved it last; null where nobody knows who did, which counts as none. */
  author_rights: string[] | null;
}

export interface AutomationsInsert {
  id: string;
  organization_id: string;
  name: string;
  enabled: boolean;
  trigger_event: string;
  filter: string;
  graph: string;
  created_at: Date;
  updated_at: Date;
  author_rights?: string[] | null;
}
