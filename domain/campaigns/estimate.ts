import { DateTime } from 'luxon';
import { DAY_MS } from '../../lib/clock.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { ZERO_UUID } from '../../lib/ids.ts';
import { refuseProblems, type Problem } from '../../lib/errors.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader } from '../kernel/transact.ts';
import { countSegmentContacts } from '../records/segment/contacts.ts';
import { readSeats } from '../engine/sending/seats.ts';
import { estimateSending, type Estimate, type ProjectedMailbox } from '../records/schedule/estimate.ts';
import { scheduleProblems } from '../records/schedule/problems.ts';
import { dayKey, WEEKDAYS } from '../records/schedule/windows.ts';
import { comingWarmup } from '../warmup/coming.ts';
import { labelProblems } from './checks.ts';
import { resolveSenders, type PoolChoice } from '../engine/campaign/sender-pool.ts';

export interface EstimateRequest {
  segmentIds: readonly string[];
  emailTagIds: readonly string[];
  dailyLimit: number;
  days: number | undefined;
  timezone: string;
  /** RFC 3339; default: now. */
  startDate: string | undefined;
}

/** Faults of a request for an estimate beyond its shape; of as many fields as are given. */
export async function estimateProblems(
  org: OrgScope,
  {
    email_tag_ids: tags = [],
    ...schedule
  }: {
    timezone?: string | undefined;
    days?: number | undefined;
    start_date?: string | undefined;
    email_tag_ids?: readonly string[] | undefined;
  },
): Promise<Problem[]> {
  const { timezone, days, start_date } = schedule;
  return [
    ...scheduleProblems({ timezone, days, start_date }).map(({ path, message }) => ({ path: `body.${path}`, message })),
    ...(await labelProblems(org, 'tag', tags, 'body.email_tag_ids')),
  ];
}

/**
 * Projects how long a campaign to these segments would take (POST /campaigns-estimate): one email to each contact who may be
 * mailed, in the hours a new campaign has. Nothing is written.
 * @throws AppError bad_request for a bad schedule or unknown tags; an unknown segment counts as empty
 */
export async function estimateCampaign(ctx: Ctx, request: EstimateRequest): Promise<Estimate> {
  const org = reader(ctx);
  const now = ctx.clock.now();
  const { timezone, days, startDate, emailTagIds } = request;
  refuseProblems(await estimateProblems(org, { timezone, days, start_date: startDate, email_tag_ids: emailTagIds }));
  const pool = { id: ZERO_UUID, sender_strategy: 'tags', email_tags: request.emailTagIds } as const;
  return estimateSending({
    recipients: await countSegmentContacts(org, request.segmentIds, { mailableAt: now }),
    mailboxes: await projectedMailboxes(org, pool, now),
    ramp: null,
    dailyLimit: request.dailyLimit,
    schedule: {
      timezone: request.timezone,
      days: request.days ?? WEEKDAYS,
      startTime: '09:00',
      endTime: '17:00',
      windows: null,
      startDate: request.startDate === undefined ? null : DateTime.fromISO(request.startDate).toJSDate(),
      endDate: null,
    },
    now,
  });
}

/**
 * The mailboxes a campaign may send from, as a projection sees them: caps, gaps, what they have given out, when they rest, and the warmup of coming
 * days.
 */
export async function projectedMailboxes(org: OrgScope, pool: PoolChoice, now: Date): Promise<ProjectedMailbox[]> {
  const members = await resolveSenders(org, pool);
  const rests = new Map(members.map(({ mailboxId, restsUntil }) => [mailboxId, restsUntil?.getTime() ?? 0]));
  const coming = { day: dayKey('UTC', now), from: now.getTime(), until: now.getTime() + DAY_MS };
  const seats = await readSeats(org, pool, [...rests.keys()], coming);
  const warmup = await comingWarmup(org, new Map(seats.map(({ id, cap }) => [id, cap])), now);
  return seats.map((seat) => ({ ...seat, restsUntil: rests.get(seat.id)!, coming: warmup.get(seat.id) }));
}
