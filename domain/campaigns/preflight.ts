import { json } from '../../db/connection.ts';
import type { CampaignRow } from '../../db/models/campaign.ts';
import type { Row } from '../../db/rows.ts';
import { newId } from '../../lib/ids.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { readWritten } from '../sending/campaign/written.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { effectiveSettings } from '../sending/campaign/outreach-settings.ts';
import { projectedMailboxes } from './estimate.ts';
import {
  contentFindings,
  copyOf,
  unsubscribeFindings,
  variantFindings,
  type CampaignCopy,
} from './preflight-content.ts';
import { readCampaignDns, senderFindings, trackingFindings, type CampaignDns } from './preflight-dns.ts';
import { PREFLIGHT_CHECKS, weighFindings, type PreflightCheckKey, type WeighedFinding } from './preflight-findings.ts';
import { listFindings, overlapFindings, readLeads, variableFindings, type LeadFacts } from './preflight-leads.ts';
import { scheduleFindings, volumeFindings } from './preflight-schedule.ts';
import { campaignProblems, type CampaignProblem } from './validate.ts';

/** A stored report of the checks before a launch. */
type PreflightReport = Row<'preflight_reports'>;

/** Number of reports kept per campaign. */
const KEPT_REPORTS = 20;

/**
 * Checks a campaign before its launch and stores the report. Errors are problems for which a start would be refused or
 * which make the emails useless. Warnings only lower the score. `dns` is the result of {@link readCampaignDns}, read
 * before the transaction opens.
 * @throws AppError not_found
 */
export async function preflightCampaign(ctx: Ctx, campaignId: string, dns?: CampaignDns): Promise<PreflightReport> {
  const records = dns ?? (await readCampaignDns(ctx, campaignId));
  return transact(ctx, async (tx) => preflightLoaded(tx, await findCampaign(tx.org, campaignId), records));
}

/**
 * Variant of {@link preflightCampaign} for a campaign that the caller has read or locked, in the caller's transaction.
 */
export async function preflightLoaded(tx: Tx, campaign: CampaignRow, dns: CampaignDns): Promise<PreflightReport> {
  const { findings, looked } = await runChecks(tx, campaign, dns);
  const { passed, score, checks, findings: ordered } = weighFindings(findings, looked);
  const id = newId();
  await tx.org.sql(
    `with stored as (
       insert into preflight_reports (id, organization_id, campaign_id, passed, score, checks, findings, created_at)
       values (:id::uuid, :org, :campaign, :passed, :score, :checks::jsonb, :findings::jsonb, :now)
     )
     -- The delete does not see the new row, so the offset counts the earlier reports only.
     delete from preflight_reports where organization_id = :org and campaign_id = :campaign and id in (
       select id from preflight_reports where campaign_id = :campaign order by id desc offset :others)`,
    {
      id,
      campaign: campaign.id,
      passed,
      score,
      checks: json(checks),
      findings: json(ordered),
      now: tx.now,
      others: KEPT_REPORTS - 1,
    },
  );
  const organization_id = tx.org.organizationId;
  return {
    id,
    organization_id,
    campaign_id: campaign.id,
    passed,
    score,
    checks,
    findings: ordered,
    created_at: tx.now,
  };
}

/** Runs all checks. Settings of the workspace and the campaign can switch off the advisory checks. */
async function runChecks(
  tx: Tx,
  campaign: CampaignRow,
  dns: CampaignDns,
): Promise<{ findings: WeighedFinding[]; looked: PreflightCheckKey[] }> {
  const { org, now } = tx;
  // Queries that do not depend on each other are sent together.
  const [settings, mailboxes, { problems, copy, leads }] = await Promise.all([
    effectiveSettings(org, campaign.id),
    projectedMailboxes(org, campaign, now),
    readCampaign(tx, campaign),
  ]);
  const { preflight } = settings;
  const wanted: Record<PreflightCheckKey, boolean> = {
    launch: true,
    sending_domains: preflight.enabled,
    tracking_domain: preflight.enabled && preflight.check_tracking_domain,
    unsubscribe: preflight.enabled && preflight.check_unsubscribe_header,
    content: preflight.enabled && preflight.check_content_score,
    variables: preflight.enabled,
    list: preflight.enabled,
    daily_limit: preflight.enabled && preflight.check_daily_limit,
    schedule: preflight.enabled && preflight.check_schedule_window,
    ab_variants: preflight.enabled && preflight.check_ab_variant_configured && settings.ab_testing.enabled,
  };
  const found: Record<PreflightCheckKey, WeighedFinding[]> = {
    launch: problems.map(fromProblem),
    sending_domains: senderFindings(dns),
    tracking_domain: trackingFindings(campaign, dns),
    unsubscribe: unsubscribeFindings(campaign, settings),
    content: wanted.content ? contentFindings(copy, preflight.min_content_score) : [],
    variables: variableFindings(leads),
    list: [...listFindings(leads), ...overlapFindings(leads, settings)],
    daily_limit: volumeFindings(campaign, mailboxes),
    schedule: wanted.schedule ? await scheduleFindings(campaign, mailboxes, leads.waiting, now) : [],
    ab_variants: variantFindings(copy),
  };
  const looked = (Object.keys(PREFLIGHT_CHECKS) as PreflightCheckKey[]).filter((key) => wanted[key]);
  return { findings: looked.flatMap((key) => found[key]), looked };
}

async function readCampaign(
  { org, now }: Tx,
  campaign: CampaignRow,
): Promise<{ problems: CampaignProblem[]; copy: CampaignCopy; leads: LeadFacts }> {
  const written = await readWritten(org, campaign.id);
  const copy = copyOf(campaign, written);
  const [problems, leads] = await Promise.all([
    campaignProblems(org, campaign, now, written),
    readLeads(org, campaign, copy.copies, now),
  ]);
  return { problems, copy, leads };
}

const PROBLEM_POINTS = { error: 40, warning: 5, info: 0 } as const;

function fromProblem({ stepId, ...problem }: CampaignProblem): WeighedFinding {
  const points = PROBLEM_POINTS[problem.severity];
  return { ...problem, check: 'launch', points, ...(stepId ? { step_id: stepId } : {}) };
}
