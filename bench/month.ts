import { ManualClock } from '../test/harness/manual-clock.ts';
import { rawDb, type TestDeps } from '../test/harness/database.ts';
import { systemCtx, type Ctx } from '../domain/platform/kernel/context.ts';
import { transact, type Tx } from '../domain/platform/kernel/transact.ts';
import type { CampaignView } from '../domain/sending/campaign/campaign-view.ts';
import { readCampaignFlow } from '../domain/campaigns/flow.ts';
import { dueLeads, requeueCalled } from '../domain/sending/enrollment/due-leads.ts';
import { orderLeads } from '../domain/sending/enrollment/lead-order.ts';
import { entryOf } from '../domain/sending/enrollment/entry.ts';
import { launchDueLeads, type LaunchIteration } from '../domain/sending/enrollment/launch.ts';
import { readGraph } from '../domain/sending/enrollment/snapshot.ts';
import { allocate, type Allocation, type Candidate } from '../domain/sending/allocate.ts';
import { effectiveSettings } from '../domain/sending/campaign/outreach-settings.ts';
import { fineCpuMs, median, percentile, timed } from './measure.ts';
import { fillWorld, NOON, type CampaignKind, type LivingWorld } from './month-world.ts';
import type { BenchContext, BenchResult } from './context.ts';

/** Horizon (ms) within which the launcher reserves slots. */
const HORIZON_MS = 600_000;
/** Time (ms) by which the simulated clock advances between two slots. */
const STEP_MS = 2_000;
/** Number of slots allocated before the measurement, while caches are cold and statements are not prepared. */
const WARM_UP = 8;

/** Kind of slot request: a campaign, fields of the contact, and the label of the figure. */
interface Asking {
  campaign: CampaignKind;
  label: string;
  fields?: Partial<Candidate>;
  /** True if the contact's conversation is bound to a mailbox. */
  bound?: boolean;
}

const ASKING: Asking[] = [
  { campaign: 'everybody', label: 'every mailbox of the workspace is a sender' },
  { campaign: 'explicit', label: 'all of them are senders by choice, with weights' },
  { campaign: 'tag', label: 'three in ten are senders, by a tag' },
  { campaign: 'few', label: 'one in forty is a sender' },
  { campaign: 'strict', label: 'only those of one provider', fields: { espProvider: 'outlook' } },
  { campaign: 'ramp', label: '98 in 100 have given what the ramp allows' },
  { campaign: 'everybody', label: 'a follow-up, from the mailbox of its conversation', bound: true },
];

/**
 * Measures two costs on a busy day: allocating one slot among very many mailboxes, and selecting due leads among very
 * many waiting ones.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const mailboxes = context.quick ? 1_000 : 10_000;
  const leads = context.quick ? 20_000 : 1_000_000;
  const rounds = context.quick ? 30 : 300;
  const clock = new ManualClock(NOON);
  const deps: TestDeps = { ...context.assembly.deps, clock };
  // Stops the stack's worker, whose launchers would interfere.
  await context.stack.processes.worker.stop();
  let world: LivingWorld | undefined;
  const filledMs = await timed(async () => (world = await fillWorld(deps, { mailboxes, leads, log: context.log })));
  context.log(`filled in ${(filledMs / 1000).toFixed(0)} s`);
  const ctx = systemCtx(deps, world!.organizationId, 'bench');

  const slots: Record<string, SlotTimes> = {};
  for (const asking of ASKING) {
    slots[asking.label] = await measureSlots({ ctx, deps, clock, world: world! }, asking, rounds);
    context.log(`slot, ${asking.label}: ${tell(slots[asking.label]!)}`);
  }
  const { took: picks } = await measurePicks(ctx, deps, world!, 'created_at', context.quick ? 10 : 50);
  context.log(`due pick: p50 ${ms(median(picks))}, slowest ${ms(Math.max(...picks))}`);
  const ordered = await measurePicks(ctx, deps, world!, 'company', context.quick ? 10 : 50);
  context.log(`due pick by company: p50 ${ms(median(ordered.took))}, slowest ${ms(Math.max(...ordered.took))}`);
  const turns = await measureTurns(ctx, deps, clock, world!, 20);
  context.log(`launcher's turn: p50 ${ms(median(turns))}, slowest ${ms(Math.max(...turns))}`);

  const flows: number[] = [];
  for (let round = 0; round < rounds; round += 1)
    flows.push(await timed(() => readCampaignFlow(ctx, world!.campaigns.everybody.campaignId)));
  context.log(`flow: p50 ${ms(median(flows))}, p99 ${ms(percentile(flows, 0.99))}`);

  const p99 = Math.max(...Object.values(slots).map(({ clock: values }) => percentile(values, 0.99)));
  const slowest = Math.max(...picks);
  const slowestTurn = Math.max(...ordered.turns, ...ordered.back);
  return {
    figures: [
      {
        label: 'the world',
        value: `${mailboxes} mailboxes, 6 campaigns, ${leads} leads, ${world!.emailsToday} emails of today sent or reserved`,
      },
      ...Object.entries(slots).map(([label, times]) => ({
        label: `one slot: ${label}; median and p99 of ${times.clock.length}`,
        value: tell(times),
      })),
      {
        label: `due pick: the next 100 of ${leads} leads, median and slowest of ${picks.length}`,
        value: `${ms(median(picks))}, ${ms(slowest)}`,
      },
      {
        label: `the same where the campaign orders its leads by company, median and slowest of ${ordered.took.length}`,
        value: `${ms(median(ordered.took))}, ${ms(Math.max(...ordered.took))}`,
      },
      {
        label: `giving ${leads} leads their place when the order of the campaign is changed: turns, median and slowest`,
        value: `${ordered.turns.length}, ${ms(median(ordered.turns))}, ${ms(Math.max(...ordered.turns))}`,
      },
      {
        label: 'putting leads back into that order whose moment has come: turns, median and slowest',
        value: `${ordered.back.length}, ${ms(median(ordered.back))}, ${ms(Math.max(...ordered.back))}`,
      },
      {
        label: `a launcher's turn (due pick, 100 slots, 100 runs), median and slowest of ${turns.length}`,
        value: `${ms(median(turns))}, ${ms(Math.max(...turns))}`,
      },
      {
        label: `where the ${leads} leads of a campaign stand, median and p99 of ${flows.length}`,
        value: `${ms(median(flows))}, ${ms(percentile(flows, 0.99))}`,
      },
    ],
    targets: [
      {
        what: `one slot with ${mailboxes} mailboxes, p99 of the slowest kind`,
        target: '< 10 ms',
        got: ms(p99),
        met: p99 < 10,
      },
      { what: `due pick of ${leads} leads, slowest`, target: '< 200 ms', got: ms(slowest), met: slowest < 200 },
      {
        what: `the same by company, slowest`,
        target: '< 200 ms',
        got: ms(Math.max(...ordered.took)),
        met: Math.max(...ordered.took) < 200,
      },
      {
        what: 'turns of the launcher that give leads their place, or put them back into it, slowest',
        target: '< 200 ms',
        got: ms(slowestTurn),
        met: slowestTurn < 200,
      },
    ],
    raw: { slots, picks, ordered, turns, flows },
  };
}

interface Bench {
  ctx: Ctx;
  deps: TestDeps;
  clock: ManualClock;
  world: LivingWorld;
}

/**
 * Times (ms) for allocating consecutive slots: elapsed time, CPU time of the database session, and CPU time of session
 * and this process together.
 */
interface SlotTimes {
  clock: number[];
  session: number[];
  both: number[];
}

function tell({ clock, session, both }: SlotTimes): string {
  const of = (values: readonly number[]): string => `${ms(median(values))}, ${ms(percentile(values, 0.99))}`;
  // Some systems do not report the CPU time of a single process exactly enough.
  if (session.some(Number.isNaN)) return of(clock);
  return `${of(clock)}; processor time ${of(both)}, of that PostgreSQL ${of(session)}`;
}

/** Allocates slots for one contact after another, each in its own transaction. Measures only the allocator. */
async function measureSlots({ ctx, deps, clock, world }: Bench, asking: Asking, rounds: number): Promise<SlotTimes> {
  const { campaignId, stepIds } = world.campaigns[asking.campaign];
  const bound = asking.bound ? await busyMailboxes(deps, world, rounds) : [];
  // Uses the leads at the end of the queue.
  const leads = (await deps
    .db('enrollments')
    .where({ campaign_id: world.campaigns.everybody.campaignId, state: 'pending' })
    .orderBy('entered_at', 'desc')
    .limit(rounds + WARM_UP)
    .select('id', 'contact_id')) as { id: string; contact_id: string }[];
  const took: SlotTimes = { clock: [], session: [], both: [] };
  let given = 0;
  for (let round = -WARM_UP; round < rounds; round += 1) {
    clock.advance(STEP_MS);
    const lead = leads[round + WARM_UP]!;
    const candidate: Candidate = {
      enrollmentId: lead.id,
      contactId: lead.contact_id,
      stepId: stepIds[asking.bound ? 1 : 0]!,
      stepRunId: null,
      attempts: 0,
      recipient: `${round}@lead.example.com`,
      espProvider: '',
      contactTimezone: null,
      isFirst: !asking.bound,
      stickyMailboxId: asking.bound ? bound[Math.max(round, 0)]! : null,
      notBefore: null,
      variantId: null,
      ...asking.fields,
    };
    await transact(ctx, async (tx) => {
      const inEffect = {
        campaign: await campaignOf(tx, campaignId),
        settings: await effectiveSettings(tx.org, campaignId),
      };
      let answer: Allocation | undefined;
      const { rows } = await rawDb(tx.trx).raw('select pg_backend_pid() as pid');
      const sessionMs = (): number => fineCpuMs(rows[0].pid) ?? NaN;
      const before = { session: sessionMs(), own: process.cpuUsage() };
      const one = await timed(async () => {
        [answer] = await allocate(tx, inEffect, [candidate], asking.bound ? {} : { horizonMs: HORIZON_MS });
      });
      const own = process.cpuUsage(before.own);
      const session = sessionMs() - before.session;
      if (answer!.kind === 'slot') given += 1;
      if (round < 0) return;
      took.clock.push(one);
      took.session.push(session);
      took.both.push(session + (own.user + own.system) / 1000);
    });
  }
  // A nearly exhausted pool may run out during the measurement.
  if (given < rounds / 3) throw new Error(`${asking.label}: ${given} of ${rounds} got a slot`);
  return took;
}

async function campaignOf(tx: Tx, id: string): Promise<CampaignView> {
  return (await tx.org.table('campaigns').where({ id }).first()) as unknown as CampaignView;
}

/** Returns mailboxes that have sent today and may send more. */
async function busyMailboxes(deps: TestDeps, world: LivingWorld, count: number): Promise<string[]> {
  const rows = (await deps
    .db('mailboxes')
    .where({ organization_id: world.organizationId, status: 'active', hold_code: null })
    .where('next_free_at', '>', new Date(0))
    .limit(count)
    .select('id')) as { id: string }[];
  return Array.from({ length: count }, (_, index) => rows[index % rows.length]!.id);
}

/**
 * Measures the selection of the next leads in an order. The leads are locked and then released. Also measures the
 * iterations before it, which number the leads and requeue due ones.
 */
async function measurePicks(
  ctx: Ctx,
  deps: TestDeps,
  { campaigns }: LivingWorld,
  order: string,
  rounds: number,
): Promise<{ took: number[]; turns: number[]; back: number[] }> {
  const { campaignId } = campaigns.everybody;
  await deps.db('campaigns').where({ id: campaignId }).update({ contact_order_by: order });
  const page = async (work: (tx: Tx, campaign: CampaignView) => Promise<boolean>): Promise<number[]> => {
    const turns: number[] = [];
    for (let isLeft = true; isLeft;) {
      const one = await timed(async () => {
        isLeft = await transact(ctx, async (tx) => work(tx, await campaignOf(tx, campaignId)));
      });
      turns.push(one);
    }
    return turns;
  };
  const turns = await page(orderLeads);
  const back = await page(requeueCalled);
  // Runs a vacuum, because autovacuum also runs in a campaign whose leads wait for hours.
  if (turns.length > 1) await deps.db.raw('vacuum analyze enrollments');
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await transact(ctx, async (tx) => {
      const campaign = await campaignOf(tx, campaignId);
      const entry = entryOf(await readGraph(tx, campaign));
      let found = 0;
      took.push(
        await timed(async () => (found = (await dueLeads(tx, campaign, entry, { limit: 100, called: true })).length)),
      );
      if (found !== 100) throw new Error(`${found} leads are due`);
    });
  }
  await deps.db('campaigns').where({ id: campaignId }).update({ contact_order_by: 'created_at' });
  return { took, turns, back };
}

/**
 * Measures launcher iterations that launch leads. The emails reserved by one iteration are sent before the next.
 * Earlier iterations release refused leads.
 */
async function measureTurns(
  ctx: Ctx,
  deps: TestDeps,
  clock: ManualClock,
  { campaigns }: LivingWorld,
  rounds: number,
): Promise<number[]> {
  const { campaignId } = campaigns.everybody;
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await deps.db.raw(
      `update sends set state = 'sent', sent_at = slot_at where campaign_id = :campaign and state = 'reserved'`,
      { campaign: campaignId },
    );
    clock.advance(60_000);
    let turn: LaunchIteration | undefined;
    const ms = await timed(async () => (turn = await launchDueLeads(ctx, campaignId)));
    if (turn && 'launched' in turn && turn.launched > 0) took.push(ms);
    else round -= 1;
  }
  return took;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
