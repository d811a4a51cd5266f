import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { SUPPRESSED_BEFOREHAND } from '../../examples/leads.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { call } from '../harness/world.ts';

const LEADS = fileURLToPath(new URL('../../examples/leads.csv', import.meta.url));
const browserTest = browserTests(test);
let world: DashboardWorld;
let engine: Engine;
test.before(async () => {
  if (!findChromium()) return;
  world = await createDashboardWorld();
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

browserTest('a messy list is imported: mapped, run, and what was left out is listed with its reason', async (t) => {
  const tenant = await world.tenant();
  await call(world, 'POST', '/v1/suppressions', {
    token: tenant.apiKey,
    body: { entries: [{ value: SUPPRESSED_BEFOREHAND.domain }] },
  });
  const { page, context, faults } = await world.open(tenant, '/leads', { locale: 'en-GB' });
  await page.getByRole('heading', { name: 'No contacts yet' }).waitFor();
  await page.getByRole('link', { name: 'Import a file' }).first().click();
  await page.locator('input[type=file]').setInputFiles(LEADS);
  const mapped = (column: string) => page.getByRole('combobox', { name: `Target field of ${column}` });
  await mapped('Email Address').waitFor();
  t.is(await mapped('Email Address').inputValue(), 'Email address');
  t.is(await mapped('Plan').inputValue(), 'Custom field');
  // The detected mapping can be changed: the column is ignored.
  await mapped('Phone').click();
  await page.getByRole('option', { name: 'Ignore' }).click();
  await page.getByRole('button', { name: /^Import \d+ rows$/ }).click();
  await page.getByRole('heading', { name: 'leads.csv' }).waitFor();
  await page.getByText('Completed', { exact: true }).waitFor();
  await page.getByText(/\d+ rows have a problem/).waitFor();
  for (const reason of [
    'No email address',
    'Not an email address',
    'Address is suppressed',
    'More cells than columns',
    'Invalid characters',
  ])
    await t.notThrowsAsync(page.getByRole('cell', { name: reason }).first().waitFor(), reason);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download these rows' }).click(),
  ]);
  t.regex(await readFile(await file.path(), 'utf8'), /import_surplus\r?\n/);
  await page.getByRole('link', { name: 'Leads', exact: true }).click();
  await page.getByRole('searchbox', { name: 'Name, address or company' }).fill('zoe@smith-jones');
  await page.getByRole('link', { name: /^Zo/ }).click();
  await page.getByRole('heading', { level: 1, name: /^Zo/ }).waitFor();
  t.is(await page.getByLabel('Company').inputValue(), 'Smith, Jones & Co');
  t.is(await page.getByLabel('Phone').inputValue(), '');
  t.is(await page.getByLabel('Value of plan').inputValue(), 'pro');
  await page.getByLabel('Value of plan').fill('enterprise');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved').waitFor();
  const notes = page.getByRole('region', { name: 'Notes' });
  await notes.getByText('No note yet.').waitFor();
  await notes.getByLabel('New note').fill('Met at the fair.\nCall in May.');
  await notes.getByRole('button', { name: 'Add note' }).click();
  const note = notes.getByRole('article');
  await note.getByText('Met at the fair.').waitFor();
  t.is(await notes.getByLabel('New note').inputValue(), '');
  await note.getByRole('button', { name: 'Change' }).click();
  await note.getByLabel('Text of the note').fill('Call in June.');
  await note.getByRole('button', { name: 'Save' }).click();
  await note.getByText('Call in June.').waitFor();
  await note.getByText('changed').waitFor();
  await note.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await notes.getByText('No note yet.').waitFor();
  await page.getByRole('button', { name: 'Erase' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
  await page.waitForURL(`${world.url}/leads`);
  const { body } = await call(world, 'GET', '/v1/contacts/lookup?email=zoe@smith-jones.example.com', {
    token: tenant.apiKey,
  });
  t.is(body.contact, null);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a segment says who is in it while its conditions are written, and an address is suppressed', async (t) => {
  const tenant = await world.tenant();
  await call(world, 'POST', '/v1/contacts', {
    token: tenant.apiKey,
    body: Array.from({ length: 150 }, (_, at) => ({
      email: `p${at}@example.com`,
      first_name: `Person ${String(at).padStart(3, '0')}`,
      company: at % 3 === 0 ? 'Acme' : 'Other',
    })),
  });
  const { page, context, faults } = await world.open(tenant, '/leads/segments/new', { locale: 'en-GB' });
  await page.getByText('150 people').waitFor();
  await page.getByLabel('Name').fill('Acme');
  await page.getByRole('button', { name: 'Add a condition' }).click();
  await page.getByRole('textbox', { name: 'Value' }).fill('Acme');
  await page.getByText('50 people').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'Acme' }).waitFor();
  // Every contact of the segment becomes a lead.
  const campaign = await call(world, 'POST', '/v1/campaigns', { token: tenant.apiKey, body: { name: 'Lights' } });
  await page.goto(`${world.url}/campaigns/${campaign.body.id}?tab=leads`);
  await page.getByRole('button', { name: 'Add a segment' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a segment' });
  await dialog.getByRole('combobox', { name: 'Segment' }).click();
  await page.getByRole('option', { name: 'Acme' }).click();
  await dialog.getByText('50 people are in this segment.').waitFor();
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('50 leads were added.').waitFor();
  await page.getByRole('link', { name: 'Person 000' }).waitFor();
  // A long list: only visible rows are in the page, and scrolling loads the rest.
  await page.goto(`${world.url}/leads?sort=email`);
  await page.getByRole('link', { name: 'Person 000' }).waitFor();
  t.true((await page.getByRole('row').count()) < 100);
  // The list is searched while typing, without losing a character, and cleared again.
  const search = page.getByRole('searchbox', { name: 'Name, address or company' });
  const isAsked = (q: string | null) => page.waitForURL((url) => url.searchParams.get('q') === q);
  await search.pressSequentially('Person ');
  await isAsked('Person');
  await search.pressSequentially('14');
  await isAsked('Person 14');
  await page.getByRole('link', { name: 'Person 000' }).waitFor({ state: 'detached' });
  // While the next page is being loaded, the list is empty.
  await page.getByRole('link', { name: 'Person 140' }).waitFor();
  t.is(await page.getByRole('link', { name: /^Person 14\d/ }).count(), 10);
  await page.getByRole('button', { name: 'Clear search' }).click();
  await isAsked(null);
  await page.getByRole('link', { name: 'Person 000' }).waitFor();
  await search.fill('nobody at all');
  await page.getByText('Nothing matches.').waitFor();
  await search.press('Escape');
  await page.getByRole('link', { name: 'Person 000' }).waitFor();
  t.true(await search.evaluate((field) => field.matches(':focus')), 'who empties it goes on typing');
  for (let last = page.getByRole('link', { name: 'Person 099' }); (await last.count()) === 0;) {
    await page.mouse.wheel(0, 4_000);
    await page.waitForTimeout(100);
  }
  await walkRows(t, page, 150);
  await page.getByRole('link', { name: 'Verification' }).click();
  await page.getByRole('heading', { name: '0 of 150 have a result' }).waitFor();
  await page.getByRole('button', { name: 'Verify 150 addresses' }).click();
  await page.getByText('150 addresses are being verified').waitFor();
  const due = world.deps.db('contact_verifications').where({ organization_id: tenant.organizationId });
  t.is((await due.pluck('contact_id')).length, 150);
  await page.getByRole('link', { name: 'Suppressions' }).click();
  await page.getByRole('button', { name: 'Suppress addresses' }).click();
  await page.getByLabel('Addresses and domains').fill('p1@example.com, nonsense@\nrival.example');
  await page.getByRole('button', { name: 'Suppress 3' }).click();
  await page.getByText('2 entries were added. Neither address nor domain: nonsense@').waitFor();
  await page
    .getByRole('row', { name: 'Everybody at rival.example' })
    .getByRole('button', { name: 'Remove suppression' })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove suppression' }).click();
  await page.getByText('Everybody at rival.example').waitFor({ state: 'detached' });
  await page.getByRole('cell', { name: 'p1@example.com' }).waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

/** Walks through a list of `count` people by keyboard only, and back from its end after the page was scrolled away. */
async function walkRows(t: ExecutionContext, page: Page, count: number): Promise<void> {
  const row = (index: number) => page.locator(`main tr[aria-rowindex="${index}"]`);
  const focused = () => page.evaluate('Number(document.activeElement.closest("tr")?.ariaRowIndex)');
  await page.evaluate('scrollTo(0, 0)');
  await row(2).getByRole('link').focus();
  for (let index = 3; index <= count + 1; index += 1) {
    // Some rows arrive only with the next page of the list.
    await row(index).waitFor({ state: 'attached' });
    // Tab passes two elements per row: a checkbox and a link.
    if (index % 2 === 0) for (let tabs = 0; tabs < 2; tabs += 1) await page.keyboard.press('Tab');
    else await page.keyboard.press('ArrowDown');
    t.is(await focused(), index);
  }
  t.is(await page.getByRole('table').getAttribute('aria-rowcount'), String(count + 1));
  await page.evaluate('scrollTo(0, 0)');
  await row(2).waitFor({ state: 'attached' });
  t.is(await row(count - 50).count(), 0);
  t.is(await focused(), count + 1);
  await page.keyboard.press('ArrowUp');
  t.is(await focused(), count);
  for (let tabs = 0; tabs < 2; tabs += 1) await page.keyboard.press('Shift+Tab');
  t.is(await focused(), count - 1);
}
