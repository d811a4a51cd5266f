import type { z } from 'zod';
import { approvalUrl } from '../../../domain/approvals/link.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { runUrl } from '../../../domain/platform/run-url.ts';
import type { RunEventRow, RunRow } from '../../../domain/campaigns/runs/states.ts';
import { runWorkflow } from '../../../workflows/run/contract.ts';
import { presentReport } from '../../http/findings.ts';
import { iso } from '../../http/schemas.ts';
import type { run, runEvent } from './schemas.ts';
import { presentBlocked, presentIssue } from '../../http/stored-message.ts';
import type { Language } from '../../../messages/index.ts';
import { presentReasons } from '../../approvals/awaiting-approval.ts';
import type { ApprovalRow } from '../../../domain/approvals/view.ts';

/** Returns an agent's run with its state, its Temporal link, and the decision page while it waits for a person. */
export function presentRun(row: RunRow, { config, language }: Pick<Ctx, 'config' | 'language'>): z.input<typeof run> {
  return {
    id: row.id,
    state: row.state,
    intent: row.intent,
    input: row.input as z.input<typeof run>['input'],
    policy_decision: presentDecision(row.policy_decision, language),
    campaign_id: row.campaign_id,
    frozen_sender_ids: row.frozen_sender_ids,
    recipient_count: row.recipient_count,
    action_count: row.action_count,
    ...(row.preflight_report ? { preflight_report: presentReport(row.preflight_report, language) } : {}),
    ...(row.error_details ? { error_details: presentIssue(row.error_details, language) } : {}),
    ...(row.approval_id ? { approval_id: row.approval_id, approval_url: approvalUrl(config, row.approval_id) } : {}),
    ...(row.state === 'awaiting_approval' ? { approval_expires_at: iso(row.expires_at!) } : {}),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    ...presentBlocked(row, language),
    ...runUrl(config, runWorkflow, { runId: row.id }),
  };
}

/** Returns a dry run, without links and ids of the rolled-back records. */
export function presentDryRun(row: RunRow, ctx: Parameters<typeof presentRun>[1]): z.input<typeof run> {
  const { approval_id: _approval, approval_url: _page, temporal_url: _url, ...rest } = presentRun(row, ctx);
  return { ...rest, dry_run: true };
}

function presentDecision(decision: RunRow['policy_decision'], language: Language | undefined) {
  const { reasons } = decision as { reasons?: ApprovalRow['reasons'] };
  return reasons ? { ...decision, reasons: presentReasons(reasons, language) } : decision;
}

/** Returns one state change of a run with its actor. Ordered by `seq`. */
export function presentRunEvent(row: RunEventRow): z.input<typeof runEvent> {
  return {
    seq: row.seq,
    type: row.type as 'created' | 'state_changed',
    state: row.state as RunRow['state'],
    previous_state: row.previous_state as RunRow['state'] | null,
    data: row.data,
    actor: { kind: row.actor_kind, user_id: row.user_id },
    created_at: iso(row.created_at),
  };
}
