import test from 'ava';
import type { Page } from 'playwright-core';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import type { Attempt } from '../harness/fake-smtp.ts';
import { createLead } from '../harness/lead.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { createDelivery } from '../harness/webhook-rows.ts';
import { message } from '../../messages/index.ts';

const browserTest = browserTests(test);
const clock = new ManualClock(new Date());
let world: DashboardWorld;
let receiver: Receiver;
test.before(async () => {
  if (!findChromium()) return;
  [world, receiver] = await Promise.all([createDashboardWorld({ clock }), startReceiver()]);
});
test.after.always(async () => {
  await world?.close();
  await receiver?.stop();
});

/** Creates a lead whose only email has the given result, in a new workspace. */
async function given(attempt: Attempt) {
  const lead = await createLead({ world, clock });
  lead.smtp.next = () => attempt;
  const sendId = await lead.reserve();
  await lead.deliver(sendId);
  return { ...lead, sendId };
}

const NO_ANSWER: Attempt = { kind: 'unknown', reason: message('smtp.broke_after_message') };
const REFUSED: Attempt = {
  kind: 'refused',
  stage: 'recipient',
  code: 550,
  response: '550 5.7.1 not now',
  permanent: false,
};

const confirm = async (page: Page, name: string) => {
  await page.getByRole('article').getByRole('button', { name }).click();
  await page.getByRole('dialog').getByRole('button', { name }).click();
};

browserTest('an operator looks at an email that may have been sent, and marks it as sent', async (t) => {
  const lead = await given(NO_ANSWER);
  const { page, context, faults } = await world.open(lead.tenant, '/operations', { locale: 'en-GB' });
  await page.getByRole('link', { name: 'Stuck work' }).click();
  const letter = page.getByRole('article', { name: 'Email possibly sent' });
  await letter.getByText('The connection was lost after the message was handed over').waitFor();
  const { email } = await lead.db('contacts').where({ id: lead.contactId }).first('email');
  await letter.getByText(email).waitFor();
  await confirm(page, 'Mark as sent');
  await page.getByText('No stuck work').waitFor();
  t.like(await lead.readSend(lead.sendId), { state: 'sent' });
  t.is(lead.smtp.taken.length, 0, 'nothing left a second time');
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('or has it sent again, and an email that was given up started again', async (t) => {
  const lead = await given(NO_ANSWER);
  const { page, context } = await world.open(lead.tenant, '/operations/stuck', { locale: 'en-GB' });
  await confirm(page, 'Send again');
  await page.getByText('No stuck work').waitFor();
  lead.smtp.next = () => 'accept';
  t.like(await lead.deliver(await lead.reserve()), { outcome: 'sent' });
  t.is(lead.smtp.taken.length, 1);
  await context.close();

  const second = await given(REFUSED);
  for (let turn = 0; turn < 10; turn += 1) {
    const [row] = await second.db('dead_letters').where({ organization_id: second.organizationId });
    if (row) break;
    await second.deliver(await second.reserve());
  }
  const other = await world.open(second.tenant, '/operations/stuck', { locale: 'en-GB' });
  await other.page.getByText('550 5.7.1 not now').waitFor();
  await other.page.getByRole('button', { name: 'Restart' }).click();
  await other.page.getByText('No stuck work').waitFor();
  t.like(await second.readEnrollment(), { state: 'active' });
  await other.page.locator('label').filter({ hasText: 'Restarted' }).click();
  await other.page.getByRole('article').waitFor();
  t.regex(other.page.url(), /status=replayed/);
  await other.context.close();
});

browserTest('a webhook endpoint is added, its secret shown once, checked, and a delivery sent again', async (t) => {
  const tenant = await world.tenant();
  const { page, context, faults } = await world.open(tenant, '/operations/webhooks', { locale: 'en-GB' });
  await page.getByRole('button', { name: 'Add an endpoint' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill(receiver.url);
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  const secret = await dialog.locator('pre').textContent();
  t.regex(secret!, /^whsec_/);
  await dialog.getByRole('button', { name: 'I have stored the secret' }).click();
  await page.getByRole('heading', { name: receiver.url }).waitFor();
  t.is(await page.getByText(secret!).count(), 0, 'it is shown once');
  await page.getByRole('button', { name: 'Send challenge' }).click();
  await page.getByText('The endpoint answered with 204').waitFor();
  const [endpoint] = await world.deps.db('webhook_endpoints').where({ organization_id: tenant.organizationId });
  t.truthy(endpoint.verified_at);
  const id = await createDelivery(world.deps, tenant.organizationId, endpoint.id, { status: 'abandoned' });
  const attempt = { delivery_id: id, organization_id: tenant.organizationId, started_at: clock.now() };
  await world.deps.db('webhook_attempts').insert([
    { ...attempt, attempt: 1, duration_ms: 812, response_status: 503 },
    { ...attempt, attempt: 2, duration_ms: 30, error_reason: message('egress.refused') },
  ]);
  await page.reload();
  await page.getByRole('button', { name: 'contact.updated' }).click();
  const attempts = page.getByRole('dialog').getByRole('table', { name: 'Attempts' });
  await attempts.getByText('The host refused the connection').waitFor();
  t.regex(await attempts.getByRole('row').filter({ hasText: '503' }).innerText(), /812/);
  await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click();
  await page.getByText('The event will be delivered again').waitFor();
  t.not((await world.deps.db('webhook_deliveries').where({ id }).first()).status, 'abandoned');
  await page.goto(`${world.url}/operations/audit`);
  await page.getByRole('button', { name: 'Webhook verified' }).waitFor();
  await page.getByRole('combobox', { name: 'Action' }).fill('redeliver');
  await page.getByRole('option', { name: 'Redelivered (redeliver)' }).click();
  await page.getByText('webhook redeliver', { exact: true }).waitFor();
  t.is(new URL(page.url()).searchParams.get('action'), 'redeliver');
  await page.getByRole('button', { name: 'Webhook redelivered' }).click();
  await page.getByRole('dialog').getByText('redeliver', { exact: true }).waitFor();
  t.deepEqual(faults, []);
  await context.close();
});
