import { openOrderDesk } from '../harness/mailbox-orders.ts';
import type { PageToSee, Stage } from './stage.ts';

/**
 * Creates completed, unpaid and cancelled mailbox orders with domains, one of them lapsed. Returns the pages of the
 * orders, and the form for a new order without and with its price.
 */
export async function sceneOfOrders({ world, tenant, post }: Stage): Promise<PageToSee[]> {
  const desk = await openOrderDesk({ world, stripe: world.stripe }, tenant);
  const place = async (domains: string[]) => {
    const id = await desk.place({ domain: undefined, domains, warmup: true });
    await desk.drive(id);
    return id;
  };
  const [ready, later, unpaid, cancelled] = [
    await place(['northwind-mail.com']),
    await place(['northwind-letters.com']),
    await place([`${'a-long-name-for-letters-'.repeat(2)}northwind.com`, 'northwind-post.com']),
    await place(['northwind-cards.com']),
  ];
  for (const id of [ready, later]) {
    await desk.pay(id);
    await desk.drive(id);
  }
  await post(`/mailbox-provisioning/${cancelled}/cancel`, {});
  await desk.drive(cancelled);
  await world.deps
    .db('managed_domains')
    .where({ order_id: later })
    .update({ expires_at: new Date(Date.now() - 1), state: 'lapsed' });
  return [
    ['orders', '/mailboxes/orders'],
    ['orders-domains', '/mailboxes/orders/domains'],
    ['order', `/mailboxes/orders/${ready}`],
    ['order-unpaid', `/mailboxes/orders/${unpaid}`],
    ['order-cancelled', `/mailboxes/orders/${cancelled}`],
    ['order-new', '/mailboxes/orders/new'],
    [
      'order-quote',
      '/mailboxes/orders/new',
      undefined,
      async (page) => {
        await page.getByPlaceholder('northwind-mail.com').fill('northwind-more.com');
        await page.keyboard.press('Enter');
        await page.getByLabel('Names of the senders').fill('Ada Lovelace\nGrace Hopper');
        await page.getByRole('button', { name: 'Show price' }).click();
        await page.getByRole('heading', { name: 'Addresses' }).waitFor();
      },
    ],
  ];
}
