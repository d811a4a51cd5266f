import { setTimeout as sleep } from 'node:timers/promises';
import { systemCtx, type Ctx } from '../domain/platform/kernel/context.ts';
import { transact } from '../domain/platform/kernel/transact.ts';
import { planDay } from '../domain/mailboxes/warmup/plan.ts';
import { signalIfEarlier } from '../domain/mailboxes/warmup/record.ts';
import { startWarmup } from '../domain/mailboxes/warmup/standing.ts';
import { DAY_MS } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { createMailbox, createTenant } from '../test/harness/factories.ts';
import type { TestDeps } from '../test/harness/database.ts';
import { startMailWorld } from '../test/harness/mail.ts';
import { ManualClock } from '../test/harness/manual-clock.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { median, timed } from './measure.ts';

const MAILBOXES = 10_000;
const PLANNED_IN_MS = 10_000;
const TASKS_PER_EMAIL = 2;
const FROM = new Date('2026-05-04T00:05:00Z');
/**
 * Maximum number of days since the start of a mailbox's ramp-up. The mailboxes are evenly distributed over these days.
 */
const RAMP_DAYS = 20;
const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'UTC'];
/**
 * Factor by which the exchange of emails is accelerated: one email per mailbox every 3 s stands for one every 24 min.
 */
const FASTER = 480;
const EVERY_MS = 3_000;
const LEAD_MS = 6_000;

/**
 * Measures planning a day of many mailboxes, and the workflow tasks per email exchanged over SMTP and IMAP, including
 * replies.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const { quick, log, assembly } = context;
  const count = quick ? MAILBOXES / 10 : MAILBOXES;
  const days = await planDays(assembly.deps, count, quick ? 1 : 3);
  for (const { ms, emails } of days) log(`${count} mailboxes, ${emails} emails planned in ${(ms / 1000).toFixed(2)} s`);
  const exchange = await playExchange(context, quick ? { mailboxes: 4, each: 4 } : { mailboxes: 12, each: 20 });
  const perEmail = exchange.tasks / exchange.emails;
  log(`${exchange.emails} emails, ${exchange.replies} of them replies: ${exchange.tasks} workflow tasks`);
  const planMs = median(days.map(({ ms }) => ms));
  const { emails } = days.at(-1)!;
  return {
    figures: [
      { label: 'emails of a day', value: String(emails) },
      { label: 'planned per second', value: `${Math.round(emails / (planMs / 1000))} emails` },
      {
        label: 'exchanged over SMTP and IMAP',
        value: `${exchange.emails} emails, ${exchange.replies} of them replies`,
      },
      { label: 'workflow tasks of their runs, start included', value: String(exchange.tasks) },
    ],
    targets: [
      {
        what: `a day of ${count} mailboxes planned`,
        target: '< 10 s',
        got: `${(planMs / 1000).toFixed(2)} s`,
        met: planMs < PLANNED_IN_MS,
      },
      {
        what: 'workflow tasks per exchanged email',
        target: `<= ${TASKS_PER_EMAIL}`,
        got: perEmail.toFixed(2),
        met: perEmail <= TASKS_PER_EMAIL,
      },
    ],
    raw: { days, exchange },
  };
}

/**
 * Plans whole days for one workspace with many mailboxes and default settings. Returns the time (ms) and the emails of
 * each day.
 */
async function planDays(deps: TestDeps, mailboxes: number, days: number): Promise<{ ms: number; emails: number }[]> {
  const clock = new ManualClock(FROM);
  const { organizationId } = await createTenant(deps, 'Bench of plans');
  await deps.db.raw(
    `with made as (
       insert into mailboxes (id, organization_id, email, smtp, imap, credentials, warmup, timezone, warmup_days, created_at, updated_at)
       select gen_random_uuid(), :org, 'plan' || n || '@domain' || n % 500 || '.example.com', '{"host": "127.0.0.1", "port": 1}', '{"host": "127.0.0.1", "port": 1}',
         '\\x00', cast(:from as timestamptz) - (n % :ramp) * interval '1 day', (cast(:zones as text[]))[1 + n % :zoneCount], 127, :from, :from
       from generate_series(1, :mailboxes) as n returning id, organization_id)
     insert into warmup_standings (mailbox_id, organization_id) select id, organization_id from made`,
    { org: organizationId, mailboxes, from: FROM, ramp: RAMP_DAYS, zones: ZONES, zoneCount: ZONES.length },
  );
  await deps.db.raw('analyze mailboxes, warmup_standings');
  const found: { ms: number; emails: number }[] = [];
  for (let day = 0; day < days; day += 1) {
    const ctx = systemCtx({ ...deps, clock }, organizationId, 'bench');
    const ms = await timed(() => planDay(ctx));
    const [row] = await deps
      .db('warmup_mails')
      .where({ slot_day: clock.now().toISOString().slice(0, 10), organization_id: organizationId })
      .count();
    found.push({ ms, emails: Number(row!.count) });
    clock.advance(DAY_MS);
  }
  return found;
}

/** Lets the workflows of mailboxes exchange their emails at the accelerated pace, and counts their workflow tasks. */
async function playExchange(
  { assembly: { deps, temporal } }: BenchContext,
  { mailboxes, each }: { mailboxes: number; each: number },
): Promise<{ emails: number; replies: number; tasks: number }> {
  const { organizationId } = await createTenant(deps, 'Bench of exchange');
  const mail = await startMailWorld();
  try {
    const ids: string[] = [];
    for (let index = 0; index < mailboxes; index += 1) {
      const box = await mail.addMailbox({ email: `warm${index}@bench.example.com`, password: 'secret' });
      const always = { warmup_days: 127, warmup_start_time: '00:00', warmup_end_time: '00:00', min_wait_time: 0 };
      ids.push(await createMailbox(deps, organizationId, box.email, box, always));
    }
    const ctx = systemCtx(deps, organizationId, 'bench');
    await insertPlan(deps, organizationId, ids, each);
    for (const id of ids) await startWarmup(ctx, id);
    for (;;) {
      await hurryReplies(ctx, deps);
      await sleep(250);
      const [left] = await deps
        .db('warmup_mails')
        .where({ organization_id: organizationId })
        .where((open) => void open.whereIn('state', ['reserved', 'sending']).orWhereNull('landed'))
        .count();
      if (Number(left!.count) === 0) break;
    }
    const mails: { state: string; answers: string | null }[] = await deps
      .db('warmup_mails')
      .where({ organization_id: organizationId })
      .select('state', 'answers');
    const lost = mails.filter(({ state }) => state !== 'sent');
    if (lost.length > 0) throw new Error(`${lost.length} emails were not sent`);
    let tasks = 0;
    for (const id of ids) {
      const { events } = await temporal.workflow.getHandle(`warmup/${id}`).fetchHistory();
      tasks += events!.filter((event) => event.workflowTaskCompletedEventAttributes).length;
    }
    return { emails: mails.length, replies: mails.filter(({ answers }) => answers !== null).length, tasks };
  } finally {
    await mail.stop();
  }
}

/** Inserts the plan of a day as it is after a few hours. */
async function insertPlan(
  { db }: TestDeps,
  organizationId: string,
  ids: readonly string[],
  each: number,
): Promise<void> {
  const now = Date.now();
  const day = new Date(now).toISOString().slice(0, 10);
  await db('warmup_standings').insert(
    ids.map((id) => ({ mailbox_id: id, organization_id: organizationId, planned_day: day })),
  );
  await db('warmup_mails').insert(
    ids.flatMap((id, index) =>
      Array.from({ length: each }, (_, place) => ({
        id: newId(),
        organization_id: organizationId,
        mailbox_id: id,
        partner_id: ids[(index + 1 + (place % (ids.length - 1))) % ids.length]!,
        slot_at: new Date(now + LEAD_MS + (place + Math.random()) * EVERY_MS),
        slot_day: day,
        created_at: new Date(now),
      })),
    ),
  );
}

/** Brings planned replies forward by the same factor, and sends the signal that is sent when a reply is planned. */
async function hurryReplies(ctx: Ctx, { db }: TestDeps): Promise<void> {
  const replies: { id: string; mailbox_id: string; slot_at: Date; created_at: Date }[] = await db('warmup_mails')
    .where({ organization_id: ctx.actor.organizationId, state: 'reserved' })
    .whereNotNull('answers')
    .where('slot_at', '>', new Date(Date.now() + 60_000));
  for (const { id, mailbox_id: mailboxId, slot_at: slotAt, created_at: createdAt } of replies)
    await transact(ctx, async (tx) => {
      const at = createdAt.getTime() + (slotAt.getTime() - createdAt.getTime()) / FASTER;
      await tx.org
        .table('warmup_mails')
        .where({ id })
        .update({ slot_at: new Date(at) });
      await signalIfEarlier(tx, mailboxId, at);
    });
}
