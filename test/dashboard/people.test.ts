import { readFile } from 'node:fs/promises';
import test from 'ava';
import { newId } from '../../lib/ids.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { createMailbox, type Tenant } from '../harness/factories.ts';
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

browserTest('the contacts of a filter are exported with the chosen columns, and all of them as JSON', async (t) => {
  const tenant = await world.tenant();
  await api(tenant, 'POST', '/contacts', [
    { email: 'ada@lights.test', first_name: 'Ada', company: 'Lights' },
    { email: 'grace@lights.test', first_name: 'Grace', company: 'Lights' },
    { email: 'mary@other.test', first_name: 'Mary', company: 'Other' },
  ]);
  const { page, context, faults } = await world.open(tenant, '/leads?q=lights&sort=email', { locale: 'en-GB' });
  const save = async (fill?: () => Promise<void>) => {
    await page.getByRole('button', { name: 'Export' }).click();
    await fill?.();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('dialog').getByRole('button', { name: 'Export' }).click(),
    ]);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
  };
  await page.getByRole('link', { name: 'Ada' }).waitFor();
  const csv = await save(async () => {
    await page.getByText('contacts that match the filter').waitFor();
    await page.getByRole('combobox', { name: 'Columns' }).click();
    await page.getByRole('option', { name: 'Email address' }).click();
    await page.getByRole('option', { name: 'Company' }).click();
    // Closes the open list, which covers the download button.
    await page.getByRole('combobox', { name: 'Columns' }).press('Tab');
  });
  t.regex(csv.name, /^contacts-\d{4}-\d\d-\d\d\.csv$/);
  const [heading, ...rows] = csv.text
    .replace(/^\uFEFF/, '')
    .trim()
    .split(/\r?\n/);
  t.is(heading, 'email,company');
  t.deepEqual(rows.toSorted(), ['ada@lights.test,Lights', 'grace@lights.test,Lights']);

  await page.getByRole('searchbox').fill('');
  await page.getByRole('link', { name: 'Mary' }).waitFor();
  const json = await save(async () => {
    await page.getByText('The file contains all contacts').waitFor();
    await page.getByText('JSON', { exact: true }).click();
  });
  t.regex(json.name, /\.json$/);
  t.is((JSON.parse(json.text) as { email: string }[]).length, 3);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a person of product events without a contact is found and erased', async (t) => {
  const tenant = await world.tenant();
  const publish = async (name: string, number: number) => {
    const body = { name, email: `visitor-${number}@example.org`, user_id: `user-${number}` };
    const headers = { 'idempotency-key': newId() };
    const answer = await call(world, 'POST', '/v1/events', { token: tenant.apiKey, body, headers });
    if (answer.status >= 300) throw new Error(answer.text);
  };
  await publish('user.signed_up', 1);
  await publish('report.opened', 1);
  await publish('user.signed_up', 2);
  const { page, context, faults } = await world.open(tenant, '/leads', { locale: 'en-GB' });
  await page.getByRole('link', { name: 'Without a contact' }).click();
  const row = page.getByRole('row').filter({ hasText: /(?:user|visitor)-1/ });
  await row.getByRole('cell', { name: '2', exact: true }).waitFor();
  await row.getByRole('link').click();
  const identifiers = page.getByRole('region', { name: 'Identifiers' });
  await identifiers.getByRole('cell', { name: 'user-1' }).waitFor();
  await identifiers.getByRole('cell', { name: 'visitor-1@example.org' }).waitFor();
  await page.getByRole('button', { name: 'Erase' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase this person?' });
  await dialog.getByRole('button', { name: 'Erase' }).click();
  await page.getByText('The person is erased').waitFor();
  await page.waitForURL(`${world.url}/leads/people`);
  await page.getByRole('link', { name: /(?:user|visitor)-2/ }).waitFor();
  await row.waitFor({ state: 'detached' });
  t.is((await api(tenant, 'GET', '/people')).data.length, 1);
  t.is((await api(tenant, 'GET', '/events')).data.length, 1);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest(
  'two people with one identifier are kept apart, which is undone, and merged; the audit log has it',
  async (t) => {
    const tenant = await world.tenant();
    const [ada] = await api(tenant, 'POST', '/contacts', [{ email: 'ada@twice.test' }]);
    const row = { organization_id: tenant.organizationId, created_at: world.deps.clock.now() };
    const [person, other] = [newId(), newId()];
    await world.deps.db('people').insert([
      { ...row, id: person },
      { ...row, id: other, contact_id: ada.id },
    ]);
    await world.deps.db('identity_conflicts').insert({
      ...row,
      id: newId(),
      person_id: person,
      other_person_id: other,
      kind: 'user_id',
      value: 'user-4711',
      state: 'open',
    });
    const { page, context, faults } = await world.open(tenant, '/leads/conflicts', { locale: 'en-GB' });
    const conflict = page.getByRole('row').filter({ hasText: 'user-4711' });
    await conflict.getByRole('button', { name: 'Keep separate' }).click();
    await conflict.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await conflict.getByRole('button', { name: 'Merge' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click();
    await conflict.waitFor({ state: 'detached' });
    t.is(await world.deps.db('people').where({ id: other }).first(), undefined);
    const log = await world.deps.db('audit_logs').where({ entity_type: 'identity_conflict' }).orderBy('id');
    t.deepEqual(
      log.map(({ action }: { action: string }) => action),
      ['dismiss', 'update', 'merge'],
    );
    t.deepEqual(faults, []);
    await context.close();
  },
);

browserTest('the page of a contact lists its emails with their outcomes, and every single event', async (t) => {
  const tenant = await world.tenant();
  const email = 'sam@ours.test';
  const id = await createMailbox(world.deps, tenant.organizationId, email, { smtp: { host: '127.0.0.1', port: 1 } });
  await createSentHistory(world, tenant.organizationId, { id, email }, { days: 3, perDay: () => 2 });
  const { contact } = await api(tenant, 'GET', '/contacts/lookup?email=person-2-1@history.example');
  await api(tenant, 'POST', `/contacts/${contact.id}/notes`, { content: 'Met at the fair' });
  const { page, context, faults } = await world.open(tenant, `/leads/${contact.id}`, { locale: 'en-GB' });
  const activity = page.getByRole('region', { name: 'Activity' });
  await activity.getByText('Emails', { exact: true }).click();
  const row = activity.getByRole('row').filter({ hasText: email });
  await row.getByText('Sent', { exact: true }).waitFor();
  await row.getByText('Replied', { exact: true }).waitFor();
  await row.getByRole('link', { name: /Autumn emails/ }).waitFor();
  await activity.getByText('Every event', { exact: true }).click();
  await activity.getByText('Email sent:').waitFor();
  await activity.getByText('interested', { exact: true }).waitFor();
  await activity.getByText('Note: Met at the fair').waitFor();
  t.is(new URL(page.url()).searchParams.get('history'), 'events');
  t.deepEqual(faults, []);
  await context.close();
});
