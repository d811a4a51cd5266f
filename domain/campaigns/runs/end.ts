import { findingMessage, findingCode, type Finding } from '../../../lib/finding.ts';
import { endApproval } from '../../approvals/expire.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { Recipients } from './audience.ts';
import type { LaunchCheck } from './checks.ts';
import { moveRun } from './move.ts';
import { PRELAUNCH_STATES, type RunRow } from './states.ts';
import { message } from '../../../messages/index.ts';
import type { StoredIssue } from '../../../db/json-columns.ts';

/** Reason why a run ended without a launch, as the API response of the run contains it. */
export type RunError = StoredIssue;

/** Ends a run whose campaign does not pass the checks. */
export function failChecks(tx: Tx, run: RunRow, checked: LaunchCheck, recipients: Recipients): Promise<RunRow> {
  return end(tx, run, 'failed', asIssue(checked.refusal!), { preflightReport: checked.report, recipients });
}

/** Converts a finding of the checks to the reason why the run ended. */
function asIssue(finding: Finding): StoredIssue {
  const { code, values } = finding;
  const fix = findingMessage(finding, 'fix') ?? message('runs.another.fix');
  return { code: findingCode(finding), message: { code, values }, fix };
}

/** Ends a run whose campaign was deleted. */
export function failDeletedCampaign(tx: Tx, run: RunRow): Promise<RunRow> {
  return end(tx, run, 'failed', {
    code: 'campaign_deleted',
    message: message('runs.campaign_deleted'),
    fix: message('runs.another.fix'),
  });
}

/** Ends a run that was not approved. */
export function denyRun(tx: Tx, run: RunRow, why: RunError): Promise<RunRow> {
  return end(tx, run, 'denied', why);
}

async function end(
  tx: Tx,
  run: RunRow,
  state: 'failed' | 'denied',
  error: RunError,
  change: { preflightReport?: LaunchCheck['report']; recipients?: Recipients } = {},
): Promise<RunRow> {
  if (run.approval_id) await endApproval(tx, run.approval_id, message(`approval.run_${state}`));
  return (await moveRun(tx, run.id, PRELAUNCH_STATES, state, {
    reason: error.code,
    errorDetails: error,
    ...change,
  }))!;
}
