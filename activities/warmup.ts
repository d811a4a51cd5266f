import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Deps } from '../domain/kernel/context.ts';
import { warmupTurn } from '../domain/warmup/turn.ts';
import type { SmtpSender } from '../lib/smtp/index.ts';
import type { WarmupActivities, WarmupArgs } from '../workflows/warmup/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { withPulse } from './pulse.ts';

/** The retry delay (ms) of a turn that is due already; zero would mean the retry policy's own delay. */
const MIN_WAIT_MS = 10;

/** Activities of the warmup of mailboxes. */
export function createWarmupActivities(deps: Deps, { smtp }: { smtp: SmtpSender }): WarmupActivities {
  const takeTurn = ({ organizationId, mailboxId }: WarmupArgs) =>
    orBlock(deps, organizationId, () => withPulse(() => warmupTurn(contextOf(deps, organizationId), smtp, mailboxId)));
  return {
    async keepWarm(args) {
      const report = await takeTurn(args);
      if (report.kind === 'done') return { kind: 'done', why: report.why };
      if (report.wakeAt === null) return { kind: 'rest', why: report.why };
      // A turn that was taken ends a series of failures, which the next attempt would otherwise read here.
      Context.current().heartbeat();
      throw ApplicationFailure.create({
        message: `${report.why}: ${new Date(report.wakeAt).toISOString()}`,
        type: 'warmup_waits',
        category: ApplicationFailureCategory.BENIGN,
        nextRetryDelay: Math.max(MIN_WAIT_MS, report.wakeAt - Date.now()),
      });
    },

    warmupTurn: takeTurn,
  };
}
