import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { createCampaign } from '../../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('a category or field that a condition names is not deleted or renamed: the segment would hold the people that it kept out', async (t) => {
  const { apiKey: token } = await world.tenant();
  const ask = (method: string, path: string, body?: unknown) => call(world, method, path, { token, body });
  const made = await ask('POST', '/v1/contacts', [
    { email: 'ann@example.com', custom_fields: { plan: 'pro' } },
    { email: 'ben@example.com' },
  ]);
  const ids = made.body.map(({ id }: { id: string }) => id);
  const { body: category } = await ask('POST', '/v1/categories', { title: 'Customers' });
  const condition = { field: 'category', operator: 'not_in', values: [category.id] };
  const segment = await ask('POST', '/v1/segments', { name: 'Strangers', match: 'all', conditions: [condition] });
  assertStatus(t, segment, 201);

  const refused = await ask('DELETE', `/v1/categories/${category.id}`);
  assertStatus(t, refused, 409);
  t.is(refused.body.message_code, 'labels.category_named');
  t.deepEqual(
    refused.body.problems.map(({ path, code, values }: any) => [path, code, values]),
    [[`segments.${segment.body.id}`, 'segments.names_it', { name: 'Strangers' }]],
  );

  const field = { field: 'custom.plan', operator: 'not_equal', values: ['pro'] };
  assertStatus(t, await ask('PATCH', `/v1/segments/${segment.body.id}`, { conditions: [field] }), 200);
  assertStatus(t, await ask('DELETE', `/v1/categories/${category.id}`), 204);
  for (const operation of [
    { type: 'DELETE', key: 'plan' },
    { type: 'RENAME', key: 'plan', value: 'tariff' },
  ]) {
    const edit = await ask('PATCH', '/v1/contacts', { contacts: ids, fields: [operation] });
    assertStatus(t, edit, 409);
    t.is(edit.body.message_code, 'contacts.field_named');
  }
  assertStatus(t, await ask('DELETE', `/v1/segments/${segment.body.id}`), 204);
  assertStatus(
    t,
    await ask('PATCH', '/v1/contacts', { contacts: ids, fields: [{ type: 'DELETE', key: 'plan' }] }),
    200,
  );
});

test('a field that a branch of a campaign asks for is kept, whatever letters it has', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const key = 'größe_%"x"';
  const made = await call(world, 'POST', '/v1/contacts', {
    token,
    body: [{ email: 'cleo@example.com', custom_fields: { [key]: '7', other: '1' } }],
  });
  const branch = { conditions: [{ field: `contact.custom.${key}`, operator: 'equals', value: '7' }] };
  await createCampaign(world.deps, organizationId, [{ conditions: { branches: [branch] } }], { name: 'Sizes' });
  const edit = (of: string) =>
    call(world, 'PATCH', '/v1/contacts', {
      token,
      body: { contacts: [made.body[0].id], fields: [{ type: 'DELETE', key: of }] },
    });
  const refused = await edit(key);
  assertStatus(t, refused, 409);
  t.deepEqual(refused.body.problems[0].values, { name: 'Sizes' });
  assertStatus(t, await edit('other'), 200);
});

test('a segment names only what there is in its own workspace', async (t) => {
  const { apiKey: token } = await world.tenant();
  const other = await world.tenant('Other');
  const { body: theirs } = await call(world, 'POST', '/v1/categories', {
    token: other.apiKey,
    body: { title: 'Theirs' },
  });
  for (const [field, value, code] of [
    ['category', newId(), 'segments.no_category'],
    ['category', theirs.id, 'segments.no_category'],
    ['emailed_by_campaign', newId(), 'segments.no_campaign'],
  ]) {
    const answer = await call(world, 'POST', '/v1/segments', {
      token,
      body: { name: 'x', match: 'all', conditions: [{ field, operator: 'not_in', values: [value] }] },
    });
    assertStatus(t, answer, 400);
    t.deepEqual(
      answer.body.problems.map((problem: any) => [problem.path, problem.code]),
      [['body.conditions.0.values.0', code]],
    );
  }
});

test('renaming a field onto one that a contact has loses nothing; every contact is meant only where that is confirmed', async (t) => {
  const { apiKey: token } = await world.tenant();
  const ask = (body: unknown) => call(world, 'PATCH', '/v1/contacts', { token, body });
  const { body } = await call(world, 'POST', '/v1/contacts', {
    token,
    body: [
      { email: 'dora@example.com', custom_fields: { tarif: 'pro', plan: 'free' } },
      { email: 'emil@example.com', custom_fields: { plan: 'free' } },
    ],
  });
  const rename = [{ type: 'RENAME', key: 'plan', value: 'tarif' }];
  const refused = await ask({ contacts: body.map(({ id }: { id: string }) => id), fields: rename });
  assertStatus(t, refused, 409);
  t.deepEqual(
    [refused.body.problems[0].code, refused.body.problems[0].values],
    ['contacts.field_exists.count', { count: 1 }],
  );
  const unconfirmed = await ask({ all: true, filters: {}, subscribe: false });
  assertStatus(t, unconfirmed, 400);
  t.is(unconfirmed.body.problems[0].path, 'body.confirm_all');
  const all = await ask({ all: true, filters: {}, confirm_all: true, exclude: [body[0].id], fields: rename });
  assertStatus(t, all, 200);
  t.deepEqual(
    all.body.map(({ custom_fields: fields }: any) => fields),
    [{ tarif: 'free' }],
  );
});
