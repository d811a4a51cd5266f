import test from 'ava';
import { updateFacts } from '../../domain/reporting/aggregates/update-facts.ts';
import { newId } from '../../lib/ids.ts';
import { createEvent, createGoal, createPerson } from '../harness/acquisition.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { createContact, createMailbox } from '../harness/factories.ts';
import { react } from '../harness/reactions.ts';
import { createSentHistory } from '../harness/sent-history.ts';
import { call } from '../harness/world.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
test.before(async () => {
  if (findChromium()) world = await createDashboardWorld();
});
test.after.always(() => world?.close());

/** Creates a workspace with six emails sent on two days, and one customer who got the first of them. */
async function given() {
  const { db, clock } = world.deps;
  const tenant = await world.tenant();
  const org = tenant.organizationId;
  const email = 'sam@ours.test';
  const id = await createMailbox(world.deps, org, email, { smtp: { host: '127.0.0.1', port: 1 } });
  const history = await createSentHistory(world, org, { id, email }, { days: 2, perDay: () => 3, name: 'Lights' });
  const contact = await db('contacts').where({ organization_id: org, email: history.emails[0]! }).first('id');
  const goalId = await createGoal(world, org, 'signup');
  const personId = await createPerson(world, org, { contactId: contact!.id });
  const at = new Date(clock.now().getTime() - 1_000);
  await createEvent(world, org, { personId, contactId: contact!.id, namedBy: 'email', goalIds: [goalId], at });
  await react(world.deps, [updateFacts]);
  return { tenant, ...history };
}

browserTest('the cost of a campaign is set, shown per signup, changed and removed', async (t) => {
  const { tenant, campaignId } = await given();
  const stored = () => world.deps.db('campaign_spend').where({ campaign_id: campaignId }).first();
  const { page, context, faults } = await world.open(tenant, '/reports/attribution', { locale: 'en-GB' });
  const button = page.getByRole('button', { name: 'Cost of Lights' });
  const dialog = page.getByRole('dialog', { name: 'Cost of Lights' });
  await button.click();
  await dialog.getByLabel('Total cost').fill('120.50');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Cost of Lights' }).getByText('€120.50').waitFor();
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Lights' }).or(button) });
  // One person signed up, so the cost per signup equals the total cost.
  await row.getByRole('cell', { name: '€120.50', exact: true }).last().waitFor();
  const spend = await stored();
  t.is(Number(spend!.amount_minor), 12_050);
  await button.click();
  t.is(await dialog.getByLabel('Total cost').inputValue(), '120.5');
  // The yen has no decimals, so its minor unit is one yen.
  await dialog.getByRole('combobox', { name: 'Currency' }).fill('JPY');
  await page.getByRole('option', { name: 'JPY' }).click();
  await dialog.getByLabel('Total cost').fill('9000');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await button.getByText('JP¥9,000').waitFor();
  const changed = await stored();
  t.is(Number(changed!.amount_minor), 9_000);
  await button.click();
  await dialog.getByRole('button', { name: 'Remove cost' }).click();
  await button.getByText(/^Set /).waitFor();
  t.is(await stored(), undefined);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('credited customers are broken down, and people are found by the stage where they stopped', async (t) => {
  const { tenant, emails } = await given();
  const { page, context, faults } = await world.open(tenant, '/reports/attribution', { locale: 'en-GB' });
  const credit = page.getByRole('region', { name: 'Attribution of customers' });
  await credit.getByRole('button', { name: 'By email property' }).click();
  await credit.getByRole('row').filter({ hasText: 'Lights' }).getByRole('link', { name: '1' }).waitFor();
  await credit.getByRole('combobox', { name: 'Group by' }).click();
  await page.getByRole('option', { name: 'Match' }).click();
  await credit
    .getByRole('row')
    .filter({ hasText: /Matched/ })
    .getByRole('link', { name: '1' })
    .click();
  await page.getByRole('heading', { name: 'Credited to an email' }).waitFor();
  await page.getByRole('link', { name: emails[0]! }).waitFor();

  await page.goto(`${world.url}/reports/prospects`);
  await page.getByRole('link', { name: 'person-0-0@history.example' }).waitFor();
  await page.getByRole('combobox', { name: 'Any stage' }).click();
  await page.getByRole('option', { name: 'Signed up' }).click();
  await page.getByRole('link', { name: 'person-0-0@history.example' }).waitFor({ state: 'detached' });
  const row = page.getByRole('row').filter({ hasText: emails[0]! });
  await row.getByText('Signed up', { exact: true }).waitFor();
  await page.getByRole('combobox', { name: 'Any stage' }).click();
  await page.getByRole('option', { name: 'Interest, no signup' }).click();
  await page.getByRole('link', { name: 'person-0-1@history.example' }).waitFor();
  await row.waitFor({ state: 'detached' });
  t.is(new URL(page.url()).searchParams.get('stage'), 'interested_no_signup');
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a product event is counted over time under conditions, and its people are listed', async (t) => {
  const tenant = await world.tenant();
  const { db, clock } = world.deps;
  const publish = async (email: string, plan: string) => {
    const contactId = await createContact(db, clock.now(), tenant.organizationId, { email });
    const { status } = await call(world, 'POST', '/v1/events', {
      token: tenant.apiKey,
      headers: { 'idempotency-key': newId() },
      body: { name: 'order.paid', contact_id: contactId, data: { plan } },
    });
    t.is(status, 202);
  };
  await publish('ada@example.org', 'pro');
  await publish('grace@example.org', 'pro');
  await publish('mary@example.org', 'free');
  const { page, context, faults } = await world.open(tenant, '/reports/events', { locale: 'en-GB' });
  await page.getByRole('heading', { name: 'Choose an event' }).waitFor();
  await page.getByRole('combobox', { name: 'Name of the event' }).fill('order.paid');
  await page.getByRole('button', { name: 'Show' }).click();
  const chart = page.getByRole('region', { name: 'order.paid' });
  await chart.getByRole('button', { name: 'Occurrences 3' }).waitFor();
  await page.getByRole('button', { name: 'Add a condition' }).click();
  await page.getByRole('textbox', { name: 'Path of the property' }).fill('plan');
  await page.getByRole('textbox', { name: 'Value' }).fill('pro');
  await page.getByRole('button', { name: 'Show' }).click();
  await chart.getByRole('button', { name: 'Occurrences 2' }).waitFor();
  await page.getByText('Weeks', { exact: true }).click();
  await chart.getByRole('button', { name: 'Numbers' }).click();
  await chart.getByRole('row').last().getByRole('link', { name: '2' }).click();
  await page.getByRole('heading', { name: 'People with “order.paid”: 2' }).waitFor();
  await page.getByRole('link', { name: 'grace@example.org' }).waitFor();
  t.is(await page.getByRole('link', { name: 'mary@example.org' }).count(), 0);
  await page.goBack();
  await page.reload();
  await chart.getByRole('button', { name: 'Occurrences 2' }).waitFor();
  t.is(await page.getByRole('textbox', { name: 'Path of the property' }).inputValue(), 'plan');
  t.deepEqual(faults, []);
  await context.close();
});
