import { readFile } from 'node:fs/promises';
import test from 'ava';
import { createMailbox } from '../harness/factories.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { createSentHistory } from '../harness/sent-history.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
test.before(async () => {
  if (!findChromium()) return;
  world = await createDashboardWorld();
});
test.after.always(() => world?.close());

/** A workspace of which three letters left today and two yesterday; one of today's was answered. */
async function given() {
  const tenant = await world.tenant();
  const email = `sam-${tenant.userId}@ours.example`;
  const id = await createMailbox(world.deps, tenant.organizationId, email, { smtp: { host: '127.0.0.1', port: 1 } });
  const history = await createSentHistory(
    world,
    tenant.organizationId,
    { id, email },
    { days: 2, perDay: (ago) => (ago === 0 ? 3 : 2), name: '=cmd|A1' },
  );
  return { tenant, ...history };
}

browserTest('a number is followed to its people, and a table and a chart are taken along', async (t) => {
  const { tenant, emails } = await given();
  const { page, context, faults } = await world.open(tenant, '/reports?days=7', { locale: 'en-GB' });
  const sent = page.getByRole('main').locator('a[href*="figure=sent"]').first();
  await sent.waitFor();
  t.is(await sent.textContent(), '5');
  await page
    .getByText(/\d{4}, days in UTC/)
    .first()
    .waitFor();

  const [table] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV: Busiest campaigns' }).click(),
  ]);
  const csv = await readFile(await table.path(), 'utf8');
  t.regex(csv, /^\uFEFFCampaign,Sent,/);
  t.regex(csv, /\r\n'=cmd\|A1,5,/, 'no spreadsheet takes a name for a formula');
  await page.locator('canvas').waitFor();
  const [picture] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'PNG: Day by day' }).click(),
  ]);
  t.deepEqual([...(await readFile(await picture.path())).subarray(1, 4)], [...Buffer.from('PNG')]);

  await sent.click();
  await page.getByRole('heading', { name: 'Sent: 5' }).waitFor();
  for (const email of emails) await page.getByRole('link', { name: email }).waitFor();
  await page.goBack();
  await page.locator('a[href*="figure=positive_replies"]').click();
  await page.getByRole('heading', { name: 'Interested: 1' }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Numbers' }).click();
  const today = page.getByRole('row').filter({ hasText: new Date().toISOString().slice(0, 10) });
  await today.locator('a[href*="figure=sent"]').click();
  await page.getByRole('heading', { name: 'Sent: 3' }).waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a goal is defined where reports miss one, and a funnel is in its address', async (t) => {
  const { tenant } = await given();
  const { page, context, faults } = await world.open(tenant, '/reports/attribution', { locale: 'en-GB' });
  await page.getByRole('link', { name: 'Define one' }).click();
  await page.getByRole('button', { name: 'Define a goal' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Trial');
  await dialog.getByLabel('Event').fill('user.signed_up');
  await dialog.getByRole('button', { name: 'Count the last 30 days' }).click();
  await dialog.getByText('0 events of 0 people').waitFor();
  await dialog.getByRole('button', { name: 'Define', exact: true }).click();
  await page.getByRole('cell', { name: 'user.signed_up' }).waitFor();
  await page.getByRole('link', { name: 'Funnels' }).click();
  await page.getByLabel('or an event of your product').fill('user.signed_up');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('cell', { name: 'user.signed_up' }).waitFor();
  await page.reload();
  await page.getByRole('cell', { name: 'user.signed_up' }).waitFor();
  t.deepEqual(faults, []);
  await context.close();
});
