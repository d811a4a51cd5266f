import test from 'ava';
import { browserTests, findChromium } from '../harness/browser.ts';
import { tenantWithPassword } from '../harness/consent.ts';
import { createDashboardWorld, findBarriers, type DashboardWorld } from '../harness/dashboard.ts';
import { createCampaign, createMember } from '../harness/factories.ts';
import { PASSWORD } from '../harness/people.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
test.before(async () => {
  if (!findChromium()) return;
  world = await createDashboardWorld();
});
test.after.always(() => world?.close());

const english = { locale: 'en-GB' } as const;

browserTest('an owner deletes a workspace, every member sees the date, and the owner keeps it', async (t) => {
  const tenant = await world.tenant('Northwind');
  const { campaignId } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'S', body_plain: 'b' }]);
  const member = await createMember(world.deps, tenant, 'Member');
  const { page, context, faults } = await world.open(tenant, '/settings/workspace', english);
  await page.getByRole('button', { name: 'Delete workspace' }).click();
  const dialog = page.getByRole('dialog');
  const typed = dialog.getByLabel('Type Northwind to confirm');
  await typed.fill('Northwild');
  t.deepEqual(await findBarriers(page), []);
  await dialog.getByRole('button', { name: 'Delete workspace' }).click();
  await dialog.getByText('must be the name of the workspace').waitFor();
  await typed.fill('Northwind');
  await dialog.getByRole('button', { name: 'Delete workspace' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText(/Northwind will be deleted on/).waitFor();
  await page.getByText('The deletion is scheduled').waitFor({ state: 'detached' });
  t.is(await page.getByRole('button', { name: 'Delete workspace' }).count(), 0);
  t.deepEqual(await findBarriers(page), []);
  t.is((await world.deps.db('campaigns').where({ id: campaignId }).first()).status, 'paused');

  const other = await world.open(member, '/', english);
  await other.page.getByText(/Northwind will be deleted on .*An owner can keep it/).waitFor();
  t.is(await other.page.getByRole('button', { name: 'Keep workspace' }).count(), 0);

  await page.getByRole('button', { name: 'Keep workspace' }).click();
  await page.getByText('The workspace is kept').waitFor();
  await page.getByText(/Northwind will be deleted on/).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete workspace' }).waitFor();
  t.is((await world.deps.db('campaigns').where({ id: campaignId }).first()).status, 'paused', 'nothing starts again');
  t.deepEqual(
    [...faults, ...other.faults].filter((fault) => !/400/.test(fault)),
    [],
  );
  await Promise.all([context.close(), other.context.close()]);
});

browserTest('a person deletes their account with their password, and keeps it', async (t) => {
  const tenant = await tenantWithPassword(world, 'Alone');
  const { page, context, faults } = await world.open(tenant, '/settings', english);
  await page.getByRole('button', { name: 'Delete account' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Current password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await page.getByText(/Your account will be deleted on/).waitFor();
  await page.getByText(/Alone will be deleted on/).waitFor();
  await page.getByText('The deletion is scheduled').waitFor({ state: 'detached' });
  t.is(await page.getByRole('button', { name: 'Keep workspace' }).count(), 0, 'it is kept with the account');
  t.deepEqual(await findBarriers(page), []);
  await page.getByRole('button', { name: 'Keep account' }).click();
  await page.getByText('Your account is kept').waitFor();
  await page
    .getByText(/will be deleted on/)
    .first()
    .waitFor({ state: 'detached' });
  t.is((await world.deps.db('users').where({ id: tenant.userId }).first()).deletion_scheduled_for, null);
  t.deepEqual(faults, []);
  await context.close();
});
