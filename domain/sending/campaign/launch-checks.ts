import type { CampaignRow } from '../../../db/models/campaign.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, type ErrorCode, type Problem } from '../../../lib/errors.ts';
import { findingMessage } from '../../../lib/finding.ts';
import { message, type Message } from '../../../messages/index.ts';
import { effectiveSettings } from './outreach-settings.ts';
import { hasSender } from './sender-pool.ts';
import { stepErrors } from './step-findings.ts';
import { stepsWithoutSubject, stepsWithoutText } from './subjects.ts';
import { readWritten, type Written } from './written.ts';

/** Error codes with which a start by a person is refused. */
export const LAUNCH_REFUSALS = [
  'campaign_invalid',
  'empty_step_body',
  'campaign_no_mailbox',
  'no_leads',
  'leads_undeliverable',
  'list_bounce_risk',
] as const satisfies ErrorCode[];

interface LaunchOptions {
  now: Date;
  /** True when the caller accepts the projected bounce rate. */
  acknowledgeListRisk?: boolean;
  /**
   * True if the platform restarts the campaign. Without leads such a restart fails, whereas a start by a person waits
   * for leads.
   */
  byPlatform?: boolean;
}

/** Numbers of a campaign's unfinished leads, by the verification status of the address. */
interface LeadCounts {
  open: number;
  invalid: number;
  risky: number;
  unknown: number;
  valid: number;
}

/** Minimum number of leads for a meaningful bounce rate. */
const RISK_MIN_LEADS = 50;
/** Assumed bounce rates (0 to 1) of unverified and of risky addresses, when the list has no better estimate. */
const UNVERIFIED_BOUNCE_RATE = 0.02;
const RISKY_BOUNCE_RATE = 0.2;
/** Minimum number of verified addresses before their invalid share is used for the rest of the list. */
const VERIFIED_SAMPLE = 20;

/**
 * Returns true if address verification forbids mailing a contact. Invalid addresses are always refused, risky ones
 * unless the campaign allows them (`risky_emails`), and unverified ones never.
 */
export function refusedByVerification(status: string, { riskyAllowed }: { riskyAllowed: boolean }): boolean {
  return status === 'invalid' || (status === 'risky' && !riskyAllowed);
}

/**
 * Runs the launch checks of a campaign.
 * @returns the number of unfinished leads, and the error that prevents a start now, if any. Its code is one of
 * campaign_invalid, empty_step_body, campaign_no_mailbox, no_leads, no_remaining_leads, leads_undeliverable,
 * list_bounce_risk.
 */
export async function checkStart(
  org: OrgScope,
  campaign: CampaignRow,
  options: LaunchOptions,
): Promise<{ refusal: AppError | null; openLeads: number }> {
  const [written, hasPool, leads] = await Promise.all([
    readWritten(org, campaign.id),
    hasSender(org, campaign),
    countLeads(org, campaign.id),
  ]);
  const refusal =
    copyRefusal(campaign, options.now, written) ??
    (await stepsRefusal(org, campaign, written)) ??
    poolRefusal(hasPool) ??
    (await leadsRefusal(org, campaign, leads, options));
  return { refusal, openLeads: leads.open };
}

/**
 * Returns all reasons why a start by a person would be refused now, except errors of steps (see {@link stepErrors}).
 */
export async function launchRefusals(
  org: OrgScope,
  campaign: CampaignRow,
  now: Date,
  written: Written,
): Promise<AppError[]> {
  const [hasPool, leads] = await Promise.all([hasSender(org, campaign), countLeads(org, campaign.id)]);
  const refusals = [
    copyRefusal(campaign, now, written),
    poolRefusal(hasPool),
    await leadsRefusal(org, campaign, leads, { now }),
  ];
  return refusals.filter((refusal) => refusal !== null);
}

function copyRefusal(campaign: CampaignRow, now: Date, written: Written): AppError | null {
  if (campaign.end_date !== null && campaign.end_date <= now) {
    return refusal('campaign_invalid', message('finding.campaign_invalid.end_date'), [
      { path: 'end_date', message: message('checks.end_in_the_past') },
    ]);
  }
  if (written.steps.length === 0) return refusal('campaign_invalid', message('finding.campaign_invalid.no_steps'));
  const empty = stepsWithoutText(written);
  if (empty.length > 0) {
    const problems = empty.map((id) => ({
      path: `steps.${id}.body_plain`,
      message: message('checks.bodies_empty'),
    }));
    return refusal('empty_step_body', message('finding.empty_step_body'), problems);
  }
  const nameless = stepsWithoutSubject(written);
  if (nameless.length === 0) return null;
  const problems = nameless.map((id) => ({
    path: `steps.${id}.subject`,
    message: message('checks.subject_needed'),
  }));
  return refusal('campaign_invalid', message('finding.campaign_invalid.no_subject'), problems);
}

/** Returns the error of steps with faults in copy, links or connections, or null. */
async function stepsRefusal(org: OrgScope, campaign: CampaignRow, written: Written): Promise<AppError | null> {
  const errors = await stepErrors(org, campaign, written);
  if (errors.length === 0) return null;
  const problems = errors.map(({ stepId, code, values }) => ({ path: `steps.${stepId}`, message: { code, values } }));
  return refusal('campaign_invalid', message('finding.campaign_invalid.step'), problems);
}

function poolRefusal(hasPool: boolean): AppError | null {
  return hasPool ? null : refusal('campaign_no_mailbox', message('finding.campaign_no_mailbox'));
}

async function leadsRefusal(
  org: OrgScope,
  campaign: CampaignRow,
  leads: LeadCounts,
  options: LaunchOptions,
): Promise<AppError | null> {
  if (leads.open === 0) {
    if (campaign.continuous) return null;
    if (options.byPlatform) return refusal('no_remaining_leads', message('finding.no_remaining_leads'));
    return campaign.had_leads ? null : refusal('no_leads', message('finding.campaign_no_contacts'));
  }
  const refused = leads.invalid + (campaign.risky_emails ? 0 : leads.risky);
  if (refused === leads.open) return refusal('leads_undeliverable', message('finding.leads_undeliverable'));
  if (options.acknowledgeListRisk || leads.open - refused < RISK_MIN_LEADS) return null;
  const percent = projectedBounceRate(leads, campaign.risky_emails) * 100;
  const { bounce_pipeline: pipeline } = await effectiveSettings(org, campaign.id);
  if (percent <= pipeline.pause_bounce_rate_threshold) return null;
  return refusal('list_bounce_risk', message('finding.list_bounce_risk', { share: Number(percent.toFixed(1)) }));
}

/** Builds an error from a finding and adds the finding's fix. */
function refusal(code: ErrorCode, said: Message, problems?: Problem[]): AppError {
  const fix = findingMessage(said, 'fix')!;
  return new AppError(code, said, { fix, ...(problems ? { problems } : {}) });
}

/**
 * Returns the share (0 to 1) of sendable leads expected to bounce. Unverified addresses are assumed to be as bad as the
 * verified part of the list, if that part is large enough.
 */
function projectedBounceRate(leads: Omit<LeadCounts, 'open'>, riskyEmails: boolean): number {
  const verified = leads.invalid + leads.risky + leads.valid;
  const unknownRate =
    verified >= VERIFIED_SAMPLE ? Math.max(UNVERIFIED_BOUNCE_RATE, leads.invalid / verified) : UNVERIFIED_BOUNCE_RATE;
  const risky = riskyEmails ? leads.risky : 0;
  const sendable = leads.valid + leads.unknown + risky;
  return sendable === 0 ? 0 : (leads.unknown * unknownRate + risky * RISKY_BOUNCE_RATE) / sendable;
}

/** Counts the unfinished leads of a campaign by verification status. */
export async function countLeads(org: OrgScope, campaignId: string): Promise<LeadCounts> {
  const [row] = await org.sql<LeadCounts>(
    `select count(*)::int as open,
       count(*) filter (where c.verification_status = 'invalid')::int as invalid,
       count(*) filter (where c.verification_status = 'risky')::int as risky,
       count(*) filter (where c.verification_status = 'unknown')::int as unknown,
       count(*) filter (where c.verification_status = 'valid')::int as valid
     from enrollments e join contacts c on c.id = e.contact_id
     where e.organization_id = :org and e.campaign_id = :id and e.state in ('pending', 'active')`,
    { id: campaignId },
  );
  return row!;
}
