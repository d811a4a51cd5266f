import { signal } from '../../../temporal/dispatch.ts';
import { domainRenewalWorkflow } from '../../../workflows/domain-renewal/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { moveRenewal, renewalArgs, signalRenewal } from './move.ts';
import type { RenewalRow } from './states.ts';

/**
 * Records that a renewal was paid, within the transaction that records the locked payment.
 * @returns `too_late` if the renewal no longer waits for this payment; the caller then refunds the payment
 */
export async function recordRenewalPaid(tx: Tx, renewalId: string, paymentId: string): Promise<'paid' | 'too_late'> {
  const waiting = await tx.org.table('domain_renewals').where({ id: renewalId, payment_id: paymentId }).first();
  const paid = waiting && (await moveRenewal(tx, renewalId, ['charging', 'requires_action'], 'renewing'));
  if (!paid) return 'too_late';
  signalRenewal(tx, paid.domain_id, 'payment');
  return 'paid';
}

/**
 * Signals the workflow of a renewal whose payment failed. The workflow opens another payment if there is still time.
 */
export async function recordRenewalPaymentFailed(tx: Tx, renewalId: string): Promise<void> {
  const renewal = await tx.org.table('domain_renewals').where({ id: renewalId }).first('domain_id');
  if (renewal) signalRenewal(tx, renewal.domain_id, 'payment');
}

/**
 * Retries a renewal that needs a person, or whose workflow failed repeatedly. A paid cycle is renewed with the same
 * key, a cycle that waits for its payment continues to wait, and any other cycle is priced and charged again.
 * @returns false when the domain has no open cycle
 */
export async function retryRenewal(tx: Tx, domainId: string, cause: 'operator' | 'sweep'): Promise<boolean> {
  const [renewal] = await tx.org.sql<Pick<RenewalRow, 'id'>>(
    `update domain_renewals set blocked_reason = null, updated_at = :now,
       state = case when state <> 'requires_action' then state 
         when error ->> 'code' = 'renewal_failed' then 'renewing'
         when error ->> 'code' = 'renewal_payment_required' then state else 'scheduled' end
     where organization_id = :org and domain_id = :domain and state in ('scheduled', 'charging', 'renewing', 'requires_action') returning id`,
    { domain: domainId, now: tx.now },
  );
  if (renewal) tx.intend(signal(domainRenewalWorkflow, renewalArgs(tx, domainId), 'retry', { cause }));
  return renewal !== undefined;
}
