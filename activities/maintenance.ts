import { Context } from '@temporalio/activity';
import { sweepApprovals } from '../domain/approvals/sweep.ts';
import { checkHealth, revokeConnections } from '../domain/integrations/upkeep.ts';
import type { Deps } from '../domain/kernel/context.ts';
import { revokeConsents } from '../domain/mailboxes/revoke.ts';
import { settlePeople } from '../domain/people/sweep.ts';
import { endOrphanedApprovals } from '../domain/system/orphaned-approvals.ts';
import { reconcile } from '../domain/system/reconcile.ts';
import { retryDueRuns } from '../domain/system/blocked-runs.ts';
import { sweepExpired } from '../domain/system/sweep.ts';
import { addUpCounts } from '../domain/unibox/counts.ts';
import { indexMessages } from '../domain/unibox/index-messages.ts';
import { expireFiles } from '../domain/unibox/retention.ts';
import { verifyDueAddresses } from '../domain/verification/verify-due.ts';
import { planWeeklyReports } from '../domain/weekly-reports/plan.ts';
import type { MaintenanceActivities } from '../workflows/maintenance/contract.ts';

/** How long (ms) one search for missing runs may take; the next sweep continues where it ended. */
const LOOK_MS = 8 * 60_000;
const HEARTBEAT_MS = 10_000;

/** Activities of the maintenance schedule. */
export function createMaintenanceActivities(deps: Deps): MaintenanceActivities {
  return {
    async reconcileRuns() {
      const context = Context.current();
      const pulse = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
      try {
        const signal = AbortSignal.any([context.cancellationSignal, AbortSignal.timeout(LOOK_MS)]);
        const reports = await reconcile(deps, { resume: true, signal });
        for (const { family, missing } of reports)
          if (missing > 0) deps.log.warn({ family, missing }, 'runs were missing and were started again');
        return { missing: reports.reduce((sum, { missing }) => sum + missing, 0) };
      } finally {
        clearInterval(pulse);
      }
    },

    async sweepExpired() {
      const retried = await retryDueRuns(deps);
      if (retried > 0) deps.log.warn({ retried }, 'blocked runs were retried');
      const ended = await sweepApprovals(deps, (count) => Context.current().heartbeat(count));
      if (ended > 0) deps.log.warn({ ended }, 'approvals were out of time and no run had ended them');
      const orphaned = await endOrphanedApprovals(deps, (count) => Context.current().heartbeat(count));
      if (orphaned > 0) deps.log.info({ orphaned }, 'approvals that nothing will carry out any more were ended');
      const revoked = await revokeConsents(deps);
      if (revoked > 0) deps.log.info({ revoked }, 'consents of removed mailboxes have ended');
      const disconnected = await revokeConnections(deps);
      if (disconnected > 0) deps.log.info({ disconnected }, 'consents of connections that are gone have ended');
      await checkHealth(deps, (asked) => Context.current().heartbeat(asked));
      const indexed = await indexMessages(deps, (done) => Context.current().heartbeat(done));
      if (indexed > 0) deps.log.info({ indexed }, 'messages of an earlier release can be searched now');
      const reports = await planWeeklyReports(deps);
      if (reports > 0) deps.log.info({ reports }, 'weekly reports are on their way');
      await addUpCounts(deps, (done) => Context.current().heartbeat(done));
      const expired = await expireFiles(deps, (done) => Context.current().heartbeat(done));
      if (expired > 0) deps.log.info({ expired }, 'files were deleted at the end of their retention');
      const settled = await settlePeople(deps, (done) => Context.current().heartbeat(done));
      if (settled > 0) deps.log.info({ settled }, 'product events and contacts have got their people');
      const removed = await sweepExpired(deps, (count) => Context.current().heartbeat(count));
      const verified = await verifyDueAddresses(deps, (done) => Context.current().heartbeat(done));
      if (verified > 0) deps.log.info({ verified }, 'addresses were verified');
      return { removed };
    },
  };
}
