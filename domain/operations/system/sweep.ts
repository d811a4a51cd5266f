import { across } from '../../../db/across.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { firstIdAt } from '../../../lib/ids.ts';
import { UNDO_MS } from '../../audience/contacts/bulk-edits.ts';
import { dropOverdue } from '../../connect/integrations/drop-overdue.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { forEachIsolated } from '../../platform/kernel/for-each-isolated.ts';
import { removeAbandoned } from '../../platform/events/register.ts';
import { SUBSCRIBERS } from '../subscribers/index.ts';
import { maintainPartitions } from './partitions.ts';

const PAGE = 5_000;

/**
 * Tables with rows that expire: the column with the time, the time (ms) for which rows are kept after it, and a
 * condition.
 */
const EXPIRING = [
  { table: 'idempotency_keys', column: 'expires_at', keptMs: 0 },
  { table: 'mailbox_checks', column: 'expires_at', keptMs: 0 },
  { table: 'api_key_usage_logs', column: 'created_at', keptMs: 30 * DAY_MS },
  // Kept for longer than the longest period that analytics can show.
  { table: 'api_key_usage_minutes', column: 'minute', keptMs: 100 * DAY_MS },
  { table: 'workspace_exports', column: 'expires_at', keptMs: 0 },
  { table: 'oauth_tokens', column: 'expires_at', keptMs: DAY_MS },
  // Kept for as long as tokens issued for a code can be valid without a refresh, so that a second use of the code is
  // detected.
  { table: 'oauth_codes', column: 'expires_at', keptMs: 90 * DAY_MS },
  // Deletes clients that registered themselves and never got a grant.
  {
    table: 'oauth_applications',
    column: 'created_at',
    keptMs: 30 * DAY_MS,
    only: 'self_registered and not exists (select from oauth_grants g where g.application_id = oauth_applications.id)',
  },
  // Kept for longer than the approval of an order can take. If a quote was ordered, it is kept with its order.
  { table: 'mailbox_quotes', column: 'expires_at', keptMs: DAY_MS, only: 'consumed_at is null' },
  { table: 'agent_policy_usage', column: 'day', keptMs: 7 * DAY_MS },
  { table: 'webhook_counts', column: 'minute', keptMs: 3_600_000 },
  { table: 'webhook_batches', column: 'opened_at', keptMs: DAY_MS },
  { table: 'integration_oauth_states', column: 'expires_at', keptMs: DAY_MS },
  { table: 'integration_runs', column: 'started_at', keptMs: 30 * DAY_MS },
  // Kept for longer than the time in which providers repeat a webhook.
  { table: 'integration_inbound', column: 'received_at', keptMs: 30 * DAY_MS },
  { table: 'integration_deliveries', column: 'failed_at', keptMs: 30 * DAY_MS, only: `state = 'failed'` },
  { table: 'bulk_edits', column: 'created_at', keptMs: UNDO_MS, only: 'completed_at is not null' },
  { table: 'reaction_parked_events', column: 'settled_at', keptMs: 30 * DAY_MS },
] as const satisfies readonly { table: string; column: string; keptMs: number; only?: string }[];

/**
 * Tables with rows of product events, which are kept for ENGAGEMENT_RETENTION_DAYS. Conversions are kept longer,
 * together with the people to whom they belong.
 */
const ENGAGEMENT = [
  { table: 'product_events', column: 'id' },
  {
    table: 'people',
    column: 'id',
    only: `contact_id is null and not exists (select from product_events e where e.person_id = people.id)
      and not exists (select from conversions c where c.person_id = people.id)`,
  },
] as const satisfies readonly { table: string; column: string; only?: string }[];

/** SQL condition: an approval that was decided or has ended, and that no campaign and no unsent email needs. */
const UNBOUND = `status <> 'pending' and not exists (select from campaigns c where c.approval_id = approvals.id)
  and not exists (select from direct_sends d where d.approval_id = approvals.id and d.state in ('awaiting_approval', 'queued'))`;

/**
 * Tables with rows that are kept for APPROVAL_RETENTION_DAYS after the request. Rows that belong to an approval are
 * deleted with it.
 */
const DECIDED = [{ table: 'approvals', column: 'id', only: UNBOUND }] as const satisfies readonly {
  table: string;
  column: string;
  only: string;
}[];

/**
 * Warmup emails, which are kept for WARMUP_RETENTION_DAYS. An email is kept longer while it or its reply has not been
 * sent, and until its reply has expired too.
 */
const WARMED = [
  {
    table: 'warmup_mails',
    column: 'id',
    // Uses a subquery for each row. A join would read all old replies for each page.
    only: `state not in ('reserved', 'sending') and not coalesce(
      (select a.id > :before or a.state in ('reserved', 'sending') from warmup_mails a where a.answers = warmup_mails.id), false)`,
  },
] as const satisfies readonly { table: string; column: string; only: string }[];

/**
 * Runs of automations that have ended, which are kept for AUTOMATION_RUN_RETENTION_DAYS. A run is kept at least as long
 * as its event, because it prevents the event from starting another run. Parked events are kept at any age.
 */
const RAN = [
  {
    table: 'automation_runs',
    column: 'id',
    // Uses a subquery for each row. A join would read all events for each page.
    only: `status <> 'running' and coalesce(
      (select false from domain_events e where e.id = case when cause like 'event/%' then cast(substr(cause, 7) as uuid) end), true)`,
  },
] as const satisfies readonly { table: string; column: string; only: string }[];

/** Rows of a table to delete: those up to `before`. This is a time, or the lowest id with that time. */
interface Expiry {
  table: string;
  column: string;
  before: Date | string;
  only: string;
}

/**
 * Drops expired monthly partitions, and deletes expired rows of the whole installation. Works in pages with a
 * transaction each, so that no lock is held for long. An error in one table does not stop the others.
 * @returns the number of deleted rows
 * @throws AggregateError after all tables, if some of them failed
 */
export async function sweepExpired(deps: Deps): Promise<number> {
  let removed = 0;
  const work: Record<string, () => Promise<void>> = {
    subscribers: async () => {
      const abandoned = await removeAbandoned(deps, SUBSCRIBERS);
      if (abandoned.length > 0)
        deps.log.warn({ abandoned }, 'the cursors of subscribers that no build has any more were removed');
    },
    partitions: () => maintainPartitions(deps),
    accounts: async () => {
      const dropped = await dropOverdue(deps);
      if (dropped > 0)
        deps.log.warn({ dropped }, 'actions that waited for accounts nobody connected again were dropped');
      removed += dropped;
    },
  };
  for (const expiry of expiriesAt(deps))
    work[expiry.table] = async () => {
      for (;;) {
        const count = await removePage(deps, expiry);
        removed += count;
        if (count < PAGE) return;
      }
    };
  await forEachIsolated(deps, Object.keys(work), (name) => work[name]!());
  return removed;
}

/** Returns the expired rows to delete, for each table. */
function expiriesAt({ clock, config }: Pick<Deps, 'clock' | 'config'>): Expiry[] {
  const ago = (ms: number): Date => new Date(clock.now().getTime() - ms);
  const days = (count: number): string => firstIdAt(ago(count * DAY_MS));
  return [
    ...EXPIRING.map(({ keptMs, ...rest }) => ({ only: 'true', ...rest, before: ago(keptMs) })),
    { table: 'webhook_throttle_drops', column: 'id', only: 'true', before: days(config.EVENT_RETENTION_DAYS) },
    ...(config.ENGAGEMENT_RETENTION_DAYS === 0 ? [] : ENGAGEMENT).map((rest) => ({
      only: 'true',
      ...rest,
      before: days(config.ENGAGEMENT_RETENTION_DAYS),
    })),
    ...WARMED.map((rest) => ({ ...rest, before: days(config.WARMUP_RETENTION_DAYS) })),
    ...RAN.map((rest) => ({ ...rest, before: days(config.AUTOMATION_RUN_RETENTION_DAYS) })),
    ...DECIDED.map((rest) => ({ ...rest, before: days(config.APPROVAL_RETENTION_DAYS) })),
  ];
}

/** Deletes up to a page of expired rows of a table. Returns their number. */
async function removePage({ db }: Pick<Deps, 'db'>, { table, column, before, only }: Expiry): Promise<number> {
  const { rowCount } = await across(db, 'maintenance').run(
    `delete from ${table} where ctid = any(array(select ctid from ${table} where ${column} <= :before and ${only} limit ${PAGE}))`,
    { before },
  );
  return rowCount;
}
