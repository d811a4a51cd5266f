import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { createCampaign, createContact, createMailbox, createMember, enroll } from '../../../test/harness/factories.ts';
import { createReservedSend } from '../../../test/harness/inbound.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

for (const plural of ['folders', 'tags', 'categories']) {
  test(`${plural}: create, list, rename, move, delete`, async (t) => {
    const { apiKey: token } = await world.tenant();
    const titles = async () =>
      (await call(world, 'GET', `/v1/${plural}`, { token })).body.data.map((row: any) => [row.title, row.position]);
    const ids: string[] = [];
    for (const title of ['A', 'B', 'C']) {
      const made = await call(world, 'POST', `/v1/${plural}`, { token, body: { title } });
      assertStatus(t, made, 200);
      t.regex(made.body.color, /^#[0-9a-f]{6}$/);
      ids.push(made.body.id);
    }
    const moved = await call(world, 'PATCH', `/v1/${plural}/${ids[2]}/move`, { token, body: { position: 0 } });
    t.deepEqual(moved.body, [
      { id: ids[2], position: 0 },
      { id: ids[0], position: 1 },
      { id: ids[1], position: 2 },
    ]);
    t.deepEqual(await titles(), [
      ['C', 0],
      ['A', 1],
      ['B', 2],
    ]);
    assertStatus(t, await call(world, 'PATCH', `/v1/${plural}/${ids[0]}/move`, { token, body: { position: 3 } }), 400);
    t.deepEqual(
      (await call(world, 'PATCH', `/v1/${plural}/${ids[0]}`, { token, body: { title: ' Z ', color: '#ABCDEF' } })).body
        .color,
      '#abcdef',
    );
    assertStatus(t, await call(world, 'DELETE', `/v1/${plural}/${ids[2]}`, { token }), 204);
    t.deepEqual(await titles(), [
      ['Z', 0],
      ['B', 1],
    ]);
    for (const body of [{ title: '' }, { title: 'x'.repeat(51) }, { title: 'x', color: 'red' }]) {
      assertStatus(t, await call(world, 'POST', `/v1/${plural}`, { token, body }), 400);
    }
    const other = await world.tenant('Other');
    for (const id of [ids[0], newId(), 'x']) {
      t.is(
        (await call(world, 'PATCH', `/v1/${plural}/${id}`, { token: other.apiKey, body: { title: 'mine' } })).status,
        404,
      );
      t.is(
        (await call(world, 'PATCH', `/v1/${plural}/${id}/move`, { token: other.apiKey, body: { position: 0 } })).status,
        404,
      );
      assertStatus(t, await call(world, 'DELETE', `/v1/${plural}/${id}`, { token: other.apiKey }), 404);
    }
  });
}

test('a registry holds 100 entries, and an id of one registry is unknown in another', async (t) => {
  const { apiKey: token } = await world.tenant();
  const made = await Promise.all(
    Array.from({ length: 104 }, (_, i) => call(world, 'POST', '/v1/tags', { token, body: { title: `t${i}` } })),
  );
  t.is(made.filter((answer) => answer.status === 200).length, 100);
  t.is(made.filter((answer) => answer.status === 400).length, 4);
  const { data } = (await call(world, 'GET', '/v1/tags', { token })).body;
  t.deepEqual(
    data.map((row: any) => row.position),
    Array.from({ length: 100 }, (_, i) => i),
  );
  assertStatus(t, await call(world, 'DELETE', `/v1/folders/${data[0].id}`, { token }), 404);
});

test('deleting unfiles campaigns', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const make = async (plural: string) =>
    (await call(world, 'POST', `/v1/${plural}`, { token, body: { title: 'x' } })).body.id as string;
  const [folder, kept, tag, other] = [
    await make('folders'),
    await make('folders'),
    await make('tags'),
    await make('tags'),
  ];
  const now = world.deps.clock.now();
  await world.deps.db('campaigns').insert({
    id: newId(),
    organization_id: organizationId,
    name: 'C',
    folders: [folder, kept],
    email_tags: [tag, other],
    created_at: now,
    updated_at: now,
  });
  await call(world, 'DELETE', `/v1/folders/${folder}`, { token });
  await call(world, 'DELETE', `/v1/tags/${tag}`, { token });
  const campaign = await world.deps.db('campaigns').where({ organization_id: organizationId }).first();
  t.deepEqual([campaign.folders, campaign.email_tags], [[kept], [other]]);
});

test('a tag that alone says which mailboxes a campaign sends from stays: without it the campaign would take them all', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const { db, clock } = world.deps;
  const tag = (await call(world, 'POST', '/v1/tags', { token, body: { title: 'sales' } })).body.id as string;
  const campaignId = newId();
  const now = clock.now();
  await db('campaigns').insert({
    id: campaignId,
    organization_id: organizationId,
    name: 'Spring',
    status: 'active',
    email_tags: [tag],
    created_at: now,
    updated_at: now,
  });
  const refused = await call(world, 'DELETE', `/v1/tags/${tag}`, { token });
  assertStatus(t, refused, 409);
  t.is(refused.body.code, 'conflict');
  t.true(refused.text.includes(campaignId) && refused.text.includes('Spring'), refused.text);
  t.deepEqual((await db('campaigns').where({ id: campaignId }).first()).email_tags, [tag]);
  t.is((await call(world, 'GET', '/v1/tags', { token })).body.data.length, 1);
  // The tag of a campaign with an explicit pool, or of a completed campaign, may be deleted.
  for (const harmless of [{ sender_strategy: 'explicit' }, { sender_strategy: 'tags', status: 'completed' }]) {
    const spare = (await call(world, 'POST', '/v1/tags', { token, body: { title: 'spare' } })).body.id as string;
    await db('campaigns')
      .where({ id: campaignId })
      .update({ email_tags: [spare], ...harmless });
    assertStatus(t, await call(world, 'DELETE', `/v1/tags/${spare}`, { token }), 204);
  }
});

test('a campaign asks for new slots when one of its tags is deleted, and pauses when its pool is empty', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const { db, clock } = world.deps;
  const now = clock.now();
  const make = async () =>
    (await call(world, 'POST', '/v1/tags', { token, body: { title: newId() } })).body.id as string;
  const [lost, other] = [await make(), await make()];
  const mailboxId = await createMailbox(world.deps, organizationId, 'tagged@ours.test', {
    smtp: { host: '127.0.0.1', port: 1 },
  });
  await db('mailbox_tags').insert({ organization_id: organizationId, mailbox_id: mailboxId, label_id: lost });
  const reserved = async (fields: Record<string, unknown>) => {
    const { campaignId, stepIds } = await createCampaign(world.deps, organizationId, [{ subject: 'Hi' }], fields);
    const contactId = await createContact(db, now, organizationId);
    const [enrollmentId] = await enroll(world.deps, organizationId, campaignId, [contactId]);
    const lead = { campaignId, enrollmentId: enrollmentId!, stepId: stepIds[0]!, contactId, mailboxId };
    const id = await createReservedSend(world.deps, organizationId, lead);
    return { campaignId, id };
  };
  const narrower = await reserved({ email_tags: [lost, other] });
  const empty = await reserved({ email_tags: [lost], sender_strategy: 'explicit' });
  const untouched = await reserved({ email_tags: [other] });
  assertStatus(t, await call(world, 'DELETE', `/v1/tags/${lost}`, { token }), 204);
  const left = await db('sends').where({ organization_id: organizationId }).pluck('id');
  t.deepEqual(left, [untouched.id]);
  const after = (id: string) => db('campaigns').where({ id }).first('status', 'control_epoch', 'email_tags');
  t.deepEqual(await after(narrower.campaignId), { status: 'active', control_epoch: 2, email_tags: [other] });
  t.deepEqual(await after(empty.campaignId), { status: 'paused_no_accounts', control_epoch: 2, email_tags: [] });
  t.deepEqual(await after(untouched.campaignId), { status: 'active', control_epoch: 1, email_tags: [other] });
});

test('a viewer sees and does not change', async (t) => {
  const tenant = await world.tenant();
  const { sessionToken: token } = await createMember(world.deps, tenant, 'Viewer');
  for (const plural of ['folders', 'tags', 'categories']) {
    assertStatus(t, await call(world, 'GET', `/v1/${plural}`, { token }), 200);
    assertStatus(t, await call(world, 'POST', `/v1/${plural}`, { token, body: { title: 'x' } }), 403);
  }
});
