import pLimit from 'p-limit';
import { listen } from '../db/listen.ts';
import type { Deps } from '../domain/kernel/context.ts';
import { claimLeases, fairShare, leaveWorkers, renewLeases, type SyncLease } from '../domain/mailboxes/leases.ts';
import { MAILBOXES_CHANNEL } from '../domain/mailboxes/sync-state.ts';
import { newId } from '../lib/ids.ts';
import type { Metrics } from '../lib/metrics.ts';
import { TargetLimits } from '../lib/target-limits.ts';
import { createWakeable } from '../lib/wakeable.ts';
import { watchMailbox } from './sync/watch.ts';

export interface SyncOptions {
  /** Names this process in leases; must be its own. */
  workerId?: string;
  metrics?: Metrics;
  /** Mailboxes of a process that died are free after this long (ms). */
  leaseMs?: number;
  /** How often (ms) free mailboxes are looked for without a wake-up. */
  sweepMs?: number;
  /** First wait (ms) after a mailbox failed. */
  retryMs?: number;
  /** For the TCP connection to a server, the TLS handshake and the greeting, each (ms). */
  connectMs?: number;
  /** Silence (ms) in the middle of a command after which a server is given up. */
  commandMs?: number;
}

export interface Sync {
  /** Lets go of every mailbox, after the message in hand. */
  stop(): Promise<void>;
}

/** Mailboxes opened in one sweep at most: a process that starts must not knock everywhere at once. */
const CLAIM_BATCH = 25;
/** Servers dialled at once, and at one host. */
const DIALS = { total: 50, perTarget: 10 };
/** Messages read at once, and from one host. Each may be 16 MiB. */
const READS = { total: 16, perTarget: 8 };
/** Messages recorded at once. */
const RECORDS = 8;
/** The first rest (ms) of a host that hangs. It doubles up to 5 minutes. */
const HOST_REST_MS = 5_000;
/** A share is exceeded by this much before mailboxes are handed on, or they would wander for ever. */
const SLACK_SHARE = 0.1;

interface Watcher {
  version: number;
  abort: AbortController;
  done: Promise<void>;
}

/**
 * Watches mailboxes over IMAP. Processes share them by leases in PostgreSQL: each takes its part of all, one that dies
 * loses its leases in time, one that joins is given some. A mailbox has one connection in the whole installation.
 */
export async function startSync(deps: Deps, options: SyncOptions = {}): Promise<Sync> {
  const { db, log, config } = deps;
  const { workerId = newId(), metrics, leaseMs = 30_000, sweepMs = 2_000, retryMs = 5_000 } = options;
  const { connectMs = 10_000, commandMs = 30_000 } = options;
  const watchers = new Map<string, Watcher>();
  const record = pLimit(RECORDS);
  const hosts = { shared: true, restMs: Math.min(retryMs, HOST_REST_MS) };
  const broken = new Map<string, number>();
  let running = true;
  const turns = createWakeable();
  let renewAt = 0;
  let share = 0;

  const parts = {
    deps,
    workerId,
    retryMs,
    pollMs: config.IMAP_POLL_MS,
    broken,
    connectMs,
    commandMs,
    dials: new TargetLimits({ ...DIALS, ...hosts }),
    reads: new TargetLimits({ ...READS, ...hosts }),
    record: <T>(work: () => Promise<T>) => record(work),
    onMessage: (kind: string) => metrics?.inbound.inc({ kind }),
  };

  const begin = (lease: SyncLease) => {
    const abort = new AbortController();
    const done = watchMailbox(parts, lease, abort.signal).finally(() => {
      watchers.delete(lease.mailboxId);
      metrics?.mailboxesWatched.set(watchers.size);
      // A mailbox that ended on purpose (new credentials) is free again now.
      turns.wake();
    });
    watchers.set(lease.mailboxId, { version: lease.credentialsVersion, abort, done });
    metrics?.mailboxesWatched.set(watchers.size);
  };

  const renew = async () => {
    const valid = await renewLeases(db, workerId, leaseMs, [...watchers.keys()]);
    for (const [mailboxId, watcher] of watchers) {
      if (valid.get(mailboxId) !== watcher.version) watcher.abort.abort();
    }
    share = Math.min(config.IMAP_MAX_MAILBOXES, await fairShare(db, workerId, leaseMs));
    const allowed = Math.min(config.IMAP_MAX_MAILBOXES, share + Math.max(1, Math.floor(share * SLACK_SHARE)));
    const excess = [...watchers.values()].filter(({ abort }) => !abort.signal.aborted).slice(allowed);
    for (const { abort } of excess) abort.abort();
  };

  const sweep = async () => {
    const now = performance.now();
    if (now >= renewAt) {
      renewAt = now + leaseMs / 3;
      await renew();
    }
    const room = Math.min(CLAIM_BATCH, share - watchers.size);
    if (room <= 0) return;
    for (const lease of await claimLeases(db, workerId, leaseMs, room)) begin(lease);
  };

  const listener = await listen(
    config.PRIMARY_DB,
    MAILBOXES_CHANNEL,
    () => {
      // Mailboxes were added, changed or removed: leases are looked at afresh.
      renewAt = 0;
      turns.wake();
    },
    log,
  );
  const loop = (async () => {
    while (running) {
      turns.clear();
      try {
        await sweep();
      } catch (error) {
        log.warn({ err: error }, 'sync: sweep failed, will try again');
      }
      await turns.pause(Math.min(sweepMs, leaseMs / 3));
    }
  })();

  return {
    async stop() {
      running = false;
      turns.wake();
      await loop;
      await listener.close();
      const open = [...watchers.values()];
      for (const { abort } of open) abort.abort();
      await Promise.all(open.map(({ done }) => done));
      await leaveWorkers(db, workerId).catch((error: unknown) => log.warn({ err: error }, 'sync: could not sign off'));
    },
  };
}
