import test from 'ava';
import { mailedToken, PASSWORD } from '../harness/people.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { signInOn, tenantWithPassword } from '../harness/consent.ts';
import { createDashboardWorld, settle, type DashboardWorld } from '../harness/dashboard.ts';
import { eventually } from '../harness/eventually.ts';
import { createApiKey, createCampaign, createMember, type Tenant } from '../harness/factories.ts';
import { startReceiver } from '../harness/receiver.ts';
import { call } from '../harness/world.ts';

const browserTest = browserTests(test);
const GUEST = 'ben@example.com';
let world: DashboardWorld;
let tenant: Tenant;
/** Values of DNS records, by name. */
const dns = new Map<string, string[]>();
const found = async (name: string) => dns.get(name) ?? [];
test.before(async () => {
  if (!findChromium()) return;
  world = await createDashboardWorld({ dns: { mx: found, cname: found, txt: found } });
  tenant = await world.tenant('Northwind');
});
test.after.always(() => world?.close());

const english = { locale: 'en-GB' } as const;

browserTest(
  'an owner makes a role and invites a colleague, who joins, sees what the role allows, and is removed',
  async (t) => {
    const owner = await world.open(tenant, '/settings/roles', english);
    const { page } = owner;
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'New role' }).click();
    await dialog.getByLabel('Name').fill('Writer');
    for (const name of ['See campaigns, mailboxes and the inbox', 'Change campaigns, mailboxes and templates'])
      await dialog.getByLabel(name).check();
    await dialog.getByRole('button', { name: 'Create role' }).click();
    await page.getByRole('region', { name: 'Writer' }).getByText('Change campaigns, mailboxes').waitFor();
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await dialog.getByLabel('Email address').fill(GUEST);
    await dialog.getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: 'Writer' }).click();
    await dialog.getByRole('button', { name: 'Invite somebody' }).click();
    await page.getByRole('row').filter({ hasText: GUEST }).getByText('Invited').waitFor();

    const guest = await world.chrome.visit(english);
    await guest.page.goto(`${world.url}/invitations/${mailedToken(world, GUEST)}`);
    await guest.page.getByLabel('Your name').fill('Ben Bright');
    await guest.page.getByLabel('Password').fill(PASSWORD);
    await guest.page.getByRole('button', { name: 'Continue' }).click();
    const code = /^ {4}(\d{6})$/m.exec(world.outgoing.findLast(({ to }) => to === GUEST)!.text)![1]!;
    await guest.page.getByLabel('Code').fill(code);
    await guest.page.getByRole('button', { name: 'Join Northwind' }).click();
    await guest.page.getByRole('heading', { name: 'You are now a member of Northwind' }).waitFor();
    await guest.page.goto(`${world.url}/settings`);
    await guest.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signInOn(guest.page, GUEST);
    await guest.page.getByRole('heading', { name: 'Settings' }).waitFor();
    await guest.page.getByRole('link', { name: 'Templates' }).waitFor();
    const links = guest.page.getByRole('navigation', { name: 'Settings' }).getByRole('link');
    t.deepEqual(await links.allInnerTexts(), ['Profile', 'Workspace', 'Members', 'Tags', 'Templates', 'Domains']);

    await page.reload();
    const row = page.getByRole('row').filter({ hasText: 'Ben Bright' });
    const role = row.getByRole('combobox', { name: 'Role of Ben Bright' });
    t.is(await role.inputValue(), 'Writer');
    t.is(await page.getByText('Invited', { exact: true }).count(), 0, 'the invitation was accepted');
    await role.click();
    await page.getByRole('option', { name: 'Admin' }).click();
    await page.getByText('The role of Ben Bright was changed').waitFor();
    await guest.page.reload();
    await guest.page.getByRole('link', { name: 'Outreach' }).waitFor();
    await guest.page.getByRole('link', { name: 'Roles' }).click();
    await guest.page.getByRole('region', { name: 'Writer' }).getByRole('button', { name: 'Delete' }).click();
    await guest.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await guest.page.getByRole('region', { name: 'Writer' }).waitFor({ state: 'detached' });

    await row.getByRole('button', { name: 'Remove Ben Bright' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    await guest.page.goto(`${world.url}/`);
    await guest.page.getByText('You are not in a workspace yet').waitFor();
    t.deepEqual(owner.faults, []);
    await Promise.all([owner.context.close(), guest.context.close()]);
  },
);

browserTest('a member is removed, with a word about the keys that they made', async (t) => {
  const { userId } = await createMember(world.deps, tenant, 'Member');
  await world.deps.db('users').where({ id: userId }).update({ first_name: 'Mara', last_name: 'Leaver' });
  const { apiKeyId } = await createApiKey(world.deps, tenant.organizationId, userId);
  const { page, context, faults } = await world.open(tenant, '/settings/members', english);
  await page.getByRole('button', { name: 'Remove Mara Leaver' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await dialog.getByText('is the API key test').waitFor();
  await dialog.getByLabel('Keep them').check();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('Mara Leaver was removed').waitFor();
  await page.getByRole('button', { name: 'Remove Mara Leaver' }).waitFor({ state: 'detached' });
  const key = await world.deps.db('api_keys').where({ id: apiKeyId }).first();
  t.like(key, { status: 'active', user_id: tenant.userId });
  t.deepEqual(
    faults.filter((fault) => !/409/.test(fault)),
    [],
  );
  await context.close();
});

browserTest('a person changes name, language and password, and signs out their other browser', async (t) => {
  const own = await tenantWithPassword(world);
  const other = await world.open(own, '/settings', english);
  const { page, context, faults } = await world.open(own, '/settings', english);
  const profile = page.getByRole('region', { name: 'Profile' });
  await profile.getByLabel('First name').fill('Grace');
  await profile.getByRole('combobox', { name: 'Language of emails' }).click();
  await page.getByRole('option', { name: 'Deutsch' }).click();
  await profile.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  t.like(await world.deps.db('users').where({ id: own.userId }).first(), { first_name: 'Grace', language: 'de' });

  const password = page.getByRole('region', { name: 'Password' });
  await password.getByRole('textbox', { name: 'Current password' }).fill('wrong');
  await password.getByRole('textbox', { name: 'New password' }).fill('a-longer-and-newer-one-77');
  await password.getByLabel('Keep my other browsers signed in').check();
  await password.getByRole('button', { name: 'Change password' }).click();
  await password.getByRole('alert').waitFor();
  await password.getByRole('textbox', { name: 'Current password' }).fill(PASSWORD);
  await password.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('The password was changed').waitFor();

  const sessions = page.getByRole('region', { name: 'Signed-in browsers' });
  t.is(await sessions.getByText('This browser').count(), 1);
  await sessions.getByRole('button', { name: 'Sign out other browsers' }).click();
  await page.getByText('The other browsers were signed out').waitFor();
  await other.page.reload();
  await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  t.deepEqual(faults, []);
  await Promise.all([context.close(), other.context.close()]);
});

browserTest('a workspace is renamed, and another one created and selected', async (t) => {
  const own = await world.tenant('Old name');
  const { page, context, faults } = await world.open(own, '/settings/workspace', english);
  const form = page.getByRole('region', { name: 'Workspace', exact: true });
  await form.getByLabel('Name').fill('Harbour lights');
  await form.getByRole('combobox', { name: 'Time zone' }).fill('Europe/Berl');
  await page.getByRole('option', { name: 'Europe/Berlin' }).click();
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Harbour lights' }).waitFor();
  t.like(await world.deps.db('organizations').where({ id: own.organizationId }).first(), {
    name: 'Harbour lights',
    timezone: 'Europe/Berlin',
  });
  const created = page.getByRole('region', { name: 'New workspace' });
  await created.getByLabel('Name').fill('Second office');
  await created.getByRole('button', { name: 'Create workspace' }).click();
  await page.getByText('Overview of Second office.').waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('outreach settings are saved block by block, and keep what somebody else changes meanwhile', async (t) => {
  const { page, context, faults } = await world.open(tenant, '/settings/outreach', english);
  const api = (method: string, body?: unknown) =>
    call(world, method, '/v1/outreach/settings', { token: tenant.sessionToken, body });
  const unsubscribe = page.getByRole('region', { name: 'Unsubscribe text' });
  await unsubscribe.getByLabel('A link').check();
  await unsubscribe.getByLabel('Text of the link').fill('No more emails');
  const settings = (await api('GET')).body;
  await api('PATCH', { settings: { ...settings, inbox: { keep_sent_days: 90 } } });
  await unsubscribe.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  const bounces = page.getByRole('region', { name: 'Bounces and complaints' });
  await bounces.getByLabel('Bounce rate that pauses').fill('3.5');
  await bounces.getByRole('button', { name: 'Save' }).click();
  await eventually(async () => {
    const now = (await api('GET')).body;
    return (
      now.unsubscribe.mode === 'link' &&
      now.unsubscribe.link_text === 'No more emails' &&
      now.bounce_pipeline.pause_bounce_rate_threshold === 3.5 &&
      now.inbox.keep_sent_days === 90
    );
  });
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a tracking domain shows the records that it needs and has, and is checked on request', async (t) => {
  const own = await world.tenant('Domains');
  const domain = 'links.ours.test';
  const { campaignId } = await createCampaign(world.deps, own.organizationId, [{ subject: 'Hello' }], {
    name: 'Lights',
    tracking_domain: domain,
  });
  dns.set(`_heron.${domain}`, ['heron-workspace=of-somebody-else']);
  const { page, context, faults } = await world.open(own, '/settings/domains', english);
  const section = page.getByRole('region', { name: domain });
  await section.getByText('Not in use').waitFor();
  await section.getByText('Missing').waitFor();
  await section.getByText('Another value').waitFor();
  await section.getByText('DNS has: heron-workspace=of-somebody-else').waitFor();
  await section.getByText(`heron-workspace=${own.organizationId}`).waitFor();
  dns.set(domain, [new URL(world.deps.config.TRACKING_DOMAIN).hostname]);
  await section.getByRole('button', { name: 'Check DNS now' }).click();
  await section.getByRole('alert').getByText('No TXT record proves').waitFor();
  await section.getByText('Found').waitFor();
  dns.set(`_heron.${domain}`, [`heron-workspace=${own.organizationId}`]);
  await section.getByRole('button', { name: 'Check DNS now' }).click();
  await section.getByRole('alert').getByText('does not').waitFor();
  await eventually(async () => (await section.getByText('Found').count()) === 2);
  await section.getByRole('link', { name: 'Lights' }).click();
  await page.waitForURL(`**/campaigns/${campaignId}?tab=schedule`);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('folders and tags are added, renamed, moved and deleted', async (t) => {
  const { page, context, faults } = await world.open(tenant, '/settings/labels', english);
  const folders = page.getByRole('region', { name: 'Folders of campaigns' });
  for (const name of ['Spring', 'Autumn']) {
    await folders.getByLabel('New name').fill(name);
    await folders.getByRole('button', { name: 'Add' }).click();
    await folders.getByLabel(`Name of ${name}`).waitFor();
  }
  await folders.getByRole('button', { name: 'Move Autumn up' }).click();
  const titles = async () =>
    (await call(world, 'GET', '/v1/folders', { token: tenant.sessionToken })).body.data.map(
      ({ title }: { title: string }) => title,
    );
  await eventually(async () => (await titles()).join() === 'Autumn,Spring');
  await folders.getByLabel('Name of Autumn').fill('Winter');
  await folders.getByLabel('Name of Autumn').blur();
  await folders.getByLabel('Name of Winter').waitFor();
  const spring = folders.getByRole('listitem').filter({ has: page.getByLabel('Name of Spring') });
  await spring.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await spring.waitFor({ state: 'detached' });
  t.deepEqual(await titles(), ['Winter']);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a template is written, copied, moved and deleted', async (t) => {
  const { page, context, faults } = await world.open(tenant, '/settings/templates', english);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New template' }).click();
  await dialog.getByLabel('Name').fill('Thanks');
  await dialog.getByRole('textbox', { name: 'Text' }).fill('Thank you, {{.FirstName}}.');
  await dialog.getByRole('button', { name: 'Create template' }).click();
  await page.getByRole('button', { name: 'Copy Thanks' }).click();
  await eventually(async () => (await page.getByRole('row').count()) === 3);
  await page.getByRole('button', { name: 'Edit Thanks' }).last().click();
  await dialog.getByLabel('Name').fill('Sorry');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Move Sorry up' }).click();
  await eventually(async () => (await page.getByRole('row').nth(1).innerText()).startsWith('Sorry'));
  const thanks = page.getByRole('row').filter({ hasText: 'Thanks' });
  await thanks.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await thanks.waitFor({ state: 'detached' });
  const stored = await world.deps.db('reply_templates').where({ organization_id: tenant.organizationId });
  t.like(stored, [{ name: 'Sorry', body_plain: 'Thank you, {{.FirstName}}.' }]);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a team gets a member and loses it', async (t) => {
  const { page, context, faults } = await world.open(tenant, '/settings/teams', english);
  await page.getByRole('button', { name: 'New team' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Sales');
  await page.getByRole('dialog').getByRole('button', { name: 'Create team' }).click();
  const team = page.getByRole('region', { name: 'Sales' });
  await team.getByRole('combobox', { name: 'Add a member to Sales' }).click();
  await page.getByRole('option').first().click();
  await team.getByRole('button', { name: /^Remove .+ from Sales$/ }).click();
  await team.getByText('Nobody is in this team yet.').waitFor();
  await team.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No team yet').waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('an app is connected, its secret shown once, and tested with the reason of a failure', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.stop());
  const { page, context, faults } = await world.open(tenant, '/settings/apps', english);
  await page.getByRole('button', { name: 'Connect an app' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Our product');
  await dialog.getByLabel('URL').fill(receiver.url);
  await dialog.getByRole('button', { name: 'Connect app' }).click();
  t.true(((await dialog.locator('pre').textContent()) ?? '').length > 20);
  await dialog.getByRole('button', { name: 'I have stored the secret' }).click();
  const app = page.getByRole('region', { name: 'Our product' });
  await app.getByRole('button', { name: 'Test connection' }).click();
  await app.getByText('It answered with 204').waitFor();
  receiver.respond(401);
  await app.getByRole('button', { name: 'Test connection' }).click();
  await app.getByText('✗ The app accepts the signature').waitFor();
  await app.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No app connected').waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('usage is counted by period, and a viewer sees only what their role allows', async (t) => {
  const { page, context, faults } = await world.open(tenant, '/settings/usage', english);
  await page.getByText('Emails sent').waitFor();
  await page.locator('label').filter({ hasText: 'Last 7 days' }).click();
  t.regex(page.url(), /period=week/);
  await page.getByRole('region', { name: 'API keys, past 24 hours' }).waitFor();
  const viewer = await createMember(world.deps, tenant, 'Viewer');
  const seen = await world.open(viewer, '/settings/usage', english);
  await seen.page.getByText('Emails sent').waitFor();
  t.is(await seen.page.getByRole('region', { name: 'API keys, past 24 hours' }).count(), 0);
  t.is(await seen.page.getByRole('link', { name: 'Outreach' }).count(), 0);
  t.deepEqual([...faults, ...seen.faults], []);
  await Promise.all([context.close(), seen.context.close()]);
});

const PAGES = [
  ...[
    '',
    '/workspace',
    '/members',
    '/roles',
    '/teams',
    '/labels',
    '/templates',
    '/outreach',
    '/domains',
    '/apps',
    '/usage',
  ].map((name) => `/settings${name}`),
  ...['keys', 'applications', 'events', 'connect'].map((name) => `/agents/${name}`),
];
const MAX_BYTES = 60 * 1024;

browserTest(
  'a page of the settings or of the API asks for less than 60 KB of script beyond the first page',
  async (t) => {
    const { page, context } = await world.open(tenant, '/', english);
    const sizes = new Map<string, number>();
    page.on('response', (response) => {
      if (response.url().endsWith('.js')) sizes.set(response.url(), Number(response.headers()['content-length']));
    });
    const load = async (path: string) => {
      sizes.clear();
      await page.goto(world.url + path);
      await settle(page);
      return new Map(sizes);
    };
    const first = await load('/');
    t.true(first.size > 0);
    const heavy: string[] = [];
    for (const path of PAGES) {
      const more = [...(await load(path))].filter(([url]) => !first.has(url));
      const bytes = more.reduce((sum, [, size]) => sum + size, 0);
      t.true(bytes > 0, path);
      if (bytes >= MAX_BYTES) heavy.push(`${path}: ${bytes} bytes in ${more.length} files`);
    }
    t.deepEqual(heavy, []);
    await context.close();
  },
);
