import { defineInstallationWorkflow } from '../contract.ts';

/** Removes what has expired. Started by a Temporal Schedule, never twice at once. */
export const maintenanceWorkflow = defineInstallationWorkflow()({
  type: 'maintenance',
  kind: 'maintenance',
  parts: [],
  work: 'upkeep',
  summary: () => 'Remove what has expired',
});

/** Activities of this family, as the workflow sees them. */
export interface MaintenanceActivities {
  /** Deletes expired rows in pages. Returns how many went. */
  sweepExpired(): Promise<{ removed: number }>;
}
