import test from 'ava';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import type { Tenant } from '../harness/factories.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { assertStatus, call } from '../harness/world.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
let engine: Engine;
let receiver: Receiver;
let tenant: Tenant;
test.before(async () => {
  if (!findChromium()) return;
  [world, receiver] = await Promise.all([createDashboardWorld(), startReceiver()]);
  engine = await startEngine(world);
  tenant = await world.tenant('Northwind');
});
test.after.always(async () => {
  await engine?.stop();
  await receiver?.stop();
  await world?.close();
});

const english = { locale: 'en-GB' } as const;

browserTest("a developer's first webhook: checked, watched live, refused, mended and delivered again", async (t) => {
  const { page, context, faults } = await world.open(tenant, '/operations/webhooks', english);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Add an endpoint' }).click();
  await dialog.getByLabel('URL').fill(receiver.url);
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await dialog.getByRole('button', { name: 'I have stored the secret' }).click();
  await page.getByRole('button', { name: 'Send challenge' }).click();
  await page.getByText('The endpoint answered with 204').waitFor();

  await page.getByLabel('Live tail').check();
  receiver.respond(410);
  const added = await call(world, 'POST', '/v1/contacts', {
    token: tenant.sessionToken,
    body: [{ email: 'ada@example.com' }],
  });
  t.true(added.status < 300, added.text);
  const row = page.getByRole('row').filter({ hasText: 'contact.created' });
  await row.getByText('410').waitFor();
  await row.getByRole('button', { name: 'contact.created' }).click();
  await dialog.getByText('ada@example.com').waitFor();
  await dialog.getByRole('table', { name: 'Attempts' }).getByText('410').waitFor();
  receiver.respond(204);
  await dialog.getByRole('button', { name: 'Redeliver' }).click();
  await page.getByText('The event will be delivered again').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('row').filter({ hasText: 'contact.created' }).getByText('Delivered').first().waitFor();
  const bodies = receiver.requests.filter(({ json }) => json?.event_type === 'contact.created');
  t.true(bodies.length >= 2);
  t.is(new Set(bodies.map(({ json }) => json.id)).size, 1, 'a redelivery has the id of its event');
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a test event is sent from the page, listed with its data, and refused for a stranger', async (t) => {
  const { page, context, faults } = await world.open(tenant, '/agents/events', english);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Send a test event' }).click();
  await dialog.getByLabel('Name').fill('signup.completed');
  await dialog.getByLabel('Email address').fill('nobody@example.com');
  await dialog.getByRole('textbox', { name: 'Data' }).fill('{"plan":"pro"');
  await dialog.getByText('This is not a JSON object.').first().waitFor();
  await dialog.getByRole('textbox', { name: 'Data' }).fill('{"plan":"pro"}');
  await dialog.getByRole('button', { name: 'Send event' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('User id').fill('user-77');
  await dialog.getByRole('button', { name: 'Send event' }).click();
  await dialog.getByText('No step waited for it.').waitFor();
  t.regex((await dialog.locator('pre').textContent())!, /"user_id":"user-77".*"plan":"pro"/);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'signup.completed' }).click();
  await dialog.getByText('"plan": "pro"').waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a key shows its rights, its requests and its use; it is narrowed, revoked and deleted', async (t) => {
  const made = await call(world, 'POST', '/v1/api-keys', {
    token: tenant.sessionToken,
    body: { name: 'Nightly export', permissions: 4_329_731 },
  });
  assertStatus(t, made, 201);
  assertStatus(t, await call(world, 'GET', '/v1/campaigns', { token: made.body.secret }), 200);
  assertStatus(t, await call(world, 'GET', '/v1/webhooks', { token: made.body.secret }), 403);
  await world.usage.flush();
  const { page, context, faults } = await world.open(tenant, '/agents/keys', english);
  await page.getByRole('link', { name: 'Nightly export' }).click();
  await page.getByRole('tab', { name: 'Policy and related keys' }).click();
  await page.getByText('The key has no policy: every action waits for a person.').waitFor();
  await page.getByText('No key was created with this key.').waitFor();
  await page.getByRole('tab', { name: 'Requests' }).click();
  await page.getByRole('row').filter({ hasText: 'GET /v1/webhooks' }).getByText('403').waitFor();
  await page.getByRole('tab', { name: 'Usage' }).click();
  await page.getByRole('row').filter({ hasText: 'GET /v1/campaigns' }).waitFor();

  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Allowed IP addresses').fill('192.0.2.0/24');
  await page.keyboard.press('Enter');
  await dialog.getByLabel('READ_CONTACTS').uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await eventually(async () => (await call(world, 'GET', '/v1/campaigns', { token: made.body.secret })).status === 403);
  await page.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The key was deleted').waitFor();
  t.is(await world.deps.db('api_keys').where({ id: made.body.id }).first(), undefined);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a request is found by its id, with what it changed and all changes of that record', async (t) => {
  const made = await call(world, 'POST', '/v1/api-keys', {
    token: tenant.sessionToken,
    body: { name: 'Writer', permissions: 8_388_607 },
  });
  assertStatus(t, made, 201);
  const tag = (title: string) =>
    call(world, 'POST', '/v1/tags', { token: made.body.secret, body: { title }, headers: { 'x-request-id': title } });
  assertStatus(t, await tag('request-of-spring'), 200);
  assertStatus(t, await tag('request-of-autumn'), 200);
  await world.usage.flush();
  const { page, context, faults } = await world.open(tenant, `/agents/keys/${made.body.id}?tab=requests`, english);
  const rows = page.getByRole('row').filter({ hasText: 'POST /v1/tags' });
  await page.getByRole('tab', { name: 'Requests' }).click();
  await eventually(async () => (await rows.count()) === 2);
  await page.getByRole('searchbox', { name: 'Request id' }).fill('request-of-spring');
  await eventually(async () => (await rows.count()) === 1);
  await rows.getByRole('link', { name: 'request-of-spring' }).click();
  await page.getByRole('button', { name: 'Mailbox tag created' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('request-of-spring').first().waitFor();
  await dialog.getByRole('button', { name: 'All changes of this record' }).click();
  await page.getByRole('button', { name: 'Only one record' }).click();
  await page.getByRole('searchbox', { name: 'Search by request id' }).fill('nothing-of-this-id');
  await page.getByText('Nothing matches').waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('an application gets a webhook and shows its secret and endpoints', async (t) => {
  const made = await call(world, 'POST', '/v1/oauth/applications', {
    token: tenant.sessionToken,
    body: { name: 'Dialler', redirect_uris: ['https://dialler.example/callback'] },
  });
  assertStatus(t, made, 201);
  const { page, context, faults } = await world.open(tenant, '/agents/applications', english);
  await page.getByRole('link', { name: 'Dialler' }).click();
  await page.getByText('The application has no webhook.').waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Allowed webhook hosts').fill('hooks.dialler.example');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('No workspace has an endpoint of this application.').waitFor();
  await page.getByRole('button', { name: 'Show secret' }).click();
  t.regex((await page.locator('pre').textContent())!, /^whsec_/);
  t.deepEqual(faults, []);
  await context.close();
});
