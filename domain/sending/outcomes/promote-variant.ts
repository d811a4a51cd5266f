import { json } from '../../../db/connection.ts';
import { MINUTE_MS } from '../../../lib/clock.ts';
import { effectiveSettings, type OutreachSettings } from '../campaign/outreach-settings.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { logCampaign } from '../campaign/log.ts';
import { compareRates, type Sample } from './compare-rates.ts';
import { message } from '../../../messages/index.ts';

/** Minimum time (ms) between two comparisons of a campaign's variants, because each counts all emails. */
const COMPARE_MS = 10 * MINUTE_MS;

export type WinningRule = OutreachSettings['ab_testing']['default_winning_rule'];
/** For each rule, the column of `sends` whose value means success. */
const SUCCESS: Record<WinningRule, string> = {
  reply_rate: 'replied_at',
  click_rate: 'clicked_at',
  open_rate: 'opened_at',
};

interface Contender extends Sample {
  id: string;
  name: string;
  step_id: string;
  promoted: boolean;
}

/**
 * Chooses the winning variant of each email step if `ab_testing` and `auto_promote_winner` are on. Every active variant
 * needs `min_sample_size` emails that were sent since its last change and did not bounce. The best variant must be
 * significantly better than each other one ({@link compareRates}) by the `default_winning_rule`. All further emails of
 * the step use the winner. The choice and its counts are stored with the variant and written to the campaign's log.
 * Adding or changing a variant of the step revokes the choice.
 */
export async function promoteWinners(tx: Tx, campaignId: string): Promise<void> {
  const { ab_testing: test } = await effectiveSettings(tx.org, campaignId);
  if (!test.enabled || !test.auto_promote_winner) return;
  const [campaign] = await tx.org.sql<{ name: string }>(
    `update campaigns set variants_compared_at = :now
     where organization_id = :org and id = :id and (variants_compared_at is null or variants_compared_at <= :before)
       and exists (select 1 from campaign_variants v where v.campaign_id = campaigns.id and v.is_active)
     returning name`,
    { id: campaignId, now: tx.now, before: new Date(tx.now.getTime() - COMPARE_MS) },
  );
  if (!campaign) return;
  const rule = test.default_winning_rule;
  for (const group of await contenders(tx, campaignId, rule)) {
    if (group.length < 2 || group.some(({ promoted }) => promoted)) continue;
    if (group.some(({ sent }) => sent < test.min_sample_size)) continue;
    const verdict = compareRates(group);
    if (verdict) await promote(tx, { id: campaignId, name: campaign.name }, group[verdict.best]!, rule, group);
  }
}

/**
 * Returns the active variants grouped by step. Variants without a step belong to the first email. Emails sent before
 * the last change of their variant are not counted.
 */
async function contenders(tx: Tx, campaignId: string, rule: WinningRule): Promise<Contender[][]> {
  const rows = await tx.org.sql<Contender>(
    `select v.id, v.name, coalesce(v.step_id, (
         select st.id from campaign_steps st where st.campaign_id = :campaign and st.kind = 'email' order by st.position limit 1)) as step_id,
       v.promoted_at is not null as promoted, n.sent, n.successes
     from campaign_variants v
     left join lateral (
       select count(*)::int as sent, count(s.${SUCCESS[rule]})::int as successes
       from sends s where s.variant_id = v.id and s.sent_at is not null and s.bounced_at is null and coalesce(s.claimed_at, s.sent_at) >= v.updated_at
     ) n on true
     where v.organization_id = :org and v.campaign_id = :campaign and v.is_active and v.weight > 0
     order by v.id`,
    { campaign: campaignId },
  );
  const groups = new Map<string, Contender[]>();
  for (const row of rows) groups.set(row.step_id, [...(groups.get(row.step_id) ?? []), row]);
  return [...groups.values()];
}

async function promote(
  tx: Tx,
  campaign: { id: string; name: string },
  winner: Contender,
  rule: WinningRule,
  group: readonly Contender[],
): Promise<void> {
  const counts = group.map(({ id, sent, successes }) => ({ variant_id: id, sent, successes }));
  await tx.org.sql(
    `with chosen as (
       update campaign_variants set promoted_at = :now, promotion = :promotion where organization_id = :org and id = :variant
     )
     update campaigns set graph_version = graph_version + 1, updated_at = :now where organization_id = :org and id = :campaign`,
    { variant: winner.id, campaign: campaign.id, now: tx.now, promotion: json({ rule, counts }) },
  );
  await logCampaign(
    tx,
    campaign.id,
    'variant_promoted',
    message('log.variant_won', { name: winner.name, rule: message(`rule.${rule}`) }),
    { variant_id: winner.id, rule, counts },
  );
  tx.emit('campaign.updated', { campaign_id: campaign.id, name: campaign.name, fields: ['variants'] });
  tx.audit({
    action: 'update',
    entityType: 'campaign',
    entityId: campaign.id,
    metadata: { variants: 'log.variant_won', variant_id: winner.id, rule },
  });
}
