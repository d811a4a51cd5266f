import type { WorkflowContract } from '../contract.ts';

/** A maintenance run has no arguments: it serves the whole installation. */
export type MaintenanceArgs = Record<string, never>;

/** Removes what has expired. Started by a Temporal Schedule, never twice at once. */
export const maintenanceWorkflow: WorkflowContract<MaintenanceArgs> = {
  type: 'maintenance',
  kind: 'maintenance',
  id: () => 'maintenance',
  summary: () => 'Remove what has expired',
  searchAttributes: () => ({ OrganizationId: 'installation' }),
};

export interface MaintenanceActivities {
  /** Deletes expired rows in pages. Returns how many went. */
  sweepExpired(): Promise<{ removed: number }>;
}
