import { defineInstallationWorkflow } from '../contract.ts';

/** Removes expired data and starts missing runs. Started by a Temporal Schedule, never twice concurrently. */
export const maintenanceWorkflow = defineInstallationWorkflow()({
  type: 'maintenance',
  kind: 'maintenance',
  parts: [],
  summary: () => 'Remove what has expired',
  cancel: 'Ends this sweep; the schedule begins the next one within 15 minutes.',
  terminate: 'Ends this sweep; the schedule begins the next one within 15 minutes.',
});

/**
 * Chores of a sweep in their order, with their descriptions in the Temporal UI. Every chore calls the same activity, so
 * a longer list still replays the histories of open sweeps.
 */
export const CHORES = {
  retryBlockedRuns: 'retry blocked runs that are due',
  expireApprovals: 'end approvals whose time has passed',
  endOrphanedApprovals: 'end approvals that nothing will carry out',
  revokeConsents: 'end consents of removed mailboxes',
  revokeConnections: 'end consents of removed connections',
  checkConnections: 'ask connected accounts whether they answer',
  checkTrackingDomains: 'check the tracking domains that are due',
  planWeeklyReports: 'plan the weekly reports',
  mailLegalThreats: 'tell owners about legal threats',
  foldCountChanges: 'add up the counts of the inbox',
  expireFiles: 'delete files at the end of their retention',
  settlePeople: 'give product events their people',
  sweepExpired: 'delete expired rows in pages',
  verifyAddresses: 'verify addresses that are due',
  reconcileRuns: 'start runs that must be open and are not',
  listFailingRuns: 'find runs whose workflow tasks keep failing',
} as const;

/** One chore of a sweep. */
export type Chore = keyof typeof CHORES;

/** Activities of this family for the workflow. */
export interface MaintenanceActivities {
  /** Runs one chore. Returns how many rows, runs or accounts it handled. */
  doChore(args: { chore: Chore }): Promise<{ done: number }>;
}
