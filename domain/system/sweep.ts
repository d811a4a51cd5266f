import type { Deps } from '../kernel/context.ts';

const PAGE = 5_000;

const DAY_MS = 86_400_000;

/** Tables whose rows mean nothing after a time: the column that says when, and how long (ms) they are kept from then. */
const EXPIRING = [
  { table: 'idempotency_keys', column: 'expires_at', keptMs: 0 },
  { table: 'mailbox_checks', column: 'expires_at', keptMs: 0 },
  { table: 'api_key_usage_logs', column: 'created_at', keptMs: 30 * DAY_MS },
  // Longer than analytics can ask back in one range.
  { table: 'api_key_usage_minutes', column: 'minute', keptMs: 100 * DAY_MS },
] as const;

/**
 * Deletes expired rows of the whole installation in pages, each its own transaction, so that no lock is held for long.
 * @param onPage called after each page with the rows removed so far
 */
export async function sweepExpired({ db, clock }: Pick<Deps, 'db' | 'clock'>, onPage: (removed: number) => void = () => {}): Promise<number> {
  let removed = 0;
  for (const { table, column, keptMs } of EXPIRING) {
    const before = new Date(clock.now().getTime() - keptMs);
    for (;;) {
      const result = await db.raw(`delete from ${table} where ctid = any(array(select ctid from ${table} where ${column} <= ? limit ${PAGE}))`, [before]);
      const count = (result as { rowCount: number }).rowCount;
      removed += count;
      onPage(removed);
      if (count < PAGE) break;
    }
  }
  return removed;
}
