import type { CampaignRow } from '../../db/models/campaign.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { AppError } from '../../lib/errors.ts';
import { toFinding } from '../../lib/finding.ts';
import type { Message } from '../../messages/index.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { readOverlap } from './preflight-leads.ts';
import { launchRefusals } from '../sending/campaign/launch-checks.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { readWritten, type Written } from '../sending/campaign/written.ts';
import { stepFindings, type CampaignProblem } from '../sending/campaign/step-findings.ts';

export type { CampaignProblem } from '../sending/campaign/step-findings.ts';

interface CampaignValidation {
  campaignId: string;
  /** True if no problem is an error. */
  valid: boolean;
  problems: CampaignProblem[];
}

/**
 * Lists every obstacle to a start and every problem of the steps. Changes no data.
 * @throws AppError not_found
 */
export async function validateCampaign(ctx: Ctx, campaignId: string): Promise<CampaignValidation> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  const written = await readWritten(org, campaign.id);
  const [found, overlap] = await Promise.all([
    campaignProblems(org, campaign, ctx.clock.now(), written),
    readOverlap(org, campaign),
  ]);
  const problems = [
    ...found,
    ...overlap.map(({ check: _check, points: _points, ...finding }) => ({ ...finding, stepId: null })),
  ];
  return { campaignId: campaign.id, valid: problems.every(({ severity }) => severity !== 'error'), problems };
}

/** Lists the reasons why a start would be refused now, and every problem of the steps. */
export async function campaignProblems(
  org: OrgScope,
  campaign: CampaignRow,
  now: Date,
  written: Written,
): Promise<CampaignProblem[]> {
  const [refusals, findings] = await Promise.all([
    launchRefusals(org, campaign, now, written),
    stepFindings(org, campaign, written),
  ]);
  return [...refusals.flatMap(fromRefusal), ...findings];
}

/** Converts a refused start to findings: one per step that the error names, or one for the campaign. */
function fromRefusal({ said, problems = [] }: AppError): CampaignProblem[] {
  const steps = problems.map(({ path }) => /^steps\.([^.]+)\./.exec(path)?.[1]).filter((id) => id !== undefined);
  // The cast is safe, because the message of every refused start has a code.
  const finding = toFinding('error', said as Message);
  return (steps.length > 0 ? steps : [null]).map((stepId) => ({ ...finding, stepId }));
}
