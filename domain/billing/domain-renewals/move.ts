import { json } from '../../../db/connection.ts';
import { signalOpen } from '../../../temporal/dispatch.ts';
import { domainRenewalWorkflow, type DomainRenewalSignals } from '../../../workflows/domain-renewal/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { addDeadLetter, dropDeadLetter, RENEWAL } from '../../platform/dead-letters.ts';
import type { RenewalCode, RenewalRow, RenewalState } from './states.ts';
import { message } from '../../../messages/index.ts';
import type { StoredIssue } from '../../../db/json-columns.ts';

/** Columns that a transition changes in addition to the state. Absent fields stay unchanged. */
type RenewalChange = Partial<
  Pick<RenewalRow, 'cost_cents' | 'processing_cents' | 'amount_cents' | 'currency' | 'payment_id' | 'renewed_at'>
>;

/**
 * Moves a cycle to another state if its state is one of `from`, and writes the domain event and audit row. The state is
 * checked and changed in one UPDATE, so only one of two concurrent transitions succeeds.
 * @returns the updated cycle; undefined if its state is none of these
 */
export async function moveRenewal(
  tx: Tx,
  renewalId: string,
  from: readonly RenewalState[],
  to: RenewalState,
  change: RenewalChange = {},
): Promise<RenewalRow | undefined> {
  const before = await tx.org.table('domain_renewals').where({ id: renewalId }).forNoKeyUpdate().first('state');
  const [moved] = await tx.org
    .table('domain_renewals')
    .where({ id: renewalId })
    .whereIn('state', [...from])
    .update({ ...change, state: to, error: null, blocked_reason: null, updated_at: tx.now })
    .returning('*');
  if (!moved) return undefined;
  await dropDeadLetter(tx, RENEWAL, moved.domain_id);
  await record(tx, before!.state, moved, null);
  return moved;
}

/**
 * Records that a renewal needs a person, with code and fix: in the list of renewals, as a dead letter and as an event.
 * Changes nothing if a person is already needed for the same reason.
 * @param code reason for which a person is needed, with the provider's own code after a refusal
 */
export async function requireAction(
  tx: Tx,
  renewal: RenewalRow,
  code: RenewalCode,
  { detail, change = {} }: { detail?: string; change?: RenewalChange } = {},
): Promise<void> {
  if (renewal.state === 'requires_action' && renewal.error?.code === code) return;
  const error = issueOf(code, detail);
  const [moved] = await tx.org
    .table('domain_renewals')
    .where({ id: renewal.id, state: renewal.state })
    .update({ ...change, state: 'requires_action', error: json(error), blocked_reason: null, updated_at: tx.now })
    .returning('*');
  if (!moved) return;
  await addDeadLetter(tx, {
    taskId: renewal.domain_id,
    taskType: RENEWAL,
    payload: {
      workflow_id: domainRenewalWorkflow.id(renewalArgs(tx, renewal.domain_id)),
      domain_id: renewal.domain_id,
      renewal_id: renewal.id,
    },
    error: error.message,
    attempts: 0,
    maxAttempts: 0,
    nextRetryAt: null,
  });
  await record(tx, renewal.state, moved, code);
}

function issueOf(code: RenewalCode, detail: string | undefined): StoredIssue & { code: RenewalCode } {
  switch (code) {
    case 'renewal_not_eligible':
      return { code, message: message('renewal.not_eligible'), fix: message('renewal.not_eligible.fix') };
    case 'renewal_payment_required':
      return {
        code,
        message: detail ? message('renewal.payment_declined', { code: detail }) : message('renewal.payment_required'),
        fix: message('renewal.payment_required.fix'),
      };
    case 'renewal_request_failed':
      return { code, message: message('renewal.request_failed'), fix: message('renewal.request_failed.fix') };
    case 'renewal_failed':
      return { code, message: message('renewal.failed'), fix: message('renewal.failed.fix') };
    case 'renewal_refused': {
      const refused = detail ? message('renewal.refused_because', { code: detail }) : message('renewal.refused');
      return { code, message: refused, fix: message('renewal.refused.fix') };
    }
  }
}

async function record(tx: Tx, from: RenewalRow['state'], renewal: RenewalRow, code: RenewalCode | null): Promise<void> {
  const domain = await tx.org.table('managed_domains').where({ id: renewal.domain_id }).first('domain');
  tx.emit('domain_renewal.state_changed', {
    renewal_id: renewal.id,
    domain_id: renewal.domain_id,
    domain: domain?.domain ?? '',
    state: renewal.state,
    code,
    expires_at: renewal.expires_at.toISOString(),
    amount_cents: renewal.amount_cents,
    currency: renewal.currency,
  });
  tx.audit({
    action: 'update',
    entityType: 'domain_renewal',
    entityId: renewal.id,
    changes: { state: { from, to: renewal.state } },
    ...(code ? { metadata: { code } } : {}),
  });
}

/** Returns the arguments of a domain's renewal workflow. */
export function renewalArgs(tx: Tx, domainId: string) {
  return { organizationId: tx.org.organizationId, domainId };
}

/** After the commit, signals the domain's open renewal workflow, which then checks its cycle again. */
export function signalRenewal(tx: Tx, domainId: string, cause: DomainRenewalSignals['changed']['cause']): void {
  tx.intend(signalOpen(domainRenewalWorkflow, renewalArgs(tx, domainId), 'changed', { cause }));
}
