import { readFile } from 'node:fs/promises';
import test from 'ava';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, createSendingTenant, type DashboardWorld } from '../harness/dashboard.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import type { Tenant } from '../harness/factories.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';

/** Tests with many contacts and campaigns: choosing, changing, undoing and comparing. */
const browserTest = browserTests(test);
const MANY = 10_000;
const MAIL_MS = 60_000;
let world: DashboardWorld;
let mail: MailWorld;
let engine: Engine;
let tenant: Tenant;
let api: Awaited<ReturnType<typeof createSendingTenant>>['api'];

test.before(async () => {
  if (!findChromium()) return;
  [world, mail] = await Promise.all([createDashboardWorld(), startMailWorld()]);
  engine = await startEngine(world);
  ({ tenant, api } = await createSendingTenant(world, mail, 'sam@ours.test'));
});
test.after.always(async () => {
  await engine?.stop();
  await mail?.stop();
  await world?.close();
});

const numbered = (count: number, domain: string) =>
  Array.from({ length: count }, (_, at) => String(at).padStart(5, '0')).map((number) => ({
    email: `p${number}@${domain}`,
    first_name: `Person ${number}`,
  }));

browserTest(
  'ten thousand contacts are chosen by their filter, added to a campaign, tagged, and both is undone',
  async (t) => {
    t.timeout(300_000);
    const contacts = numbered(MANY, 'many.test');
    for (let from = 0; from < MANY; from += 1_000) await api('POST', '/contacts', contacts.slice(from, from + 1_000));
    await api('POST', '/contacts', [{ email: 'other@else.test', first_name: 'Other' }]);
    const campaign = await api('POST', '/campaigns', { name: 'Everybody' });
    const { id: tag } = await api('POST', '/categories', { title: 'Spring' });
    const tagged = async () =>
      (await api('POST', '/contacts/count', { all: true, filters: { category_ids: [tag] } })).count as number;
    const leads = async () =>
      Number((await world.deps.db('enrollments').where({ campaign_id: campaign.id }).count())[0]!.count);

    const { page, context, faults } = await world.open(tenant, '/leads?q=many.test&sort=email', { locale: 'en-GB' });
    const box = (name: string) => page.getByRole('checkbox', { name: `Choose ${name}`, exact: true });
    const bar = page.getByRole('region', { name: 'Actions for the chosen rows' });
    // Chooses one row, a range by Shift, and all matching rows, loaded or not.
    await box('Person 00001').check();
    await bar.getByText('One chosen').waitFor();
    await box('Person 00005').click({ modifiers: ['Shift'] });
    await bar.getByText('5 chosen').waitFor();
    await box('Person 00003').uncheck();
    await bar.getByText('4 chosen').waitFor();
    await bar.getByRole('button', { name: 'Choose all 10,000 matching rows' }).click();
    await bar.getByText('10,000 chosen').waitFor();
    await box('Person 00003').uncheck();
    await bar.getByText('9,999 chosen').waitFor();

    await bar.getByRole('button', { name: 'Add to a campaign' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add to a campaign' });
    await dialog.getByRole('combobox', { name: 'Campaign' }).click();
    await page.getByRole('option', { name: 'Everybody' }).click();
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('9,999 contacts were added to the campaign').waitFor({ timeout: MAIL_MS });
    t.is(await leads(), MANY - 1);
    await bar.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await eventually(async () => (await leads()) === 0);

    // Uses only the keyboard: the checkbox of a focused row, and the dialog for tags. A contact that already had the
    // tag keeps it after the undo.
    const [first] = (await api('POST', '/contacts/search?limit=1', { query: 'p00007@many.test' })).data;
    await api('PATCH', `/contacts/${first.id}`, { add_categories: [tag] });
    await box('Person 00002').focus();
    await page.keyboard.press('Space');
    await bar.getByRole('button', { name: /^Choose all/ }).press('Enter');
    await bar.getByRole('button', { name: 'Add a tag' }).press('Enter');
    const tags = page.getByRole('dialog', { name: 'Add a tag' });
    await tags.getByRole('combobox', { name: 'Tag' }).press('ArrowDown');
    await page.keyboard.press('Enter');
    await tags.getByRole('button', { name: 'Add a tag' }).press('Enter');
    await page.getByText('9,999 contacts were tagged').waitFor({ timeout: MAIL_MS });
    t.is(await tagged(), MANY);
    await page.getByRole('button', { name: 'Undo' }).click();
    await eventually(async () => (await tagged()) === 1);

    // The chosen contacts are exported. A deletion asks for their number.
    await page.getByRole('searchbox').fill('p00042@many.test');
    await page.waitForURL(/q=p00042/);
    await box('Person 00042').check();
    await bar.getByRole('button', { name: 'More actions' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export as CSV' }).click(),
    ]);
    t.deepEqual((await readFile(await file.path(), 'utf8')).match(/p\d+@many\.test/g), ['p00042@many.test']);
    await bar.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Suppress' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Suppress' }).click();
    await page.getByText('One address was suppressed').waitFor();
    t.is((await api('GET', '/suppressions?q=p00042@many.test')).data.length, 1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await eventually(async () => (await api('GET', '/suppressions?q=p00042@many.test')).data.length === 0);
    await box('Person 00042').check();
    await bar.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete permanently' }).click();
    const deletion = page.getByRole('dialog', { name: 'Delete the chosen contacts?' });
    await deletion.getByLabel('Type 1 to confirm').fill('2');
    await deletion.getByText('differs from this number').waitFor();
    await deletion.getByLabel('Type 1 to confirm').fill('1');
    await deletion.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByText('The contacts are deleted').waitFor();
    t.is((await api('GET', '/contacts/lookup?email=p00042@many.test')).contact, null);
    t.deepEqual(faults, []);
    await context.close();
  },
);

browserTest('a campaign is renamed, duplicated, filed, compared with its copy, archived and deleted', async (t) => {
  const campaign = await api('POST', '/campaigns', { name: 'Origin', steps: [{ subject: 'Hello', body_plain: 'Hi' }] });
  const { page, context, faults } = await world.open(tenant, `/campaigns/${campaign.id}`, { locale: 'en-GB' });
  const act = async (name: string, item: string) => {
    await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
  };
  const dialog = page.getByRole('dialog');
  await act('Origin', 'Rename');
  await dialog.getByLabel('Name').fill('Spring');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { level: 1, name: 'Spring' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('heading', { level: 1, name: 'Origin' }).waitFor();

  await act('Origin', 'Duplicate');
  t.is(await dialog.getByLabel('Name').inputValue(), 'Origin (copy)');
  await dialog.getByLabel('Name').fill('Copy');
  await dialog.getByRole('button', { name: 'Duplicate' }).click();
  await page.getByRole('heading', { level: 1, name: 'Copy' }).waitFor();
  const copy = new URL(page.url()).pathname.split('/').at(-1)!;
  t.like((await api('GET', `/campaigns/${copy}/steps`))[0], { subject: 'Hello', body_plain: 'Hi' });

  await act('Copy', 'Folders');
  await dialog.getByLabel('New folder').fill('Winter');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('Winter', { exact: true }).first().waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await eventually(async () => (await api('GET', `/campaigns/${copy}`)).folders.length === 1);

  await page.goto(`${world.url}/campaigns`);
  await page.getByRole('combobox', { name: 'Any folder' }).click();
  await page.getByRole('option', { name: 'Winter' }).click();
  await page.getByRole('link', { name: 'Origin' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Copy' }).waitFor();
  await page.goto(`${world.url}/campaigns`);
  const bar = page.getByRole('region', { name: 'Actions for the chosen rows' });
  await page.getByRole('checkbox', { name: 'Choose Origin', exact: true }).check();
  await bar.getByRole('button', { name: 'Compare 2 to 10' }).waitFor();
  await page.getByRole('checkbox', { name: 'Choose Copy', exact: true }).check();
  await bar.getByRole('link', { name: 'Compare' }).click();
  await page.waitForURL(/reports\/campaigns/);
  for (const name of ['Origin', 'Copy']) await page.getByRole('cell', { name, exact: true }).waitFor();
  await page.goBack();

  await act('Copy', 'Archive');
  await page.getByRole('link', { name: 'Copy' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('link', { name: 'Copy' }).waitFor();
  await act('Copy', 'Archive');
  await page.getByRole('link', { name: 'Copy' }).waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'Any status' }).click();
  await page.getByRole('option', { name: 'Archived' }).click();
  await page.getByRole('link', { name: 'Copy' }).click();
  await page.getByRole('heading', { level: 1, name: 'Copy' }).waitFor();
  await act('Copy', 'Delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(`${world.url}/campaigns`);
  await page.getByRole('link', { name: 'Origin' }).waitFor();
  t.is(await world.deps.db('campaigns').where({ id: copy }).first(), undefined);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('an unsaved email is tested with the data of a lead, and leads are found by name and step', async (t) => {
  const campaign = await api('POST', '/campaigns', {
    name: 'Tested',
    steps: [
      { name: 'One', subject: 'For {{.Company}}', body_plain: 'Hello {{.FirstName}}' },
      { name: 'Two', body_plain: 'Hello again' },
    ],
  });
  const [ada, bob] = await api('POST', '/contacts', [
    { email: 'ada@tested.test', first_name: 'Ada', last_name: 'Byron', company: 'Engines' },
    { email: 'bob@tested.test', first_name: 'Bob' },
  ]);
  await api('POST', `/campaigns/${campaign.id}/leads`, { contact_ids: [bob.id] });
  await api('POST', `/campaigns/${campaign.id}/leads`, { contact_ids: [ada.id] });
  const [one] = await api('GET', `/campaigns/${campaign.id}/steps`);
  const { page, context, faults } = await world.open(tenant, `/campaigns/${campaign.id}?step=${one.id}`, {
    locale: 'en-GB',
    viewport: { width: 1440, height: 900 },
  });
  await page.getByRole('textbox', { name: 'Text', exact: true }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('Dear {{.FirstName}}, unsaved');
  await page.getByRole('button', { name: 'Send a test' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send a test' });
  // The newest lead is preselected.
  t.regex(await dialog.getByRole('combobox', { name: 'Data of the lead' }).inputValue(), /^Ada Byron/);
  await dialog.getByLabel('Send to').fill('me@ours.test');
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  const email = await mail.waitFor(({ envelope }) => envelope.to.includes('me@ours.test'), MAIL_MS);
  t.regex(email.raw.toString(), /Subject: For Engines/);
  t.regex(email.raw.toString(), /Dear Ada, unsaved/);
  await dialog.getByText('Completed', { exact: true }).waitFor();
  t.is((await api('GET', `/campaigns/${campaign.id}/steps`))[0].body_plain, 'Hello {{.FirstName}}');
  await page.keyboard.press('Escape');

  await page.goto(`${world.url}/campaigns/${campaign.id}?tab=leads`);
  const leads = page.getByRole('tabpanel');
  await leads.getByRole('link', { name: 'Ada Byron' }).waitFor();
  await leads.getByRole('searchbox').fill('bob');
  await leads.getByRole('link', { name: 'Ada Byron' }).waitFor({ state: 'detached' });
  await leads.getByRole('link', { name: 'Bob' }).waitFor();
  await leads.getByRole('button', { name: 'Clear search' }).click();
  await leads.getByRole('link', { name: 'Ada Byron' }).waitFor();
  await leads.getByRole('combobox', { name: 'Any step' }).click();
  await page.getByRole('option', { name: 'Two' }).click();
  await leads.getByText('Nothing matches.').waitFor();
  await page.goto(`${world.url}/campaigns/${campaign.id}?tab=leads`);
  await leads.getByRole('checkbox', { name: 'Choose all shown rows' }).check();
  await leads.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Remove from this campaign' }).click();
  await page.getByText('2 leads were removed').waitFor();
  await leads.getByText('No leads yet', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await leads.getByRole('link', { name: 'Ada Byron' }).waitFor();
  t.deepEqual(faults, []);
  await context.close();
});
