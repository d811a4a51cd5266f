import type { Columns } from '../../db/rows.ts';
import { DateTime } from 'luxon';
import { ZERO_UUID } from '../../lib/ids.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { refuseProblems, type Problem } from '../../lib/errors.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader } from '../kernel/transact.ts';
import { countSegmentContacts } from '../records/segment/contacts.ts';
import { readCounters } from '../engine/campaign/counters.ts';
import { estimateSending, type Estimate } from '../records/schedule/estimate.ts';
import { scheduleProblems } from '../records/schedule/problems.ts';
import { WEEKDAYS } from '../records/schedule/windows.ts';
import { labelProblems } from './checks.ts';
import { resolveSenders } from '../engine/campaign/sender-pool.ts';

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
 * Projects how long a campaign to these segments would take (POST /campaigns-estimate). Nothing is written.
 * @throws AppError bad_request for a bad schedule or unknown tags; an unknown segment counts as empty
 */
export async function estimateCampaign(ctx: Ctx, request: EstimateRequest): Promise<Estimate> {
  const org = reader(ctx);
  const now = ctx.clock.now();
  const { timezone, days, startDate, emailTagIds } = request;
  refuseProblems(await estimateProblems(org, { timezone, days, start_date: startDate, email_tag_ids: emailTagIds }));
  const pool = await resolveSenders(org, { id: ZERO_UUID, sender_strategy: 'tags', email_tags: request.emailTagIds });
  const ids = pool.map((member) => member.mailboxId);
  const caps = await org.sql<Columns<'mailboxes', 'id' | 'campaign_limit'>>(
    'select id, campaign_limit from mailboxes where organization_id = :org and id = any(:ids::uuid[])',
    { ids },
  );
  // Mailbox limits count by UTC day.
  const today = now.toISOString().slice(0, 10);
  const counters = await readCounters(org, ids, [today]);
  return estimateSending({
    recipients: await countSegmentContacts(org, request.segmentIds),
    mailboxes: caps.map(({ id, campaign_limit: cap }) => ({
      cap,
      sentToday: counters.get(`mailbox/${id}/${today}`) ?? 0,
    })),
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
