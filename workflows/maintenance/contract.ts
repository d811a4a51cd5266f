import { defineInstallationWorkflow } from '../contract.ts';

/**
 * Sweep of the installation, which removes expired data and starts missing workflows. A Temporal Schedule starts it,
 * never twice concurrently.
 */
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
 * open sweeps can still be replayed after a chore is added.
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

/** Activities that the workflow calls. */
export interface MaintenanceActivities {
  /** Runs one chore. Returns the number of rows, workflows or accounts that it handled. */
  doChore(args: { chore: Chore }): Promise<{ done: number }>;
}
