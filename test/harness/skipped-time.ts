import { TestWorkflowEnvironment } from '@temporalio/testing';
import type { ExecutionContext, TestFn } from 'ava';
import type { Clock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/log.ts';
import { addSearchAttributes } from '../../temporal/attributes.ts';
import { installRuntime } from '../../workers/runtime.ts';
import type { RawDb } from './database.ts';
import { startEngine, type Engine } from './engine.ts';
import { eventually } from './eventually.ts';
import { findProgram } from './programs.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

/*
 * Runs Heron's whole engine on Temporal's time-skipping test server with production durations. Heron's clock uses the
 * server's time, which stands still while a workflow task or an activity is open. The harness keeps activities open
 * until the intents, event positions and reactions that they committed are processed. So no time passes between a
 * change and its effects, as in production. The server has neither schedules nor visibility: so maintenance and the
 * search for missing workflows are not tested with it.
 */

/** Installation with an engine whose time skips to the next event. */
export interface SkippingStage<W extends { world: World } = { world: World }> {
  /** Objects that the caller's `make` created with the world. */
  parts: W;
  world: World;
  engine: Engine;
  /** Clock with the server's time. */
  clock: Clock;
  /**
   * Lets time pass until a time (epoch ms or a date), while everything due until then happens. Returns at once if the
   * time is past.
   */
  passUntil(moment: Date | number): Promise<void>;
}

/** Timeout (ms of real time) for processing committed work. */
const QUIET_MS = 30_000;
/** Number of attempts to start the server. */
const START_TRIES = 6;
/** Timeout (ms of real time) of a test that simulates months. */
const PATIENCE_MS = 90_000;

/**
 * Clock with the server's time: this process's clock and an offset. The offset is read when an activity begins and when
 * time passes.
 */
class ServerClock implements Clock {
  readonly #env: TestWorkflowEnvironment;
  #offsetMs = -Infinity;

  constructor(env: TestWorkflowEnvironment) {
    this.#env = env;
  }

  now(): Date {
    return new Date(Date.now() + this.#offsetMs);
  }

  /**
   * Keeps the maximum offset. The server's time never runs backwards, so an offset from a delayed answer is only too
   * small.
   */
  async refresh(): Promise<void> {
    const serverMs = await this.#env.currentTimeMs();
    this.#offsetMs = Math.max(this.#offsetMs, serverMs - Date.now());
  }
}

/**
 * Declares serial tests that share the stage of their file. Without the server they are skipped; the end of the run
 * lists them, and CI treats them as failures.
 * @param make creates the world with the given clock and settings
 */
export async function skippingTests<W extends { world: World; close(): Promise<void> }>(
  test: TestFn,
  make: (options: WorldOptions) => Promise<W>,
): Promise<(title: string, implementation: (t: ExecutionContext, stage: SkippingStage<W>) => Promise<void>) => void> {
  const server = await findProgram('temporal-test-server');
  if (!server) return (title) => test.skip(`${title} (needs Temporal's time-skipping test server)`, () => {});
  let opened: Opened<W> | undefined;
  test.before(async (t) => {
    t.timeout(PATIENCE_MS);
    opened = await openStage(server, make);
  });
  test.after.always(() => opened?.close());
  return (title, implementation) =>
    test.serial(title, async (t) => {
      t.timeout(PATIENCE_MS);
      await implementation(t, opened!);
    });
}

/** Creates a world without additional parts, for {@link skippingTests}. */
export async function plainWorld(options: WorldOptions): Promise<{ world: World; close(): Promise<void> }> {
  const world = await createWorld(options);
  return { world, close: () => world.close() };
}

interface Opened<W extends { world: World }> extends SkippingStage<W> {
  close(): Promise<void>;
}

/** Starts the server, with retries. The SDK gives it five seconds, which may be too short on a busy machine. */
async function startServer(path: string): Promise<TestWorkflowEnvironment> {
  for (let left = START_TRIES - 1; ; left -= 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

async function openStage<W extends { world: World; close(): Promise<void> }>(
  path: string,
  make: (options: WorldOptions) => Promise<W>,
): Promise<Opened<W>> {
  // Runs before anything else creates the SDK's runtime, because a process has only one.
  await installRuntime(silentLogger);
  const env = await startServer(path);
  const clock = new ServerClock(env);
  await clock.refresh();
  await addSearchAttributes(env.connection, 'default');
  const parts = await make({ clock, env: { TEMPORAL_ADDRESS: env.address } });
  const { world } = parts;
  const { db } = world.deps;
  const engine = await startEngine(world, {
    aroundActivity: {
      async execute(input, next) {
        await clock.refresh();
        try {
          return await next(input);
        } finally {
          await untilQuiet(db);
        }
      },
    },
  });
  const passUntil = async (moment: Date | number) => {
    await untilQuiet(db);
    const ms = Number(moment) - (await env.currentTimeMs());
    if (ms > 0) await env.sleep(Math.ceil(ms));
    await clock.refresh();
    await untilQuiet(db);
  };
  return {
    parts,
    world,
    engine,
    clock,
    passUntil,
    async close() {
      await engine.stop();
      await parts.close();
      await env.teardown();
    },
  };
}

/** Waits until committed work is processed: intents by the relay, events by the fan-out and the subscribers. */
async function untilQuiet(db: RawDb): Promise<void> {
  await eventually(
    async () => {
      const { rows } = await db.raw(
        `select exists (select 1 from outbox where parked_at is null)
           or exists (select 1 from domain_events where position is null)
           or exists (select 1 from reaction_subscribers r where exists (select 1 from domain_events e where e.position > r.position))
           or exists (select 1 from reaction_streams where head > position and waits_for is null) as busy`,
      );
      return !rows[0].busy;
    },
    QUIET_MS,
    10,
  );
}
