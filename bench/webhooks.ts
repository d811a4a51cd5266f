import { setTimeout as sleep } from 'node:timers/promises';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { transact } from '../domain/platform/kernel/transact.ts';
import { createTenant } from '../test/harness/factories.ts';
import { createEndpoint } from '../test/harness/webhooks.ts';
import { cpuMs, median, percentile } from './measure.ts';
import type { BenchContext, BenchResult, Helper } from './context.ts';

const ORGANIZATIONS = 40;
/** Number of events in one emitting transaction. */
const PER_TRANSACTION = 25;
/** Maximum number of emitted events that are not received yet, while the engine is kept busy. */
const AHEAD = 2_000;
const BARE_CONCURRENCY = 100;
const WARM_UP_EVENTS = 2_000;
const TARGET_RATE = 1_000;
const LATENCY_RATE = 200;

/** Type of the event that is sent to every endpoint; its payload has a typical size. */
const EVENT = 'team.member_role_changed';

/**
 * Measures webhooks: deliveries per second compared to undici alone, the time from commit to receipt, the effect of
 * hanging receivers on others, and the database cost per delivery.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const { quick, log } = context;
  const rounds = quick ? 1 : 3;
  const sustainMs = quick ? 10_000 : 60_000;
  const watchMs = quick ? 20_000 : 40_000;
  const desk = await openDesk(context);
  await desk.busy({ events: WARM_UP_EVENTS });

  const bare = await context.helper('bare-webhooks', {
    BODIES: JSON.stringify(await desk.bodies(50)),
    TARGET: desk.url,
    CONCURRENCY: String(BARE_CONCURRENCY),
  });
  const bareRound = async (): Promise<number> => {
    const events = quick ? 10_000 : 40_000;
    const { ms } = await bare.ask<{ ms: number }>(String(events));
    return (events / ms) * 1000;
  };
  await bareRound();
  const bareRates: number[] = [];
  const heron: Busy[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bareRates.push(await bareRound());
    heron.push(await desk.busy({ forMs: sustainMs }));
    bareRates.push(await bareRound());
    log(
      `round ${round + 1}: ${heron.at(-1)!.rate.toFixed(0)} deliveries/s; undici alone ${bareRates
        .slice(-2)
        .map((rate) => rate.toFixed(0))
        .join(' and ')}/s`,
    );
  }
  const steady = await desk.steady({ rate: TARGET_RATE, forMs: sustainMs });
  log(
    `${TARGET_RATE} events/s emitted for ${sustainMs / 1000} s: ${steady.receivedRate.toFixed(0)} deliveries/s, ${steady.late} missing at the end`,
  );
  const brisk = await desk.steady({ rate: LATENCY_RATE, forMs: watchMs / 2 });
  log(`${LATENCY_RATE} events/s: p50 ${brisk.p50.toFixed(1)} ms, p99 ${brisk.p99.toFixed(1)} ms`);
  const healthy = await desk.steady({ rate: LATENCY_RATE, forMs: watchMs });
  await desk.hangOneInTen();
  const hanging = await desk.steady({ rate: LATENCY_RATE, forMs: watchMs });
  log(
    `one in ten endpoints hangs: p99 of the others ${hanging.p99.toFixed(1)} ms, before ${healthy.p99.toFixed(1)} ms`,
  );
  const ledger = await desk.ledger();

  const rate = median(heron.map((one) => one.rate));
  const bareRate = median(bareRates);
  const share = rate / bareRate;
  const statements = Math.max(...heron.map((one) => one.statements), steady.statements);
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  return {
    figures: [
      { label: 'deliveries, events emitted as fast as they are taken', value: `${rate.toFixed(0)} /s` },
      { label: 'undici alone: sign and post the same bodies', value: `${bareRate.toFixed(0)} /s` },
      { label: 'CPU per delivery', value: heron.at(-1)!.cpu },
      {
        label: `${TARGET_RATE} events/s: commit to receipt, p50 and p99`,
        value: `${ms(steady.p50)}, ${ms(steady.p99)}`,
      },
      {
        label: `${LATENCY_RATE} events/s: commit to receipt, p50 and p99`,
        value: `${ms(brisk.p50)}, ${ms(brisk.p99)}`,
      },
      {
        label: `one in ten endpoints hangs: p99 of the others, and before`,
        value: `${ms(hanging.p99)}, ${ms(healthy.p99)}`,
      },
      {
        label: 'SQL statements per delivery, everything counted, emitting too',
        value: `${statements.toFixed(2)} (at ${LATENCY_RATE}/s: ${brisk.statements.toFixed(2)})`,
      },
      {
        label: 'ledger: events, deliveries, receipts, attempts, repeats',
        value: [ledger.events, ledger.deliveries, ledger.received, ledger.attempts, ledger.repeats].join(', '),
      },
    ],
    targets: [
      {
        what: `deliveries per second, sustained for ${sustainMs / 1000} s`,
        target: `>= ${TARGET_RATE}`,
        got: Math.min(rate, steady.receivedRate).toFixed(0),
        met: steady.receivedRate >= TARGET_RATE * 0.99 && rate >= TARGET_RATE,
      },
      { what: 'against undici alone', target: '>= 25 %', got: `${(share * 100).toFixed(0)} %`, met: share >= 0.25 },
      {
        what: 'every event received, every attempt recorded, none twice',
        target: 'balanced',
        got: ledger.faults.join('; ') || 'balanced',
        met: ledger.faults.length === 0,
      },
      {
        what: `p50 from commit to receipt at ${LATENCY_RATE}/s`,
        target: '< 50 ms',
        got: ms(brisk.p50),
        met: brisk.p50 < 50,
      },
      {
        what: 'p99 of the others while one in ten endpoints hangs',
        target: '<= 3 x healthy',
        got: `${(hanging.p99 / healthy.p99).toFixed(2)} x`,
        met: hanging.p99 <= 3 * healthy.p99,
      },
      { what: 'SQL statements per delivered event', target: '<= 6', got: statements.toFixed(2), met: statements <= 6 },
    ],
    raw: { bareRates, heron, steady, brisk, healthy, hanging, ledger },
  };
}

interface Busy {
  rate: number;
  statements: number;
  cpu: string;
}

interface Steady {
  p50: number;
  p99: number;
  receivedRate: number;
  /** Number of events that were still missing when the wait ended. */
  late: number;
  statements: number;
}

interface Ledger {
  events: number;
  deliveries: number;
  received: number;
  attempts: number;
  repeats: number;
  faults: string[];
}

interface Desk {
  url: string;
  bodies(count: number): Promise<{ id: string; event_type: string; body: string }[]>;
  /** Emits events at the speed at which they are delivered. */
  busy(until: { events: number } | { forMs: number }): Promise<Busy>;
  /** Emits events at a rate. Up to a few hundred per second each has its own transaction. */
  steady(options: { rate: number; forMs: number }): Promise<Steady>;
  /** Makes every tenth endpoint accept requests without answering, from now on. */
  hangOneInTen(): Promise<void>;
  ledger(): Promise<Ledger>;
}

async function openDesk(context: BenchContext): Promise<Desk> {
  const { deps } = context.assembly;
  const { db } = deps;
  const receiver: Helper = await context.helper('webhook-receiver');
  const url = `http://127.0.0.1:${receiver.port}`;
  const organizations: string[] = [];
  for (let n = 0; n < ORGANIZATIONS; n += 1) {
    const { organizationId } = await createTenant(deps, `Bench ${n}`);
    await createEndpoint(deps, organizationId, `${url}/hook/${n}`);
    organizations.push(organizationId);
  }
  await db.raw('create extension if not exists pg_stat_statements');
  const hanging = new Set<string>();
  /** Commit times of the events' transactions, by event number. */
  const committed = new Map<number, number>();
  let emitted = 0;

  async function emit(count: number): Promise<void> {
    const organizationId = organizations[Math.floor(emitted / count) % organizations.length]!;
    const first = emitted;
    emitted += count;
    await transact(systemCtx(deps, organizationId, 'bench'), async (tx) => {
      for (let n = first; n < first + count; n += 1) {
        tx.emit(EVENT, {
          user_id: organizationId,
          role_id: organizationId,
          role_name: `Member ${n}`,
          number: n,
        } as never);
      }
    });
    const at = performance.timeOrigin + performance.now();
    for (let n = first; n < first + count; n += 1) committed.set(n, at);
  }

  /** Sends one query at a time to the receiver, because its answers have no id. */
  let asked: Promise<unknown> = Promise.resolve();
  function ask<Answer>(question: string): Promise<Answer> {
    const answer = asked.then(() => receiver.ask<Answer>(question));
    asked = answer;
    return answer;
  }
  const received = async (): Promise<number> => (await ask<{ count: number }>('count')).count;

  async function counted<T>(work: () => Promise<T>): Promise<{ value: T; statements: number }> {
    await db.raw('select pg_stat_statements_reset()');
    const value = await work();
    const { rows } = (await db.raw('select sum(calls)::int as calls from pg_stat_statements')) as {
      rows: { calls: number }[];
    };
    return { value, statements: rows[0]!.calls };
  }

  return {
    url,
    bodies: async (count) =>
      (
        (await db('webhook_payloads')
          .orderBy('created_at', 'desc')
          .limit(count)
          .select('event_id', 'event_type', 'body')) as { event_id: string; event_type: string; body: string }[]
      ).map(({ event_id: id, ...rest }) => ({ id, ...rest })),

    async busy(until) {
      const { processes } = context.stack;
      const pids = {
        worker: processes.worker.pid,
        temporal: processes.temporal?.pid,
        postgres: processes.postgres?.pid,
        emitter: process.pid,
        receiver: receiver.pid,
      };
      const cpu = (): Record<string, number | undefined> =>
        Object.fromEntries(
          Object.entries(pids).map(([name, pid]) => [
            name,
            pid === undefined ? undefined : cpuMs(pid, { children: name === 'postgres' }),
          ]),
        );
      const before = await received();
      const cpuBefore = cpu();
      const startedAt = performance.now();
      const { value: made, statements } = await counted(async () => {
        let sent = 0;
        const goesOn = (): boolean =>
          'events' in until ? sent < until.events : performance.now() - startedAt < until.forMs;
        let arrived = 0;
        const watch = setInterval(() => void received().then((count) => (arrived = count - before)), 20);
        await Promise.all(
          Array.from({ length: 4 }, async () => {
            while (goesOn()) {
              if (sent - arrived > AHEAD) {
                await sleep(5);
                continue;
              }
              sent += PER_TRANSACTION;
              await emit(PER_TRANSACTION);
            }
          }),
        );
        clearInterval(watch);
        while ((await received()) - before < sent) await sleep(10);
        return sent;
      });
      const ms = performance.now() - startedAt;
      const cpuAfter = cpu();
      const shares = Object.keys(pids)
        .filter((name) => cpuAfter[name] !== undefined && cpuBefore[name] !== undefined)
        .map((name) => `${name} ${((cpuAfter[name]! - cpuBefore[name]!) / made).toFixed(2)}`);
      return {
        rate: (made / ms) * 1000,
        statements: statements / made,
        cpu: shares.length > 0 ? `ms: ${shares.join(', ')}` : 'not known here',
      };
    },

    async steady({ rate, forMs }) {
      await settled();
      await ask('reset');
      const first = emitted;
      const perTransaction = rate > 500 ? PER_TRANSACTION : 1;
      const startedAt = performance.now();
      const { statements, value: receivedRate } = await counted(async () => {
        const open = new Set<Promise<void>>();
        while (performance.now() - startedAt < forMs) {
          const due = Math.min(((performance.now() - startedAt) / 1000) * rate, (forMs / 1000) * rate);
          while (emitted - first + perTransaction <= due) {
            const one = emit(perTransaction).finally(() => open.delete(one));
            open.add(one);
          }
          await sleep(2);
        }
        await Promise.all(open);
        const count = emitted - first - (await toHanging(first));
        const deadline = performance.now() + 20_000;
        while ((await received()) < count && performance.now() < deadline) await sleep(10);
        return (count / (performance.now() - startedAt)) * 1000;
      });
      const numbers = await readNumbers(first);
      const waits: number[] = [];
      for (const [id, at] of await ask<[string, number, number][]>('dump')) {
        const n = numbers.get(id);
        if (n !== undefined) waits.push(Math.max(0, at - committed.get(n)!));
      }
      const expected = emitted - first - (await toHanging(first));
      return {
        p50: percentile(waits, 0.5),
        p99: percentile(waits, 0.99),
        receivedRate,
        late: expected - waits.length,
        statements: statements / expected,
      };
    },

    async hangOneInTen() {
      for (let n = 0; n < organizations.length; n += 10) {
        hanging.add(organizations[n]!);
        await db('webhook_endpoints')
          .where({ organization_id: organizations[n]! })
          .update({ url: `${url}/hang/${n}` });
      }
    },

    async ledger() {
      await settled();
      const healthy = organizations.filter((id) => !hanging.has(id));
      const { rows } = (await db.raw(
        `select (select count(*)::int from domain_events where organization_id = any(:ids::uuid[]) and type = :type) as events,
           count(*)::int as deliveries, count(*) filter (where status = 'delivered')::int as delivered, coalesce(sum(attempt_count), 0)::int as counted,
           (select count(*)::int from webhook_attempts where organization_id = any(:ids::uuid[])) as attempts
         from webhook_deliveries where organization_id = any(:ids::uuid[])`,
        { ids: healthy as never, type: EVENT },
      )) as { rows: { events: number; deliveries: number; delivered: number; counted: number; attempts: number }[] };
      const { events, deliveries, delivered, counted: counts, attempts } = rows[0]!;
      const dump = await ask<[string, number, number][]>('dump');
      const repeats = dump.reduce((sum, [, , times]) => sum + times - 1, 0);
      const faults = [
        ...(deliveries === events ? [] : [`${events} events made ${deliveries} deliveries`]),
        ...(delivered === deliveries ? [] : [`${deliveries - delivered} not delivered`]),
        ...(counts === attempts ? [] : [`${counts} attempts counted, ${attempts} recorded`]),
        ...(repeats === 0 ? [] : [`${repeats} came twice`]),
      ];
      return { events, deliveries, received: dump.length, attempts, repeats, faults };
    },
  };

  /** Waits until every emitted event has an outcome, except for hanging endpoints. */
  async function settled(): Promise<void> {
    const healthy = organizations.filter((id) => !hanging.has(id));
    for (;;) {
      const open = await db('webhook_deliveries')
        .whereIn('organization_id', healthy)
        .whereIn('status', ['pending', 'in_flight'])
        .first('id');
      const unplaced = await db('domain_events').whereNull('position').first('id');
      if (!open && !unplaced) return;
      await sleep(50);
    }
  }

  /** Counts the events for hanging endpoints, from a number on. */
  async function toHanging(first: number): Promise<number> {
    if (hanging.size === 0) return 0;
    const { rows } = (await db.raw(
      `select count(*)::int as n from domain_events where organization_id = any(:ids::uuid[]) and type = :type and (data ->> 'number')::int >= :first`,
      { ids: [...hanging] as never, type: EVENT, first },
    )) as { rows: { n: number }[] };
    return rows[0]!.n;
  }

  /** Returns the numbers of the events by id. */
  async function readNumbers(first: number): Promise<Map<string, number>> {
    const rows = (await db('domain_events')
      .where({ type: EVENT })
      .whereRaw(`(data ->> 'number')::int >= ?`, [first])
      .select('id', db.raw(`(data ->> 'number')::int as number`))) as { id: string; number: number }[];
    return new Map(rows.map(({ id, number }) => [id, number]));
  }
}
