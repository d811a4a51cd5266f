import { across } from '../../../db/across.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { firstIdAt } from '../../../lib/ids.ts';
import { dropOverdue } from '../../connect/integrations/drop-overdue.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { forEachIsolated } from '../../platform/kernel/for-each-isolated.ts';
import { removeAbandoned } from '../../platform/events/register.ts';
import { SUBSCRIBERS } from '../subscribers/index.ts';
import { keepPartitions } from './partitions.ts';

const PAGE = 5_000;

/** Tables whose rows mean nothing after a time: the column that says when, how long (ms) they are kept from then, and which alone. */
const EXPIRING = [
  { table: 'idempotency_keys', column: 'expires_at', keptMs: 0 },
  { table: 'mailbox_checks', column: 'expires_at', keptMs: 0 },
  { table: 'api_key_usage_logs', column: 'created_at', keptMs: 30 * DAY_MS },
  // Longer than the longest range of analytics.
  { table: 'api_key_usage_minutes', column: 'minute', keptMs: 100 * DAY_MS },
  { table: 'oauth_tokens', column: 'expires_at', keptMs: DAY_MS },
  // As long as tokens of a code can live without a refresh, so that a second use of the code is noticed.
  { table: 'oauth_codes', column: 'expires_at', keptMs: 90 * DAY_MS },
  // Clients that registered themselves and never got a grant.
  {
    table: 'oauth_applications',
    column: 'created_at',
    keptMs: 30 * DAY_MS,
    only: 'self_registered and not exists (select from oauth_grants g where g.application_id = oauth_applications.id)',
  },
  // Longer than a person may take to approve one. A quote that was ordered stays with its order.
  { table: 'mailbox_quotes', column: 'expires_at', keptMs: DAY_MS, only: 'consumed_at is null' },
  { table: 'agent_policy_usage', column: 'day', keptMs: 7 * DAY_MS },
  { table: 'webhook_counts', column: 'minute', keptMs: 3_600_000 },
  { table: 'webhook_batches', column: 'opened_at', keptMs: DAY_MS },
  { table: 'integration_oauth_states', column: 'expires_at', keptMs: DAY_MS },
  { table: 'integration_runs', column: 'started_at', keptMs: 30 * DAY_MS },
  // Longer than a provider repeats a webhook.
  { table: 'integration_inbound', column: 'received_at', keptMs: 30 * DAY_MS },
  { table: 'integration_deliveries', column: 'failed_at', keptMs: 30 * DAY_MS, only: `state = 'failed'` },
  { table: 'reaction_parked_events', column: 'settled_at', keptMs: 30 * DAY_MS },
] as const satisfies readonly { table: string; column: string; keptMs: number; only?: string }[];

/** What product events leave, kept for ENGAGEMENT_RETENTION_DAYS. Conversions outlive their events, and keep their person. */
const ENGAGEMENT = [
  { table: 'product_events', column: 'id' },
  {
    table: 'people',
    column: 'id',
    only: `contact_id is null and not exists (select from product_events e where e.person_id = people.id)
      and not exists (select from conversions c where c.person_id = people.id)`,
  },
] as const satisfies readonly { table: string; column: string; only?: string }[];

/** A decided approval that no email will be compared with any more. */
const UNBOUND = `status <> 'pending' and not exists (select from campaigns c where c.approval_id = approvals.id)
  and not exists (select from direct_sends d where d.approval_id = approvals.id and d.state in ('awaiting_approval', 'queued'))`;

/** Tables that are kept for APPROVAL_RETENTION_DAYS after they were asked for; what goes with an approval goes with it. */
const DECIDED = [{ table: 'approvals', column: 'id', only: UNBOUND }] as const satisfies readonly {
  table: string;
  column: string;
  only: string;
}[];

/**
 * Warmup emails, kept for WARMUP_RETENTION_DAYS. A reply goes with the email that it answers: that one stays until both are old, and while one of them may
 * still leave.
 */
const WARMED = [
  {
    table: 'warmup_mails',
    column: 'id',
    // Looked up mail by mail: a join would read all old replies for each page.
    only: `state not in ('reserved', 'sending') and not coalesce(
      (select a.id > :before or a.state in ('reserved', 'sending') from warmup_mails a where a.answers = warmup_mails.id), false)`,
  },
] as const satisfies readonly { table: string; column: string; only: string }[];

/**
 * Runs of automations that have ended, kept for AUTOMATION_RUN_RETENTION_DAYS. A run keeps its event from starting another, so it stays as long as the event does: one that
 * is parked is kept at any age.
 */
const RAN = [
  {
    table: 'automation_runs',
    column: 'id',
    // Looked up run by run: a join would read all events for each page.
    only: `status <> 'running' and coalesce(
      (select false from domain_events e where e.id = case when cause like 'event/%' then cast(substr(cause, 7) as uuid) end), true)`,
  },
] as const satisfies readonly { table: string; column: string; only: string }[];

/** Rows that are past their time: `before` is a moment, or the first id of one. */
interface Expiry {
  table: string;
  column: string;
  before: Date | string;
  only: string;
}

/**
 * Drops the months that are past their time, and deletes expired rows of the whole installation in pages, each its own transaction, so that no lock is held for long.
 * A table that fails keeps none of the others from it.
 * @returns how many rows
 * @throws AggregateError when some tables failed, once the others had their turn
 */
export async function sweepExpired(deps: Deps): Promise<number> {
  let removed = 0;
  const work: Record<string, () => Promise<void>> = {
    subscribers: async () => {
      const abandoned = await removeAbandoned(deps, SUBSCRIBERS);
      if (abandoned.length > 0)
        deps.log.warn({ abandoned }, 'the cursors of subscribers that no build has any more were removed');
    },
    partitions: () => keepPartitions(deps),
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

/** What has expired by now, with how long each table is kept. */
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

/** Deletes up to a page of expired rows of a table; returns how many. */
async function removePage({ db }: Pick<Deps, 'db'>, { table, column, before, only }: Expiry): Promise<number> {
  const { rowCount } = await across(db, 'maintenance').run(
    `delete from ${table} where ctid = any(array(select ctid from ${table} where ${column} <= :before and ${only} limit ${PAGE}))`,
    { before },
  );
  return rowCount;
}
