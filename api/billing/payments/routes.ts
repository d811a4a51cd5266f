import { Readable } from 'node:stream';
import { z } from 'zod';
import { receivePaymentEvent } from '../../../domain/billing/payment-events/receive.ts';
import { readBytes } from '../../http/raw-body.ts';
import { route, type AnyRoute } from '../../http/route.ts';

/** Maximum size (bytes) of an event. Stripe's events have a few KiB. */
const MAX_EVENT_BYTES = 512 * 1024;

/** Webhook routes that the payment provider calls. */
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
    summary: 'Receive signed events from Stripe',
    description:
      'Enter this URL as a webhook in the Stripe dashboard. The signature (`Stripe-Signature`) is verified over the bytes of the body and must not be older than five minutes. An event is applied once. Repeated, late, out-of-order and irrelevant events are answered 200 without effect. docs/guides/mailbox-orders.md lists the required events.',
    consumes: 'raw',
    body: z.instanceof(Readable).meta({ description: 'Event as JSON' }),
    success: {
      status: 200,
      body: z.strictObject({
        received: z.literal(true),
        outcome: z
          .string()
          .meta({ description: 'Effect of the event; `duplicate`, `ignored` and `unknown` changed nothing' }),
      }),
    },
    errors: ['bad_request', 'mailbox_provisioning_unavailable'],
    handler: async (ctx, { body, headers }) => ({
      received: true as const,
      outcome: await receivePaymentEvent(ctx, await readBytes(body, MAX_EVENT_BYTES), headers['stripe-signature']),
    }),
  }),
];
