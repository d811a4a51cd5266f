import { across } from '../../../db/across.ts';
import type { Db } from '../../../db/connection.ts';

/** Where the money of orders and of renewals of their domains is, in cents of one currency. */
export interface Books {
  currency: string;
  /** Everything that was paid for orders, month after month, and for renewals, given back or not. */
  taken: number;
  /** Paid for orders that became ready, for the months in which they were. */
  ready: number;
  /** Paid for domains that were renewed with it. */
  renewed: number;
  /** Given back, or on its way back. */
  refunds: number;
  /** Paid for orders and renewals that a person has to settle. */
  needsPerson: number;
  /** Paid for orders and renewals that are being worked on; 0 once all have come to an end. */
  underWay: number;
  /** Orders and renewals whose money is in none of these: never any. */
  unexplained: string[];
}

/**
 * The books of all orders and renewals, by currency: money taken = orders ready + domains renewed + refunds + what needs a person, and, while there is
 * any, what is under way. A payment stands in exactly one of them; one that stands nowhere is a fault, and its order or renewal is named.
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

/** Whether every cent is explained: what came in stands in exactly one place. */
export function isBalanced({ taken, ready, renewed, refunds, needsPerson, underWay, unexplained }: Books): boolean {
  return unexplained.length === 0 && taken === ready + renewed + refunds + needsPerson + underWay;
}
