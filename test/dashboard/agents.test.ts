import test from 'ava';
import { AUTH_HOLD_MS, holdMailbox } from '../../domain/sending/control/mailbox-hold.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, findBarriers, type DashboardWorld } from '../harness/dashboard.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, type Tenant } from '../harness/factories.ts';
import { startMailWorld, type MailWorld, type MailWorldMailbox } from '../harness/mail.ts';
import { assertStatus, call } from '../harness/world.ts';
import { externalText } from '../../domain/platform/external-text.ts';

const browserTest = browserTests(test);
const OURS = 'sam@ours.test';
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, locale: 'en-GB' };
let world: DashboardWorld;
let mail: MailWorld;
let engine: Engine;
let tenant: Tenant;
let box: MailWorldMailbox;
let mailboxId: string;
test.before(async () => {
  if (!findChromium()) return;
  [world, mail] = await Promise.all([createDashboardWorld(), startMailWorld()]);
  engine = await startEngine(world);
  tenant = await world.tenant('Northwind');
  box = await mail.addMailbox({ email: OURS, password: 'secret' });
  mailboxId = await createMailbox(
    world.deps,
    tenant.organizationId,
    OURS,
    { smtp: box.smtp, imap: box.imap },
    { reply_to: 'desk@ours.test' },
  );
  await eventually(async () => (await world.deps.workflows.health()).workers > 0);
});
test.after.always(async () => {
  await engine?.stop();
  await mail?.stop();
  await world?.close();
});

browserTest('what an agent wants to send is approved on a phone, and leaves', async (t) => {
  const asked = await call(world, 'POST', `/v1/emails/${mailboxId}/send`, {
    token: tenant.apiKey,
    body: { to: ['ada@lead.test'], subject: 'A question', body_plain: 'Who looks after the lights?' },
  });
  t.is(asked.body.result, 'awaiting_approval', asked.text);
  const { page, context, faults } = await world.open(tenant, '/', PHONE);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Approvals' }).click();
  const card = page.getByRole('article');
  const server = `through ${box.smtp.host}:${box.smtp.port}`;
  for (const said of [OURS, 'answers go to desk@ours.test', server, 'ada@lead.test', 'Who looks after the lights?'])
    await card.getByText(said).first().waitFor();
  await card.getByText(/^(29|30):\d\d left$/).waitFor();
  t.true(
    await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'),
    'nothing is wider than the phone',
  );
  t.deepEqual(await findBarriers(page), []);
  t.is(mail.messages.length, 0, 'nothing has left yet');
  await card.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('No open approvals').waitFor();
  const message = await mail.waitFor(({ envelope }) => envelope.to.includes('ada@lead.test'), 60_000);
  t.regex(String(message.raw), /Who looks after the lights\?/);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a key is made and its secret shown once, a policy lets it reply alone, and both are ended', async (t) => {
  const { page, context, faults } = await world.open(tenant, '/agents/keys', { locale: 'en-GB' });
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Night agent');
  await dialog.getByLabel('Everything except runs, direct emails, replies, events, orders and goals').check();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const secret = (await dialog.locator('pre').textContent())!;
  assertStatus(t, await call(world, 'GET', '/v1/campaigns', { token: secret }), 200);
  await dialog.getByRole('button', { name: 'I have stored the secret' }).click();
  await page.getByRole('link', { name: 'Policies' }).click();
  await page.getByRole('button', { name: 'New policy' }).click();
  await dialog.getByLabel('Name').fill('Replies at night');
  await dialog.getByRole('combobox', { name: 'Applies to' }).click();
  await page.getByRole('option', { name: 'Night agent' }).click();
  await dialog.getByRole('combobox', { name: 'Mailboxes' }).click();
  await page.getByRole('option', { name: OURS }).click();
  await page.keyboard.press('Tab');
  await dialog.getByLabel('Order mailboxes').check();
  await dialog.getByLabel('Limit per mailbox order').fill('40');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const policy = page.getByRole('region', { name: 'Replies at night' });
  await policy.getByText('Key Night agent').waitFor();
  await policy.getByText('40.00').waitFor();
  const effective = await call(world, 'GET', '/v1/agent-policies/effective', { token: secret });
  t.like(effective.body, { source: 'policy', name: 'Replies at night', max_actions_per_day: 20 });
  await page.getByRole('link', { name: 'API keys' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Night agent' });
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await row.getByText('Revoked').waitFor();
  await eventually(async () => (await call(world, 'GET', '/v1/campaigns', { token: secret })).status === 401);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${world.url}/agents/connect`);
  await page.getByRole('button', { name: 'Copy: In Claude Code' }).click();
  t.regex(String(await page.evaluate('navigator.clipboard.readText()')), /^claude mcp add .*\/mcp$/);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest(
  'held leads are approved with so many more a day, which stand below the policies and are revoked',
  async (t) => {
    const { campaignId } = await createCampaign(
      world.deps,
      tenant.organizationId,
      [{ subject: 'Lamps', body_plain: 'Who looks after the lamps?' }],
      { name: 'Lamps' },
    );
    const contact = () => createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId);
    const add = async () =>
      call(world, 'POST', `/v1/campaigns/${campaignId}/leads`, {
        token: tenant.apiKey,
        body: { contact_ids: [await contact()] },
      });
    assertStatus(t, await add(), 202);
    const { page, context, faults } = await world.open(tenant, '/review', { locale: 'en-GB' });
    const card = page.getByRole('article');
    await card.getByLabel(/^Leads per day that test may add/).fill('5');
    await card.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('No open approvals').waitFor();
    assertStatus(t, await add(), 200);
    await page.goto(`${world.url}/agents/policies`);
    const allowances = page.getByRole('region', { name: 'Leads beyond the policies' });
    await allowances.getByText('test may add 5 leads a day to Lamps; 1 today').waitFor();
    await allowances.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await allowances.waitFor({ state: 'detached' });
    t.is((await add()).status, 202);
    t.deepEqual(faults, []);
    await context.close();
  },
);

browserTest('a mailbox under hold gets its right password, which is tried before it is kept', async (t) => {
  box.setPassword('changed-at-the-host');
  await transact(world.system(tenant.organizationId), (tx) =>
    holdMailbox(tx, mailboxId, {
      code: 'auth_failed',
      reason: externalText('535 5.7.8 wrong password'),
      until: new Date(tx.now.getTime() + AUTH_HOLD_MS),
    }),
  );
  const { page, context, faults } = await world.open(tenant, '/mailboxes', { locale: 'en-GB' });
  await page.getByText('535 5.7.8 wrong password').waitFor();
  await page.getByRole('main').getByRole('link', { name: OURS }).first().click();
  const connection = page.getByRole('region', { name: 'Connection' });
  await connection.getByLabel('New password').fill('still wrong');
  await connection.getByRole('button', { name: 'Sign in and save' }).click();
  await connection.getByRole('alert').waitFor();
  await connection.getByLabel('New password').fill('changed-at-the-host');
  await connection.getByRole('button', { name: 'Sign in and save' }).click();
  await page.getByText('The new password works').waitFor();
  t.like(await world.deps.db('mailboxes').where({ id: mailboxId }).first(), { hold_code: null });
  t.deepEqual(faults, []);
  await context.close();
});
