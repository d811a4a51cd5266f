import type { CampaignRow } from '../../db/models/campaign.ts';
import type { JsonObject } from '../../db/json-columns.ts';
import { launchRefusals } from '../engine/campaign/launch-checks.ts';
import { stepErrors } from '../engine/campaign/step-findings.ts';
import type { Ctx } from '../kernel/context.ts';
import type { Tx } from '../kernel/transact.ts';

/** What was asked of the network before the transaction. */
export type OutsideFacts = null;

/** What the checks found. */
export interface LaunchCheck {
  passed: boolean;
  /** As the run shows it. */
  report: JsonObject;
  /** The first thing that keeps the campaign from being launched. */
  refusal: { code: string; message: string; fix: string } | null;
}

/** Asks the network what the checks need of it; called before the transaction opens. */
export async function readOutside(_ctx: Ctx, _campaignId: string): Promise<OutsideFacts> {
  return null;
}

/** Checks a campaign before its launch: whatever a start would refuse, as far as it is known in this transaction. */
export async function checkLaunch(tx: Tx, campaign: CampaignRow, _outside: OutsideFacts): Promise<LaunchCheck> {
  const refusals = await launchRefusals(tx.org, campaign, tx.now);
  const steps = await stepErrors(tx.org, campaign);
  const findings = [
    ...refusals.map(({ code, message, fix = '' }) => ({
      code: code === 'no_leads' ? 'campaign_no_contacts' : code,
      severity: 'error',
      message,
      fix,
    })),
    ...steps.map(({ code, severity, message, fix, stepId }) => ({ code, severity, message, fix, step_id: stepId })),
  ];
  const passed = findings.length === 0;
  const [first] = findings;
  return {
    passed,
    report: { passed, score: passed ? 100 : 0, findings },
    refusal: first ? { code: first.code, message: first.message, fix: first.fix } : null,
  };
}
