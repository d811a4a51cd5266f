import type { Columns, Row } from '../../../db/rows.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import type { OrderRow, OrderState, StepRow } from './states.ts';

/** An order with its steps, mailboxes and payments. */
export interface OrderView {
  order: OrderRow;
  payment: { state: string; checkoutUrl: string | null; subscriptionId: string | null } | null;
  /** True if the refund of any payment of the order needs a person. Payments for later months are included. */
  refundNeedsPerson: boolean;
  steps: StepRow[];
  mailboxes: Row<'order_mailboxes'>[];
}

/**
 * Returns one order with its steps and mailboxes (GET /mailbox-provisioning/:id).
 * @throws AppError not_found
 */
export async function getOrder(ctx: Ctx, id: string): Promise<OrderView> {
  const org = reader(ctx);
  const [order] = isUuid(id)
    ? await org.sql<OrderRow>('select * from mailbox_orders where organization_id = :org and id = :id', { id })
    : [];
  if (!order) throw notFound('order');
  return (await viewOrders(org, [order]))[0]!;
}

/**
 * Lists orders, newest first (GET /mailbox-provisioning).
 * @throws AppError bad_request for the cursor of another list or filter
 */
export async function listOrders(
  ctx: Ctx,
  { state }: { state?: OrderState | undefined },
  page: PageRequest,
): Promise<Page<OrderView>> {
  const narrow = state ?? null;
  const after = decodeIdCursor('mailbox-orders.list', narrow, page.cursor);
  const org = reader(ctx);
  const rows = await org.sql<OrderRow>(
    `select * from mailbox_orders where organization_id = :org ${state ? 'and state = :state' : ''} ${after ? 'and id < :after' : ''}
     order by id desc limit :limit`,
    { ...(state ? { state } : {}), ...(after ? { after } : {}), limit: page.limit + 1 },
  );
  const { rows: orders, nextCursor } = pageOf(rows, page.limit, (last) =>
    encodeCursor('mailbox-orders.list', narrow, [last.id]),
  );
  return { rows: await viewOrders(org, orders), nextCursor };
}

/** Adds steps, mailboxes and payments to orders. Returns them in the order of the rows. */
async function viewOrders(org: OrgScope, orders: readonly OrderRow[]): Promise<OrderView[]> {
  const ids = orders.map(({ id }) => id);
  const [payments, steps, mailboxes] = await Promise.all([
    org.sql<Columns<'payments', 'id' | 'subject_id' | 'state' | 'checkout_url' | 'provider_subscription_id'>>(
      `select id, subject_id, state, checkout_url, provider_subscription_id from payments
       where organization_id = :org and subject in ('order', 'order_month') and subject_id = any(:ids)`,
      { ids },
    ),
    org.sql<StepRow>(
      'select * from order_steps where organization_id = :org and order_id = any(:ids) order by order_id, seq',
      {
        ids,
      },
    ),
    org.sql<Row<'order_mailboxes'>>(
      'select * from order_mailboxes where organization_id = :org and order_id = any(:ids) order by order_id, position',
      { ids },
    ),
  ]);
  return orders.map((order) => {
    const payment = payments.find(({ id }) => id === order.payment_id);
    return {
      order,
      payment: payment
        ? { state: payment.state, checkoutUrl: payment.checkout_url, subscriptionId: payment.provider_subscription_id }
        : null,
      refundNeedsPerson: payments.some(({ subject_id: of, state }) => of === order.id && state === 'needs_person'),
      steps: steps.filter(({ order_id: id }) => id === order.id),
      mailboxes: mailboxes.filter(({ order_id: id }) => id === order.id),
    };
  });
}
