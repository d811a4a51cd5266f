import type { Tx } from '../../platform/kernel/transact.ts';
import { ORDER_HOLDS, type OrderHoldCode } from '../../sending/control/hold-codes.ts';
import { clearHold, holdMailbox } from '../../sending/control/mailbox-hold.ts';
import { message, type Message } from '../../../messages/index.ts';

const REASONS: Record<OrderHoldCode, Message> = {
  order_unpaid: message('mailboxes.month_unpaid'),
  domain_lapsed: message('mailboxes.domain_ended'),
};

interface Held {
  mailbox_id: string;
  hold_code: string | null;
  wanted: OrderHoldCode | null;
}

/**
 * Holds or releases the mailboxes of a locked order, depending on the stored payments and domains. All mailboxes are
 * held while a month of the order is unpaid. Mailboxes on a lapsed domain are held until it is renewed. May be called
 * after any change of the payments or the domains.
 */
export async function settleHolds(tx: Tx, orderId: string): Promise<void> {
  const rows = await tx.org.sql<Held>(
    `select m.mailbox_id, box.hold_code,
       case when o.error ->> 'code' = 'payment_failed' then 'order_unpaid'
         when ${isLapsed('m.domain')} then 'domain_lapsed' end as wanted
     from mailbox_orders o
       join order_mailboxes m on m.organization_id = :org and m.order_id = o.id
       join mailboxes box on box.organization_id = :org and box.id = m.mailbox_id
     where o.organization_id = :org and o.id = :order and o.state not in ('failed', 'cancelled') order by m.mailbox_id`,
    { order: orderId },
  );
  for (const { mailbox_id: id, hold_code: code, wanted } of rows) {
    if (code === wanted) continue;
    for (const other of ORDER_HOLDS) if (other !== wanted) await clearHold(tx, id, other);
    if (wanted) await holdMailbox(tx, id, { code: wanted, reason: REASONS[wanted], until: null });
  }
}

/**
 * Holds or releases the mailboxes on a domain that has lapsed or was renewed, in the transaction of that change. Locks
 * the orders on the domain first. A concurrent payment therefore sees either the state before this change or the state
 * after it.
 */
export async function settleHoldsOfDomain(tx: Tx, domain: string): Promise<void> {
  for (const orderId of await lockOrdersOn(tx, domain)) await settleHolds(tx, orderId);
}

/** Locks and returns the orders that have mailboxes on a domain and have not ended. */
async function lockOrdersOn(tx: Tx, domain: string): Promise<string[]> {
  const orders = await tx.org.sql<{ id: string }>(
    `select o.id from mailbox_orders o
     where o.organization_id = :org and o.state not in ('failed', 'cancelled')
       and exists (select from order_mailboxes m where m.organization_id = :org and m.order_id = o.id and m.domain = :domain)
     order by o.id for update`,
    { domain },
  );
  return orders.map(({ id }) => id);
}

/** SQL condition: the workspace's registration of a domain has ended, and the domain was not registered again. */
export function isLapsed(domain: string): string {
  const registered = (state: string) =>
    `exists (select from managed_domains d where d.organization_id = :org and d.domain = ${domain} and d.state = '${state}')`;
  return `${registered('lapsed')} and not ${registered('active')}`;
}
