import pLimit from 'p-limit';
import { listen } from '../db/listen.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { claimLeases, fairShare, leaveWorkers, renewLeases, type SyncLease } from '../domain/mailboxes/leases.ts';
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
  /** Duration (ms) of a lease, after which the mailboxes of a dead process are free. */
  leaseMs?: number;
  /** Interval (ms) of the search for free mailboxes without a wake-up. */
  sweepMs?: number;
  /** First pause (ms) after a mailbox failed. */
  retryMs?: number;
  /** Timeout (ms) each for the TCP connection, the TLS handshake and the greeting. */
  connectMs?: number;
  /** Silence (ms) within a command after which a server is given up. */
  commandMs?: number;
}

export interface Sync {
  /** Stops watching every mailbox, after the messages that are being recorded. */
  stop(): Promise<void>;
}

/**
 * Maximum number of mailboxes opened in one sweep, so that a starting process does not connect to all servers at once.
 */
const CLAIM_BATCH = 25;
/** Maximum number of servers dialled at once, in total and at one host. */
const DIALS = { total: 50, perTarget: 10 };
/** Maximum number of messages read at once, in total and from one host. Each may be 16 MiB. */
const READS = { total: 16, perTarget: 8 };
/** Maximum number of messages recorded at once. */
const RECORDS = 8;
/** First pause (ms) without dialling a host that hangs. It doubles up to 5 minutes. */
const HOST_REST_MS = 5_000;
/**
 * Excess over its share at which a process gives mailboxes away. Without this margin they would move back and forth.
 */
const SLACK_SHARE = 0.1;

/**
 * Watches mailboxes over IMAP. Processes share them by leases in PostgreSQL: each takes its share, a process that dies
 * loses its leases after a while, and one that joins gets some. A mailbox has one connection in the whole installation.
 */
export async function startSync(deps: Deps, options: SyncOptions = {}): Promise<Sync> {
  const { db, log, config } = deps;
  const { workerId = newId(), metrics, leaseMs = 30_000, sweepMs = 2_000 } = options;
  let loop: Loop | undefined;
  // Wakes the loop when a watcher ended on purpose (new credentials), so that its mailbox is watched again at once.
  const watchers = new Watchers(watchParts(deps, workerId, options), metrics, () => loop?.wake());
  let renewAt = 0;
  let share = 0;

  const renew = async () => {
    watchers.stopAllBut(await renewLeases(db, workerId, leaseMs, watchers.mailboxIds()));
    share = Math.min(config.IMAP_MAX_MAILBOXES, await fairShare(db, workerId, leaseMs));
    const allowed = share + Math.max(1, Math.floor(share * SLACK_SHARE));
    watchers.stopBeyond(Math.min(config.IMAP_MAX_MAILBOXES, allowed));
  };

  const pause = { mostMs: Math.min(sweepMs, leaseMs / 3) };
  const iterate = async () => {
    const now = performance.now();
    if (now >= renewAt) {
      renewAt = now + leaseMs / 3;
      await renew();
    }
    const room = Math.min(CLAIM_BATCH, share - watchers.size);
    if (room > 0) for (const lease of await claimLeases(db, workerId, leaseMs, room)) watchers.start(lease);
    return pause;
  };

  const sweeps = startLoop({
    name: 'sync',
    iterate,
    isHeld: () => isAdrift(deps.clock),
    failedMs: pause.mostMs,
    onError: (error) => log.warn({ err: error }, 'sync: sweep failed, will try again'),
  });
  loop = sweeps;
  const onNotify = () => {
    renewAt = 0;
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
  abort: AbortController;
  done: Promise<void>;
}

/** Mailboxes that this process watches now, one watcher each. */
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

  get size(): number {
    return this.#watchers.size;
  }

  mailboxIds(): string[] {
    return [...this.#watchers.keys()];
  }

  /** Watches a mailbox until it is stopped or fails. */
  start(lease: SyncLease): void {
    const abort = new AbortController();
    const done = watchMailbox(this.#parts, lease, abort.signal).finally(() => {
      this.#watchers.delete(lease.mailboxId);
      this.#metrics?.mailboxesWatched.set(this.#watchers.size);
      this.#onEnd();
    });
    this.#watchers.set(lease.mailboxId, { credentialsVersion: lease.credentialsVersion, abort, done });
    this.#metrics?.mailboxesWatched.set(this.#watchers.size);
  }

  /**
   * Stops the watchers whose lease was lost or whose mailbox has new credentials. `valid`: mailbox id -> credentials
   * version.
   */
  stopAllBut(valid: ReadonlyMap<string, number>): void {
    for (const [mailboxId, watcher] of this.#watchers) {
      if (valid.get(mailboxId) !== watcher.credentialsVersion) watcher.abort.abort();
    }
  }

  /** Stops the most recent watchers beyond `allowed`. Their leases go to other processes. */
  stopBeyond(allowed: number): void {
    const watching = [...this.#watchers.values()].filter(({ abort }) => !abort.signal.aborted);
    for (const { abort } of watching.slice(allowed)) abort.abort();
  }

  /** Stops all watchers and waits until the messages being read are recorded. */
  async stopAll(): Promise<void> {
    const watchers = [...this.#watchers.values()];
    for (const { abort } of watchers) abort.abort();
    await Promise.all(watchers.map(({ done }) => done));
  }
}
