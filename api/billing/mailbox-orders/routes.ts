import { z } from 'zod';
import { cancelOrder } from '../../../domain/billing/mailbox-orders/end.ts';
import { orderMailboxes, returnUrlProblems } from '../../../domain/billing/mailbox-orders/order.ts';
import { listOffers, priceOrder, quoteProblems, storeQuote } from '../../../domain/billing/mailbox-orders/quote.ts';
import { getOrder, listOrders } from '../../../domain/billing/mailbox-orders/read.ts';
import { ORDER_STATES } from '../../../domain/billing/mailbox-orders/states.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, pageQuery, presentPage } from '../../http/schemas.ts';
import { presentApproval, presentOffers, presentOrder, presentQuote } from './present.ts';
import * as schemas from './schemas.ts';

const area = 'mailbox-orders';
const read = { area, scope: ['READ_EMAILS'], permission: 'view_campaigns', everyMailbox: true } as const;
const write = {
  area,
  scope: ['MANAGE_MAILBOX_PROVISIONING'],
  permission: 'manage_settings',
  everyMailbox: true,
} as const;

/** Routes of orders of managed mailboxes. */
export const mailboxOrdersRoutes: readonly AnyRoute[] = [
  route({
    ...read,
    operationId: 'mailboxOrders.listProviders',
    method: 'get',
    path: '/mailboxes/provision/providers',
    summary: 'List offers with current prices',
    description:
      'Asks the provider each time. Answers 503 `mailbox_provisioning_unavailable` if the installation has none.',
    success: { status: 200, body: schemas.providers },
    errors: ['mailbox_provisioning_unavailable', 'mailbox_provisioning_failed'],
    handler: async (ctx) => presentOffers(await listOffers(ctx)),
  }),
  route({
    ...write,
    operationId: 'mailboxOrders.getQuote',
    method: 'post',
    path: '/mailboxes/provision/quote',
    summary: 'Get a quote for mailboxes; buys nothing',
    description:
      'Asks the provider for its prices and whether each domain can be registered. A domain of an earlier order needs no registration. The mailboxes are spread evenly over the domains; their addresses are derived from `names`. The quote is valid for 15 minutes. `problems` names every fault; `code` is the code of the first.',
    body: schemas.quoteRequest,
    furtherProblems: (ctx, body) => quoteProblems(ctx, body),
    success: { status: 200, body: schemas.quote },
    errors: [
      'mailbox_provisioning_unavailable',
      'mailbox_provisioning_failed',
      'provision_provider_invalid',
      'provision_count_invalid',
      'provision_domain_invalid',
      'provision_domains_invalid',
      'domain_unavailable',
    ],
    prepare: (ctx, { body }) => priceOrder(ctx, body),
    handler: async (ctx, { body, prepared }) => presentQuote(await storeQuote(ctx, body, prepared), ctx),
  }),
  route({
    ...write,
    operationId: 'mailboxOrders.create',
    method: 'post',
    path: '/mailboxes/provision',
    idempotency: 'required',
    summary: 'Order the mailboxes of a quote',
    description:
      'A signed-in person orders at once. A key or application does so if its policy has `mailbox.provision` and the monthly total is within `max_monthly_mailbox_spend_cents`. Otherwise the answer is `awaiting_approval` with a link where a person decides before `approval_expires_at`. The approval places the order; the same request with another Idempotency-Key then returns it. The order waits for its payment: read it to get its `checkout_url`.',
    body: schemas.orderRequest,
    furtherProblems: async ({ config }, { return_url: url }) => returnUrlProblems(config, url),
    success: { status: 202, body: schemas.ordered },
    errors: [
      'mailbox_provisioning_unavailable',
      'quote_not_found',
      'quote_expired',
      'quote_consumed',
      'mailbox_allowance_reached',
      'redirect_not_allowed',
      'conflict',
    ],
    handler: async (ctx, { body }) => {
      const ordered = await orderMailboxes(ctx, body.quote_id, body.return_url);
      if ('approval' in ordered) return presentApproval(ordered.approval, ctx);
      return presentOrder(await getOrder(ctx, ordered.order.id), ctx);
    },
  }),
  route({
    ...read,
    operationId: 'mailboxOrders.list',
    method: 'get',
    path: '/mailbox-provisioning',
    summary: 'Orders of mailboxes, newest first',
    query: z.object({
      ...pageQuery(100),
      status: z.enum(ORDER_STATES).optional().meta({ description: 'Only orders in this state' }),
    }),
    success: { status: 200, body: schemas.orderPage },
    handler: async (ctx, { query: { status, ...page } }) =>
      presentPage(await listOrders(ctx, { state: status }, page), (one) => presentOrder(one, ctx)),
  }),
  route({
    ...read,
    operationId: 'mailboxOrders.get',
    method: 'get',
    path: '/mailbox-provisioning/:id',
    summary: 'One order with its steps and mailboxes',
    description:
      "A person pays at `checkout_url`. Once the order is ready, `mailboxes` lists the workspace's new mailboxes. `error` explains a failure. A step with status `needs_person` could not be undone at the provider.",
    params: idParams,
    success: { status: 200, body: schemas.order },
    errors: ['not_found'],
    handler: async (ctx, { params }) => presentOrder(await getOrder(ctx, params.id), ctx),
  }),
  route({
    ...write,
    operationId: 'mailboxOrders.cancel',
    method: 'post',
    path: '/mailbox-provisioning/:id/cancel',
    summary: 'Cancel an order and remove its mailboxes',
    description:
      'Before the payment the checkout is closed. After it, the payment is refunded, and purchases are returned to the provider step by step. The mailboxes of a ready order are removed from the workspace. An order that was cancelled or has failed is returned unchanged.',
    params: idParams,
    stops: true,
    success: { status: 200, body: schemas.order },
    errors: ['not_found'],
    handler: async (ctx, { params }) => {
      const { id } = await cancelOrder(ctx, params.id);
      return presentOrder(await getOrder(ctx, id), ctx);
    },
  }),
];
