import pLimit from 'p-limit';
import { assignPositions, type FanOutMemory } from '../../domain/connect/delivery/fan-out.ts';
import { applyNextEvents } from '../../domain/platform/events/apply-events.ts';
import { enterEvents } from '../../domain/platform/events/enter-events.ts';
import { registerSubscribers } from '../../domain/platform/events/register.ts';
import { SUBSCRIBERS } from '../../domain/operations/subscribers/index.ts';
import { connectRaw } from '../../db/connection.ts';
import { silentLogger } from '../../lib/log.ts';
import { createIntentSender, relayBatch } from '../../temporal/relay.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import {
  countStatements,
  inPath,
  PATHS_OF_ACTIVITIES,
  startPaths,
  type StatementCounter,
} from '../harness/statement-counter.ts';
import { call, createWorld, type Answer, type World } from '../harness/world.ts';
import type { RunKey } from './histories.ts';
import { countRows } from './rows.ts';

/**
 * Time so far in the future that no timer ends during a test. It is a constant, so hour and weekday are always the
 * same.
 */
const NOON = new Date('2060-03-02T12:00:00Z');
/** A retry due within this time (ms) is waited for. If the next retry is due later, the stage counts as idle. */
const SOON_MS = 30_000;
const LOOK_MS = 20;
const PATIENCE_MS = 60_000;

/** Engine whose loops run an iteration only on request, so that it behaves the same on every machine. */
export interface Stage {
  world: World;
  mail: MailWorld;
  engine: Engine;
  clock: ManualClock;
  /** Dependencies of the engine's processes. Their pool counts statements. */
  deps: World['deps'];
  /** Statement counters of the engine's pool and of the servers' pool. */
  counters: { engine: StatementCounter; servers: StatementCounter };
  /** Every workflow execution that was started or signalled so far. */
  runs: ReadonlySet<RunKey>;
  /** Calls the API and waits until its deferred records are written. */
  call(method: string, path: string, options: Parameters<typeof call>[3]): Promise<Answer>;
  /** Processes all committed work, one piece after the other, until none remains. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts all parts: PostgreSQL with counting triggers, API, mail servers, and a worker that only serves the task
 * queues.
 */
export async function openStage(): Promise<Stage> {
  const clock = new ManualClock(NOON);
  const [world, mail] = await Promise.all([
    createWorld({ clock, env: { WORKER_ROLES: 'temporal' } }),
    startMailWorld({ now: () => clock.now() }),
  ]);
  await countRows(world.deps.db);
  const pool = connectRaw({ url: world.databaseUrl, name: 'heron-worker', prepared: true });
  const probe = connectRaw({ url: world.databaseUrl, max: 1, name: 'costs' });
  const deps = { ...world.deps, db: pool };
  const forget = startPaths();
  const counters = { engine: countStatements(pool), servers: countStatements(world.deps.db) };
  await registerSubscribers(deps, SUBSCRIBERS);
  const engine = await startEngine({ ...world, deps }, { aroundActivity: PATHS_OF_ACTIVITIES });
  world.deps.workflows = deps.workflows;
  const runs = new Set<RunKey>();
  const latest = new Map<string, RunKey>();
  const { config } = deps;

  /** Returns true if no workflow has work. */
  const isIdle = async (): Promise<boolean> => {
    for (const workflowId of latest.keys()) {
      const { raw } = await engine.temporal.workflow.getHandle(workflowId).describe();
      if (raw.pendingWorkflowTask || raw.pendingActivities?.some((activity) => !isResting(activity))) return false;
    }
    return true;
  };
  const idle = () => eventually(isIdle, PATIENCE_MS, LOOK_MS);

  // Sends one outbox intent at a time and waits for all work of its workflow. The cost of parallel workflows would
  // depend on their order.
  const one = pLimit(1);
  const carryOut = createIntentSender(engine.temporal, config.TEMPORAL_TASK_QUEUE);
  const carry: typeof carryOut = (intent) =>
    one(async () => {
      await carryOut(intent);
      const { runId } = await engine.temporal.workflow.getHandle(intent.workflowId).describe();
      const key: RunKey = `${intent.workflowId} ${runId}`;
      runs.add(key);
      latest.set(intent.workflowId, key);
      await idle();
    });

  const has = async (condition: string): Promise<boolean> =>
    (await probe.raw(`select exists (${condition}) as found`)).rows[0].found;
  const memory: FanOutMemory = { open: undefined };
  /** Runs one iteration of a loop that has work. Returns false if no loop has any. */
  const turn = async (): Promise<boolean> => {
    if (await has('select from outbox where parked_at is null and available_at <= now()')) {
      await inPath('relay', () => relayBatch({ db: pool, databaseUrl: world.databaseUrl, carry, log: silentLogger }));
      return true;
    }
    if (await has('select from domain_events where position is null')) {
      await inPath('fan-out', () => assignPositions(deps, memory));
      return true;
    }
    if (await has('select from reaction_subscribers r, domain_events e where e.position > r.position')) {
      await inPath('reactions', react);
      return true;
    }
    return false;
  };
  const react = async (): Promise<void> => {
    const { streams } = await enterEvents(deps, SUBSCRIBERS);
    const inOrder = streams.toSorted((one, other) => (one.subscriber < other.subscriber ? -1 : 1));
    for (const { subscriber: name, organization_id: organizationId } of inOrder) {
      const subscriber = SUBSCRIBERS.find((each) => each.name === name)!;
      while ((await applyNextEvents(deps, subscriber, organizationId)).more);
    }
  };

  return {
    world,
    mail,
    engine,
    clock,
    deps,
    counters,
    runs,
    async call(method, path, options) {
      world.actors.forget();
      const answer = await call(world, method, path, options);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer;
    },
    async settle() {
      await idle();
      while (await turn());
    },
    async close() {
      await engine.stop();
      forget();
      await Promise.all([pool.destroy(), probe.destroy(), mail.stop()]);
      await world.close();
    },
  };
}

interface PendingActivity {
  state?: number | null;
  attempt?: number | null;
  scheduledTime?: { seconds?: { toNumber(): number } | number | null } | null;
}

const SCHEDULED = 1;

/**
 * Returns true for an activity whose next attempt is not due soon. Such an activity is how a workflow waits without a
 * timer.
 */
function isResting({ state, attempt, scheduledTime }: PendingActivity): boolean {
  const dueMs = Number(scheduledTime?.seconds ?? 0) * 1000;
  return state === SCHEDULED && (attempt ?? 1) > 1 && dueMs - Date.now() > SOON_MS;
}
