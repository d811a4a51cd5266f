import type { CampaignRow } from '../../db/models/campaign.ts';
import { scheduleOf } from '../sending/campaign/campaign-view.ts';
import { estimateSending, type Estimate } from '../platform/scheduling/estimate.ts';
import type { ProjectedMailbox } from '../platform/scheduling/projected-day.ts';
import { message } from '../../messages/index.ts';
import { nextOpening } from '../platform/scheduling/windows.ts';
import { rampOf } from './estimate.ts';
import { errorFinding, infoFinding, warningFinding, type WeighedFinding } from './preflight-findings.ts';

/** Number of campaign emails per mailbox and day above which receiving servers begin to limit a sender. */
const MODERATE_PER_MAILBOX = 50;

/** Warns about mailboxes that would send more emails per day than receiving servers accept without limits. */
export function volumeFindings(campaign: CampaignRow, mailboxes: readonly ProjectedMailbox[]): WeighedFinding[] {
  const most = (cap: number) =>
    Math.min(
      cap,
      campaign.daily_limit,
      campaign.ramp_enabled && campaign.ramp_ceiling > 0 ? campaign.ramp_ceiling : Infinity,
    );
  const busy = mailboxes.filter(({ cap }) => most(cap) > MODERATE_PER_MAILBOX);
  if (busy.length === 0) return [];
  const said = message('finding.daily_limit_high', {
    busy: busy.length,
    count: mailboxes.length,
    most: MODERATE_PER_MAILBOX,
  });
  return [warningFinding('daily_limit', busy.length * 2 > mailboxes.length ? 6 : 3, said)];
}

/**
 * Checks that the first emails of pending leads are sent within the campaign's windows and dates, by the estimate of
 * POST /campaigns-estimate.
 */
export async function scheduleFindings(
  campaign: CampaignRow,
  mailboxes: readonly ProjectedMailbox[],
  waiting: number,
  now: Date,
): Promise<WeighedFinding[]> {
  const schedule = scheduleOf(campaign);
  // Skips this check, because the launch checks already report a past end date.
  if (campaign.end_date !== null && campaign.end_date <= now) return [];
  if (nextOpening(schedule, now) === null) return [errorFinding('schedule', message('finding.schedule_never_opens'))];
  if (waiting === 0 || mailboxes.length === 0) return [];
  const projected = await estimateSending({
    recipients: waiting,
    mailboxes,
    dailyLimit: campaign.daily_limit,
    ramp: rampOf(campaign),
    schedule,
    now,
  });
  return [projectionFinding(projected, campaign.end_date !== null)];
}

/**
 * Converts an estimate to a finding.
 * @param ends true if the campaign has an end date, before which the emails must be sent
 */
function projectionFinding(projected: Estimate, ends: boolean): WeighedFinding {
  const { recipients: waiting, sending_days: days, daily_capacity: capacity, estimated_finish_at: finish } = projected;
  if (finish !== null) {
    const said = message('finding.schedule_projection', { waiting, days: days!, finish: finish.toISOString() });
    return infoFinding('schedule', said);
  }
  if (capacity === 0) return warningFinding('schedule', 15, message('finding.schedule_no_capacity'));
  const code = ends ? 'finding.schedule_too_short.end' : 'finding.schedule_too_short.years';
  return warningFinding('schedule', 15, message(code, { waiting, capacity }));
}
