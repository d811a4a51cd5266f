import type { OrgScope } from '../../../db/tenancy.ts';
import { sumCounts, type Counts } from '../aggregates/metrics.ts';
import { sumBy, sumByDay, wholeHours, type HourRange } from '../aggregates/read.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { percent } from './period.ts';

export const BANDS = ['healthy', 'watch', 'throttled', 'quarantined', 'blocked'] as const;
type Band = (typeof BANDS)[number];

/** Deliverability of a workspace's emails in a range of whole hours. */
export interface DeliverabilityReport {
  range: HourRange;
  counts: Counts;
  /** Bounces, complaints and opt-outs that match no campaign email. */
  unassigned: { bounces: number; complaints: number; unsubscribes: number };
  reportedReplies: number;
  suppressed: number;
  deadLetters: number;
  intents: Record<Intent, number>;
  placement: Placement;
  score: number;
  band: Band;
  days: (Counts & { day: string })[];
  mailboxes: ({ id: string; email: string; provider: string; band: Band } & SentRates)[];
  campaigns: ({ id: string; name: string; band: Band } & SentRates)[];
  providers: ({ provider: string; band: Band } & SentRates)[];
  placements: ({ id: string; email: string } & Placement)[];
}

export const INTENTS = ['positive', 'negative', 'out_of_office', 'question', 'neutral', 'automated'] as const;
export type Intent = (typeof INTENTS)[number];

/** Known placements of warmup emails. */
interface Placement {
  inbox: number;
  spam: number;
}

interface SentRates {
  sent: number;
  bounces: number;
  complaints: number;
  bounce_rate: number;
  complaint_rate: number;
}

/** Maximum number of points that each rate can subtract, and the rate (percent) at which all of them are subtracted. */
const PENALTIES = {
  bounce: { points: 40, at: 10 },
  complaint: { points: 30, at: 0.3 },
  spam: { points: 40, at: 40 },
};
/** Lowest score of each deliverability band. */
const BAND_FROM: Record<Band, number> = { healthy: 80, watch: 60, throttled: 40, quarantined: 20, blocked: 0 };

/**
 * Returns the deliverability of a workspace's emails (GET /analytics/deliverability). Counts are stored by the hour, so
 * the start is rounded down and the end up. The report contains the rounded times. A bounce, complaint or opt-out is
 * counted once per email, at its own time, regardless of the sending time. The totals always cover the workspace; a key
 * restricted to mailboxes sees only its own in the list of mailboxes.
 */
export async function readDeliverability(ctx: Ctx, asked: HourRange): Promise<DeliverabilityReport> {
  const org = reader(ctx);
  const range = wholeHours(asked);
  const [days, byMailbox, byCampaign, mailboxes, campaigns, [others], intents, placements] = await Promise.all([
    sumByDay(org, range),
    sumBy(org, 'mailbox', range),
    sumBy(org, 'campaign', range),
    org.table('mailboxes').select('id', 'email', 'provider'),
    org.table('campaigns').select('id', 'name'),
    readOthers(org, range, ctx.clock.now()),
    readIntents(org, range),
    readPlacements(org, range),
  ]);
  const counts = sumCounts(days);
  const accounts = new Map(mailboxes.map((row) => [row.id, row]));
  const named = new Map(campaigns.map((row) => [row.id, row]));
  const placement = {
    inbox: placements.reduce((sum, { inbox }) => sum + inbox, 0),
    spam: placements.reduce((sum, { spam }) => sum + spam, 0),
  };
  const unassigned = { bounces: others!.bounces, complaints: others!.complaints, unsubscribes: others!.unsubscribes };
  const score = scoreOf({
    bounceRate: percent(counts.bounced + unassigned.bounces, counts.sent),
    complaintRate: percent(counts.complained + unassigned.complaints, counts.sent),
    spamRate: percent(placement.spam, placement.spam + placement.inbox),
  });
  const providers = new Map<string, { sent: number; bounced: number; complained: number }>();
  for (const row of byMailbox) {
    const provider = accounts.get(row.id)?.provider ?? 'removed';
    const sum = providers.get(provider) ?? { sent: 0, bounced: 0, complained: 0 };
    providers.set(provider, {
      sent: sum.sent + row.sent,
      bounced: sum.bounced + row.bounced,
      complained: sum.complained + row.complained,
    });
  }
  const isShown = ({ id }: { id: string }) => ctx.actor.allowedMailboxes?.includes(id) ?? true;
  return {
    range,
    counts,
    unassigned,
    reportedReplies: others!.replies,
    suppressed: others!.suppressed,
    deadLetters: others!.dead_letters,
    intents,
    placement,
    score,
    band: bandOf(score),
    days,
    mailboxes: byMailbox
      .filter((row) => accounts.has(row.id) && isShown(row))
      .map((row) => ({ ...accounts.get(row.id)!, ...banded(row) }))
      .sort(mostSent),
    campaigns: byCampaign
      .filter(({ id }) => named.has(id))
      .map((row) => ({ ...named.get(row.id)!, ...banded(row) }))
      .sort(mostSent),
    providers: [...providers].map(([provider, row]) => ({ provider, ...banded(row) })).sort(mostSent),
    placements: placements.filter(isShown),
  };
}

/** Returns 100 minus the points for bounces, complaints and warmup emails in spam, at least 0. Rates are percent. */
function scoreOf(rates: { bounceRate: number; complaintRate: number; spamRate: number }): number {
  const lost = (rate: number, { points, at }: { points: number; at: number }) => Math.min(rate / at, 1) * points;
  const left =
    100 -
    lost(rates.bounceRate, PENALTIES.bounce) -
    lost(rates.complaintRate, PENALTIES.complaint) -
    lost(rates.spamRate, PENALTIES.spam);
  return Math.max(0, Math.round(left));
}

/**
 * Returns the band of a score: healthy from 80, watch from 60, throttled from 40, quarantined from 20, and blocked
 * below.
 */
function bandOf(score: number): Band {
  return BANDS.find((band) => score >= BAND_FROM[band])!;
}

function banded(row: { sent: number; bounced: number; complained: number }): SentRates & { band: Band } {
  const bounceRate = percent(row.bounced, row.sent);
  const complaintRate = percent(row.complained, row.sent);
  return {
    sent: row.sent,
    bounces: row.bounced,
    complaints: row.complained,
    bounce_rate: bounceRate,
    complaint_rate: complaintRate,
    band: bandOf(scoreOf({ bounceRate, complaintRate, spamRate: 0 })),
  };
}

function mostSent(a: { sent: number }, b: { sent: number }): number {
  return b.sent - a.sent;
}

function readOthers(org: OrgScope, range: HourRange, now: Date) {
  return org.sql<{
    bounces: number;
    complaints: number;
    unsubscribes: number;
    replies: number;
    suppressed: number;
    dead_letters: number;
  }>(
    `select u.*, r.replies, s.suppressed, d.dead_letters
     from (
       select (count(*) filter (where type = 'bounce'))::int as bounces, (count(*) filter (where type = 'complaint'))::int as complaints,
         (count(*) filter (where type = 'unsubscribe'))::int as unsubscribes
       from engagement_events where organization_id = :org and send_id is null and at >= :from and at < :to
     ) u
     cross join (
       select count(*)::int as replies from deliverability_events
       where organization_id = :org and event_type = 'reply' and created_at >= :from and created_at < :to
     ) r
     cross join (
       select count(*)::int as suppressed from suppressions
       where organization_id = :org and kind = 'email' and (expires_at is null or expires_at > :now)
     ) s
     cross join (select count(*)::int as dead_letters from dead_letters where organization_id = :org and status = 'pending') d`,
    { ...range, now },
  );
}

async function readIntents(org: OrgScope, range: HourRange): Promise<Record<Intent, number>> {
  const rows = await org.sql<{ intent: Intent; count: number }>(
    `select coalesce(intent, kind) as intent, count(*)::int as count from inbound_messages
     where organization_id = :org and created_at >= :from and created_at < :to and kind in ('reply', 'out_of_office', 'automated')
     group by 1`,
    { ...range },
  );
  const counted = new Map(rows.map(({ intent, count }) => [intent, count]));
  return Object.fromEntries(INTENTS.map((intent) => [intent, counted.get(intent) ?? 0])) as Record<Intent, number>;
}

function readPlacements(org: OrgScope, range: HourRange): Promise<({ id: string; email: string } & Placement)[]> {
  return org.sql<{ id: string; email: string } & Placement>(
    `select m.id, m.email, (count(*) filter (where w.landed = 'inbox'))::int as inbox, (count(*) filter (where w.landed = 'spam'))::int as spam
     from warmup_mails w join mailboxes m on m.id = w.mailbox_id
     where w.organization_id = :org and w.landed_at >= :from and w.landed_at < :to group by m.id, m.email order by m.email`,
    { ...range },
  );
}
