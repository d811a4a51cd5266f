import { DateTime } from 'luxon';
import { DAY_MS } from '../../lib/clock.ts';
import { defined } from '../../lib/defined.ts';
import type { CampaignRow } from '../../db/models/campaign.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { ZERO_UUID } from '../../lib/ids.ts';
import { refuseProblems, type Problem } from '../../lib/errors.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { countSegmentContacts, segmentProblems } from '../directory/segments/contacts.ts';
import { readSeats } from '../sending/seats.ts';
import { estimateSending, type Estimate, type EstimateInput } from '../platform/scheduling/estimate.ts';
import { scheduleProblems } from '../platform/scheduling/problems.ts';
import type { ProjectedMailbox } from '../platform/scheduling/projected-day.ts';
import { dayKey, WEEKDAYS } from '../platform/scheduling/windows.ts';
import { upcomingWarmup } from '../mailboxes/warmup/upcoming.ts';
import { scheduleOf } from '../sending/campaign/campaign-view.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { labelProblems, settingsColumns } from './checks.ts';
import type { CampaignSettings } from './input.ts';
import { resolveSenders, type PoolChoice } from '../sending/campaign/sender-pool.ts';

interface EstimateRequest {
  segmentIds: readonly string[];
  emailTagIds: readonly string[];
  /** Settings of the planned campaign. For a missing field, the default of a new campaign is used. */
  plan: Pick<CampaignSettings, SchedulePart | 'daily_limit'>;
}

type SchedulePart = 'timezone' | 'days' | 'start_date' | 'end_date' | 'start_time' | 'end_time' | 'schedule_windows';

/** Settings of a new campaign: weekdays from nine to five in UTC. */
const NEW_CAMPAIGN = {
  timezone: 'UTC',
  days: WEEKDAYS,
  start_time: '09:00',
  end_time: '17:00',
  daily_limit: 50,
} as const;

/** Lists problems of an estimate request that its format does not show. Checks only the given fields. */
export async function estimateProblems(
  org: OrgScope,
  {
    email_tag_ids: tags = [],
    segment_ids: segmentIds = [],
    ...plan
  }: Partial<Pick<CampaignSettings, SchedulePart>> & {
    email_tag_ids?: readonly string[] | undefined;
    segment_ids?: readonly string[] | undefined;
  },
): Promise<Problem[]> {
  return [
    ...scheduleProblems(plan).map(({ path, message }) => ({ path: `body.${path}`, message })),
    ...(await labelProblems(org, 'tag', tags, 'body.email_tag_ids')),
    ...(await segmentProblems(org, segmentIds, 'question')),
  ];
}

/**
 * Estimates the duration of a campaign to these segments (POST /campaigns-estimate): one email to each contact who may
 * be mailed, by the schedule of the request. Changes no data.
 * @throws AppError bad_request for a bad schedule, unknown tags, or segments that need too many text comparisons; an
 * unknown segment has no contacts
 */
export async function estimateCampaign(ctx: Ctx, request: EstimateRequest): Promise<Estimate> {
  const org = reader(ctx);
  const now = ctx.clock.now();
  const { plan, emailTagIds, segmentIds } = request;
  refuseProblems(await estimateProblems(org, { ...plan, email_tag_ids: emailTagIds, segment_ids: segmentIds }));
  const pool = { id: ZERO_UUID, sender_strategy: 'tags', email_tags: emailTagIds } as const;
  const { daily_limit: dailyLimit, ...campaign } = { ...NEW_CAMPAIGN, ...defined(plan) };
  return estimateSending({
    recipients: await countSegmentContacts(org, segmentIds, { mailableAt: now }),
    mailboxes: await projectedMailboxes(org, pool, now),
    ramp: null,
    dailyLimit,
    schedule: {
      timezone: campaign.timezone,
      days: campaign.days,
      startTime: campaign.start_time,
      endTime: campaign.end_time,
      windows: campaign.schedule_windows?.length ? campaign.schedule_windows : null,
      startDate: toDate(campaign.start_date),
      endDate: toDate(campaign.end_date),
    },
    now,
  });
}

function toDate(moment: string | null | undefined): Date | null {
  return moment ? DateTime.fromISO(moment).toJSDate() : null;
}

/**
 * Estimates the time for every email that a campaign's leads may still get (POST /campaigns-estimate with
 * `campaign_id`). Uses the campaign's schedule, overridden by the fields of `plan`. Waits between steps are not
 * counted. Changes no data.
 * @throws AppError not_found, bad_request for a bad schedule
 */
export async function estimateRest(ctx: Ctx, campaignId: string, plan: CampaignSettings): Promise<Estimate> {
  const org = reader(ctx);
  const now = ctx.clock.now();
  const stored = await findCampaign(org, campaignId);
  // Allows past dates, because a running campaign has a start date in the past.
  refuseProblems(scheduleProblems(plan).map(({ path, message }) => ({ path: `body.${path}`, message })));
  const campaign = { ...stored, ...settingsColumns(plan, stored) } as CampaignRow;
  return estimateSending({
    recipients: await emailsLeft(org, campaign.id),
    mailboxes: await projectedMailboxes(org, campaign, now),
    ramp: rampOf(campaign),
    dailyLimit: campaign.daily_limit,
    schedule: scheduleOf(campaign),
    now,
  });
}

/**
 * Counts the emails that the leads of a campaign may still receive if every lead takes all steps. The numbers of leads
 * come from stored counts. Only the emails of active leads are counted row by row, because pending leads have received
 * none and finished leads receive no more.
 */
async function emailsLeft(org: OrgScope, campaignId: string): Promise<number> {
  const [left] = await org.sql<{ emails: number }>(
    `select greatest(0, (select coalesce(sum(leads), 0) from campaign_flow_counts
         where organization_id = :org and campaign_id = :id and state in ('pending', 'active'))
       * (select count(*) from campaign_steps where organization_id = :org and campaign_id = :id and kind = 'email')
       - (select coalesce(sum(got.emails), 0) from enrollments e
          cross join lateral (select count(*) as emails from sends s where s.enrollment_id = e.id and s.state in ('sent', 'bounced')) got
          where e.organization_id = :org and e.campaign_id = :id and e.state = 'active'))::int as emails`,
    { id: campaignId },
  );
  return left!.emails;
}

/** Returns the ramp of a campaign for an estimate, from its current level. */
export function rampOf({
  ramp_enabled: ramped,
  ramp_start: start,
  ramp_level: level,
  ramp_increment: increment,
  ramp_ceiling: ceiling,
}: CampaignRow): EstimateInput['ramp'] {
  return ramped ? { start: level ?? start, increment, ceiling } : null;
}

/**
 * Returns the campaign's mailboxes for an estimate: caps, gaps, allotted slots, rest periods, and the warmup of coming
 * days.
 */
export async function projectedMailboxes(org: OrgScope, pool: PoolChoice, now: Date): Promise<ProjectedMailbox[]> {
  const members = await resolveSenders(org, pool);
  const rests = new Map(members.map(({ mailboxId, restsUntil }) => [mailboxId, restsUntil?.getTime() ?? 0]));
  const coming = { day: dayKey('UTC', now), from: now.getTime(), until: now.getTime() + DAY_MS };
  const seats = await readSeats(org, pool, [...rests.keys()], coming);
  const warmup = await upcomingWarmup(org, new Map(seats.map(({ id, cap }) => [id, cap])), now);
  return seats.map((seat) => ({ ...seat, restsUntil: rests.get(seat.id)!, coming: warmup.get(seat.id) }));
}
