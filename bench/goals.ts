import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from '../db/rows.ts';
import { pageStatement } from '../domain/reporting/goals/compare.ts';
import type { GoalDefinition } from '../domain/reporting/goals/definition.ts';
import { createGoal, updateGoal, type Goal } from '../domain/reporting/goals/goals.ts';
import { previewReplay, startReplay } from '../domain/reporting/goals/replays.ts';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { DAY_MS } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { createTenant } from '../test/harness/factories.ts';
import type { RawDb } from '../test/harness/database.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { copyRows, filling, type Cell } from './fill.ts';
import { describeLateness, lateness, TENANTS } from './lateness.ts';
import { percentile, timed } from './measure.ts';
import { idOf } from './reports-emails.ts';

/** Time range of the events: half a year up to now. */
const TO = new Date();
const FROM = new Date(TO.getTime() - 182 * DAY_MS);
const PEOPLE = 100_000;
const TARGET_PER_SECOND = 50_000;
/** Maximum factor by which the lateness of emails (99th percentile) may grow during a replay. */
const TARGET_LATER = 1.3;

/**
 * Measures the speed of a replay through worker and Temporal when a tenth of the events match. Also measures the cost
 * of a page, and the delay of other emails.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const { assembly, quick, scale, log } = context;
  const { deps } = assembly;
  const { db } = deps;
  const events = quick ? 100_000 : Math.round(10_000_000 * scale);
  const { organizationId } = await createTenant(deps);
  const ctx = systemCtx(deps, organizationId, 'bench');
  const people = Math.min(PEOPLE, events / 10);
  const fillMs = await timed(() => filling(db, () => fill(db, organizationId, { events, people, log })));
  log(`${events} events of ${people} people in ${(fillMs / 1000).toFixed(0)} s`);

  const goal = await createGoal(ctx, { name: 'Paid', kind: 'paid', isPrimary: true, definition: paidFor(3) });
  const figures: BenchResult['figures'] = [];
  const raw: Record<string, unknown> = {};
  const replayed = async (): Promise<Row<'goal_replays'>> => {
    const { id } = await startReplay(ctx, goal.id, { from: FROM, to: TO });
    for (;;) {
      const row = await db('goal_replays').where({ id }).first();
      if (row.state === 'failed') throw new Error(`the replay failed: ${row.error}`);
      if (row.state === 'completed') return row;
      await sleep(20);
    }
  };
  const replay = async (what: string): Promise<number> => {
    const startedAt = performance.now();
    const row = await replayed();
    const seconds = (performance.now() - startedAt) / 1000;
    const perSecond = Math.round(Number(row.scanned) / seconds);
    figures.push({
      label: `replay of ${row.scanned} events, ${what}: ${row.added} added, ${row.removed} removed, ${row.kept} kept`,
      value: `${perSecond} events/s (${seconds.toFixed(1)} s)`,
    });
    log(`${what}: ${perSecond} events/s`);
    return perSecond;
  };
  const added = await replay('a tenth becomes conversions');
  const kept = await replay('nothing changes');
  await updateGoal(ctx, goal.id, { definition: paidFor(4) });
  const changed = await replay('a tenth is removed and a tenth added');

  const range = { from: FROM, to: new Date(FROM.getTime() + (TO.getTime() - FROM.getTime()) / (quick ? 1 : 10)) };
  let scanned = 0;
  const previewMs = await timed(async () => ({ scanned } = await previewReplay(ctx, goal.id, range)));
  figures.push({
    label: `preview of a replay of ${scanned} events`,
    value: `${(previewMs / 1000).toFixed(2)} s (${Math.round(scanned / (previewMs / 1000))} events/s)`,
  });
  const plan = await explainPage(db, organizationId, { ...goal, revision: 2, definition: paidFor(4) });
  const ms = /Execution Time: ([\d.]+) ms/.exec(plan.join('\n'))?.[1] ?? '?';
  figures.push({ label: `the statement of a page of 5,000 from the middle of ${events} events`, value: `${ms} ms` });
  raw.page = plan;
  const scans = plan.some((line) => /Seq Scan on (product_events|conversions)/.test(line));
  const slowest = Math.min(added, kept, changed);

  const leads = quick ? 3 : 15;
  const sink = await context.helper('sink');
  await lateness(context, sink, 3);
  const alone = await lateness(context, sink, leads);
  let isSending = true;
  const replays = (async () => {
    while (isSending) await replayed();
  })();
  const beside = await lateness(context, sink, leads);
  isSending = false;
  await replays;
  const later = percentile(beside, 0.99) / percentile(alone, 0.99);
  raw.lateness = { alone, beside };
  figures.push(
    { label: `slot to sent, ${TENANTS} tenants with ${leads} leads each`, value: describeLateness(alone) },
    { label: 'the same beside a replay', value: describeLateness(beside) },
  );
  return {
    figures,
    targets: [
      {
        what: `replay of ${events} events`,
        target: `${TARGET_PER_SECOND} events/s`,
        got: `${slowest} events/s at least`,
        met: slowest >= TARGET_PER_SECOND,
      },
      {
        what: 'p99 from slot to sent beside a replay, against without',
        target: `<= ${TARGET_LATER} x`,
        got: `${later.toFixed(2)} x`,
        met: later <= TARGET_LATER,
      },
      {
        what: 'the statement of a page',
        target: 'no sequential scan',
        got: scans ? 'see results/' : 'indexes only',
        met: !scans,
      },
    ],
    raw,
  };
}

/** Returns a definition that matches orders of one of ten plans. */
function paidFor(plan: number): GoalDefinition {
  return {
    event_name: 'order.paid',
    predicates: [
      { path: 'plan.name', op: 'eq', value: `plan-${plan}` },
      { path: 'total', op: 'gt', value: 0 },
    ],
    value_path: 'total',
    value_unit: 'major',
    currency_path: 'currency',
    default_currency: 'EUR',
  };
}

/** Stores events in the order in which they occurred, as received events are stored. */
async function fill(
  db: RawDb,
  organizationId: string,
  { events, people, log }: { events: number; people: number; log: (line: string) => void },
): Promise<void> {
  const stepMs = (TO.getTime() - FROM.getTime()) / events;
  const from = FROM.toISOString();
  const write = async (table: string, columns: string, count: number, row: (n: number) => Cell[]) => {
    const rows = (function* () {
      for (let n = 0; n < count; n += 1) yield row(n);
    })();
    const ms = await timed(() => copyRows(db, table, columns.split(' '), rows));
    log(`${table}: ${count} in ${(ms / 1000).toFixed(1)} s`);
  };
  await write('people', 'id organization_id created_at', people, (n) => [idOf('person', n), organizationId, from]);
  await write('product_events', 'id organization_id person_id name data occurred_at received_at', events, (n) => {
    const currency = ['EUR', 'USD', 'JPY', 'usd'][n % 4]!;
    const data = `{"plan": {"name": "plan-${n % 10}", "seats": ${n % 40}}, "total": ${(n % 9000) / 100}, "currency": "${currency}", "order": ${n}}`;
    const at = new Date(FROM.getTime() + n * stepMs).toISOString();
    return [idOf('event', n), organizationId, idOf('person', n % people), 'order.paid', data, at, from];
  });
}

async function explainPage(db: RawDb, organizationId: string, goal: Goal): Promise<string[]> {
  const { sql, bindings } = pageStatement(
    { goalId: goal.id, revision: goal.revision, definition: goal.definition, from: FROM, to: TO },
    { at: new Date((FROM.getTime() + TO.getTime()) / 2).toISOString(), id: newId() },
    5000,
  );
  const { rows } = await db.raw(`explain (analyze, buffers) ${sql}`, { ...bindings, org: organizationId } as never);
  return rows.map((row: { 'QUERY PLAN': string }) => row['QUERY PLAN']);
}
