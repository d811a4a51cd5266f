import type { z } from 'zod';
import { approvalUrl } from '../../domain/approvals/link.ts';
import { approvalStatus, endReason, type ApprovalRow } from '../../domain/approvals/view.ts';
import type { Config } from '../../lib/config/index.ts';
import type { Language } from '../../messages/index.ts';
import { presentReport } from '../http/findings.ts';
import { iso } from '../http/schemas.ts';
import type { approval } from './schemas.ts';
import { render } from '../../messages/render.ts';
import { reasonIn } from '../http/stored-message.ts';

/** Returns an approval in the form of the API at a given time; a pending one past its expiry is `expired`. */
export function presentApproval(
  { config, now, language }: { config: Pick<Config, 'APP_URL'>; now: Date; language: Language | undefined },
  row: ApprovalRow,
): z.input<typeof approval> {
  return {
    id: row.id,
    run_id: row.subject_type === 'run' ? row.subject_id : null,
    subject_type: row.subject_type,
    subject_id: row.subject_id,
    action_type: row.action_type,
    status: approvalStatus(row, now),
    requested_by: { api_key_id: row.api_key_id, oauth_grant_id: row.oauth_grant_id, name: row.requester_name },
    title: render(row.payload.title, language),
    reasons: row.reasons.map(({ message }) => render(message, language)),
    payload: { ...row.payload, senders: row.payload.senders.map((sender) => ({ ...sender })) },
    payload_hash: row.payload_hash,
    preflight: row.preflight && presentReport(row.preflight, language),
    approval_url: approvalUrl(config, row.id),
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
    decided_by: row.decided_by,
    decided_at: iso(row.decided_at),
    reason: reasonIn(endReason(row, now), language),
    executed_at: iso(row.executed_at),
  };
}
