import test from 'ava';
import { externalText } from '../../domain/platform/external-text.ts';
import { newId } from '../../lib/ids.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { createCampaign, createContact, createMailbox, enroll, type Tenant } from '../harness/factories.ts';
import { createSentHistory } from '../harness/sent-history.ts';
import { call } from '../harness/world.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
test.before(async () => {
  if (findChromium()) world = await createDashboardWorld();
});
test.after.always(() => world?.close());

const api = async (tenant: Tenant, method: string, path: string, body?: unknown) => {
  const answer = await call(world, method, `/v1${path}`, { token: tenant.sessionToken, body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.body;
};

/** Creates a campaign whose two leads are blocked at an app call. */
async function createBlocked({ organizationId }: Tenant): Promise<string> {
  const { db, clock } = world.deps;
  const { campaignId, stepIds } = await createCampaign(
    world.deps,
    organizationId,
    [{ name: 'Ask the app', subject: 'x', body_plain: 'y' }],
    { name: 'Apps' },
  );
  for (let at = 0; at < 2; at += 1) {
    const contactId = await createContact(db, clock.now(), organizationId);
    const [enrollmentId] = await enroll(world.deps, organizationId, campaignId, [contactId]);
    await db('enrollments').where({ id: enrollmentId }).update({ state: 'active', blocked: true });
    await db('step_runs').insert({
      id: newId(),
      organization_id: organizationId,
      enrollment_id: enrollmentId,
      campaign_id: campaignId,
      contact_id: contactId,
      step_id: stepIds[0],
      seq: 1,
      kind: 'app_action',
      state: 'blocked',
      attempts: 5,
      started_at: clock.now(),
      error: JSON.stringify({
        code: 'app_action_failed',
        message: externalText('The app answered 500'),
        fix: externalText('Check its log.'),
      }),
    });
  }
  return campaignId;
}

browserTest('a blocked call is retried from the log of its campaign, and the log says so', async (t) => {
  const tenant = await world.tenant();
  const campaignId = await createBlocked(tenant);
  const { page, context, faults } = await world.open(tenant, `/campaigns/${campaignId}`, { locale: 'en-GB' });
  await page.getByRole('tab', { name: 'Log' }).click();
  const blocked = page.getByRole('region', { name: 'Waiting for a retry' });
  const rows = blocked.getByRole('listitem').filter({ hasText: 'Ask the app' });
  await rows.first().waitFor();
  t.is(await rows.count(), 2);
  await rows.first().getByText('The app answered 500').waitFor();
  await rows.first().getByText('Check its log.').waitFor();
  await rows.first().getByRole('button', { name: 'Retry' }).click();
  await page.getByText('The call is being retried').waitFor();
  await rows.nth(1).waitFor({ state: 'detached' });
  const log = page.getByRole('region', { name: 'Activity log' });
  await log
    .getByText(/Ask the app/)
    .first()
    .waitFor();
  await rows.first().getByRole('button', { name: 'Retry' }).click();
  await blocked.waitFor({ state: 'detached' });
  t.deepEqual((await api(tenant, 'GET', `/campaigns/${campaignId}/step-runs`)).data, []);
  t.is(
    await world.deps
      .db('step_runs')
      .where({ campaign_id: campaignId, state: 'running' })
      .then((all) => all.length),
    2,
  );
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('the log of a campaign tells its changes in the language of the reader, page by page', async (t) => {
  const tenant = await world.tenant();
  const campaign = await api(tenant, 'POST', '/campaigns', {
    name: 'Logged',
    steps: [{ name: 'Hello', subject: 'Hello', body_plain: 'Hi' }],
  });
  const [contact] = await api(tenant, 'POST', '/contacts', [{ email: 'ada@lights.test' }]);
  await api(tenant, 'POST', `/campaigns/${campaign.id}/leads`, { contact_ids: [contact.id] });
  for (let at = 0; at < 55; at += 1) await api(tenant, 'PATCH', `/campaigns/${campaign.id}`, { daily_limit: 10 + at });
  const { data: lines } = await api(tenant, 'GET', `/campaigns/${campaign.id}/logs?limit=100`);
  const { page, context, faults } = await world.open(tenant, `/campaigns/${campaign.id}?tab=log`, { locale: 'de-DE' });
  const log = page.getByRole('region', { name: 'Protokoll' });
  await log.getByRole('listitem').first().waitFor();
  t.is(await log.getByRole('listitem').count(), Math.min(50, lines.length));
  t.true(lines.length > 50, `${lines.length} lines`);
  await log.getByRole('button', { name: 'Mehr anzeigen' }).click();
  await log
    .getByRole('listitem')
    .nth(lines.length - 1)
    .waitFor();
  t.false((await log.innerText()).includes(lines.at(-1).message), 'the text of the answer is English');
  t.is(await page.getByRole('region', { name: 'Warten auf einen neuen Versuch' }).count(), 0);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('the results of a campaign are shown by day, by hour and by variant', async (t) => {
  const tenant = await world.tenant();
  const email = 'sam@ours.test';
  const id = await createMailbox(world.deps, tenant.organizationId, email, { smtp: { host: '127.0.0.1', port: 1 } });
  const { campaignId } = await createSentHistory(
    world,
    tenant.organizationId,
    { id, email },
    { days: 5, perDay: () => 3 },
  );
  const [step] = await api(tenant, 'GET', `/campaigns/${campaignId}/steps`);
  for (const name of ['Shorter', 'Longer'])
    await api(tenant, 'POST', `/campaigns/${campaignId}/ab-variants`, {
      name,
      step_id: step.id,
      subject: name,
      body_plain: 'Hi',
    });
  const { page, context, faults } = await world.open(tenant, `/campaigns/${campaignId}?tab=results`, {
    locale: 'en-GB',
  });
  const day = page.getByRole('region', { name: 'By day' });
  await day.getByRole('button', { name: 'Sent 15' }).waitFor();
  await day.getByRole('button', { name: 'Numbers', exact: true }).click();
  const today = new Date().toISOString().slice(0, 10);
  const row = day.getByRole('row').filter({ hasText: today });
  t.is(await row.getByRole('link').first().innerText(), '3');
  await page.getByText('By hour', { exact: true }).click();
  const hour = page.getByRole('region', { name: 'By hour' });
  await hour.getByRole('button', { name: 'Sent 3' }).waitFor();
  await page.getByLabel('Day (UTC)').fill('2026-01-05');
  await hour.getByRole('button', { name: 'Sent 0' }).waitFor();
  t.is(new URL(page.url()).searchParams.get('date'), '2026-01-05');
  await page.getByText('A/B variants', { exact: true }).click();
  await page.getByText('No variant is significantly better yet.').waitFor();
  await page.getByRole('cell', { name: 'Shorter' }).waitFor();
  await page.getByRole('cell', { name: 'Longer' }).waitFor();
  // The numbers of campaigns by status are in the filter of the list.
  await page.goto(`${world.url}/campaigns`);
  await page.getByRole('combobox', { name: 'Any status' }).click();
  await page.getByRole('option', { name: 'Active (1)' }).waitFor();
  t.deepEqual(faults, []);
  await context.close();
});
