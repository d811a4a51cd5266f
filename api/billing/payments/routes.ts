import { Readable } from 'node:stream';
import { z } from 'zod';
import { receivePaymentEvent } from '../../../domain/billing/payment-events/receive.ts';
import { readBytes } from '../../http/raw-body.ts';
import { route, type AnyRoute } from '../../http/route.ts';

/** Bytes of the largest event that is read: those of Stripe have a few KiB. */
const MAX_EVENT_BYTES = 512 * 1024;

/** What the payment provider calls. */
export const paymentRoutes: readonly AnyRoute[] = [
  route({
    operationId: 'payments.receiveStripeEvent',
    atRoot: true,
    method: 'post',
    path: '/payments/stripe/events',
    area: 'payments',
    scope: 'public',
    permission: null,
    organization: false,
    summary: 'Events of Stripe, signed by it',
    description:
      'The address to enter as a webhook in the dashboard of Stripe. The signature (`Stripe-Signature`) is verified over the bytes of the body ' +
      'and must not be older than five minutes. An event is applied once: one that comes again, late or out of order changes nothing that it should not, and is ' +
      'answered 200, as is one that means nothing here. See docs/guides/mailbox-orders.md for the events that are needed.',
    consumes: 'raw',
    body: z.instanceof(Readable).meta({ description: 'An event, as JSON' }),
    success: {
      status: 200,
      body: z.strictObject({
        received: z.literal(true),
        outcome: z.string().meta({ description: 'What it did; `duplicate`, `ignored` and `unknown` changed nothing' }),
      }),
    },
    errors: ['bad_request', 'mailbox_provisioning_unavailable'],
    handler: async (ctx, { body, headers }) => ({
      received: true as const,
      outcome: await receivePaymentEvent(ctx, await readBytes(body, MAX_EVENT_BYTES), headers['stripe-signature']),
    }),
  }),
];
