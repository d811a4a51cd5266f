import Stripe from 'stripe';
import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { AppError } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { lockPayment } from '../payments/move.ts';
import { applyPaymentEvent } from './apply.ts';
import { readPaymentEvent, type PaymentReference } from './read.ts';
import { message } from '../../../messages/index.ts';

/** Maximum age (seconds) of an event's signature. */
const TOLERANCE_S = 300;

/**
 * Receives a raw event of Stripe, verifies its signature, and applies it once. The event's row, the state changes and
 * the signals to workflows are committed in one transaction. Each change applies only if the state still permits it,
 * because the order or renewal may have advanced.
 * @param body the bytes of the request
 * @returns the result, as a code: `duplicate`, `ignored` and `unknown` changed nothing
 * @throws AppError bad_request for a body that Stripe did not sign in the last five minutes
 */
export async function receivePaymentEvent(deps: Deps, body: Buffer, signature: string | undefined): Promise<string> {
  const event = verify(deps, body, signature);
  const read = readPaymentEvent(event);
  const payment = read && (await findPayment(deps, read.about));
  if (!read || !payment) return 'unknown';
  return transact(systemCtx(deps, payment.organization_id, event.id), async (tx) => {
    // Locks the payment before its order or renewal, as all writers do. The events of a payment are therefore applied
    // one after the other.
    const locked = await lockPayment(tx, payment.id);
    const taken = await tx.org
      .insert('payment_events', {
        provider_event_id: event.id,
        payment_id: payment.id,
        type: event.type,
        outcome: 'taken',
        occurred_at: new Date(event.created * 1000),
        created_at: tx.now,
      })
      .onConflict('provider_event_id')
      .ignore()
      .returning('provider_event_id');
    if (taken.length === 0) return 'duplicate';
    const outcome = await applyPaymentEvent(tx, locked, read.news);
    await tx.org.table('payment_events').where({ provider_event_id: event.id }).update({ outcome });
    return outcome;
  });
}

/**
 * Verifies the signature and parses the event. The SDK computes the signature over the bytes and compares in constant
 * time.
 */
function verify({ config, clock }: Deps, body: Buffer, signature: string | undefined): Stripe.Event {
  if (!config.STRIPE_WEBHOOK_SECRET) throw new AppError('mailbox_provisioning_unavailable', message('payments.none'));
  try {
    const event = Stripe.webhooks.constructEvent(
      body,
      signature ?? '',
      config.STRIPE_WEBHOOK_SECRET,
      TOLERANCE_S,
      undefined,
      clock.now().getTime(),
    );
    if (typeof event.id === 'string' && typeof event.type === 'string' && typeof event.created === 'number')
      return event;
  } catch (error) {
    throw unsigned(error);
  }
  throw unsigned(undefined);
}

function unsigned(cause: unknown): AppError {
  return new AppError('bad_request', message('payments.unsigned'), {
    fix: message('payments.unsigned.fix'),
    cause,
  });
}

/** Finds the payment of an event by Heron's own id. Without it, uses an id of the provider. */
async function findPayment(
  deps: Deps,
  { paymentId, intentId, subscriptionId }: PaymentReference,
): Promise<Columns<'payments', 'id' | 'organization_id'> | undefined> {
  const known = across(deps.db, 'credential');
  if (paymentId && isUuid(paymentId))
    return known.table('payments').where({ id: paymentId }).first('id', 'organization_id');
  if (subscriptionId) {
    const ofSubscription = { provider_subscription_id: subscriptionId };
    return known.table('payments').where(ofSubscription).first('id', 'organization_id');
  }
  if (!intentId) return undefined;
  return known.table('payments').where({ provider_payment_id: intentId }).first('id', 'organization_id');
}
