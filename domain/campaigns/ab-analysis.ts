import type { OrgScope } from '../../db/tenancy.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { effectiveSettings } from '../sending/campaign/outreach-settings.ts';
import { compareRates, rateInterval } from '../sending/outcomes/compare-rates.ts';
import type { WinningRule } from '../sending/outcomes/promote-variant.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';

/** Outcomes that are counted for a variant. Opens and clicks by machines are not counted. */
const OUTCOMES = ['opened', 'clicked', 'replied', 'bounced'] as const;
type Outcome = (typeof OUTCOMES)[number];

const DECIDES: Record<WinningRule, Outcome> = { reply_rate: 'replied', click_rate: 'clicked', open_rate: 'opened' };

interface VariantRow extends Record<Outcome, number> {
  variant_id: string;
  variant_name: string;
  step_id: string | null;
  promoted: boolean;
  is_compared: boolean;
  sent: number;
  delivered: number;
  delivered_opened: number;
  delivered_clicked: number;
  delivered_replied: number;
}

/** A variant with its counts and its rates. Rates and their 95 % intervals are shares from 0 to 1. */
export interface AnalysedVariant extends VariantRow {
  intervals: Record<Outcome, { low: number; high: number }>;
}

/** Comparison of the variants of each step of a campaign. */
export interface AbAnalysis {
  campaignId: string;
  rule: WinningRule;
  variants: AnalysedVariant[];
  /** One entry for each step that has variants. `winner` is null while no variant is significantly better. */
  steps: { stepId: string | null; winner: VariantRow | null }[];
}

/**
 * Compares the A/B variants of a campaign by the emails sent since the last change of each. The winner of a step is
 * significantly better than its other variants, by the same test as automatic promotion, or was promoted.
 * @throws AppError not_found
 */
export async function analyseVariants(ctx: Ctx, campaignId: string): Promise<AbAnalysis> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  const { ab_testing: test } = await effectiveSettings(org, campaign.id);
  const rule = test.default_winning_rule;
  const rows = await countOutcomes(org, campaign.id);
  const groups = new Map<string | null, VariantRow[]>();
  for (const row of rows) groups.set(row.step_id, [...(groups.get(row.step_id) ?? []), row]);
  return {
    campaignId: campaign.id,
    rule,
    variants: rows.map((row) => ({
      ...row,
      intervals: Object.fromEntries(
        OUTCOMES.map((outcome) => [outcome, rateInterval({ sent: row.sent, successes: row[outcome] })]),
      ) as AnalysedVariant['intervals'],
    })),
    steps: [...groups].map(([stepId, group]) => ({ stepId, winner: winnerOf(group, rule) })),
  };
}

function winnerOf(group: readonly VariantRow[], rule: WinningRule): VariantRow | null {
  const promoted = group.find((row) => row.promoted);
  if (promoted) return promoted;
  const compared = group.filter((row) => row.is_compared);
  if (compared.some(({ delivered }) => delivered === 0)) return null;
  const successes = `delivered_${DECIDES[rule]}` as 'delivered_replied';
  const verdict = compareRates(compared.map((row) => ({ sent: row.delivered, successes: row[successes] })));
  return verdict ? compared[verdict.best]! : null;
}

/**
 * Counts the outcomes of each variant. Variants without a step belong to the first email. Emails sent before the last
 * change of their variant are not counted.
 */
function countOutcomes(org: OrgScope, campaignId: string): Promise<VariantRow[]> {
  return org.sql<VariantRow>(
    `select v.id as variant_id, v.name as variant_name, v.promoted_at is not null as promoted, v.is_active and v.weight > 0 as is_compared,
       coalesce(v.step_id, (
         select st.id from campaign_steps st where st.campaign_id = :campaign and st.kind = 'email' order by st.position limit 1)) as step_id,
       n.*
     from campaign_variants v
     left join lateral (
       select count(*)::int as sent, count(s.opened_at)::int as opened, count(s.clicked_at)::int as clicked,
         count(s.replied_at)::int as replied, count(s.bounced_at)::int as bounced,
         count(*) filter (where s.bounced_at is null)::int as delivered,
         count(s.opened_at) filter (where s.bounced_at is null)::int as delivered_opened,
         count(s.clicked_at) filter (where s.bounced_at is null)::int as delivered_clicked,
         count(s.replied_at) filter (where s.bounced_at is null)::int as delivered_replied
       from sends s where s.variant_id = v.id and s.sent_at is not null and coalesce(s.claimed_at, s.sent_at) >= v.updated_at
     ) n on true
     where v.organization_id = :org and v.campaign_id = :campaign
     order by v.id`,
    { campaign: campaignId },
  );
}
