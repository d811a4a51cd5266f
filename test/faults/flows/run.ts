import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reconcile } from '../../../domain/operations/system/reconcile.ts';
import type { TestAssembly } from '../../harness/database.ts';
import { startMailWorld, type MailWorld } from '../../harness/mail.ts';
import { CAMPAIGN_SETTINGS, onInstallation, type Kept } from '../installation.ts';
import type { Parts, PartsOptions } from '../parts.ts';
import type { Beside, Installation } from './beside.ts';
import { seeded, type Random } from '../random.ts';
import type { Check } from '../reconcile.ts';
import { readBooks } from './books.ts';
import { createClient } from './client.ts';
import { compareOrderBooks } from '../order-books.ts';
import { createKiller, type FlowKill } from './kills.ts';
import { drawDeck, drawRound, type Card, type Flow, type Kind } from './plan.ts';
import { patiently, type Act, type Bought, type Game } from './game.ts';
import { hasten } from './play-orders.ts';
import { onStep, playFlows, stopWarmups } from './play.ts';
import { prepareWorkspace, startApp, type App, type Workspace } from './stage.ts';
import { startShop, type Shop } from './shop.ts';
import { installRecord, readRecord, startWatch } from './watch.ts';

interface FlowFaultOptions {
  seed: number;
  rounds: number;
  /** Time (ms) after which no more rounds begin. */
  lastsMs?: number;
  /**
   * States at which processes are killed: all of some kinds of flows in the order of the seed, or only the given ones.
   */
  states: { kinds: readonly Kind[] } | { cards: readonly Card[] };
  /** Number of kills in each round. */
  kills: number;
  /** Number of flows of each kind and round without a kill. */
  others: Record<Kind, number>;
  workers: number;
  /** Time (ms) within which the flows of a round start. */
  spreadMs: number;
  /** Time (ms) that a person has for a decision. */
  expiresMs: number;
  /** Probability that Temporal loses its storage in a round. */
  losesStore: number;
  /** Time (ms) after its last request at which an unfinished round is abandoned. */
  settleMs: number;
  /** Further settings of all processes. */
  env?: Record<string, string>;
  /** Returns further settings of all workers but the first. */
  furtherEnv?: PartsOptions['furtherEnv'];
  /** Starts further activity that takes place during the flows. */
  beside?: (installation: Installation) => Promise<Beside>;
  log: (line: string) => void;
}

interface FlowFaultReport extends Kept {
  checks: Check[];
  rounds: number;
  kills: FlowKill[];
  tookMs: number;
}

const SETTINGS: Record<string, string> = {
  ...CAMPAIGN_SETTINGS,
  ORG_CAMPAIGNS_PER_DAY: '0',
  CREDENTIAL_TESTS_PER_DAY: '0',
  SESSION_REQUESTS_PER_MINUTE: '0',
};

/**
 * Plays runs, approvals, direct sends, test runs and warmups on real processes. Kills these processes when flows reach
 * the states in the seed's plan, deletes Temporal's storage, waits until all work settles, and compares the records.
 */
export async function runFlowFaults(options: FlowFaultOptions): Promise<FlowFaultReport> {
  const startedAt = performance.now();
  const random = seeded(options.seed);
  const { states } = options;
  const deck = 'cards' in states ? states.cards : drawDeck(random.fork('deck'), states.kinds);
  const mail = await startMailWorld();
  const flowsByMarker = new Map<string, Flow>();
  const app = await startApp((marker) => flowsByMarker.get(marker));
  const shop = await startShop();
  const env = { ...SETTINGS, ...shop.env, ...options.env, APPROVAL_EXPIRES_MS: String(options.expiresMs) };
  const { workers, furtherEnv, log } = options;
  try {
    return await onInstallation(
      { workers, env, ...(furtherEnv ? { furtherEnv } : {}), log },
      async (parts, assembly) => {
        await installRecord(assembly.deps.db);
        shop.tell(parts.apiUrl);
        const played = nothingPlayed();
        const beside = await options.beside?.({ parts, assembly, played, log });
        const stage: Stage = { options, random, mail, app, shop, parts, assembly, flowsByMarker, beside };
        await playRounds(stage, deck, played);
        const further = (await beside?.finish()) ?? [];
        const checks = [...(await compare(stage, played)), ...further];
        return { checks, rounds: played.rounds, kills: played.kills, tookMs: performance.now() - startedAt };
      },
    );
  } finally {
    await app.stop();
    await shop.stop();
    await mail.stop();
  }
}

function nothingPlayed(): Played {
  return {
    rounds: 0,
    flows: [],
    acts: [],
    orders: [],
    ids: new Map(),
    workspaces: [],
    kills: [],
    ordered: 0,
    stuck: [],
  };
}

async function playRounds(stage: Stage, deck: readonly Card[], played: Played): Promise<void> {
  const { rounds, kills, lastsMs = Infinity } = stage.options;
  const endsAt = performance.now() + lastsMs;
  for (let round = 1; round <= rounds && performance.now() < endsAt; round += 1) {
    const cards = Array.from({ length: kills }, (_, n) => deck[((round - 1) * kills + n) % deck.length]!);
    await playRound(stage, played, round, cards);
    played.rounds = round;
    if (played.stuck.length === 0) continue;
    // Stops, because stuck flows would delay every later round. The next loss of Temporal's storage would also delete
    // their histories.
    stage.options.log(`round ${round} did not settle: no more rounds`);
    break;
  }
}

interface Stage {
  options: FlowFaultOptions;
  random: Random;
  mail: MailWorld;
  app: App;
  shop: Shop;
  parts: Parts;
  assembly: TestAssembly;
  flowsByMarker: Map<string, Flow>;
  beside: Beside | undefined;
}

/** Accumulated results of all rounds. */
interface Played {
  rounds: number;
  flows: Flow[];
  acts: Act[];
  orders: Bought[];
  ids: Map<string, string>;
  workspaces: Workspace[];
  kills: FlowKill[];
  ordered: number;
  stuck: string[];
}

async function playRound(
  { options, random, mail, app, shop, parts, assembly, flowsByMarker, beside }: Stage,
  played: Played,
  round: number,
  cards: Parameters<typeof drawRound>[1]['cards'],
): Promise<void> {
  const { others, spreadMs, log } = options;
  const draws = random.fork(`round ${round}`);
  const losesStore = random.fork(`store ${round}`).next() < options.losesStore;
  const plan = drawRound(draws, { round, cards, others, spreadMs, losesStore });
  const { flows } = plan;
  for (const flow of flows) flowsByMarker.set(flow.marker, flow);
  log(`round ${round}: ${flows.length} flows, ${cards.length} kills`);
  const workspace = await prepareWorkspace(assembly, mail, app, flows, round);
  await beside?.onRound(workspace);
  const client = createClient(parts.apiUrl);
  const { acts, ids, orders } = played;
  const game: Game = { assembly, client, workspace, flows, acts, ids, orders, shop, doing: [] };
  const killer = createKiller(parts, log);
  const watch = startWatch(assembly.deps.config.PRIMARY_DB, (marker, state) => {
    onStep(game, marker, state);
    const flow = flowsByMarker.get(marker);
    if (flow) killer.onStep(flow, state);
  });
  await watch.ready;
  await Promise.all([
    playFlows(game),
    plan.loseStoreAtMs === undefined
      ? undefined
      : sleep(plan.loseStoreAtMs).then(() => loseStore(parts, assembly, log)),
  ]);
  await beside?.rest();
  // Waits for kills, too, because late requests may cause further ones.
  await settle(game, killer.settle, options.settleMs, losesStore, log).then((stuck) => played.stuck.push(...stuck));
  await watch.stop();
  played.flows.push(...flows);
  played.workspaces.push(workspace);
  played.kills.push(...killer.done);
  played.ordered += cards.length;
}

/** Deletes Temporal's storage and acts as an operator would: restarts the workers and reconciles. */
async function loseStore(parts: Parts, assembly: TestAssembly, log: (line: string) => void): Promise<void> {
  const { temporal, workers, folder } = parts;
  while (temporal.pid === undefined) await sleep(50);
  await temporal.kill();
  for (const part of ['', '-wal', '-shm']) await rm(join(folder, 'temporal', `temporal.db${part}`), { force: true });
  log('Temporal has lost its store');
  await temporal.restart();
  await Promise.all(workers.map((worker) => worker.kill().then(() => worker.restart())));
  await reconcileTwice(assembly);
  log('reconciled with an empty Temporal');
}

/** Runs two concurrent searches for missing workflows. Repeats a search that fails because a process is down. */
async function reconcileTwice({ deps }: TestAssembly): Promise<void> {
  await Promise.all([1, 2].map(() => patiently(() => reconcile(deps))));
}

/** Query of unfinished rows: for each kind, their number and one id. */
const UNDER_WAY = `
  select what, count(*)::int as n, min(id) as first from (
    select 'runs' as what, id::text from runs where state in ('queued', 'preflighting', 'awaiting_approval', 'launching', 'active')
    union all select 'direct sends', id::text from direct_sends where state in ('awaiting_approval', 'queued')
    union all select 'test runs', id::text from test_runs where state in ('running', 'waiting_for_event')
    union all select 'approvals', subject_type || ' ' || subject_id from approvals where status in ('pending', 'approved')
    union all select 'warmups', id::text from mailboxes where warmup is not null
    union all select 'emails', id::text from sends where state = 'sending'
    union all select 'warmup emails', id::text from warmup_mails where state = 'sending'
    union all select 'orders', id::text from mailbox_orders where under_way or state not in ('ready', 'failed', 'cancelled')
    union all select 'refunds', id::text from payments where state = 'refund_due'
    union all select 'renewals', domain_id::text from domain_renewals where state not in ('renewed', 'ended') and renew_at < now()
    union all select 'intents', workflow_id from outbox
  ) rows group by what order by what`;

/** Waits until all flows have ended. Returns the flows that have not ended in time. */
async function settle(
  game: Game,
  killed: () => Promise<void>,
  settleMs: number,
  losesStore: boolean,
  log: (line: string) => void,
): Promise<string[]> {
  const { assembly } = game;
  const deadline = performance.now() + settleMs;
  let stopped = false;
  let printed = performance.now();
  for (;;) {
    for (let waited = 0; waited < game.doing.length; waited += 1) await game.doing[waited];
    await killed();
    const { rows } = await patiently(() => assembly.deps.db.raw(UNDER_WAY));
    const left: string[] = rows.map((row: any) => `${row.n} ${row.what} (${row.first})`);
    if (game.shop.untold > 0) left.push(`${game.shop.untold} webhooks`);
    if (!stopped && left.every((what) => /warmup/.test(what))) {
      await stopWarmups(game);
      stopped = true;
      continue;
    }
    const open = await patiently(() => openRuns(assembly));
    if (stopped && left.length === 0 && open.length === 0) return [];
    if (performance.now() > deadline) return [...left, ...open.map((id) => `open: ${id}`)];
    if (performance.now() - printed > 10_000) {
      printed = performance.now();
      log(`under way: ${[...left, `${open.length} workflows`].join(', ')}`);
      if (losesStore) await reconcileTwice(assembly);
      await hasten(game);
    }
    await sleep(300);
  }
}

/**
 * Returns open workflows, except for campaigns paused by a cancellation, which wait to be resumed, and domains, which
 * wait a year.
 */
async function openRuns({ temporal }: TestAssembly): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of temporal.workflow.list({ query: `ExecutionStatus = 'Running'` }))
    if (!/^(campaign|enrollment|domain-renewal)\//.test(workflowId)) ids.push(workflowId);
  return ids;
}

async function compare({ mail, app, shop, parts, assembly }: Stage, played: Played): Promise<Check[]> {
  const { db } = assembly.deps;
  const checks = await readBooks({ ...played, db, calls: app.calls, messages: mail.messages });
  const look = await patiently(() => reconcile(assembly.deps, { dryRun: true }));
  const letters = await db('dead_letters').where({ status: 'pending' }).whereNot({ task_type: 'uncertain_email' });
  const missed = await countMissed(assembly, played);
  checks.push(
    ...(await compareOrderBooks({ db, ...shop, orders: played.orders }, 'at the end')),
    { name: 'nothing is left under way', seen: `${played.rounds} rounds`, faults: played.stuck },
    {
      name: 'PostgreSQL asks for no run that Temporal lacks',
      seen: `${look.length} families`,
      faults: look.flatMap(({ family, missing }) => (missing > 0 ? [`${missing} missing: ${family}`] : [])),
    },
    {
      name: 'no run is blocked, and no email but uncertain ones is a dead letter',
      seen: `${letters.length} dead letters`,
      faults: letters.map((letter) => `${letter.task_type} ${letter.task_id}: ${letter.last_error}`),
    },
    { name: 'no process ended by itself', seen: `${parts.deaths.length} ends`, faults: parts.deaths },
    {
      name: 'kills fell into the states they were ordered for',
      seen: `${played.kills.length} of ${played.ordered}`,
      faults: missed * 2 > played.ordered ? [`${missed} states were never seen`] : [],
    },
  );
  return checks;
}

/**
 * Counts kill orders whose states were never reached. A flow whose approval expired during an outage could not reach
 * its state.
 */
async function countMissed({ deps }: TestAssembly, { flows, kills }: Played): Promise<number> {
  const met = new Set(kills.map(({ marker }) => marker));
  const record = await readRecord(deps.db);
  const expired = new Set(
    record.flatMap(({ subject, state, marker }) => (subject === 'approvals' && state === 'expired' ? [marker] : [])),
  );
  return flows.filter(({ kill, marker }) => kill && !met.has(marker) && !expired.has(marker)).length;
}
