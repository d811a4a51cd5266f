import { across } from '../../db/across.ts';
import type { Deps } from '../platform/kernel/context.ts';

/** Minimum time (ms) between two writes of a key's or grant's last use. */
export const USAGE_EVERY_MS = 60_000;
/** Time (ms) for which uses are collected before they are written together. */
const GATHER_MS = 5_000;

/**
 * Maintains `last_used_at` and `last_request_ip` of API keys or OAuth grants, without a write per request. Create one
 * recorder of each kind per process.
 */
interface KeyUsage {
  /** Records a use of a row in memory. */
  touch(id: string, ipAddress: string): void;
  /** Writes the due rows: those not written for {@link USAGE_EVERY_MS}. A timer calls it while uses are waiting. */
  writeDue(): Promise<void>;
  /** Writes all waiting uses; for shutdown. */
  flush(): Promise<void>;
}

interface Use {
  at: Date;
  ipAddress: string;
}

/** Creates the recorder of one process, for API keys or for OAuth grants. */
export function createKeyUsage(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  table: 'api_keys' | 'oauth_grants' = 'api_keys',
): KeyUsage {
  const pending = new Map<string, Use>();
  const written = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    if (timer || pending.size === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      writeDue().catch((error: unknown) => log.warn({ err: error, table }, 'last use of credentials not written'));
    }, GATHER_MS);
    timer.unref();
  }

  async function write(isDue: (id: string) => boolean): Promise<void> {
    // Sorts the rows by id, so that two processes that write the same rows cannot deadlock.
    const due = [...pending].filter(([id]) => isDue(id)).sort(([a], [b]) => (a < b ? -1 : 1));
    if (due.length === 0) return;
    const now = clock.now().getTime();
    for (const [id] of due) {
      pending.delete(id);
      written.set(id, now);
    }
    try {
      await across(db, 'engine').sql(
        `update ${table} k set last_used_at = v.at, last_request_ip = v.ip
         from unnest(:ids::uuid[], :at::timestamptz[], :ips::text[]) as v (id, at, ip)
         where k.id = v.id and (k.last_used_at is null or k.last_used_at < v.at)`,
        { ids: due.map(([id]) => id), at: due.map(([, use]) => use.at), ips: due.map(([, use]) => use.ipAddress) },
      );
    } catch (error) {
      for (const [id, use] of due) {
        written.delete(id);
        if (!pending.has(id)) pending.set(id, use);
      }
      throw error;
    }
  }

  async function writeDue(): Promise<void> {
    const before = clock.now().getTime() - USAGE_EVERY_MS;
    for (const [id, at] of written) if (at <= before) written.delete(id);
    try {
      await write((id) => !written.has(id));
    } finally {
      arm();
    }
  }

  return {
    touch(id, ipAddress) {
      pending.set(id, { at: clock.now(), ipAddress });
      arm();
    },
    writeDue,
    async flush() {
      clearTimeout(timer);
      timer = undefined;
      await write(() => true);
    },
  };
}
