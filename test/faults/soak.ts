import { setTimeout as sleep } from 'node:timers/promises';
import { openDoor, type Door } from '../harness/door.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { createEndpoint } from '../harness/webhooks.ts';
import type { Beside, Installation } from './flows/beside.ts';
import type { Workspace } from './flows/stage.ts';
import { patiently } from './flows/game.ts';
import { runFlowFaults } from './flows/run.ts';
import { STATES, type Kind } from './flows/plan.ts';
import { startHostileTenant, type HostileTenant } from './hostile-tenant.ts';
import type { Kept } from './installation.ts';
import type { Random } from './random.ts';
import { seeded } from './random.ts';
import { compareWebhooks, type HonestEndpoint } from './soak-webhooks.ts';
import type { Check } from './reconcile.ts';

interface Soak {
  seed: number;
  /** Duration (ms) after which no more rounds begin. */
  lastsMs: number;
  log: (line: string) => void;
}

interface SoakReport extends Kept {
  checks: Check[];
  rounds: number;
  kills: number;
  /** Number of faults other than kills, by kind. */
  faults: Record<string, number>;
  tookMs: number;
}

const SETTINGS: Record<string, string> = {
  WEBHOOK_RETRY_BASE_MS: '500',
  // The hostile organization's endpoints fail often, but must not be disabled.
  WEBHOOK_DISABLE_AFTER_FAILURES: '1000000',
};
/** Number of kills per round, and number of flows of each kind without a kill. */
const KILLS = 8;
const OTHERS: Record<Kind, number> = { run: 5, direct: 6, test: 4, warmup: 1, order: 3, renewal: 1 };
/** Pause (ms) between two faults. */
const PAUSE_MS = [4_000, 15_000] as const;
/** Maximum time (ms) for which a process is frozen: longer than a claim, an activity's heartbeat and a lease. */
const FROZEN_MS = 14_000;

/**
 * Plays rounds of all flows for a time. At random times it also freezes processes, drops a worker's database
 * connections or loses the answers to its commits. A hostile organization floods the installation. Then compares the
 * records of mail servers, app, shop and webhook receivers with PostgreSQL.
 */
export async function runSoak({ seed, lastsMs, log }: Soak): Promise<SoakReport> {
  const startedAt = performance.now();
  const faults: Record<string, number> = {};
  const random = seeded(seed).fork('soak');
  const receiver = await startReceiver({ respond: answers(random.fork('receiver')) });
  let door: Door | undefined;
  try {
    const report = await runFlowFaults({
      seed,
      rounds: Infinity,
      lastsMs,
      kills: KILLS,
      states: { kinds: Object.keys(STATES) as Kind[] },
      others: OTHERS,
      workers: 2,
      spreadMs: 25_000,
      expiresMs: 15_000,
      losesStore: 0.2,
      settleMs: 240_000,
      env: SETTINGS,
      async furtherEnv({ PRIMARY_DB: url }) {
        door = await openDoor(url!);
        return { PRIMARY_DB: door.url };
      },
      beside: (installation) => besideFlows(installation, { door: door!, receiver, random, faults }),
      log,
    });
    return { ...report, kills: report.kills.length, faults, tookMs: performance.now() - startedAt };
  } finally {
    door?.close();
    await receiver.stop();
  }
}

/**
 * Returns the receiver's answers. Most requests are accepted after a short time; some fail. Those of the hostile
 * organization take long and often fail.
 */
function answers(random: Random): (request: { path: string }) => { status: number; delayMs: number } {
  return ({ path }) =>
    path.startsWith('/hostile')
      ? { status: random.next() < 0.3 ? 500 : 204, delayMs: Math.round(random.between(500, 6_000)) }
      : { status: random.next() < 0.04 ? 503 : 204, delayMs: Math.round(random.between(1, 200)) };
}

interface Means {
  door: Door;
  receiver: Receiver;
  random: Random;
  faults: Record<string, number>;
}

async function besideFlows(
  { parts, assembly, log, played }: Installation,
  { door, receiver, random, faults }: Means,
): Promise<Beside> {
  const { deps } = assembly;
  const endpoints: HonestEndpoint[] = [];
  const hostile: HostileTenant = await startHostileTenant({
    deps,
    apiUrl: parts.apiUrl,
    hook: `${receiver.url}/hostile`,
    random: random.fork('hostile'),
    foreignIds: () => [...played.ids.values()],
  });
  let rests = true;
  let stopped = false;

  const freeze = async (): Promise<void> => {
    const victim = random.pick([...parts.workers, parts.api]);
    const { pid } = victim;
    if (pid === undefined) return;
    const frozenMs = Math.round(random.between(500, FROZEN_MS));
    log(`${victim.name} stands still for ${frozenMs} ms`);
    if (!signal(pid, 'SIGSTOP')) return;
    await sleep(frozenMs);
    signal(pid, 'SIGCONT');
  };
  const forget = async (): Promise<void> => {
    const silentMs = random.next() < 0.5 ? 0 : Math.round(random.between(1_000, 10_000));
    log(`${door.open.size} database connections are forgotten, none is answered for ${silentMs} ms`);
    door.setSilent(silentMs > 0);
    door.forget();
    await sleep(silentMs);
    door.setSilent(false);
  };
  const lose = async (): Promise<void> => {
    const commits = Math.ceil(random.between(0, 5));
    log(`the answers to the next ${commits} commits are lost`);
    door.loseAnswers(commits);
  };
  const loop = (async () => {
    const acts = { freeze, forget, lose };
    while (!stopped) {
      await sleep(rests ? 200 : random.between(...PAUSE_MS));
      if (rests || stopped) continue;
      const name = random.pick(['freeze', 'forget', 'lose'] as const);
      faults[name] = (faults[name] ?? 0) + 1;
      await acts[name]();
    }
  })();

  return {
    async onRound({ tenant: { organizationId } }: Workspace) {
      const path = `/honest/${endpoints.length}`;
      const made = await patiently(() => createEndpoint(deps, organizationId, receiver.url + path));
      endpoints.push({ ...made, organizationId, path });
      rests = false;
      hostile.go();
    },
    async rest() {
      rests = true;
      await hostile.rest();
    },
    async finish() {
      stopped = true;
      await Promise.all([loop, hostile.stop()]);
      return [...(await compareWebhooks(deps.db, receiver, endpoints)), hostile.check()];
    },
  };
}

/** Sends a signal to a process; false if it has ended. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
