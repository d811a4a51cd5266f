import test from 'ava';
import { startProvisioning, type ProvisioningSandbox } from '../../local/provisioning.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { freshDomain, openOrderDesk } from '../harness/mailbox-orders.ts';
import { startStripe, type StripeDouble } from '../harness/stripe.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
let sandbox: ProvisioningSandbox;
let stripe: StripeDouble;
test.before(async () => {
  if (!findChromium()) return;
  [sandbox, stripe] = await Promise.all([startProvisioning(), startStripe()]);
  world = await createDashboardWorld({ env: { ...sandbox.env, ...stripe.env } });
  stripe.sendTo(`${world.url}/payments/stripe/events`);
});
test.after.always(async () => {
  await world?.close();
  await stripe?.close();
  await sandbox?.close();
});

browserTest(
  'mailboxes are priced, ordered, paid and set up, and an order is cancelled before it is paid',
  async (t) => {
    const desk = await openOrderDesk({ world, stripe });
    const { page, context, faults } = await world.open(desk.tenant, '/mailboxes/orders', { locale: 'en-GB' });
    const main = page.getByRole('main');
    const domain = freshDomain();
    const order = async (name: string) => {
      await page.goto(`${world.url}/mailboxes/orders/new`);
      await main.getByPlaceholder('northwind-mail.com').fill(name);
      await page.keyboard.press('Enter');
      await main.getByLabel('Whom they are for').fill('Ada Lovelace\nGrace Hopper');
      await main.getByRole('button', { name: 'See the price' }).click();
      const addresses = page.getByRole('region', { name: 'Addresses' });
      await addresses.getByText(`@${name}`).first().waitFor();
      t.is(await addresses.getByRole('listitem').count(), 2);
      const place = page.getByRole('button', { name: /^Order for \D*\d+\.\d\d$/ });
      const due = (await place.textContent())!.replace('Order for ', '');
      await page.getByRole('row').filter({ hasText: 'Due today' }).getByText(due).waitFor();
      await page.getByText(`You pay ${due} by card`).waitFor();
      t.is(
        await world.deps.db('mailbox_orders').where({ state: 'awaiting_payment' }).first(),
        undefined,
        'nothing is bought',
      );
      await place.click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      return { id: page.url().split('/').at(-1)!, due };
    };
    const { id, due } = await order(domain);
    await page.getByText('The page to pay at is being made').waitFor();
    await desk.drive(id);
    await page.reload();
    t.truthy(await page.getByRole('link', { name: `Pay ${due} now` }).getAttribute('href'));
    await desk.pay(id);
    await desk.drive(id);
    await page.reload();
    await page.getByText('The mailboxes are connected').waitFor();
    const [first] = await world.deps.db('mailboxes').where({ organization_id: desk.tenant.organizationId });
    await page.getByRole('link', { name: first.email }).waitFor();
    await page.goto(`${world.url}/mailboxes/orders/domains`);
    await page.getByRole('region', { name: domain }).getByText('Renews by itself').waitFor();

    const other = freshDomain();
    const unpaid = await order(other);
    await page.getByRole('button', { name: 'Cancel the order' }).click();
    await page.getByRole('dialog').getByText('nothing is charged').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the order' }).click();
    await page.getByText('Nothing more is charged').waitFor();
    t.is((await desk.row(unpaid.id)).state, 'cancelled');
    await page.goto(`${world.url}/mailboxes/orders?status=ready`);
    await page.getByRole('region', { name: domain }).waitFor();
    t.is(await page.getByRole('region', { name: other }).count(), 0, 'the filter is in the address');
    t.deepEqual(faults, []);
    await context.close();
  },
);
