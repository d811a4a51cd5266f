import type { Tx } from '../../platform/kernel/transact.ts';
import { failOrder } from './end.ts';
import { message } from '../../../messages/index.ts';

/**
 * Ends the orders whose last domain was not renewed in time and is lost. Their mailboxes are deleted at the provider,
 * and the current month is refunded. Orders with another domain keep the mailboxes on that domain.
 */
export async function failOrdersWithoutDomain(tx: Tx, domain: string): Promise<void> {
  const orders = await tx.org.sql<{ id: string }>(
    `select distinct m.order_id as id from order_mailboxes m join mailbox_orders o on o.id = m.order_id and o.state = 'ready'
     where m.organization_id = :org and m.domain = :domain and not exists (
       select from order_mailboxes other where other.organization_id = :org and other.order_id = m.order_id and not ${hasEndedSql('other.domain')})
     order by id`,
    { domain },
  );
  for (const { id } of orders)
    await failOrder(tx, id, ['ready'], {
      code: 'domain_unavailable',
      message: message('order.domain_gone'),
      fix: message('order.domain_gone.fix'),
    });
}

/** SQL condition: the workspace's last registration of the domain has ended and can no longer be renewed. */
function hasEndedSql(domain: string): string {
  return `exists (
    select from managed_domains d join domain_renewals r on r.domain_id = d.id and r.expires_at = d.expires_at and r.state = 'ended'
    where d.organization_id = :org and d.domain = ${domain} and d.state = 'lapsed'
      and not exists (select from managed_domains a where a.organization_id = :org and a.domain = d.domain and a.state = 'active'))`;
}
