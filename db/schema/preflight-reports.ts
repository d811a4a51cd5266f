/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { PreflightCheck, PreflightFinding } from '../json-columns.ts';

export interface PreflightReportsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  passed: boolean;
  score: number;
  checks: PreflightCheck[];
  /** Worst first. */
  findings: PreflightFinding[];
  recommendations: string[];
  created_at: Date;
}

export interface PreflightReportsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  passed: boolean;
  score: number;
  checks: string;
  findings: string;
  recommendations: string[];
  created_at: Date;
}
