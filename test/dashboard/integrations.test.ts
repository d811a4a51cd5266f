import test from 'ava';
import { registerSubscribers } from '../../domain/platform/events/register.ts';
import { SUBSCRIBERS } from '../../domain/operations/subscribers/index.ts';
import { startDoubles } from '../doubles/all.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { createConnectionRow, deliverNow } from '../harness/integrations.ts';
import { createMember } from '../harness/factories.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { assertStatus, call } from '../harness/world.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
let doubles: Awaited<ReturnType<typeof startDoubles>>;
const clock = new ManualClock(new Date());
test.before(async () => {
  if (!findChromium()) return;
  doubles = await startDoubles(['close']);
  world = await createDashboardWorld({ clock, env: { ...doubles.env, INTEGRATION_RETRY_BASE_MS: '60000' } });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(async () => {
  await world?.close();
  await doubles?.closeAll();
});

browserTest('a CRM is connected by its key, told which fields and when, and a failed delivery is mended', async (t) => {
  const { close } = doubles;
  const tenant = await world.tenant();
  const { page, context, faults } = await world.open(tenant, '/integrations', { locale: 'en-GB' });
  await page.getByRole('article', { name: 'Close' }).getByRole('button', { name: 'Connect' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('input[type="password"]').fill('api_wrong');
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.locator('input[type="password"]').fill(close.keys[0]!);
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click();

  const fields = page.getByRole('region', { name: 'Field mapping' });
  await fields.getByText("These are the provider's default fields").waitFor();
  await fields.getByRole('button', { name: 'Add a field' }).click();
  const added = fields.getByRole('group').last();
  await added.getByLabel('Field of the contact').fill('company');
  await added.getByLabel('Field at the provider').fill('title');
  await fields.getByRole('button', { name: 'Save' }).click();
  await fields.getByRole('button', { name: 'Restore defaults' }).waitFor();

  const does = page.getByRole('region', { name: 'Actions' });
  await does.getByRole('button', { name: 'Add an action' }).click();
  await dialog.getByRole('combobox', { name: 'Event' }).fill('A contact was added');
  await page.getByRole('option', { name: 'A contact was added' }).click();
  // The open list covers the next field, so wait until it has closed.
  await page.getByRole('option').first().waitFor({ state: 'hidden' });
  await dialog.getByRole('combobox', { name: 'Action' }).click();
  await page.getByRole('option', { name: 'create or update the contact' }).click();
  await dialog.getByRole('button', { name: 'Add an action' }).click();
  await does.getByText(/create or update the contact/).waitFor();

  const { id: connectionId } = await world.deps
    .db('integration_connections')
    .where({ organization_id: tenant.organizationId })
    .first('id');
  close.failAll({ kind: 'broken' });
  const made = await call(world, 'POST', '/v1/contacts', {
    token: tenant.apiKey,
    body: [{ email: 'ada@example.com', first_name: 'Ada', company: 'Engines' }],
  });
  assertStatus(t, made, 200);
  await deliverNow(world, tenant.organizationId, connectionId);
  const log = page.getByRole('region', { name: 'Log' });
  await page.reload();
  await log.getByRole('row').filter({ hasText: 'Action' }).getByText('Failed').waitFor();
  t.deepEqual(close.contacts, []);
  close.failAll(undefined);
  clock.set(new Date(clock.now().getTime() + 5 * 60_000));
  await deliverNow(world, tenant.organizationId, connectionId);
  await page.reload();
  await log.getByRole('row').filter({ hasText: 'Action' }).getByText('Done').waitFor();
  t.deepEqual(
    close.contacts.map(({ emails, title }) => [emails[0].email, title]),
    [['ada@example.com', 'Engines']],
    'written once, with the field that was mapped',
  );

  await call(world, 'POST', '/v1/contacts', {
    token: tenant.apiKey,
    body: [{ email: 'grace@example.com', first_name: 'Grace' }],
  });
  await page.getByRole('button', { name: 'Write contacts' }).click();
  await dialog.getByRole('button', { name: 'Write contacts' }).click();
  await dialog.getByRole('alert').getByText('contact_ids').waitFor();
  await dialog.getByRole('combobox', { name: 'Contact', exact: true }).fill('grace');
  await page.getByRole('option', { name: 'Grace, grace@example.com' }).click();
  await dialog.getByRole('button', { name: 'Write contacts' }).click();
  await dialog.getByText('One contact was written').waitFor();
  t.deepEqual(close.contacts.map(({ emails }) => emails[0].email).toSorted(), ['ada@example.com', 'grace@example.com']);
  await page.keyboard.press('Escape');
  await log.getByRole('row').filter({ hasText: 'Contacts written' }).waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest(
  'the secret of a connected webhook is shown on request, and to nobody who may not change settings',
  async (t) => {
    const tenant = await world.tenant();
    const connectionId = await createConnectionRow(world, tenant);
    const { page, context, faults } = await world.open(tenant, `/integrations/${connectionId}`, { locale: 'en-GB' });
    const signature = page.getByRole('region', { name: 'Webhook signature' });
    await signature.getByRole('button', { name: 'Show secret' }).click();
    await signature.getByText(/^whsec_/).waitFor();
    await signature.getByText('X-Service-Signature').waitFor();
    const member = await createMember(world.deps, tenant, 'Member');
    const seen = await world.open(member, `/integrations/${connectionId}`, { locale: 'en-GB' });
    await seen.page.getByRole('region', { name: 'Log' }).waitFor();
    t.is(await seen.page.getByRole('region', { name: 'Webhook signature' }).count(), 0);
    t.deepEqual([...faults, ...seen.faults], []);
    await Promise.all([context.close(), seen.context.close()]);
  },
);
