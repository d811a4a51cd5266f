import { across } from '../../../db/across.ts';
import type { Db } from '../../../db/connection.ts';

/** Accounts of orders and domain renewals, in cents of one currency. */
export interface Books {
  currency: string;
  /**
   * Sum of all payments received for orders, including later months, and for renewals. Refunded payments are included.
   */
  taken: number;
  /** Sum of the payments for delivered months: the order was ready. */
  ready: number;
  /** Sum of the payments for domains that were renewed. */
  renewed: number;
  /** Sum of the payments that were refunded or are being refunded. */
  refunds: number;
  /** Sum of the payments for which a person must act. */
  needsPerson: number;
  /** Sum of the payments for orders and renewals in progress. It is 0 when all have ended. */
  underWay: number;
  /** Ids of orders and renewals that have a payment in none of these categories. Must always be empty. */
  unexplained: string[];
}

/**
 * Reads the accounts of all orders and renewals, by currency. Each payment belongs to exactly one category, and `taken`
 * is the sum of all categories. If a payment belongs to none, which is an error, its order or renewal is listed in
 * `unexplained`.
 */
export async function readBooks(db: Db): Promise<Books[]> {
  return across(db, 'operator').sql<Books>(
    `with places as (
       select coalesce(p.received_currency, p.currency) as currency, p.subject_id, coalesce(p.received_cents, p.amount_cents)::bigint as cents,
         case
           when p.state in ('refund_due', 'refunded') then 'refunds'
           when p.state = 'needs_person' then 'needs_person'
           when r.state = 'renewed' then 'renewed'
           when r.state in ('charging', 'renewing') then 'under_way'
           when r.state = 'requires_action' and r.error ->> 'code' = 'renewal_failed' then 'needs_person'
           when o.ready_at is not null then 'ready'
           when o.state in ('paid', 'queued', 'provisioning', 'configuring') then 'under_way'
           else 'unexplained'
         end as place
       from payments p
         left join mailbox_orders o on o.id = p.subject_id and (o.payment_id = p.id or p.subject = 'order_month')
         left join domain_renewals r on r.id = p.subject_id and r.payment_id = p.id and p.subject = 'renewal'
       where p.subject in ('order', 'order_month', 'renewal') and p.state in ('paid', 'refund_due', 'refunded', 'needs_person')
     )
     select currency, sum(cents)::float8 as taken,
       coalesce(sum(cents) filter (where place = 'ready'), 0)::float8 as ready,
       coalesce(sum(cents) filter (where place = 'renewed'), 0)::float8 as renewed,
       coalesce(sum(cents) filter (where place = 'refunds'), 0)::float8 as refunds,
       coalesce(sum(cents) filter (where place = 'needs_person'), 0)::float8 as "needsPerson",
       coalesce(sum(cents) filter (where place = 'under_way'), 0)::float8 as "underWay",
       coalesce(array_agg(subject_id::text) filter (where place = 'unexplained'), '{}') as unexplained
     from places group by currency order by currency`,
  );
}

/** Returns true if every received cent belongs to exactly one category. */
export function isBalanced({ taken, ready, renewed, refunds, needsPerson, underWay, unexplained }: Books): boolean {
  return unexplained.length === 0 && taken === ready + renewed + refunds + needsPerson + underWay;
}
