import type { Tx } from '../../platform/kernel/transact.ts';
import { logCampaign } from '../campaign/log.ts';
import { pauseCampaign } from '../control/status.ts';
import { effectiveSettings } from '../campaign/outreach-settings.ts';
import { message } from '../../../messages/index.ts';

/**
 * Period (ms) over which rates are computed, from the emails sent or refused in it and their bounces and complaints.
 */
const WINDOW_MS = 24 * 3600_000;
/** Minimum number of emails in the period for a meaningful rate. */
const MIN_EMAILS = 50;
/** Minimum number of bounces or complaints for a warning or pause, because a single one may be chance. */
const MIN_EVENTS = 2;
/** Share (0 to 1) of the pause threshold from which warnings are sent. */
const WARNING_SHARE = 0.5;

interface Rate {
  kind: 'bounce' | 'complaint';
  events: number;
  /** Number of bounces or complaints per 100 sent emails. */
  rate: number;
  /** Rate (percent) from which the campaign is paused, if pausing is enabled. */
  threshold: number;
}

/**
 * Checks a campaign's bounce and complaint rates of the last 24 hours. Above the threshold, the campaign is paused if
 * `auto_pause_campaign_on_spike` is on. Warns from half of the threshold on, at most once per 24 hours and kind. Call
 * it after the bounces and complaints are committed, one call at a time per organization, so that each call sees all
 * earlier ones.
 */
export async function watchRates(tx: Tx, campaignId: string): Promise<void> {
  const { bounce_pipeline: settings } = await effectiveSettings(tx.org, campaignId);
  if (!settings.enabled) return;
  const since = new Date(tx.now.getTime() - WINDOW_MS);
  const [count] = await tx.org.sql<{ emails: number; bounces: number; complaints: number }>(
    `select count(*)::int as emails, count(bounced_at)::int as bounces, count(complained_at)::int as complaints
     from sends where organization_id = :org and campaign_id = :id and coalesce(sent_at, bounced_at) > :since`,
    { id: campaignId, since },
  );
  const { emails, bounces, complaints } = count!;
  if (emails < MIN_EMAILS) return;
  const rates: Rate[] = [
    {
      kind: 'bounce',
      events: bounces,
      rate: (100 * bounces) / emails,
      threshold: settings.pause_bounce_rate_threshold,
    },
    {
      kind: 'complaint',
      events: complaints,
      rate: (100 * complaints) / emails,
      threshold: settings.pause_complaint_rate_threshold,
    },
  ];
  for (const rate of rates) {
    if (rate.events < MIN_EVENTS || rate.rate < rate.threshold * WARNING_SHARE) continue;
    await warn(tx, campaignId, rate, emails, since);
    if (settings.auto_pause_campaign_on_spike && rate.rate >= rate.threshold) {
      await pauseCampaign(
        tx,
        campaignId,
        'paused',
        message(`log.${rate.kind}_rate_paused`, { rate: rounded(rate.rate), limit: rate.threshold }),
      );
    }
  }
}

/** Rounds a rate (percent) to one decimal, for people. */
function rounded(rate: number): number {
  return Math.round(rate * 10) / 10;
}

async function warn(
  tx: Tx,
  campaignId: string,
  { kind, events, rate, threshold }: Rate,
  emails: number,
  since: Date,
): Promise<void> {
  const [earlier] = await tx.org.sql(
    `select 1 from campaign_logs where organization_id = :org and campaign_id = :id and event_type = 'deliverability_warning'
       and created_at > :since and metadata ->> 'kind' = :kind limit 1`,
    { id: campaignId, since, kind },
  );
  if (earlier) return;
  const facts = { kind, rate: Math.round(rate * 100) / 100, threshold, emails, events };
  await logCampaign(
    tx,
    campaignId,
    'deliverability_warning',
    message(`log.${kind}_rate`, { rate: rounded(rate) }),
    facts,
  );
  tx.emit('campaign.deliverability_warning', { campaign_id: campaignId, ...facts });
}
