import { Context } from '@temporalio/activity';
import { sweepApprovals } from '../domain/approvals/sweep.ts';
import type { Deps } from '../domain/kernel/context.ts';
import { revokeConsents } from '../domain/mailboxes/revoke.ts';
import { reconcile } from '../domain/system/reconcile.ts';
import { retryDueRuns } from '../domain/system/blocked-runs.ts';
import { sweepExpired } from '../domain/system/sweep.ts';
import { indexMessages } from '../domain/unibox/index-messages.ts';
import { expireFiles } from '../domain/unibox/retention.ts';
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
      const revoked = await revokeConsents(deps);
      if (revoked > 0) deps.log.info({ revoked }, 'consents of removed mailboxes have ended');
      const indexed = await indexMessages(deps, (done) => Context.current().heartbeat(done));
      if (indexed > 0) deps.log.info({ indexed }, 'messages of an earlier release can be searched now');
      const expired = await expireFiles(deps, (done) => Context.current().heartbeat(done));
      if (expired > 0) deps.log.info({ expired }, 'files were deleted at the end of their retention');
      return { removed: await sweepExpired(deps, (removed) => Context.current().heartbeat(removed)) };
    },
  };
}
