import test from 'ava';
import { startProvisioning, type ProvisioningSandbox } from '../../local/provisioning.ts';
import { browserTests, findChromium, intercept } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { json } from '../../db/connection.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createMailbox, createMember } from '../harness/factories.ts';
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
      await main.getByLabel('Names of the senders').fill('Ada Lovelace\nGrace Hopper');
      await main.getByRole('button', { name: 'Show price' }).click();
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
    await page.getByText('The payment page is being created').waitFor();
    await desk.drive(id);
    await page.reload();
    t.truthy(await page.getByRole('link', { name: `Pay ${due}` }).getAttribute('href'));
    await desk.pay(id);
    await desk.drive(id);
    await page.reload();
    await page.getByText('The mailboxes are connected').waitFor();
    const [first] = await world.deps.db('mailboxes').where({ organization_id: desk.tenant.organizationId });
    await page.getByRole('link', { name: first.email }).waitFor();
    await page.goto(`${world.url}/mailboxes/orders/domains`);
    await page.getByRole('region', { name: domain }).getByText('Renews automatically').waitFor();

    const other = freshDomain();
    const unpaid = await order(other);
    await page.getByRole('button', { name: 'Cancel order' }).click();
    await page.getByRole('dialog').getByText('nothing is charged').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel order' }).click();
    await page.getByText('Nothing more is charged').waitFor();
    t.is((await desk.row(unpaid.id)).state, 'cancelled');
    await page.goto(`${world.url}/mailboxes/orders?status=ready`);
    await page.getByRole('region', { name: domain }).waitFor();
    t.is(await page.getByRole('region', { name: other }).count(), 0, 'the filter is in the address');
    t.deepEqual(faults, []);
    await context.close();
  },
);

browserTest('a mailbox is disconnected once what follows was said; who may not is not offered it', async (t) => {
  const { deps } = world;
  const tenant = await world.tenant('Northwind');
  const org = tenant.organizationId;
  const ids = await Promise.all(
    ['sam', 'lena'].map((name) =>
      createMailbox(deps, org, `${name}@ours.test`, { smtp: { host: '127.0.0.1', port: 1 } }),
    ),
  );
  const { campaignId } = await createCampaign(deps, org, [{ subject: 'Hello' }], {
    name: 'Lights',
    sender_strategy: 'explicit',
  });
  for (const id of ids)
    await deps.db('campaign_senders').insert({ organization_id: org, campaign_id: campaignId, mailbox_id: id });

  const viewer = await world.open(await createMember(deps, tenant, 'Viewer'), `/mailboxes/${ids[0]}`, {
    locale: 'de-DE',
  });
  await viewer.page.getByRole('heading', { name: 'Kampagnen, die von diesem Postfach senden' }).waitFor();
  await viewer.page.getByText('Einen TXT-Eintrag unter _dmarc.<Domain> anlegen').waitFor();
  t.is(await viewer.page.getByRole('button', { name: 'Trennen' }).count(), 0);
  await viewer.context.close();

  const { page, context, faults } = await world.open(tenant, `/mailboxes/${ids[0]}`, { locale: 'en-GB' });
  const reading = page.getByRole('dialog', { name: 'Reading state of the mailbox' });
  await page.getByRole('button', { name: 'Show reading state' }).click();
  await reading.getByText('No folder has been read yet.').waitFor();
  await page.keyboard.press('Escape');
  await deps.db('mailbox_sync').insert({
    organization_id: org,
    mailbox_id: ids[0],
    folder: 'INBOX',
    failures: 2,
    retry_at: new Date(deps.clock.now().getTime() + 60_000),
  });
  await page.reload();
  await page.getByRole('button', { name: 'Show reading state' }).click();
  const folder = reading.getByRole('row').filter({ hasText: 'INBOX' });
  await folder.getByText('2 consecutive failures').waitFor();
  await folder.getByText('never').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Disconnect' }).click();
  const question = page.getByRole('dialog', { name: 'Disconnect sam@ours.test?' });
  await question.getByText('These campaigns lose a sender.').waitFor();
  await question
    .getByRole('listitem')
    .filter({ hasText: /^Lights$/ })
    .waitFor();
  await intercept(page, '**/v1/emails/*', (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 409, json: { code: 'conflict', message: 'It is busy', fix: 'Wait a moment.' } })
      : route.continue(),
  );
  await question.getByRole('button', { name: 'Disconnect' }).click();
  await question.getByRole('alert').getByText('It is busy').waitFor();
  await question.getByText('Wait a moment.').waitFor();
  await page.unroute('**/v1/emails/*');
  await question.getByRole('button', { name: 'Disconnect' }).click();
  await page.getByRole('heading', { name: 'Mailboxes' }).waitFor();
  await page.getByText('sam@ours.test is disconnected').waitFor();
  await page.getByRole('link', { name: 'lena@ours.test' }).waitFor();
  await page.getByRole('link', { name: 'sam@ours.test' }).waitFor({ state: 'detached' });
  t.deepEqual(await deps.db('campaign_senders').where({ campaign_id: campaignId }).pluck('mailbox_id'), [ids[1]]);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest(
  'a warmup rule is made, changed and deleted by whoever may, with the reason of a wrong value',
  async (t) => {
    const tenant = await world.tenant('Northwind');
    const { page, context, faults } = await world.open(tenant, '/mailboxes', { locale: 'en-GB' });
    const dialog = page.getByRole('dialog');
    await page.getByRole('link', { name: 'Warmup rules' }).click();
    await page.getByRole('button', { name: 'New rule' }).click();
    await dialog.getByLabel('Name').fill('Prefer Google');
    await dialog.getByRole('group', { name: 'Sender' }).getByRole('combobox', { name: 'Mailboxes' }).click();
    await page.getByRole('option', { name: 'Domain', exact: true }).click();
    await dialog.getByRole('textbox', { name: 'Domain' }).fill('not a domain');
    await dialog.getByLabel('Weight').fill('3');
    await dialog.getByRole('button', { name: 'Create rule' }).click();
    await dialog.getByRole('alert').getByText('sender_match_value').waitFor();
    await dialog.getByRole('textbox', { name: 'Domain' }).fill('Ours.test');
    await dialog.getByRole('button', { name: 'Create rule' }).click();
    const rule = page.getByRole('row').filter({ hasText: 'Prefer Google' });
    await rule.getByText('ours.test').waitFor();
    await rule.getByText(/ours\.test.*Google/).waitFor();
    await rule.getByRole('button', { name: 'Edit Prefer Google' }).click();
    await dialog.getByLabel('Weight').fill('0');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await rule.getByText('never').waitFor();
    const stored = () => world.deps.db('warmup_rules').where({ organization_id: tenant.organizationId });
    t.like(await stored(), [{ sender_match_value: 'ours.test', recipient_match_value: 'google', weight: 0 }]);
    await rule.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No rule yet').waitFor();
    t.deepEqual(await stored(), []);
    const viewer = await world.open(await createMember(world.deps, tenant, 'Viewer'), '/mailboxes', {
      locale: 'en-GB',
    });
    await viewer.page.getByRole('link', { name: 'Ordered mailboxes' }).waitFor();
    t.is(await viewer.page.getByRole('link', { name: 'Warmup rules' }).count(), 0);
    t.deepEqual([...faults, ...viewer.faults], []);
    await Promise.all([context.close(), viewer.context.close()]);
  },
);

browserTest(
  'a mailbox sends as an address that its host has verified, and its tracking domain is checked',
  async (t) => {
    const { deps } = world;
    const tenant = await world.tenant('Northwind');
    const id = await createMailbox(deps, tenant.organizationId, 'sam@ours.test', undefined, { provider: 'gmail' });
    const address = { name: 'Sam', isPrimary: false, isDefault: false };
    await deps.db('mailbox_tokens').insert({
      mailbox_id: id,
      organization_id: tenant.organizationId,
      sealed: Buffer.from('not used'),
      access_expires_at: deps.clock.now(),
      refreshed_at: deps.clock.now(),
      send_as: json([
        { ...address, email: 'hello@ours.test', verified: true },
        { ...address, email: 'new@ours.test', verified: false },
      ]),
      send_as_synced_at: deps.clock.now(),
    });
    const { page, context, faults } = await world.open(tenant, `/mailboxes/${id}`, { locale: 'en-GB' });
    const identity = page.getByRole('region', { name: 'Sender address' });
    await identity.getByRole('combobox').click();
    t.is(
      await page.getByRole('option', { name: 'new@ours.test (not verified)' }).getAttribute('aria-disabled'),
      'true',
    );
    await page.getByRole('option', { name: 'hello@ours.test' }).click();
    const stored = () => deps.db('mailboxes').where({ id }).first('send_as_email', 'tracking_domain');
    await eventually(async () => (await stored()).send_as_email === 'hello@ours.test');

    const tracking = page.getByRole('region', { name: 'Tracking domain' });
    await tracking.getByLabel('Domain').fill('links.ours.test');
    await tracking.getByRole('button', { name: 'Check and save' }).click();
    await tracking.getByRole('alert').getByText('heron-workspace=').waitFor();
    t.is((await stored()).tracking_domain, '', 'a domain that fails the check is not stored');
    t.deepEqual(faults, []);
    await context.close();
  },
);
