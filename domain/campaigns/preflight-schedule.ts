import type { CampaignRow } from '../../db/models/campaign.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { scheduleOf } from '../sending/campaign/campaign-view.ts';
import { estimateSending, type Estimate } from '../platform/scheduling/estimate.ts';
import type { ProjectedMailbox } from '../platform/scheduling/projected-day.ts';
import { nextOpening } from '../platform/scheduling/windows.ts';
import { projectedMailboxes, rampOf } from './estimate.ts';
import { errorFinding, infoFinding, warningFinding, type WeighedFinding } from './preflight-findings.ts';

/** Campaign emails per mailbox and day above which receivers begin to limit a sender. */
const MODERATE_PER_MAILBOX = 50;

/** The mailboxes of the campaign's pool, as a projection takes them. */
export function readMailboxes(org: OrgScope, campaign: CampaignRow, now: Date): Promise<ProjectedMailbox[]> {
  return projectedMailboxes(org, campaign, now);
}

/** Whether a mailbox is asked for more a day than receivers like. */
export function volumeFindings(campaign: CampaignRow, mailboxes: readonly ProjectedMailbox[]): WeighedFinding[] {
  const most = (cap: number) =>
    Math.min(
      cap,
      campaign.daily_limit,
      campaign.ramp_enabled && campaign.ramp_ceiling > 0 ? campaign.ramp_ceiling : Infinity,
    );
  const busy = mailboxes.filter(({ cap }) => most(cap) > MODERATE_PER_MAILBOX);
  if (busy.length === 0) return [];
  return [
    warningFinding(
      'daily_limit',
      busy.length * 2 > mailboxes.length ? 6 : 3,
      'daily_limit_high',
      `${busy.length} of ${mailboxes.length} mailboxes may send more than ${MODERATE_PER_MAILBOX} emails of the campaign a day`,
      'Lower daily_limit or the campaign_limit of the mailboxes, or add mailboxes.',
    ),
  ];
}

/**
 * Whether the first emails of the leads who wait leave within the campaign's windows and dates, by the projection of
 * POST /campaigns-estimate.
 */
export async function scheduleFindings(
  campaign: CampaignRow,
  mailboxes: readonly ProjectedMailbox[],
  waiting: number,
  now: Date,
): Promise<WeighedFinding[]> {
  const schedule = scheduleOf(campaign);
  // That an end has passed is said by what a start checks.
  if (campaign.end_date !== null && campaign.end_date <= now) return [];
  if (nextOpening(schedule, now) === null)
    return [
      errorFinding(
        'schedule',
        'schedule_never_opens',
        'The sending windows do not open any more before the end date, or not at all',
        'Set days, start_time and end_time, or schedule_windows, or move end_date.',
      ),
    ];
  if (waiting === 0 || mailboxes.length === 0) return [];
  const projected = await estimateSending({
    recipients: waiting,
    mailboxes,
    dailyLimit: campaign.daily_limit,
    ramp: rampOf(campaign),
    schedule,
    now,
  });
  return [projectionFinding(projected, campaign.end_date ? 'before the end date' : 'within two years')];
}

/** @param until by when the emails would have to leave, in words */
function projectionFinding(projected: Estimate, until: string): WeighedFinding {
  const { recipients, sending_days: days, daily_capacity: capacity, estimated_finish_at: finish } = projected;
  const leads = `${recipients} lead${recipients === 1 ? '' : 's'}`;
  if (finish !== null)
    return infoFinding(
      'schedule',
      'schedule_projection',
      `The first emails to ${leads} take ${days} day${days === 1 ? '' : 's'}, until about ${finish.toISOString()}`,
      '',
    );
  if (capacity === 0)
    return warningFinding(
      'schedule',
      15,
      'schedule_no_capacity',
      'On a whole sending day the mailboxes can send nothing',
      'Raise the campaign_limit of the mailboxes, or widen the sending windows.',
    );
  return warningFinding(
    'schedule',
    15,
    'schedule_too_short',
    `The first emails to ${leads} do not all leave ${until}: the mailboxes can send ${capacity} a day`,
    'Move end_date, add mailboxes, or raise daily_limit.',
  );
}
