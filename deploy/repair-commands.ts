import type { Command } from 'commander';
import { outboxId } from './arguments.ts';
import { factLines } from './facts-text.ts';
import { printJson, printLines } from './print.ts';
import { reactionLines } from './reactions-text.ts';
import { parkedLines } from './runs-text.ts';
import { OperatorError } from './waiting.ts';
import { withAssembly, withCurrentDatabase } from './with-installation.ts';
import { render } from '../messages/render.ts';

/** Adds the commands that list and repair stuck, uncertain and miscounted items. */
export function addRepairCommands(program: Command): void {
  outboxCommands(program);
  uncertainCommands(program);
  reactionCommands(program);
  factCommands(program);
  runCommands(program);
}

/** Commands for intents that Temporal did not accept. */
function outboxCommands(program: Command): void {
  const outbox = program
    .command('outbox')
    .description('list parked intents and the reasons of their refusal')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      const { listParked } = await import('../domain/operations/system/outbox.ts');
      await withCurrentDatabase(async (db) => {
        const parked = await listParked(db);
        if (options.json) printJson({ parked });
        else printLines(parkedLines(parked));
      });
    });

  outbox
    .command('retry')
    .description('send parked intents to Temporal again, and those that wait behind them')
    .argument('[id...]', 'ids of parked intents; default: all', outboxId)
    .action(async (ids: string[]) => {
      const { retryParked } = await import('../domain/operations/system/outbox.ts');
      await withCurrentDatabase(async (db) =>
        printJson({ retried: await retryParked(db, ids.length > 0 ? ids : undefined) }),
      );
    });

  outbox
    .command('drop')
    .description('drop parked intents, and send those that wait behind them')
    .argument('<id...>', 'ids of parked intents', outboxId)
    .action(async (ids: string[]) => {
      const { dropParked } = await import('../domain/operations/system/outbox.ts');
      await withCurrentDatabase(async (db) => printJson({ dropped: await dropParked(db, ids) }));
    });
}

/** Commands for uncertain emails, which may have been sent. */
function uncertainCommands(program: Command): void {
  const uncertain = program
    .command('uncertain')
    .description('list emails that may have been sent (JSON)')
    .action(async () => {
      const { listUncertain } = await import('../domain/operations/dead-letters/uncertain.ts');
      await withCurrentDatabase(async (db) =>
        printJson({
          uncertain: (await listUncertain(db)).map(({ reason, ...email }) => ({
            ...email,
            reason: reason && render(reason),
          })),
        }),
      );
    });

  for (const [name, what] of [
    ['sent', 'count emails as sent, because the recipients have them'],
    ['again', 'send emails again under the same Message-ID, because the recipients do not have them'],
  ] as const) {
    uncertain
      .command(name)
      .description(what)
      .argument('<id...>', 'ids of uncertain emails')
      .action(async (ids: string[]) => {
        const { settleUncertain } = await import('../domain/operations/dead-letters/uncertain.ts');
        await withAssembly(async ({ deps }) => {
          for (const id of ids) {
            await settleUncertain(deps, id, name);
            printLines([`${id} ${name === 'sent' ? 'counts as sent' : 'is sent again'}`]);
          }
        });
      });
  }
}

/** Commands for events that a subscriber could not apply. */
function reactionCommands(program: Command): void {
  const reactions = program
    .command('reactions')
    .description('show the lag of each subscriber of domain events, and parked events')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      await withCurrentDatabase(async (db, clock) => {
        const { reactionStatus } = await import('../domain/platform/events/status.ts');
        const { listParkedEvents } = await import('../domain/platform/events/parked.ts');
        const deps = { db, clock };
        const report = { subscribers: await reactionStatus(deps), parked: await listParkedEvents(deps) };
        if (options.json) printJson(report);
        else printLines(reactionLines(report));
      });
    });

  for (const [name, what] of [
    ['replay', 'apply parked events now, in the given order'],
    ['discard', 'discard parked events; this cannot be undone'],
  ] as const) {
    reactions
      .command(name)
      .description(what)
      .argument('<id...>', 'ids of parked events')
      .action(async (ids: string[]) => {
        const { discardParkedEvent, replayParkedEvent } = await import('../domain/platform/events/parked.ts');
        const { SUBSCRIBERS } = await import('../domain/operations/subscribers/index.ts');
        await withAssembly(async ({ deps }) => {
          for (const id of ids) {
            if (name === 'replay') await replayParkedEvent(deps, SUBSCRIBERS, id);
            else await discardParkedEvent(deps, id);
            printLines([`${id} ${name === 'replay' ? 'replayed' : 'discarded'}`]);
          }
        });
      });
  }
}

/** Commands that verify and repair the counts of reports. */
function factCommands(program: Command): void {
  const facts = program.command('facts').description('counts that reports read');

  facts
    .command('verify')
    .description('count everything again and print differences. Exit code 1 if there are any')
    .option('--organization <id>', 'only this workspace')
    .option('--json', 'as JSON')
    .action(async (options: { organization?: string; json?: boolean }) => {
      const { verifyFacts } = await import('../domain/reporting/aggregates/verify.ts');
      const reports = await withAssembly(({ deps }) => verifyFacts(deps, options.organization));
      if (options.json) printJson({ organizations: reports });
      else printLines(factLines(reports));
      const total = reports.reduce((sum, report) => sum + report.total, 0);
      if (total > 0) throw new OperatorError(`${total} ${total === 1 ? 'difference' : 'differences'}`);
    });

  facts
    .command('rebuild')
    .description('correct counts from the recorded emails, while writes continue')
    .option('--organization <id>', 'only this workspace')
    .action(async (options: { organization?: string }) => {
      const { rebuildFacts } = await import('../domain/reporting/aggregates/rebuild.ts');
      printJson({ organizations: await withAssembly(({ deps }) => rebuildFacts(deps, options.organization)) });
    });
}

/** Commands for workflow runs that keep failing or last too long. */
function runCommands(program: Command): void {
  program
    .command('retry')
    .description('continue a blocked run; its campaign, lead, import or delivery shows the reason')
    .argument('<workflow id>', 'as in the Temporal UI: enrollment/<campaign>/<contact>, campaign/<id>, …')
    .action(async (workflowId: string) => {
      const { retryRun } = await import('../domain/operations/system/blocked-runs.ts');
      await withAssembly(async ({ deps }) => {
        if (!(await retryRun(deps, workflowId))) throw new OperatorError(`${workflowId} is not blocked`);
        printJson({ retried: workflowId });
      });
    });

  program
    .command('goal-replay')
    .description('replays of goals')
    .command('cancel')
    .description('cancel a replay after its present page; its changes stay')
    .argument('<replay id>', 'as in GET /v1/goals/:id/replays')
    .action(async (replayId: string) => {
      const { cancelReplayById } = await import('../domain/reporting/goals/replays.ts');
      await withAssembly(async ({ deps }) => {
        if (!(await cancelReplayById(deps, replayId))) throw new OperatorError(`${replayId} is no replay under way`);
        printJson({ cancelled: replayId });
      });
    });
}
