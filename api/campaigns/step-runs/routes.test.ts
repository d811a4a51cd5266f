import test from 'ava';
import { externalText } from '../../../domain/platform/external-text.ts';
import { newId } from '../../../lib/ids.ts';
import { createCampaign, createContact, createMember, enroll, type Tenant } from '../../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Creates a campaign with step runs in the given states, each of another contact. */
async function campaignWith(tenant: Tenant, states: string[]): Promise<{ campaignId: string; runIds: string[] }> {
  const now = world.deps.clock.now();
  const { organizationId } = tenant;
  const { campaignId, stepIds } = await createCampaign(world.deps, organizationId, [
    { name: 'Ask', subject: 'x', body_plain: 'y' },
  ]);
  const runIds: string[] = [];
  for (const state of states) {
    const contactId = await createContact(world.deps.db, now, organizationId);
    const [enrollmentId] = await enroll(world.deps, organizationId, campaignId, [contactId]);
    await world.deps
      .db('enrollments')
      .where({ id: enrollmentId })
      .update({ state: 'active', blocked: state === 'blocked' });
    const id = newId();
    await world.deps.db('step_runs').insert({
      id,
      organization_id: organizationId,
      enrollment_id: enrollmentId,
      campaign_id: campaignId,
      contact_id: contactId,
      step_id: stepIds[0],
      seq: 1,
      kind: 'app_action',
      state,
      attempts: 5,
      started_at: now,
      error:
        state === 'blocked'
          ? JSON.stringify({
              code: 'app_action_failed',
              message: externalText('The app answered 500'),
              fix: externalText('Check the log.'),
            })
          : null,
    });
    runIds.push(id);
  }
  return { campaignId, runIds };
}

test('blocked runs are listed with why, paged, and go when they are retried', async (t) => {
  const tenant = await world.tenant();
  const { apiKey: token } = tenant;
  const { campaignId, runIds } = await campaignWith(tenant, ['blocked', 'running', 'blocked', 'completed', 'blocked']);
  const base = `/v1/campaigns/${campaignId}/step-runs`;
  const first = await call(world, 'GET', `${base}?state=blocked&limit=2`, { token });
  t.deepEqual(
    first.body.data.map((run: { id: string }) => run.id),
    [runIds[4], runIds[2]],
  );
  t.like(first.body.data[0], { step_name: 'Ask', state: 'blocked', attempts: 5 });
  t.is(first.body.data[0].error.code, 'app_action_failed');
  const rest = await call(world, 'GET', `${base}?limit=2&cursor=${first.body.pagination.next_cursor}`, { token });
  t.deepEqual(
    rest.body.data.map((run: { id: string }) => run.id),
    [runIds[0]],
  );
  t.false(rest.body.pagination.has_more);

  const retried = await call(world, 'POST', `${base}/${runIds[0]}/retry`, { token });
  assertStatus(t, retried, 200);
  t.like(retried.body, { id: runIds[0], state: 'running', attempts: 0, error: null });
  t.is((await call(world, 'POST', `${base}/${runIds[0]}/retry`, { token })).body.code, 'conflict');
  assertStatus(t, await call(world, 'POST', `${base}/${runIds[3]}/retry`, { token }), 409);
  t.is((await call(world, 'GET', base, { token })).body.data.length, 2);
  t.is(
    (await world.deps.db('audit_logs').where({ organization_id: tenant.organizationId, action: 'step_run.retried' }))
      .length,
    1,
  );
});

test('other states cannot be listed, other campaigns and runs are unknown, and viewers may look but not retry', async (t) => {
  const [mine, other] = [await world.tenant(), await world.tenant()];
  const here = await campaignWith(mine, ['blocked']);
  const there = await campaignWith(other, ['blocked']);
  const sibling = await campaignWith(mine, []);
  const at = (campaignId: string) => `/v1/campaigns/${campaignId}/step-runs`;
  assertStatus(t, await call(world, 'GET', `${at(here.campaignId)}?state=running`, { token: mine.apiKey }), 400);
  for (const id of [there.campaignId, newId(), 'x']) {
    assertStatus(t, await call(world, 'GET', at(id), { token: mine.apiKey }), 404);
    assertStatus(t, await call(world, 'POST', `${at(id)}/${there.runIds[0]}/retry`, { token: mine.apiKey }), 404);
  }
  for (const path of [
    `${at(here.campaignId)}/${there.runIds[0]}`,
    `${at(sibling.campaignId)}/${here.runIds[0]}`,
    `${at(here.campaignId)}/x`,
  ]) {
    assertStatus(t, await call(world, 'POST', `${path}/retry`, { token: mine.apiKey }), 404);
  }
  const viewer = await createMember(world.deps, mine, 'Viewer');
  assertStatus(t, await call(world, 'GET', at(here.campaignId), { token: viewer.sessionToken }), 200);
  t.is(
    (await call(world, 'POST', `${at(here.campaignId)}/${here.runIds[0]}/retry`, { token: viewer.sessionToken }))
      .status,
    403,
  );
});
