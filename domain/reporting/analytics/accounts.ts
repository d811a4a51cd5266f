import { utcDay } from '../../../lib/clock.ts';
import type { Columns } from '../../../db/rows.ts';
import { Mailboxes, type MailboxRow } from '../../../db/models/mailbox.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { isSender } from '../../sending/campaign/sender-pool.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { dailyTarget } from '../../mailboxes/warmup/ramp.ts';
import { accountHealth, readHealthRows, type AccountHealth, type HealthRow } from './account-health.ts';

/** A mailbox with its health and today's usage. */
export interface AccountStatus {
  mailbox: MailboxRow;
  lastSyncedAt: Date | null;
  health: AccountHealth;
  errors: Columns<'mailbox_errors', 'id' | 'error_code' | 'severity' | 'message' | 'created_at'>[];
  /** Numbers of emails sent on the current UTC day, and the daily limits. */
  usage: { date: string; campaign_sent: number; campaign_limit: number; warmup_sent: number; warmup_limit: number };
  inCampaign: boolean;
}

/** A mailbox with the state of its warmup. The warmup health is set only while the warmup is on. */
export interface AccountDetail extends AccountStatus {
  warmup: {
    enabled: boolean;
    paused: boolean;
    startedAt: Date | null;
    currentVolume: number;
    daysActive: number;
  } | null;
  warmupHealth: { state: NonNullable<HealthRow['warmup_state']>; score: number; evaluatedAt: Date } | null;
}

const MAX_ERRORS = 10;

/**
 * Lists all mailboxes, newest first (GET /analytics/accounts). A key restricted to mailboxes lists only these
 * mailboxes.
 */
export async function listAccounts(ctx: Ctx): Promise<AccountStatus[]> {
  const query = reader(ctx).query(Mailboxes).orderBy('id', 'desc');
  if (ctx.actor.allowedMailboxes) void query.whereIn('id', [...ctx.actor.allowedMailboxes]);
  return statusOf(ctx, await query);
}

/**
 * Returns one mailbox (GET /analytics/accounts/:id).
 * @throws AppError not_found
 */
export async function readAccount(ctx: Ctx, id: string): Promise<AccountDetail> {
  const org = reader(ctx);
  const isAllowed = ctx.actor.allowedMailboxes ? ctx.actor.allowedMailboxes.includes(id.toLowerCase()) : true;
  const mailbox = isUuid(id) && isAllowed ? await org.query(Mailboxes).findById(id) : undefined;
  if (!mailbox) throw notFound('mailbox');
  const [status] = await statusOf(ctx, [mailbox]);
  const [standing] = await org.sql<{
    health_state: NonNullable<HealthRow['warmup_state']>;
    score: number;
    evaluated_at: Date | null;
    days_active: number;
  }>(
    `select s.health_state, s.score, s.evaluated_at,
       (select count(distinct (w.sent_at at time zone 'UTC')::date) from warmup_mails w where w.mailbox_id = s.mailbox_id and w.sent_at is not null)::int as days_active
     from warmup_standings s where s.organization_id = :org and s.mailbox_id = :id`,
    { id },
  );
  return {
    ...status!,
    warmup: standing
      ? {
          enabled: mailbox.warmup !== null,
          paused: mailbox.warmup_paused_at !== null,
          startedAt: mailbox.warmup,
          currentVolume: status!.usage.warmup_sent,
          daysActive: standing.days_active,
        }
      : null,
    warmupHealth:
      mailbox.warmup && standing?.evaluated_at
        ? { state: standing.health_state, score: standing.score, evaluatedAt: standing.evaluated_at }
        : null,
  };
}

async function statusOf(ctx: Ctx, mailboxes: readonly MailboxRow[]): Promise<AccountStatus[]> {
  const org = reader(ctx);
  const now = ctx.clock.now();
  const ids = mailboxes.map(({ id }) => id);
  const [health, work] = await Promise.all([readHealthRows(org, now, ids), readWork(org, ids, utcDay(now))]);
  const healthOf = new Map(health.map((row) => [row.id, row]));
  const workOf = new Map(work.map((row) => [row.id, row]));
  return mailboxes.map((mailbox) => {
    const row = healthOf.get(mailbox.id)!;
    const done = workOf.get(mailbox.id)!;
    return {
      mailbox,
      lastSyncedAt: done.last_synced_at,
      health: accountHealth(row),
      errors: (done.errors ?? []).map((error) => ({ ...error, created_at: new Date(error.created_at) })),
      usage: {
        date: utcDay(now),
        campaign_sent: done.campaign_sent,
        campaign_limit: mailbox.campaign_limit,
        warmup_sent: done.warmup_sent,
        warmup_limit: dailyTarget(mailbox, row.warmup_state ?? 'healthy', now),
      },
      inCampaign: done.in_campaign,
    };
  });
}

interface Work {
  id: string;
  last_synced_at: Date | null;
  campaign_sent: number;
  warmup_sent: number;
  in_campaign: boolean;
  errors: AccountStatus['errors'] | null;
}

function readWork(org: OrgScope, ids: readonly string[], day: string): Promise<Work[]> {
  return org.sql<Work>(
    `select m.id, y.last_synced_at, coalesce(f.sent, 0) as campaign_sent, coalesce(w.sent, 0) as warmup_sent,
       exists (select 1 from campaigns g left join campaign_senders c on c.campaign_id = g.id and c.mailbox_id = m.id
         where g.organization_id = :org and g.status = 'active' and ${isSender({ id: 'g.id', tags: 'g.email_tags', strategy: 'g.sender_strategy' })}) as in_campaign, e.errors
     from mailboxes m
     left join (select mailbox_id, max(last_synced_at) as last_synced_at from mailbox_sync where organization_id = :org group by mailbox_id) y on y.mailbox_id = m.id
     left join fact_mailbox_days f on f.mailbox_id = m.id and f.day = :day::date
     left join (
       select mailbox_id, count(*)::int as sent from warmup_mails
       where organization_id = :org and sent_at >= :day::date::timestamp at time zone 'UTC' group by mailbox_id
     ) w on w.mailbox_id = m.id
     left join lateral (
       select json_agg(x) as errors from (
         select id, error_code, severity, message, created_at from mailbox_errors
         where mailbox_id = m.id and resolved_at is null order by id desc limit ${MAX_ERRORS}
       ) x
     ) e on true
     where m.organization_id = :org and m.id = any(:ids::uuid[])`,
    { ids, day },
  );
}
