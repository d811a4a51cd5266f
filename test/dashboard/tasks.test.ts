import test from 'ava';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createPipeline } from '../harness/crm.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { eventually } from '../harness/eventually.ts';
import type { Tenant } from '../harness/factories.ts';
import { call } from '../harness/world.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
test.before(async () => {
  if (findChromium()) world = await createDashboardWorld();
});
test.after.always(() => world?.close());

const api = async (tenant: Tenant, method: string, path: string, body?: unknown) =>
  (await call(world, method, `/v1${path}`, { token: tenant.apiKey, body })).body;

browserTest('tasks are chosen, completed, prioritized and deleted in bulk, with undo', async (t) => {
  const tenant = await world.tenant();
  const titles = Array.from({ length: 120 }, (_, at) => `Call ${String(at).padStart(3, '0')}`);
  for (const [at, title] of titles.entries()) {
    const { id } = await api(tenant, 'POST', '/crm/tasks', {
      title,
      // The due dates differ, because the list is sorted by them.
      due_date: new Date(Date.now() + (at + 1) * 86_400_000).toISOString(),
    });
    if (at === 1) await api(tenant, 'PATCH', `/crm/tasks/${id}`, { status: 'in_progress', priority: 'high' });
  }
  const count = async (filters: object) =>
    (await api(tenant, 'POST', '/crm/tasks/search?limit=1', filters)).pagination.total as number;
  const { page, context, faults } = await world.open(tenant, '/tasks?show=open', { locale: 'en-GB' });
  await page.getByRole('button', { name: 'Choose several' }).click();
  const box = (name: string) => page.getByRole('checkbox', { name: `Choose ${name}`, exact: true });
  const bar = page.getByRole('region', { name: 'Actions for the chosen rows' });
  await box('Call 000').check();
  await box('Call 002').click({ modifiers: ['Shift'] });
  await bar.getByText('3 chosen').waitFor();
  await bar.getByRole('button', { name: 'Complete' }).click();
  await page.getByText('3 tasks were changed').waitFor();
  t.is(await count({ statuses: ['completed'] }), 3);
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(async () => (await count({ statuses: ['completed'] })) === 0);
  t.is(await count({ statuses: ['in_progress'], priorities: ['high'] }), 1, 'each has its own earlier state again');

  // All matching tasks are chosen, loaded or not, except one.
  await box('Call 000').check();
  await bar.getByRole('button', { name: 'Choose all 120 matching rows' }).click();
  await box('Call 005').uncheck();
  await bar.getByText('119 chosen').waitFor();
  await bar.getByRole('button', { name: 'Priority' }).click();
  await page.getByRole('menuitem', { name: 'Urgent' }).click();
  await page.getByText('119 tasks were changed').waitFor();
  t.is(await count({ priorities: ['urgent'] }), 119);
  await bar.waitFor({ state: 'detached' });

  await box('Call 000').check();
  await box('Call 001').check();
  await bar.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 2 tasks?' });
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The tasks are deleted').waitFor();
  await box('Call 000').waitFor({ state: 'detached' });
  t.is(await count({}), 118);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('the list of deals sums all that match, and a pipeline is deleted when it has no deals', async (t) => {
  const tenant = await world.tenant();
  const { id, stageIds } = await createPipeline(world, tenant);
  const add = (value: number, currency = 'EUR') =>
    api(tenant, 'POST', '/crm/deals', {
      pipeline_id: id,
      stage_id: stageIds[0],
      name: `Deal ${value}`,
      value,
      currency,
    });
  const [first] = [await add(1200), await add(300)];
  const { page, context, faults } = await world.open(tenant, '/crm/list', { locale: 'en-GB' });
  const main = page.getByRole('main');
  await main.getByText('2 open').waitFor();
  await main.getByText('€1,500', { exact: true }).waitFor();
  const other = await add(40, 'USD');
  await page.reload();
  await main.getByText('3 open').waitFor();
  await main.getByText('€1,500 · US$40', { exact: true }).waitFor();

  await page.goto(`${world.url}/crm`);
  const remove = async () => {
    await page.getByRole('dialog').getByRole('button', { name: 'Delete pipeline' }).click();
    await page
      .getByRole('dialog', { name: 'Delete “Sales”?' })
      .getByRole('button', { name: 'Delete pipeline' })
      .click();
  };
  await page.getByRole('button', { name: 'Edit stages' }).click();
  await remove();
  await page.getByRole('alert').waitFor();
  t.is((await api(tenant, 'GET', '/crm/pipelines')).length, 1);
  await page.getByRole('dialog', { name: 'Delete “Sales”?' }).getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog', { name: 'Delete “Sales”?' }).waitFor({ state: 'detached' });
  const deals = (await api(tenant, 'GET', '/crm/deals')).data as { id: string }[];
  t.true(deals.some(({ id: one }) => one === first.id) && deals.some(({ id: one }) => one === other.id));
  for (const deal of deals) await api(tenant, 'DELETE', `/crm/deals/${deal.id}`);
  await remove();
  await page.getByRole('heading', { name: 'No pipeline yet' }).waitFor();
  t.deepEqual(await api(tenant, 'GET', '/crm/pipelines'), []);
  t.deepEqual(faults, []);
  await context.close();
});
