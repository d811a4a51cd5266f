import { Context } from '@temporalio/activity';
import { sweepApprovals } from '../domain/approvals/sweep.ts';
import { checkHealth, revokeConnections } from '../domain/connect/integrations/upkeep.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { checkTrackingDomains } from '../domain/campaigns/tracking-domain-upkeep.ts';
import { revokeConsents } from '../domain/mailboxes/revoke.ts';
import { settlePeople } from '../domain/audience/people/sweep.ts';
import { retryDueRuns } from '../domain/operations/system/blocked-runs.ts';
import { endOrphanedApprovals } from '../domain/operations/system/orphaned-approvals.ts';
import { reconcile } from '../domain/operations/system/reconcile.ts';
import { sweepExpired } from '../domain/operations/system/sweep.ts';
import { mailLegalThreats } from '../domain/inbox/threads/legal-threats.ts';
import { foldCountChanges } from '../domain/inbox/threads/counts.ts';
import { expireFiles, expireSentContents } from '../domain/inbox/threads/retention.ts';
import { verifyDueAddresses } from '../domain/audience/verification/verify-due.ts';
import { planWeeklyReports } from '../domain/reporting/weekly-reports/plan.ts';
import { maintenanceWorkflow, type Chore, type MaintenanceActivities } from '../workflows/maintenance/contract.ts';
import { family } from './family.ts';
import { withHeartbeat } from './heartbeat.ts';

/** Maximum duration (ms) of one search for missing workflows. The next sweep continues where it ended. */
const SEARCH_MS = 8 * 60_000;

/** Maximum number of failing workflows named in a log line. */
const LISTED = 100;

/**
 * Function that does a chore, and the message to log if it changed anything. `isWarning` marks chores that normally
 * find nothing to do.
 */
interface Work {
  verb(deps: Deps, signal: AbortSignal): Promise<number>;
  says?: string;
  isWarning?: true;
}

const WORK: Record<Chore, Work> = {
  retryBlockedRuns: { verb: retryDueRuns, says: 'blocked runs were retried', isWarning: true },
  expireApprovals: {
    verb: sweepApprovals,
    says: 'approvals were out of time and no run had ended them',
    isWarning: true,
  },
  endOrphanedApprovals: {
    verb: endOrphanedApprovals,
    says: 'approvals that nothing will carry out any more were ended',
  },
  revokeConsents: { verb: revokeConsents, says: 'consents of removed mailboxes have ended' },
  revokeConnections: { verb: revokeConnections, says: 'consents of connections that are gone have ended' },
  checkConnections: { verb: checkHealth },
  checkTrackingDomains: { verb: checkTrackingDomains },
  planWeeklyReports: { verb: planWeeklyReports, says: 'weekly reports are on their way' },
  mailLegalThreats: { verb: mailLegalThreats, says: 'owners were mailed about replies that threaten legal steps' },
  foldCountChanges: { verb: foldCountChanges },
  expireFiles: {
    verb: async (deps) => (await expireSentContents(deps)) + (await expireFiles(deps)),
    says: 'files, or contents of sent emails, were deleted at the end of their retention',
  },
  settlePeople: { verb: settlePeople, says: 'product events and contacts have got their people' },
  sweepExpired: { verb: sweepExpired },
  verifyAddresses: { verb: verifyDueAddresses, says: 'addresses were verified' },
  reconcileRuns: { verb: startMissingRuns },
  listFailingRuns: { verb: logFailingRuns },
};

/** Workflow and activities for the maintenance sweep, which a schedule starts. */
export const maintenance = family<MaintenanceActivities>({
  contract: maintenanceWorkflow,
  queue: 'batch',
  activities: ({ deps }) => ({
    doChore: ({ chore }) =>
      withHeartbeat(async () => {
        const { verb, says, isWarning } = WORK[chore];
        const done = await verb(deps, Context.current().cancellationSignal);
        if (says && done > 0) deps.log[isWarning ? 'warn' : 'info']({ chore, done }, says);
        return { done };
      }),
  }),
  mustBeOpen: { unneeded: 'a Temporal Schedule starts it, which every worker creates where it is missing' },
});

/**
 * Logs workflows that are stuck because their workflow tasks keep failing. Returns their number, at most {@link
 * LISTED}.
 */
async function logFailingRuns({ workflows, log }: Deps): Promise<number> {
  const workflowIds = await workflows.failingRuns(LISTED);
  if (workflowIds.length > 0) log.error({ workflowIds }, 'runs stand still: their workflow tasks keep failing');
  return workflowIds.length;
}

async function startMissingRuns(deps: Deps, cancelled: AbortSignal): Promise<number> {
  const signal = AbortSignal.any([cancelled, AbortSignal.timeout(SEARCH_MS)]);
  const reports = await reconcile(deps, {
    resume: true,
    signal,
    onFamily({ family, missing }) {
      if (missing > 0) deps.log.warn({ family, missing }, 'runs were missing and were started again');
    },
  });
  return reports.reduce((sum, { missing }) => sum + missing, 0);
}
