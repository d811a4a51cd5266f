import test from 'ava';
import { newId } from '../../lib/ids.ts';
import { maskOf } from '../../lib/permissions.ts';
import { openDesk, problemPaths } from '../../test/harness/campaign-desk.ts';
import { createApiKey } from '../../test/harness/factories.ts';
import { assertStatus, createWorld, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('an archived campaign is left out of lists and counts, and a start takes it out of the archive', async (t) => {
  const desk = await openDesk(world);
  const { campaign } = await desk.ready();
  const folder = await desk.label('folder');
  await desk.campaign({ name: 'Other' });
  const path = `/campaigns/${campaign.id}`;
  const listed = async (query: string) =>
    (await desk.call('GET', `/campaigns${query}`)).body.data.map((one: { name: string }) => one.name);
  assertStatus(t, await desk.call('PATCH', path, { archived: true, folders: [folder] }), 200);
  t.deepEqual(await listed(''), ['Other']);
  t.deepEqual(await listed('?archived=true'), ['Spring']);
  t.like((await desk.call('GET', '/campaigns-overview')).body, { total: 1, draft: 1, archived: 1, folders: [] });
  t.false((await desk.call('POST', `${path}/duplicate`, {})).body.archived);

  assertStatus(t, await desk.call('POST', `${path}/start`, {}), 200);
  t.like(await desk.row(campaign.id), { status: 'active', archived: false });
  t.deepEqual(problemPaths(await desk.call('PATCH', path, { archived: true })), ['body.archived']);
  assertStatus(t, await desk.call('PATCH', path, { archived: true, status: 'paused' }), 200);
  t.like(await desk.row(campaign.id), { status: 'paused', archived: true });
});

test('leads are found by a part of their name and by their step', async (t) => {
  const desk = await openDesk(world);
  const { campaign } = await desk.ready(0);
  const ada = await desk.contact({ first_name: 'Ada', last_name: 'Byron' });
  const bob = await desk.contact({ first_name: 'Bob', company: 'Byron Bakery' });
  await desk.call('POST', `/campaigns/${campaign.id}/leads`, { contact_ids: [ada, bob] });
  const [step] = (await desk.call('GET', `/campaigns/${campaign.id}/steps`)).body;
  await world.deps.db('enrollments').where({ contact_id: bob }).update({ state: 'active', current_step_id: step.id });
  const found = async (query: string, token?: string) =>
    (await desk.call('GET', `/campaigns/${campaign.id}/leads?${query}`, undefined, token)).body.data
      .map((lead: { contact_id: string }) => lead.contact_id)
      .toSorted();
  t.deepEqual(await found('q=byron'), [ada, bob].toSorted());
  t.deepEqual(await found('q=ADA'), [ada]);
  t.deepEqual(await found(`step=${step.id}`), [bob]);
  t.deepEqual(await found(`step=${step.id}&q=ada`), []);
  t.deepEqual(await found(`step=${newId()}`), []);
  const { apiKey: blind } = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, {
    permissions: maskOf(['READ_CAMPAIGNS']),
  });
  t.is((await found('q=ada', blind)).length, 2, 'a name is no filter for those who may not see it');
});
