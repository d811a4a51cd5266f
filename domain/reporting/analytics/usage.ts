import { DAY_MS, utcDay } from '../../../lib/clock.ts';
import { sumAll, wholeHours } from '../aggregates/read.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

export const USAGE_PERIODS = ['day', 'week', 'month'] as const;
type UsagePeriod = (typeof USAGE_PERIODS)[number];

/** Usage of a workspace: numbers of its records, and of its emails in a period. */
export interface Usage {
  period: UsagePeriod;
  accounts: { total: number; active: number; in_warmup: number; with_errors: number };
  campaigns: { total: number; active: number; paused: number; draft: number; emails_sent: number };
  contacts: { total: number; subscribed: number; added_today: number };
}

/**
 * Returns the usage of a workspace (GET /analytics/usage). Emails are counted for the period, extended to whole hours.
 */
export async function readUsage(ctx: Ctx, period: UsagePeriod): Promise<Usage> {
  const org = reader(ctx);
  const now = ctx.clock.now();
  const [counts, [have]] = await Promise.all([
    sumAll(org, wholeHours({ from: beginOf(period, now), to: now })),
    org.sql<Record<string, number>>(
      `select m.*, c.*, p.* from
       (select count(*)::int as accounts, (count(*) filter (where status = 'active'))::int as active_accounts,
          (count(*) filter (where warmup is not null and warmup_paused_at is null))::int as in_warmup,
          (count(*) filter (where exists (select 1 from mailbox_errors e where e.mailbox_id = mailboxes.id and e.resolved_at is null)))::int as with_errors
        from mailboxes where organization_id = :org) m,
       (select count(*)::int as campaigns, (count(*) filter (where status = 'active'))::int as active_campaigns,
          (count(*) filter (where status like 'paused%'))::int as paused, (count(*) filter (where status = 'draft'))::int as draft
        from campaigns where organization_id = :org) c,
       -- Uses stored counts by company, because counting contacts takes time proportional to them.
       (select coalesce(sum(people), 0)::int as contacts, coalesce(sum(people - unsubscribed), 0)::int as subscribed,
          (select count(*) from contacts where organization_id = :org and created_at >= :today)::int as added_today
        from lead_company_counts where organization_id = :org) p`,
      { today: new Date(`${utcDay(now)}T00:00:00Z`) },
    ),
  ]);
  const row = have!;
  return {
    period,
    accounts: {
      total: row.accounts!,
      active: row.active_accounts!,
      in_warmup: row.in_warmup!,
      with_errors: row.with_errors!,
    },
    campaigns: {
      total: row.campaigns!,
      active: row.active_campaigns!,
      paused: row.paused!,
      draft: row.draft!,
      emails_sent: counts.sent,
    },
    contacts: { total: row.contacts!, subscribed: row.subscribed!, added_today: row.added_today! },
  };
}

/**
 * Returns the start of a period. `day`: 00:00 UTC. `week`: seven days ago. `month`: the same day of the previous month,
 * or its last day.
 */
function beginOf(period: UsagePeriod, now: Date): Date {
  if (period === 'day') return new Date(`${utcDay(now)}T00:00:00Z`);
  if (period === 'week') return new Date(now.getTime() - 7 * DAY_MS);
  const begin = new Date(now);
  begin.setUTCMonth(begin.getUTCMonth() - 1);
  // JavaScript turns the 31st of a 30-day month into the first of the next month.
  if (begin.getUTCDate() !== now.getUTCDate()) begin.setUTCDate(0);
  return begin;
}
