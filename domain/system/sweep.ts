import { firstIdAt } from '../../lib/ids.ts';
import type { Deps } from '../kernel/context.ts';

const PAGE = 5_000;

const DAY_MS = 86_400_000;

/** Tables whose rows mean nothing after a time: the column that says when, how long (ms) they are kept from then, and which alone. */
const EXPIRING = [
  { table: 'idempotency_keys', column: 'expires_at', keptMs: 0 },
  { table: 'mailbox_checks', column: 'expires_at', keptMs: 0 },
  { table: 'api_key_usage_logs', column: 'created_at', keptMs: 30 * DAY_MS },
  // Longer than analytics can ask back in one range.
  { table: 'api_key_usage_minutes', column: 'minute', keptMs: 100 * DAY_MS },
  { table: 'oauth_tokens', column: 'expires_at', keptMs: DAY_MS },
  // As long as what came from a code can live without a refresh: that a code is used again is still noticed.
  { table: 'oauth_codes', column: 'expires_at', keptMs: 90 * DAY_MS },
  // Clients that registered themselves and were never let in.
  {
    table: 'oauth_applications',
    column: 'created_at',
    keptMs: 30 * DAY_MS,
    only: 'self_registered and not exists (select from oauth_grants g where g.application_id = oauth_applications.id)',
  },
  { table: 'webhook_counts', column: 'minute', keptMs: 3_600_000 },
  { table: 'webhook_batches', column: 'opened_at', keptMs: DAY_MS },
] as const satisfies readonly { table: string; column: string; keptMs: number; only?: string }[];

/** Tables that are kept for EVENT_RETENTION_DAYS, and the column whose time-ordered ids say how old a row is. What refers comes first. */
const RETAINED = [
  { table: 'webhook_deliveries', column: 'id' },
  { table: 'webhook_throttle_drops', column: 'id' },
  { table: 'webhook_payloads', column: 'event_id' },
  { table: 'domain_events', column: 'id' },
] as const;

/**
 * Deletes expired rows of the whole installation in pages, each its own transaction, so that no lock is held for long.
 * @param onPage called after each page with the rows removed so far
 */
export async function sweepExpired(
  { db, clock, config }: Pick<Deps, 'db' | 'clock' | 'config'>,
  onPage: (removed: number) => void = () => {},
): Promise<number> {
  let removed = 0;
  const ago = (ms: number): Date => new Date(clock.now().getTime() - ms);
  const expiries = [
    ...EXPIRING.map(({ keptMs, ...rest }) => ({ only: 'true', ...rest, before: ago(keptMs) })),
    ...RETAINED.map((rest) => ({
      only: 'true',
      ...rest,
      before: firstIdAt(ago(config.EVENT_RETENTION_DAYS * DAY_MS)),
    })),
  ];
  for (const { table, column, before, only } of expiries) {
    for (;;) {
      const result = await db.raw(
        `delete from ${table} where ctid = any(array(select ctid from ${table} where ${column} <= ? and ${only} limit ${PAGE}))`,
        [before],
      );
      const count = (result as { rowCount: number }).rowCount;
      removed += count;
      onPage(removed);
      if (count < PAGE) break;
    }
  }
  return removed;
}
