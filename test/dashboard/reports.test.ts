import { readFile } from 'node:fs/promises';
import test from 'ava';
import { createEvent, createGoal, createPerson } from '../harness/acquisition.ts';
import { createContact, createMailbox } from '../harness/factories.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { createSentHistory } from '../harness/sent-history.ts';
import { newId } from '../../lib/ids.ts';
import { replayPage } from '../../domain/reporting/goals/replay-page.ts';
import { react } from '../harness/reactions.ts';
import { updateFacts } from '../../domain/reporting/aggregates/update-facts.ts';
import { call } from '../harness/world.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
test.before(async () => {
  if (!findChromium()) return;
  world = await createDashboardWorld();
});
test.after.always(() => world?.close());

/** Creates a workspace with three emails sent today and two yesterday; one of today's was answered. */
async function given() {
  const tenant = await world.tenant();
  const email = `sam-${tenant.userId}@ours.example`;
  const id = await createMailbox(world.deps, tenant.organizationId, email, { smtp: { host: '127.0.0.1', port: 1 } });
  const history = await createSentHistory(
    world,
    tenant.organizationId,
    { id, email },
    { days: 2, perDay: (ago) => (ago === 0 ? 3 : 2), name: '=cmd|A1;=cmd|A2' },
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
  t.regex(csv, /\r\n'=cmd\|A1;'=cmd\|A2,5,/, 'no spreadsheet takes a name for a formula, nor a part of it');
  await page.locator('canvas').waitFor();
  const [picture] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'PNG: By day' }).click(),
  ]);
  t.deepEqual([...(await readFile(await picture.path())).subarray(1, 4)], [...Buffer.from('PNG')]);

  await sent.click();
  await page.getByRole('heading', { name: 'Sent: 5' }).waitFor();
  for (const email of emails) await page.getByRole('link', { name: email }).waitFor();
  await page.getByRole('checkbox', { name: emails[0] }).check();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Suppress' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Suppress' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
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
  await page.getByRole('link', { name: 'Define a goal' }).click();
  await page.getByRole('button', { name: 'Define a goal' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Trial');
  await dialog.getByRole('textbox', { name: 'Event' }).fill('user.signed_up');
  await dialog.getByRole('button', { name: 'Preview the last 30 days' }).click();
  await dialog.getByText('0 events of 0 people').waitFor();
  await dialog.getByRole('button', { name: 'Define goal', exact: true }).click();
  await page.getByRole('cell', { name: 'user.signed_up' }).waitFor();
  await page.getByRole('link', { name: 'Funnels' }).click();
  await page.getByLabel('or a product event').fill('user.signed_up');
  await page.getByRole('button', { name: 'Add event', exact: true }).click();
  await page.getByRole('cell', { name: 'user.signed_up' }).waitFor();
  await page.reload();
  await page.getByRole('cell', { name: 'user.signed_up' }).waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a goal gets conditions and an amount, and replays hold past events against it', async (t) => {
  const tenant = await world.tenant();
  const { db, clock } = world.deps;
  const contactId = await createContact(db, clock.now(), tenant.organizationId);
  const paid = [
    { plan: 'pro', total: 19.99 },
    { plan: 'pro', total: 5 },
    { plan: 'free', total: 0 },
  ];
  for (const data of paid) {
    const { status } = await call(world, 'POST', '/v1/events', {
      token: tenant.apiKey,
      headers: { 'idempotency-key': newId() },
      body: { name: 'order.paid', contact_id: contactId, data },
    });
    t.is(status, 202);
  }
  const { page, context, faults } = await world.open(tenant, '/reports/goals', { locale: 'en-GB' });
  await page.getByRole('button', { name: 'Define a goal' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Paid for a plan');
  await dialog.getByRole('textbox', { name: 'Event' }).fill('order.paid');
  await dialog.getByRole('button', { name: 'Add a condition' }).click();
  const condition = dialog.getByRole('group', { name: 'Condition 1' });
  await condition.getByLabel('Path of the property').fill('plan');
  await condition.getByRole('combobox', { name: 'Comparison' }).click();
  await page.getByRole('option', { name: 'is one of' }).click();
  await condition.locator('input[aria-label="Value"]').fill('pro');
  await page.keyboard.press('Enter');
  await dialog.getByLabel('The event has an amount').check();
  await dialog.getByLabel('Path of the amount').fill('total');
  await dialog.getByRole('combobox', { name: 'Unit of the amount' }).click();
  await page.getByRole('option', { name: 'units of the currency' }).click();
  await dialog.getByRole('button', { name: 'Preview the last 30 days' }).click();
  await dialog.getByRole('alert').getByText('needs currency_path or default_currency').waitFor();
  await dialog.getByRole('combobox', { name: 'Default currency' }).fill('EUR');
  await page.getByRole('option', { name: 'EUR' }).click();
  await dialog.getByRole('button', { name: 'Preview the last 30 days' }).click();
  await dialog.getByText('€24.99 in 2 conversions').waitFor();
  await dialog.getByRole('button', { name: 'Define goal', exact: true }).click();
  await page.getByRole('link', { name: 'Paid for a plan' }).click();
  await page.getByText('plan is one of “pro”').waitFor();

  const replays = page.getByRole('region', { name: 'Replays' });
  const start = async () => {
    await replays.getByRole('button', { name: 'Preview replay' }).click();
    await replays.getByText('3 events checked: 2 added, 0 removed, 0 unchanged.').waitFor();
    await replays.getByRole('button', { name: 'Start replay' }).click();
    await replays.getByText('Queued').waitFor();
    const [latest] = await db('goal_replays').where({ organization_id: tenant.organizationId }).orderBy('id', 'desc');
    return latest.id as string;
  };
  await start();
  await replays.getByRole('button', { name: 'Cancel replay' }).click();
  await dialog.getByRole('button', { name: 'Cancel replay' }).last().click();
  await replays.getByText('Cancelled').waitFor();
  await replayPage(world.system(tenant.organizationId), await start());
  await replays.getByText('Completed').waitFor();
  await replays.getByText('3 events checked: 2 added').waitFor();

  await page.getByRole('button', { name: 'Change goal' }).click();
  await dialog.getByRole('button', { name: 'Remove condition 1' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('region', { name: 'Earlier versions' }).getByText('plan is one of').waitFor();
  await replays.getByRole('button', { name: 'Preview replay' }).click();
  await replays.getByText('3 events checked: 1 added, 0 removed, 2 unchanged.').waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('the credit of a customer is explained, corrected and restored, and its rule is changed', async (t) => {
  const { tenant, campaignId, emails } = await given();
  const { db, clock } = world.deps;
  const contact = await db('contacts').where({ organization_id: tenant.organizationId, email: emails[0]! }).first('id');
  const goalId = await createGoal(world, tenant.organizationId, 'signup');
  const personId = await createPerson(world, tenant.organizationId, { contactId: contact!.id });
  await createEvent(world, tenant.organizationId, {
    personId,
    contactId: contact!.id,
    namedBy: 'email',
    goalIds: [goalId],
    at: new Date(clock.now().getTime() - 1_000),
  });
  await react(world.deps, [updateFacts]);
  const campaign = await db('campaigns').where({ id: campaignId }).first('name');
  const { page, context, faults } = await world.open(tenant, '/reports/attribution', { locale: 'en-GB' });
  const credit = page.getByRole('region', { name: 'Attribution of customers' });
  await credit.getByRole('button', { name: 'Change the rule' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Days before the goal' }).fill('45');
  await dialog.getByLabel('Estimate credit by company').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await credit.getByText('in the 45 days before').waitFor();
  await credit.locator('a[href*="figure=customers"]').first().click();
  await page.getByRole('button', { name: `Why ${emails[0]!} is counted` }).click();
  await dialog.getByRole('combobox', { name: 'Email that gets the credit' }).click();
  await page.getByRole('option', { name: campaign!.name }).waitFor();
  await page.getByRole('option', { name: 'No email' }).click();
  await dialog.getByLabel('Reason').fill('Met at the fair');
  await dialog.getByRole('button', { name: 'Correct the credit' }).click();
  const history = dialog.getByRole('region', { name: 'Corrections' });
  await history.getByText('Credited to no email (Met at the fair)').waitFor();
  await dialog.getByText('Corrected by a person').waitFor();
  await history.getByRole('button', { name: 'Restore the automatic credit' }).click();
  await history.getByText('Automatic credit restored').waitFor();
  await dialog.getByText('Corrected by a person').waitFor({ state: 'detached' });
  const kept = await db('attribution_corrections').where({ organization_id: tenant.organizationId }).orderBy('id');
  t.deepEqual(
    kept.map(({ action, is_current: isCurrent }) => [action, isCurrent]),
    [
      ['set', false],
      ['restored', false],
    ],
  );
  t.deepEqual(faults, []);
  await context.close();
});
