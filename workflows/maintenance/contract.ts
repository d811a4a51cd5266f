import { defineInstallationWorkflow } from '../contract.ts';

/** Removes what has expired and starts runs that are missing. Started by a Temporal Schedule, never twice at once. */
export const maintenanceWorkflow = defineInstallationWorkflow()({
  type: 'maintenance',
  kind: 'maintenance',
  parts: [],
  summary: () => 'Remove what has expired',
});

/** Activities of this family, as the workflow sees them. */
export interface MaintenanceActivities {
  /** Starts runs that PostgreSQL says must be open and that are not. Returns how many were missing. */
  reconcileRuns(): Promise<{ missing: number }>;
  /** Deletes expired rows in pages. Returns how many were deleted. */
  sweepExpired(): Promise<{ removed: number }>;
}
