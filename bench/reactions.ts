import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCtx, type Deps } from '../domain/platform/kernel/context.ts';
import { transact } from '../domain/platform/kernel/transact.ts';
import { recordSendBounce } from '../domain/sending/outcomes/effects.ts';
import { watchRates } from '../domain/sending/outcomes/spike.ts';
import { reactionStatus } from '../domain/platform/events/status.ts';
import {
  COUNTED_EVENT,
  COUNTING_SUBSCRIBERS,
  createReactionTables,
  readLedger,
} from '../test/harness/counting-subscribers.ts';
import { createCampaign, createContact, createMailbox, createTenant, enroll } from '../test/harness/factories.ts';
import { type RawDb, type TestDeps } from '../test/harness/database.ts';
import { createSend } from '../test/harness/inbound.ts';
import type { BenchContext, BenchResult, Helper } from './context.ts';
import { alternate, cpuMs, median, percentile } from './measure.ts';
import { explainCursors } from './reaction-plans.ts';
import { externalText } from '../domain/platform/external-text.ts';

const RATE = 2_000;
const ORGANIZATIONS = 40;
const PER_TRANSACTION = 25;
const TICK_MS = 50;
const SAMPLE_MS = 250;

/**
 * Measures event subscribers: their cost in the emitting transaction, and 2,000 events per second through three
 * subscribers, with kill -9 in between. Also explains the cursor's queries with a million events.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const { quick, log, assembly } = context;
  const { deps } = assembly;
  await createReactionTables(deps.db);
  const tenants: string[] = [];
  for (let index = 0; index < ORGANIZATIONS; index += 1) tenants.push((await createTenant(deps)).organizationId);

  const bounces = await measureBounces(context);
  const alone = await drive(context, tenants, quick ? 3_000 : 10_000);
  log(
    `without subscribers: ${alone.emittedRate.toFixed(0)} events/s emitted, a transaction ${median(alone.commitMs).toFixed(2)} ms`,
  );

  let helper = await context.helper('reactions');
  await drive(context, tenants, 3_000);
  await drain(deps);
  const loads = [loadavg()[0]!];
  const steady = await drive(context, tenants, quick ? 5_000 : 30_000, helper);
  const drainMs = await drain(deps);
  loads.push(loadavg()[0]!);
  log(
    `${steady.emittedRate.toFixed(0)} events/s through three reactions: lag p50 ${percentile(steady.lagMs, 0.5).toFixed(0)} ms, max ${Math.max(...steady.lagMs).toFixed(0)} ms; ${drainMs.toFixed(0)} ms to the end`,
  );

  let kills = 0;
  const killing = drive(context, tenants, quick ? 6_000 : 20_000);
  for (; kills < (quick ? 1 : 3); kills += 1) {
    await sleep(quick ? 1_500 : 4_500);
    process.kill(helper.pid, 'SIGKILL');
    helper = await context.helper('reactions');
  }
  const killed = await killing;
  await drain(deps);
  const ledger = await readLedger(deps.db);
  const counts = [ledger.events - alone.emitted, ledger.tasks.effects, ledger.facts.effects, ledger.ledger.effects];
  const wrong = [ledger.tasks.repeated, ledger.ledger.repeated, ledger.tasks.misplaced, ledger.ledger.misplaced];
  const isBalanced = new Set(counts).size === 1 && wrong.every((count) => count === 0);
  log(`killed ${kills} times: events and effects ${counts.join(', ')}; repeated or misplaced ${wrong.join(', ')}`);
  await helper.stop();

  const plans = await explainCursors(deps.db, {
    events: quick ? 20_000 : 1_000_000,
    organizations: quick ? 50 : 1_000,
    log,
  });
  const ms = (value: number): string => `${value.toFixed(0)} ms`;
  const commitRatio = median(steady.commitMs) / median(alone.commitMs);
  const bounceRatio = median(bounces.rates.reaction) / median(bounces.rates.inside);
  return {
    figures: [
      {
        label: 'SQL statements to settle a bounce: rates watched inside, and by a reaction',
        value: `${bounces.inside}, ${bounces.reaction}`,
      },
      {
        label: 'bounces of one campaign settled at once: by a reaction against inside',
        value: `${bounceRatio.toFixed(2)} x`,
      },
      {
        label: 'emitting transaction with three reactions at work against none (they share the two cores), p50',
        value: `${median(steady.commitMs).toFixed(2)} against ${median(alone.commitMs).toFixed(2)} ms, ${commitRatio.toFixed(2)} x`,
      },
      {
        label: `${RATE} events/s, ${ORGANIZATIONS} organizations, three reactions: lag of the slowest, p50, p99, max`,
        value: [0.5, 0.99, 1].map((share) => ms(percentile(steady.lagMs, share))).join(', '),
      },
      { label: 'after the last event, until all is applied', value: ms(drainMs) },
      {
        label: 'CPU of the reactions process per event and reaction',
        value:
          steady.cpuMs === undefined
            ? 'unknown'
            : `${(steady.cpuMs / steady.emitted / COUNTING_SUBSCRIBERS.length).toFixed(3)} ms`,
      },
      {
        label: `kill -9, ${kills} times at ${killed.emittedRate.toFixed(0)} events/s: events, tasks, facts, ledger`,
        value: counts.join(', '),
      },
      ...plans.figures,
      {
        label: 'processes that wanted a core meanwhile, those of others included (load, one minute)',
        value: loads.map((load) => load.toFixed(1)).join(', '),
      },
    ],
    targets: [
      {
        what: 'statements a reaction adds to the transaction',
        target: '<= 0',
        got: String(bounces.reaction - bounces.inside),
        met: bounces.reaction <= bounces.inside,
      },
      {
        what: 'events/s through three reactions, sustained',
        target: `>= ${RATE}`,
        got: steady.emittedRate.toFixed(0),
        met: steady.emittedRate >= RATE * 0.99 && drainMs < 5_000,
      },
      {
        what: 'lag p99 while sustained',
        target: '< 2 s',
        got: ms(percentile(steady.lagMs, 0.99)),
        met: percentile(steady.lagMs, 0.99) < 2_000,
      },
      {
        what: 'kill -9 loses and repeats nothing, keeps the order',
        target: 'balanced',
        got: isBalanced ? 'balanced' : `${counts.join(', ')}; ${wrong.join(', ')}`,
        met: isBalanced,
      },
      ...plans.targets,
    ],
    raw: { bounces, alone: brief(alone), steady: brief(steady), killed: brief(killed), ledger, plans: plans.raw },
  };
}

interface Drive {
  emitted: number;
  emittedRate: number;
  commitMs: number[];
  /** Samples of the lag: the age (ms) of the oldest event that a counting subscriber has not applied. */
  lagMs: number[];
  cpuMs: number | undefined;
}

/** Returns a measurement without the thousands of commit times. */
function brief({ commitMs, ...rest }: Drive): object {
  return { ...rest, commitP50Ms: percentile(commitMs, 0.5), commitP99Ms: percentile(commitMs, 0.99) };
}

/** Emits RATE events per second, several in each transaction, and samples the lag. */
async function drive(
  { assembly: { deps } }: BenchContext,
  tenants: readonly string[],
  forMs: number,
  helper?: Helper,
): Promise<Drive> {
  const commitMs: number[] = [];
  const lagMs: number[] = [];
  const startedAt = performance.now();
  const cpuBefore = helper && cpuMs(helper.pid);
  let emitted = 0;
  let running = true;
  const sampling = (async () => {
    while (running) {
      await sleep(SAMPLE_MS);
      const status = await reactionStatus(deps);
      const ours = status.filter(({ name }) => name.startsWith('counting_'));
      if (helper) lagMs.push(Math.max(...ours.map(({ lag_seconds: seconds }) => seconds * 1000)));
    }
  })();
  const pending = new Set<Promise<void>>();
  while (performance.now() - startedAt < forMs) {
    const due = ((performance.now() - startedAt) / 1000) * RATE;
    while (emitted < due && pending.size < 16) {
      const organizationId = tenants[(emitted / PER_TRANSACTION) % tenants.length]!;
      emitted += PER_TRANSACTION;
      const one = emitOnce(deps, organizationId).then((took) => void commitMs.push(took));
      pending.add(one);
      void one.finally(() => pending.delete(one));
    }
    await sleep(emitted < due ? 1 : TICK_MS / 5);
  }
  await Promise.all(pending);
  const seconds = (performance.now() - startedAt) / 1000;
  running = false;
  await sampling;
  const cpuAfter = helper && cpuMs(helper.pid);
  return {
    emitted,
    emittedRate: emitted / seconds,
    commitMs,
    lagMs,
    cpuMs: cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore,
  };
}

async function emitOnce(deps: Deps, organizationId: string): Promise<number> {
  const startedAt = performance.now();
  await transact(systemCtx(deps, organizationId, 'bench'), async (tx) => {
    for (let index = 0; index < PER_TRANSACTION; index += 1)
      tx.emit(COUNTED_EVENT, {
        user_id: organizationId,
        role_id: organizationId,
        role_name: 'Editor of what the bench needs',
        previous_role_id: organizationId,
      });
  });
  return performance.now() - startedAt;
}

/** Waits until every event has a position and is applied. Returns the duration (ms). */
async function drain({ db, clock }: Pick<TestDeps, 'db' | 'clock'>): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const unplaced = await db('domain_events').whereNull('position').first('id');
    const lags = unplaced ? [] : await reactionStatus({ db, clock });
    if (!unplaced && lags.every(({ lag_events: lag }) => lag === 0)) return performance.now() - startedAt;
    await sleep(20);
  }
}

/**
 * Compares two ways to record a bounce: the current one, and the former one, which checked the rates in the same
 * transaction.
 */
async function measureBounces({ assembly: { deps }, quick, log }: BenchContext) {
  const rounds = quick ? 1 : 5;
  const perRound = quick ? 20 : 150;
  const ctx = systemCtx(deps, (await createTenant(deps)).organizationId, 'bench');
  const org = ctx.actor.organizationId!;
  const mailboxId = await createMailbox(deps, org, 'sam@ours.test');
  const { campaignId, stepIds } = await createCampaign(deps, org, [{ subject: 'Hello' }]);
  const sends: string[] = [];
  for (let index = 0; index < 2 * rounds * perRound + 2; index += 1) {
    const recipient = `bench${index}@lead.test`;
    const contactId = await createContact(deps.db, deps.clock.now(), org, { email: recipient });
    const [enrollmentId] = await enroll(deps, org, campaignId, [contactId]);
    const fields = { campaignId, enrollmentId: enrollmentId!, stepId: stepIds[0]!, contactId, mailboxId, recipient };
    sends.push((await createSend(deps, org, fields)).id);
  }
  // Only the first check logs a warning. All checks do the same work.
  const bounce = (inside: boolean) => {
    const send = { id: sends.pop()! };
    return transact(ctx, async (tx) => {
      if (inside)
        await tx.org.sql('select id from campaigns where organization_id = :org and id = :id for no key update', {
          id: campaignId,
        });
      await recordSendBounce(tx, send, { hard: true, reason: externalText('550 5.1.1'), source: 'smtp' });
      if (inside) await watchRates(tx, campaignId);
    });
  };
  const inside = await countStatements(deps.db, () => bounce(true));
  const reaction = await countStatements(deps.db, () => bounce(false));
  const round = async (isInside: boolean): Promise<number> => {
    const startedAt = performance.now();
    let left = perRound;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        while ((left -= 1) >= 0) await bounce(isInside);
      }),
    );
    return (perRound / (performance.now() - startedAt)) * 1000;
  };
  const rates = await alternate(
    rounds,
    { inside: () => round(true), reaction: () => round(false) },
    (name, index, value) =>
      log(
        `bounces, rates watched ${name === 'inside' ? 'inside' : 'by a reaction'}, round ${index + 1}: ${value.toFixed(0)}/s`,
      ),
  );
  return { inside, reaction, rates };
}

async function countStatements(db: RawDb, work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const listener = (): void => void (count += 1);
  db.on('query', listener);
  await work();
  db.removeListener('query', listener);
  return count;
}
