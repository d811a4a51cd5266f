import { sayFinding } from '../../../lib/finding.ts';
import { endApproval } from '../../approvals/expire.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { Recipients } from './audience.ts';
import type { LaunchCheck } from './checks.ts';
import { moveRun } from './move.ts';
import { UNDER_WAY, type RunRow } from './states.ts';

/** Why a run ended without a launch, as the run shows it. */
export interface RunError {
  code: string;
  message: string;
  fix: string;
}

/** Ends a run whose campaign does not pass the checks. */
export function failChecks(tx: Tx, run: RunRow, checked: LaunchCheck, recipients: Recipients): Promise<RunRow> {
  const { code, message, fix } = sayFinding(checked.refusal!);
  return end(tx, run, 'failed', { code, message, fix }, { preflightReport: checked.report, recipients });
}

/** Ends a run whose campaign was deleted. */
export function failGone(tx: Tx, run: RunRow): Promise<RunRow> {
  const fix = 'Create another run.';
  return end(tx, run, 'failed', { code: 'campaign_deleted', message: 'The campaign of the run was deleted', fix });
}

/** Ends a run that was not approved. */
export function deny(tx: Tx, run: RunRow, why: RunError): Promise<RunRow> {
  return end(tx, run, 'denied', why);
}

async function end(
  tx: Tx,
  run: RunRow,
  state: 'failed' | 'denied',
  error: RunError,
  change: { preflightReport?: LaunchCheck['report']; recipients?: Recipients } = {},
): Promise<RunRow> {
  if (run.approval_id)
    await endApproval(tx, run.approval_id, `The run has ${state === 'failed' ? 'failed' : 'been denied'}`);
  return (await moveRun(tx, run.id, UNDER_WAY, state, {
    reason: error.code,
    errorDetails: { ...error },
    ...change,
  }))!;
}
