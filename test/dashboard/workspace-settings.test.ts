import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { makeExport } from '../../domain/identity/workspace-exports/make.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, findBarriers, type DashboardWorld } from '../harness/dashboard.ts';
import { createContact, createMember } from '../harness/factories.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
test.before(async () => {
  if (findChromium()) world = await createDashboardWorld();
});
test.after.always(() => world?.close());

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

browserTest('an owner sets language, logo and sign-in rules, and sees who is outside of them', async (t) => {
  const tenant = await world.tenant('Northwind');
  await createMember(world.deps, tenant, 'Member');
  const { page, context, faults } = await world.open(tenant, '/settings/workspace', { locale: 'en-GB' });
  const general = page.getByRole('region', { name: 'Workspace', exact: true });
  await general.getByRole('combobox', { name: 'Language of emails' }).click();
  await page.getByRole('option', { name: 'Deutsch' }).click();
  await general.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  const stored = () => world.deps.db('organizations').where({ id: tenant.organizationId }).first();
  t.is((await stored()).language, 'de');

  const logo = page.getByRole('region', { name: 'Logo' });
  const choose = (buffer: Buffer) =>
    logo.locator('input[type=file]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer });
  await choose(Buffer.from('no image'));
  await logo.getByText('must be a PNG, JPEG or WebP image').waitFor();
  await choose(PNG);
  const shown = page.locator('#menu img');
  await shown.waitFor();
  t.regex((await shown.getAttribute('src'))!, /^data:image\/png;base64,/);

  const rules = page.getByRole('region', { name: 'Sign-in rules' });
  const domains = rules.getByRole('textbox', { name: 'Domains of members' });
  await domains.fill('northwind.test');
  await rules.getByRole('spinbutton', { name: 'Hours until a new sign-in' }).fill('12');
  await rules.getByRole('button', { name: 'Save' }).click();
  await rules.getByText(/another domain/).waitFor();
  await rules.getByText(/member-.*@example\.com/).waitFor();
  t.like(await stored(), { member_email_domains: ['northwind.test'], session_max_hours: 12, logo_type: 'image/png' });
  t.deepEqual(await findBarriers(page), []);
  await logo.getByRole('button', { name: 'Remove logo' }).click();
  await shown.waitFor({ state: 'detached' });
  t.deepEqual(
    faults.filter((fault) => !/400/.test(fault)),
    [],
  );

  await world.deps
    .db('sessions')
    .where({ user_id: tenant.userId })
    .update({ created_at: new Date(world.deps.clock.now().getTime() - 13 * 3600_000) });
  await page.goto(`${world.url}/`);
  await page.getByText('Your sign-in is too old for Northwind').waitFor();
  await page.getByRole('button', { name: 'Sign in again' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await context.close();
});

browserTest('an owner exports the workspace and downloads it, and all data of one contact', async (t) => {
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), organizationId, {
    email: 'ada@lights.test',
  });
  const { page, context, faults } = await world.open(tenant, '/settings/workspace', { locale: 'en-GB' });
  const data = page.getByRole('region', { name: 'Data' });
  await data.getByRole('button', { name: 'Export all data' }).click();
  // Its width is 0 until a worker begins.
  await data.getByRole('progressbar').waitFor({ state: 'attached' });
  t.true(await data.getByRole('button', { name: 'Export all data' }).isDisabled());
  const { id } = await world.deps.db('workspace_exports').where({ organization_id: organizationId }).first('id');
  await makeExport(world.system(organizationId), id, new AbortController().signal);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    data.getByRole('button', { name: /^Download/ }).click(),
  ]);
  t.regex(file.suggestedFilename(), /^workspace-\d{4}-\d\d-\d\d\.ndjson\.gz$/);
  t.regex(gunzipSync(await readFile(await file.path())).toString(), /"type":"contact".*ada@lights\.test/);

  t.deepEqual(await findBarriers(page), []);
  await page.goto(`${world.url}/leads/${contactId}`);
  const [person] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download all data' }).click(),
  ]);
  t.is(person.suggestedFilename(), `contact-${contactId}.json`);
  t.is(JSON.parse(await readFile(await person.path(), 'utf8')).contact[0].email, 'ada@lights.test');
  t.deepEqual(faults, []);
  await context.close();
});
