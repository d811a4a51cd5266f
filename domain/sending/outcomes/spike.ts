import type { Tx } from '../../platform/kernel/transact.ts';
import { logCampaign } from '../campaign/log.ts';
import { pauseCampaign } from '../control/status.ts';
import { effectiveSettings } from '../campaign/outreach-settings.ts';
import { message } from '../../../messages/index.ts';

/** Rates count this long (ms) back: emails that left or were refused in it, and their bounces and complaints. */
const WINDOW_MS = 24 * 3600_000;
/** Emails in the window before a rate means anything. */
const MIN_EMAILS = 50;
/** One event may be chance, however small the sample. */
const MIN_EVENTS = 2;
/** The early-warning band begins at this share of the pause threshold. */
const WARNING_SHARE = 0.5;

interface Rate {
  kind: 'bounce' | 'complaint';
  events: number;
  /** Percent. */
  rate: number;
  /** Percent. */
  threshold: number;
}

/**
 * Looks at a campaign's bounce and complaint rates of the last 24 hours: past the threshold it is paused where
 * auto_pause_campaign_on_spike says so; from half the threshold on it warns, at most once per 24 hours and kind. To be
 * called after the bounces and complaints are committed, one call at a time per organization; then none is overlooked.
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

/** A rate (percent) as people read it: one decimal. */
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
