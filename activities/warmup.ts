import { Context } from '@temporalio/activity';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { warmupTurn } from '../domain/mailboxes/warmup/turn.ts';
import type { SmtpSender } from '../lib/smtp/index.ts';
import type { WarmupActivities } from '../workflows/warmup/contract.ts';
import { callVerb } from './call-verb.ts';
import { notYet } from './not-yet.ts';

/** Activities of the warmup of mailboxes: each failure of a turn that was taken carries the time of the next one as its retry delay. */
export function createWarmupActivities(deps: Deps, { smtp }: { smtp: SmtpSender }): WarmupActivities {
  return {
    async keepWarm(args) {
      const report = await callVerb(deps, args, (ctx) => warmupTurn(ctx, smtp, args.mailboxId));
      if (report.kind === 'done') return { kind: 'done', why: report.why };
      if (report.wakeAt === null) return { kind: 'rest', why: report.why };
      // A turn that was taken ends a series of failures, which the next attempt would otherwise read here.
      Context.current().heartbeat();
      const message = `${report.why}: ${new Date(report.wakeAt).toISOString()}`;
      throw notYet('warmup_waits', message, report.wakeAt - deps.clock.now().getTime());
    },
  };
}
