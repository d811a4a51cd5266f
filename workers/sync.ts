import pLimit from 'p-limit';
import { listen } from '../db/listen.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import {
  claimLeases,
  claimVisits,
  countShares,
  leaveWorkers,
  rankMailboxes,
  renewLeases,
  type KeptLease,
  type SyncLease,
} from '../domain/mailboxes/leases.ts';
import { MAILBOXES_CHANNEL } from '../domain/mailboxes/sync-state.ts';
import { isAdrift } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { startLoop, type Loop } from '../lib/loop.ts';
import type { Metrics } from '../lib/metrics.ts';
import { TargetLimits } from '../lib/target-limits.ts';
import { watchMailbox, type WatchParts } from './sync/watch.ts';

export interface SyncOptions {
  /** Name of this process in leases. Must be unique. */
  workerId?: string;
  metrics?: Metrics;
  /** Duration (ms) of a lease, after which other processes may claim the mailboxes of a dead process. */
  leaseMs?: number;
  /** Interval (ms) at which free mailboxes are searched without a notification. */
  sweepMs?: number;
  /** First delay (ms) before a failed mailbox is retried. */
  retryMs?: number;
  /** Timeout (ms) each for the TCP connection, the TLS handshake and the greeting. */
  connectMs?: number;
  /** Time (ms) after which the connection is closed if the server sends no data during a command. */
  commandMs?: number;
  /** Interval (ms) at which the mailboxes with a permanent connection are chosen again. */
  rankMs?: number;
}

export interface Sync {
  /** Stops watching all mailboxes. Resolves after the messages that are being read are recorded. */
  stop(): Promise<void>;
}

/**
 * Maximum number of mailboxes opened in one sweep. Without it, a starting process would connect to all servers at once.
 */
const CLAIM_BATCH = 25;
/**
 * If there are more mailboxes than connections, one connection out of this number reads several mailboxes, one after
 * another.
 */
const VISITS = 4;
/**
 * Minimum pause (ms) between two searches for mailboxes to visit. The pause is also at least VISIT_PAUSE_FACTOR times
 * as long as the last search, which among 100,000 mailboxes takes PostgreSQL half a second.
 */
const VISIT_PAUSE_MS = 250;
const VISIT_PAUSE_FACTOR = 4;
/** Maximum number of servers dialled at once, in total and at one host. */
const DIALS = { total: 50, perTarget: 10 };
/** Maximum number of messages read at once, in total and from one host. Each message may have up to 16 MiB. */
const READS = { total: 16, perTarget: 8 };
/** Maximum number of messages recorded at once. */
const RECORDS = 8;
/** First time (ms) during which a host that hangs is not dialled. The time doubles up to 5 minutes. */
const HOST_REST_MS = 5_000;
/**
 * Excess over its share (0 to 1) at which a process releases mailboxes. Without this margin, mailboxes would move back
 * and forth between processes.
 */
const SLACK_SHARE = 0.1;

/**
 * Numbers of connections of a process: for mailboxes that it watches permanently, and for visits, which read one
 * mailbox after another.
 */
interface Plan {
  watch: number;
  visit: number;
}

/**
 * Watches mailboxes over IMAP. With more mailboxes than connections, the most active ones keep theirs, and the others
 * are read one after another. Processes share the mailboxes by leases in PostgreSQL. Each process claims its share; the
 * leases of a dead process expire. A mailbox has at most one connection in the whole installation.
 */
export async function startSync(deps: Deps, options: SyncOptions = {}): Promise<Sync> {
  const { db, log, config } = deps;
  const { workerId = newId(), metrics, leaseMs = 30_000, sweepMs = 2_000, rankMs = 60_000 } = options;
  let loop: Loop | undefined;
  // Time (ms) that a due mailbox may wait until it is read: half of the interval.
  const dueMs = (config.IMAP_POLL_SECONDS * 1000) / 2;
  // Wakes the loop when a watcher has ended, for example because of new credentials, so that the mailbox is watched
  // again at once.
  const watchers = new Watchers(watchParts(deps, workerId, options), metrics, () => loop?.wake());
  let renewAt = 0;
  let rankAt = 0;
  let visitAt = 0;
  let plan: Plan = { watch: 0, visit: 0 };

  const renew = async () => {
    const { workers, mailboxes } = await countShares(db, workerId, leaseMs);
    plan = planOf(config.IMAP_MAX_MAILBOXES, workers, mailboxes);
    if (performance.now() >= rankAt) {
      rankAt = performance.now() + rankMs;
      await rankMailboxes(db, plan.visit > 0 ? workers * plan.watch : mailboxes);
    }
    watchers.stopAllBut(await renewLeases(db, workerId, leaseMs, watchers.mailboxIds()), plan.visit > 0);
    const allowed = plan.visit > 0 ? plan.watch : plan.watch + Math.max(1, Math.floor(plan.watch * SLACK_SHARE));
    watchers.stopBeyond(Math.min(config.IMAP_MAX_MAILBOXES, allowed));
  };

  const sweep = async () => {
    const now = performance.now();
    if (now >= renewAt) {
      renewAt = now + leaseMs / 3;
      await renew();
    }
    if (plan.visit === 0) return claimWatched(false);
    // The end of a visit wakes the loop, possibly before the pause is over.
    if (performance.now() < visitAt) return;
    const begun = performance.now();
    await claimWatched(true);
    const room = plan.visit - watchers.visited;
    const leases = room > 0 ? await claimVisits(db, workerId, leaseMs, dueMs, room) : [];
    for (const lease of leases) watchers.start(lease, true);
    const tookMs = performance.now() - begun;
    const isMore = leases.length === room;
    visitAt = begun + tookMs + (isMore ? Math.max(VISIT_PAUSE_MS, VISIT_PAUSE_FACTOR * tookMs) : sweepMs);
  };

  const claimWatched = async (standing: boolean): Promise<void> => {
    const room = Math.min(CLAIM_BATCH, plan.watch - watchers.watched);
    if (room <= 0) return;
    for (const lease of await claimLeases(db, workerId, leaseMs, room, standing)) watchers.start(lease, false);
  };

  const pauseMs = () => {
    const untilVisit = plan.visit > 0 ? Math.max(1, visitAt - performance.now()) : sweepMs;
    return Math.min(sweepMs, leaseMs / 3, untilVisit);
  };

  const sweeps = startLoop({
    name: 'sync',
    async iterate() {
      await sweep();
      return { mostMs: pauseMs() };
    },
    isHeld: () => isAdrift(deps.clock),
    failedMs: Math.min(sweepMs, leaseMs / 3),
    onError: (error) => log.warn({ err: error }, 'sync: sweep failed, will try again'),
  });
  loop = sweeps;
  const onNotify = () => {
    renewAt = 0;
    visitAt = 0;
    sweeps.wake();
  };
  const listener = await listen(config.PRIMARY_DB, MAILBOXES_CHANNEL, onNotify, log);

  return {
    async stop() {
      await sweeps.stop();
      await listener.close();
      await watchers.stopAll();
      await leaveWorkers(db, workerId).catch((error: unknown) => log.warn({ err: error }, 'sync: could not sign off'));
    },
  };
}

/**
 * Divides the connections of a process between watching and visits. If there are enough connections, the process
 * watches its share of the mailboxes.
 */
function planOf(connections: number, workers: number, mailboxes: number): Plan {
  if (mailboxes <= workers * connections) return { watch: Math.ceil(mailboxes / workers), visit: 0 };
  const visit = Math.ceil(connections / VISITS);
  return { watch: connections - visit, visit };
}

/** Returns the parts that all watchers of the process share: limits per host and in total, timeouts, metrics. */
function watchParts(deps: Deps, workerId: string, options: SyncOptions): WatchParts {
  const { metrics, retryMs = 5_000, connectMs = 10_000, commandMs = 30_000 } = options;
  const record = pLimit(RECORDS);
  const hosts = { shared: true, restMs: Math.min(retryMs, HOST_REST_MS) };
  return {
    deps,
    workerId,
    retryMs,
    pollMs: deps.config.IMAP_POLL_MS,
    broken: new Map<string, number>(),
    connectMs,
    commandMs,
    dials: new TargetLimits({ ...DIALS, ...hosts }),
    reads: new TargetLimits({ ...READS, ...hosts }),
    record: <T>(work: () => Promise<T>) => record(work),
    onMessage: (kind: string) => metrics?.inbound.inc({ kind }),
  };
}

interface Watcher {
  credentialsVersion: number;
  isVisit: boolean;
  abort: AbortController;
  done: Promise<void>;
}

/** Mailboxes currently read by this process, one watcher each. */
class Watchers {
  readonly #watchers = new Map<string, Watcher>();
  readonly #parts: WatchParts;
  readonly #metrics: Metrics | undefined;
  readonly #onEnd: () => void;

  constructor(parts: WatchParts, metrics: Metrics | undefined, onEnd: () => void) {
    this.#parts = parts;
    this.#metrics = metrics;
    this.#onEnd = onEnd;
  }

  /** Number of mailboxes that keep their connection. */
  get watched(): number {
    return this.#watchers.size - this.visited;
  }

  /** Number of mailboxes that are being visited. */
  get visited(): number {
    return [...this.#watchers.values()].filter(({ isVisit }) => isVisit).length;
  }

  mailboxIds(): string[] {
    return [...this.#watchers.keys()];
  }

  /** Starts reading a mailbox, which lasts until it is stopped or fails; a visit ends when all mail is read. */
  start(lease: SyncLease, isVisit: boolean): void {
    const abort = new AbortController();
    const done = watchMailbox(this.#parts, lease, isVisit, abort.signal).finally(() => {
      this.#watchers.delete(lease.mailboxId);
      this.#metrics?.mailboxesWatched.set(this.watched);
      this.#onEnd();
    });
    this.#watchers.set(lease.mailboxId, { credentialsVersion: lease.credentialsVersion, isVisit, abort, done });
    this.#metrics?.mailboxesWatched.set(this.watched);
  }

  /**
   * Stops the watchers whose lease was lost or whose mailbox has new credentials.
   * @param kept mailbox id -> lease
   * @param scarce true if connections are scarce; mailboxes that no longer keep their connection are then stopped
   */
  stopAllBut(kept: ReadonlyMap<string, KeptLease>, scarce: boolean): void {
    for (const [mailboxId, { credentialsVersion, isVisit, abort }] of this.#watchers) {
      const lease = kept.get(mailboxId);
      const isDisplaced = scarce && !isVisit && lease?.standing === false;
      if (lease?.credentialsVersion !== credentialsVersion || isDisplaced) abort.abort();
    }
  }

  /**
   * Stops the most recently started watchers if there are more than `allowed`. Other processes can then claim their
   * leases.
   */
  stopBeyond(allowed: number): void {
    const watching = [...this.#watchers.values()].filter(({ abort, isVisit }) => !isVisit && !abort.signal.aborted);
    for (const { abort } of watching.slice(allowed)) abort.abort();
  }

  /** Stops all watchers and waits until the messages being read are recorded. */
  async stopAll(): Promise<void> {
    const watchers = [...this.#watchers.values()];
    for (const { abort } of watchers) abort.abort();
    await Promise.all(watchers.map(({ done }) => done));
  }
}
