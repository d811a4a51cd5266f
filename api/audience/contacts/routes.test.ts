import test from 'ava';
import { assertConcurrentChangeRefused } from '../../../test/harness/concurrent-change.ts';
import { createContact } from '../../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';
import { newId } from '../../../lib/ids.ts';
import { externalText } from '../../../domain/platform/external-text.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

async function events(organizationId: string, type: string): Promise<Record<string, unknown>[]> {
  return (await world.deps.db('domain_events').where({ organization_id: organizationId, type }).orderBy('id')).map(
    (row) => row.data,
  );
}

test('a contact is created, read, changed, looked up and deleted', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const created = await call(world, 'POST', '/v1/contacts', {
    token,
    body: [{ email: ' Ada Lovelace <Ada@Example.com> ', first_name: 'Ada', custom_fields: { plan: 'pro' } }],
  });
  assertStatus(t, created, 200);
  const [ada] = created.body;
  t.is(ada.email, 'ada@example.com');
  t.deepEqual(
    (await events(organizationId, 'contact.created')).map((data) => [
      data.contact_id,
      data.contact_email,
      data.source,
      data.custom_fields,
    ]),
    [[ada.id, 'ada@example.com', 'api', { plan: 'pro' }]],
  );

  const detail = await call(world, 'GET', `/v1/contacts/${ada.id}`, { token });
  assertStatus(t, detail, 200);
  t.is(detail.body.engagement.total_sent, 0);
  t.is(detail.body.suppression, null);

  const patched = await call(world, 'PATCH', `/v1/contacts/${ada.id}`, {
    token,
    body: { last_name: 'Lovelace', custom_fields: { city: 'London' } },
  });
  t.deepEqual([patched.body.last_name, patched.body.custom_fields], ['Lovelace', { city: 'London' }]);

  const found = await call(world, 'GET', `/v1/contacts/lookup?email=${encodeURIComponent('A. L. <ADA@example.com>')}`, {
    token,
  });
  t.is(found.body.contact.id, ada.id);
  t.is((await call(world, 'GET', '/v1/contacts/lookup?email=nobody@example.com', { token })).body.contact, null);
  assertStatus(t, await call(world, 'GET', '/v1/contacts/lookup?email=nonsense', { token }), 400);

  assertStatus(t, await call(world, 'DELETE', `/v1/contacts/${ada.id}`, { token }), 204);
  assertStatus(t, await call(world, 'GET', `/v1/contacts/${ada.id}`, { token }), 404);
  t.deepEqual(await events(organizationId, 'contact.deleted'), [
    { entity_id: ada.id, contact_id: ada.id, contact_email: 'ada@example.com' },
  ]);
  const audits = await world.deps
    .db('audit_logs')
    .where({ organization_id: organizationId, entity_type: 'contact' })
    .orderBy('id')
    .pluck('action');
  t.deepEqual(audits, ['create', 'update', 'delete']);
});

test('a known address is updated with the non-empty fields, never duplicated', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  await call(world, 'POST', '/v1/contacts', {
    token,
    body: [{ email: 'sam@example.com', first_name: 'Sam', company: 'Old', custom_fields: { a: '1', b: '2' } }],
  });
  const again = await call(world, 'POST', '/v1/contacts', {
    token,
    body: [
      { email: 'SAM@example.com', first_name: '', company: 'New', custom_fields: { b: '3' } },
      { email: 'sam@example.com', phone: '1' },
    ],
  });
  t.is(again.body.length, 1);
  const [sam] = again.body;
  t.deepEqual([sam.first_name, sam.company, sam.phone, sam.custom_fields], ['Sam', 'New', '1', { a: '1', b: '3' }]);
  t.is((await events(organizationId, 'contact.created')).length, 1);
  t.is((await events(organizationId, 'contact.updated')).length, 1);
});

test('more than 100 contacts in one request are a bulk arrival', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const many = Array.from({ length: 101 }, (_, i) => ({ email: `p${i}@example.com` }));
  t.is((await call(world, 'POST', '/v1/contacts', { token, body: many })).body.length, 101);
  t.is((await events(organizationId, 'contact.created')).length, 0);
  t.is(
    (
      await call(world, 'POST', '/v1/contacts', {
        token,
        body: many.slice(0, 100).map((c, i) => ({ ...c, email: `q${i}@example.com` })),
      })
    ).status,
    200,
  );
  t.is((await events(organizationId, 'contact.created')).length, 100);
  assertStatus(t, await call(world, 'POST', '/v1/contacts', { token, body: [] }), 400);
  const over = await call(world, 'POST', '/v1/contacts', {
    token,
    body: Array.from({ length: 1001 }, (_, i) => ({ email: `r${i}@example.com` })),
  });
  t.is(over.body.code, 'too_many_contacts');
});

test('every fault of a create is named with its path', async (t) => {
  const { apiKey: token } = await world.tenant();
  const syntax = await call(world, 'POST', '/v1/contacts', {
    token,
    body: [{ email: 'ok@example.com' }, { email: 'bad' }, { email: 'x@example.com', surprise: 1 }],
  });
  t.deepEqual(
    syntax.body.problems.map((problem: { path: string }) => problem.path),
    ['body.1.email', 'body.2.surprise'],
  );
  // Every unknown field is refused, except for `__proto__`, which an object cannot have as a field.
  const named = (name: string) =>
    call(world, 'POST', '/v1/contacts', {
      token,
      body: [{ email: 'ok@example.com', custom_fields: JSON.parse(`{${JSON.stringify(name)}:"x"}`) }],
    });
  t.like((await named('__proto__')).body, {
    code: 'bad_request',
    message: 'The body has a field named __proto__, which is not allowed',
  });
  t.is((await named(' __proto__ ')).body.problems[0].path, 'body.0.custom_fields. __proto__ ');
  const unknown = await call(world, 'POST', '/v1/contacts', {
    token,
    body: [{ email: 'ok@example.com', categories: [newId(), 'x'], campaigns: [newId()] }],
  });
  t.deepEqual(
    unknown.body.problems.map((problem: { path: string }) => problem.path),
    ['body.0.categories.0', 'body.0.categories.1', 'body.0.campaigns.0'],
  );
  const other = await world.tenant('Other');
  const foreign = await call(world, 'POST', '/v1/categories', { token: other.apiKey, body: { title: 'Theirs' } });
  const refused = await call(world, 'POST', '/v1/contacts', {
    token,
    body: [{ email: 'ok@example.com', categories: [foreign.body.id] }],
  });
  t.deepEqual(
    refused.body.problems.map((problem: { path: string }) => problem.path),
    ['body.0.categories.0'],
  );
});

test('changing to the address of another contact is contact_email_taken; a new one resets the verdict', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const now = world.deps.clock.now();
  const a = await createContact(world.deps.db, now, organizationId, {
    email: 'a@example.com',
    verification_status: 'valid',
  });
  await createContact(world.deps.db, now, organizationId, { email: 'b@example.com' });
  const taken = await call(world, 'PATCH', `/v1/contacts/${a}`, { token, body: { email: 'B@Example.com' } });
  t.deepEqual([taken.status, taken.body.code], [409, 'contact_email_taken']);
  t.is(
    (await call(world, 'PATCH', `/v1/contacts/${a}`, { token, body: { email: 'a@example.com' } })).body
      .verification_status,
    'valid',
  );
  t.is(
    (await call(world, 'PATCH', `/v1/contacts/${a}`, { token, body: { email: 'New <c@example.com>' } })).body
      .verification_status,
    'unknown',
  );
});

test('of two changes of a contact that name the state they have read, the second is refused', async (t) => {
  const { apiKey: token } = await world.tenant();
  const made = await call(world, 'POST', '/v1/contacts', { token, body: [{ email: 'ada@example.com' }] });
  const [{ id }] = made.body;
  const { updated_at: seen } = (await call(world, 'GET', `/v1/contacts/${id}`, { token })).body;
  await assertConcurrentChangeRefused(t, seen, (more) =>
    call(world, 'PATCH', `/v1/contacts/${id}`, { token, body: { first_name: 'Ada', ...more } }),
  );
});

test('categories are set whole, or by difference', async (t) => {
  const { apiKey: token } = await world.tenant();
  const [one, two] = await Promise.all(
    ['One', 'Two'].map(
      async (title) => (await call(world, 'POST', '/v1/categories', { token, body: { title } })).body.id,
    ),
  );
  const [ada] = (
    await call(world, 'POST', '/v1/contacts', { token, body: [{ email: 'ada@example.com', categories: [one] }] })
  ).body;
  const titles = (body: { categories: { title: string }[] }) =>
    body.categories.map((category) => category.title).sort();
  t.deepEqual(titles(ada), ['One']);
  const path = `/v1/contacts/${ada.id}`;
  t.deepEqual(
    titles(
      (await call(world, 'PATCH', path, { token, body: { add_categories: [two], remove_categories: [one] } })).body,
    ),
    ['Two'],
  );
  t.deepEqual(
    titles((await call(world, 'PATCH', path, { token, body: { categories: [one], add_categories: [two] } })).body),
    ['One'],
  );
  assertStatus(t, await call(world, 'DELETE', `/v1/categories/${one}`, { token }), 204);
  t.deepEqual((await call(world, 'GET', path, { token })).body.categories, []);
});

test('suppressed people arrive unsubscribed and cannot be subscribed', async (t) => {
  const { apiKey: token } = await world.tenant();
  await call(world, 'POST', '/v1/suppressions', {
    token,
    body: { entries: [{ value: 'blocked.test' }], reason: 'partner' },
  });
  const [ada] = (await call(world, 'POST', '/v1/contacts', { token, body: [{ email: 'ada@blocked.test' }] })).body;
  t.false(ada.subscribed);
  const detail = await call(world, 'GET', `/v1/contacts/${ada.id}`, { token });
  t.deepEqual([detail.body.suppression.reason, detail.body.suppression.source], ['partner', 'manual']);
  assertStatus(t, await call(world, 'PATCH', `/v1/contacts/${ada.id}`, { token, body: { subscribed: true } }), 409);
  const bulk = await call(world, 'PATCH', '/v1/contacts', {
    token,
    body: { all: true, filters: {}, confirm_all: true, subscribe: true },
  });
  t.false(bulk.body[0].subscribed);
});

test('bulk edits change fields, categories and subscription, and fire once', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const { id: category } = (await call(world, 'POST', '/v1/categories', { token, body: { title: 'VIP' } })).body;
  const people = (
    await call(world, 'POST', '/v1/contacts', {
      token,
      body: [
        { email: 'a@example.com', custom_fields: { plan: 'free', city: 'Oslo' } },
        { email: 'b@example.com', custom_fields: { plan: 'pro' } },
        { email: 'c@other.test' },
      ],
    })
  ).body;
  const edited = await call(world, 'PATCH', '/v1/contacts', {
    token,
    body: {
      contacts: people.slice(0, 2).map((person: { id: string }) => person.id),
      add_categories: [category],
      subscribe: false,
      fields: [
        { type: 'ADD', key: 'city', value: 'Bergen' },
        { type: 'EDIT', key: 'plan', value: 'team' },
        { type: 'EDIT', key: 'absent', value: 'x' },
        { type: 'RENAME', key: 'plan', value: 'tier' },
      ],
    },
  });
  assertStatus(t, edited, 200);
  t.deepEqual(
    edited.body.map((person: any) => [person.email, person.subscribed, person.custom_fields, person.categories.length]),
    [
      ['a@example.com', false, { city: 'Oslo', tier: 'team' }, 1],
      ['b@example.com', false, { city: 'Bergen', tier: 'team' }, 1],
    ],
  );
  t.deepEqual(await events(organizationId, 'contact.updated'), [{ metadata: { bulk: true, count: 2 } }]);
  const removed = await call(world, 'PATCH', '/v1/contacts', {
    token,
    body: {
      all: true,
      filters: { query: '@example' },
      exclude: [people[1].id],
      remove_categories: [category],
      fields: [{ type: 'DELETE', key: 'tier' }],
    },
  });
  t.deepEqual(
    removed.body.map((person: any) => [person.email, person.custom_fields, person.categories]),
    [['a@example.com', { city: 'Oslo' }, []]],
  );
});

test('a bulk edit has addresses verified that have no verdict, and by itself changes no contact', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const { db } = world.deps;
  const body = [{ email: 'known@example.com' }, { email: 'open@example.com' }];
  const [known, open] = (await call(world, 'POST', '/v1/contacts', { token, body })).body;
  await db('contacts').where({ id: known.id }).update({ verification_status: 'valid' });
  for (let time = 1; time <= 2; time++) {
    const asked = await call(world, 'PATCH', '/v1/contacts', {
      token,
      body: { all: true, filters: {}, confirm_all: true, verify: true },
    });
    assertStatus(t, asked, 200);
    const changes = asked.body.map((one: { updated_at: string }) => one.updated_at);
    t.deepEqual(changes.toSorted(), [known.updated_at, open.updated_at].toSorted());
  }
  t.deepEqual(await db('contact_verifications').where({ organization_id: organizationId }).pluck('contact_id'), [
    open.id,
  ]);
  t.deepEqual(await events(organizationId, 'contact.updated'), []);
  const off = await createWorld({ env: { EMAIL_VERIFICATION: 'off' } });
  t.teardown(() => off.close());
  const { apiKey } = await off.tenant();
  const refused = await call(off, 'PATCH', '/v1/contacts', {
    token: apiKey,
    body: { all: true, filters: {}, confirm_all: true, verify: true },
  });
  assertStatus(t, refused, 400);
  t.regex(refused.body.fix, /EMAIL_VERIFICATION/);
});

test('bulk selections have limits and refuse to be empty', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const id = await createContact(world.deps.db, world.deps.clock.now(), organizationId);
  const refused = async (method: string, body: unknown) =>
    (await call(world, method, '/v1/contacts', { token, body })).body;
  t.is((await refused('DELETE', Array.from({ length: 1001 }, newId))).code, 'too_many_contacts');
  t.is(
    (
      await refused('PATCH', {
        all: true,
        filters: {},
        confirm_all: true,
        exclude: Array.from({ length: 50_001 }, newId),
      })
    ).code,
    'too_many_contacts',
  );
  t.is((await refused('DELETE', [])).code, 'bad_request');
  t.is((await refused('DELETE', [newId()])).code, 'bad_request');
  t.is((await refused('DELETE', { all: true })).problems[0].path, 'body.filters');
  t.is((await refused('PATCH', { all: true, filters: { query: 'nobody' }, subscribe: true })).code, 'bad_request');
  await world.deps.db.raw(
    `insert into contacts (id, organization_id, email, created_at, updated_at) select gen_random_uuid(), ?, 'g' || i || '@example.com', now(), now() from generate_series(1, 50001) i`,
    [organizationId],
  );
  t.is((await refused('DELETE', { all: true, filters: {}, confirm_all: true })).code, 'selection_too_large');
  t.is(
    (await call(world, 'DELETE', '/v1/contacts', { token, body: { all: true, filters: { query: 'g777' } } })).status,
    204,
  );
  assertStatus(t, await call(world, 'DELETE', '/v1/contacts', { token, body: [id] }), 204);
});

test('campaigns enroll and leave; deleting a contact tells its run', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const now = world.deps.clock.now();
  const [first, second] = [newId(), newId()];
  for (const id of [first, second])
    await world.deps
      .db('campaigns')
      .insert({ id, organization_id: organizationId, name: `C ${id.slice(-4)}`, created_at: now, updated_at: now });
  const [ada] = (
    await call(world, 'POST', '/v1/contacts', { token, body: [{ email: 'ada@example.com', campaigns: [first] }] })
  ).body;
  t.deepEqual(
    ada.campaigns.map((campaign: { id: string }) => campaign.id),
    [first],
  );
  const moved = await call(world, 'PATCH', `/v1/contacts/${ada.id}`, { token, body: { campaigns: [second] } });
  t.deepEqual(
    moved.body.campaigns.map((campaign: { id: string }) => campaign.id),
    [second],
  );
  t.true(
    (await world.deps.db('outbox').pluck('workflow_id')).includes(`campaign/${first}`),
    'the launcher looks whether a lead is left',
  );

  const found = await call(world, 'POST', '/v1/contacts/search', {
    token,
    body: { campaign_ids: [second], lead_status: 'pending' },
  });
  t.deepEqual(
    found.body.data.map((row: any) => [row.id, row.campaign_lead.status]),
    [[ada.id, 'pending']],
  );
  await world.deps
    .db('enrollments')
    .where({ campaign_id: second })
    .update({ hold_since: now, hold_reason: externalText('away'), hold_source: 'manual' });
  const held = await call(world, 'POST', '/v1/contacts/search', {
    token,
    body: { campaign_ids: [second], lead_status: 'paused', engagement: 'not_opened' },
  });
  t.is(held.body.data[0].campaign_lead.hold.reason, 'away');

  await world.deps.db('enrollments').where({ campaign_id: second }).update({ launched_at: now, state: 'active' });
  await world.deps.db('outbox').delete();
  assertStatus(t, await call(world, 'DELETE', `/v1/contacts/${ada.id}`, { token }), 204);
  t.true((await world.deps.db('outbox').pluck('workflow_id')).includes(`enrollment/${second}/${ada.id}`));
  t.is((await world.deps.db('enrollments').where({ contact_id: ada.id })).length, 0);
});

test('lead filters have codes of their own', async (t) => {
  const { apiKey: token } = await world.tenant();
  const code = async (body: unknown) => (await call(world, 'POST', '/v1/contacts/search', { token, body })).body.code;
  t.is(await code({ lead_status: 'dancing', campaign_ids: [newId()] }), 'invalid_lead_status');
  t.is(await code({ engagement: 'dancing', campaign_ids: [newId()] }), 'invalid_engagement');
  t.is(await code({ lead_status: 'active' }), 'lead_filter_requires_campaign');
  t.is(await code({ engagement: 'opened', campaign_ids: [newId(), newId()] }), 'lead_filter_requires_campaign');
});

test('pages cover every contact once, in every order; a cursor is bound to its list', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  for (let i = 0; i < 23; i += 1) {
    await createContact(world.deps.db, new Date(Date.UTC(2026, 0, 1 + (i % 5))), organizationId, {
      first_name: ['Bo', 'Ann', ''][i % 3],
      email: `p${i}@example.com`,
    });
  }
  const walk = async (method: string, path: string, body?: unknown) => {
    const ids: string[] = [];
    for (let cursor = ''; ;) {
      const page = await call(world, method, `${path}?limit=5${cursor && `&cursor=${cursor}`}`, { token, body });
      assertStatus(t, page, 200);
      ids.push(...page.body.data.map((row: { id: string }) => row.id));
      t.is(page.body.pagination.has_more, page.body.pagination.next_cursor !== null);
      if (!page.body.pagination.has_more) return ids;
      cursor = page.body.pagination.next_cursor;
    }
  };
  const all = await walk('GET', '/v1/contacts');
  t.is(new Set(all).size, 23);
  for (const sort_by of [
    'created_at',
    'updated_at',
    'first_name',
    'last_name',
    'email',
    'campaign_count',
    'nonsense',
  ]) {
    const down = await walk('POST', '/v1/contacts/search', { sort_by });
    const up = await walk('POST', '/v1/contacts/search', { sort_by, reverse: true });
    t.is(new Set(down).size, 23, sort_by);
    t.deepEqual(up, [...down].reverse(), sort_by);
  }
  const { next_cursor: cursor } = (
    await call(world, 'POST', '/v1/contacts/search?limit=5', { token, body: { sort_by: 'email' } })
  ).body.pagination;
  const status = async (method: string, path: string, body?: unknown) =>
    (await call(world, method, path, { token, body })).status;
  t.is(await status('POST', `/v1/contacts/search?cursor=${cursor}`, { sort_by: 'email' }), 200);
  t.is(await status('POST', `/v1/contacts/search?cursor=${cursor}`, { sort_by: 'email', reverse: true }), 400);
  t.is(await status('POST', `/v1/contacts/search?cursor=${cursor}`, { sort_by: 'created_at' }), 400);
  t.is(await status('POST', `/v1/contacts/search?cursor=${cursor}`, { sort_by: 'email', query: 'p' }), 400);
  t.is(await status('GET', `/v1/contacts?cursor=${cursor}`), 400);
  t.is(await status('GET', '/v1/contacts?cursor=garbage'), 400);
  t.is(await status('GET', '/v1/contacts?limit=101'), 400);
  // A forged position in a valid cursor also gives 400, not a database error.
  const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
  for (const position of [
    ['x', 'no-uuid'],
    [3, all[0]],
    ['\u0000', all[0]],
  ]) {
    const forged = Buffer.from(JSON.stringify([...parts.slice(0, 2), ...position])).toString('base64url');
    t.is(await status('POST', `/v1/contacts/search?cursor=${forged}`, { sort_by: 'email' }), 400);
  }
});

test('another organization sees and changes nothing', async (t) => {
  const mine = await world.tenant();
  const theirs = await world.tenant('Other');
  const id = await createContact(world.deps.db, world.deps.clock.now(), theirs.organizationId, {
    email: 'secret@example.com',
  });
  const token = mine.apiKey;
  for (const path of [`/v1/contacts/${id}`, `/v1/contacts/${newId()}`, '/v1/contacts/not-an-id']) {
    t.is((await call(world, 'GET', path, { token })).status, 404, path);
    t.is((await call(world, 'PATCH', path, { token, body: { first_name: 'x' } })).status, 404, path);
    t.is((await call(world, 'DELETE', path, { token })).status, 404, path);
  }
  t.is((await call(world, 'GET', '/v1/contacts/lookup?email=secret@example.com', { token })).body.contact, null);
  assertStatus(t, await call(world, 'DELETE', '/v1/contacts', { token, body: [id] }), 400);
  t.is((await world.deps.db('contacts').where({ id })).length, 1);
});

/** Builds `count` custom fields of `length` characters each. */
const manyFields = (count: number, length = 1, name = 'f') =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}${n}`, 'x'.repeat(length)]));

test('no merge makes a contact larger than one request may', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const send = (...fields: Record<string, string>[]) =>
    call(world, 'POST', '/v1/contacts', {
      token,
      body: fields.map((custom_fields) => ({ email: 'max@example.com', first_name: 'Max', custom_fields })),
    });
  const edit = (...fields: object[]) =>
    call(world, 'PATCH', '/v1/contacts', { token, body: { contacts: [id], fields } });
  const refused = (answer: Answer, path: string) => {
    assertStatus(t, answer, 400);
    t.deepEqual(
      answer.body.problems.map((problem: { path: string }) => problem.path),
      [path],
    );
    t.regex(answer.body.problems[0].message, /100 custom fields,.* 50,000 characters/);
  };
  const stored = async () => (await world.deps.db('contacts').where({ id }).first()).custom_fields;
  refused(await send(manyFields(11, 5000)), 'body.0.custom_fields');
  const { body } = await send(manyFields(100));
  const { id } = body[0];
  const two = await send(manyFields(60, 1, 'a'), manyFields(60, 1, 'b'));
  t.deepEqual(
    two.body.problems.map((problem: { path: string }) => problem.path),
    ['body.0.custom_fields', 'body.1.custom_fields'],
  );
  refused(await send({ one: 'more' }), 'body.0.custom_fields');
  refused(await send(manyFields(11, 4600)), 'body.0.custom_fields');
  refused(await edit({ type: 'ADD', key: 'one', value: 'more' }), 'body.fields.0');
  t.deepEqual(await stored(), manyFields(100));
  t.is((await send({ f0: 'other' })).status, 200, 'what it has may change');
  t.is(
    (await edit({ type: 'EDIT', key: 'f0', value: 'third' }, { type: 'RENAME', key: 'f1', value: 'g1' })).status,
    200,
  );
  assertStatus(t, await edit({ type: 'DELETE', key: 'f2' }, { type: 'ADD', key: 'one', value: 'more' }), 200);
  t.like(await stored(), { f0: 'third', g1: 'x', one: 'more' });
  // A contact that already exceeds the limit accepts no further field, and can still be edited.
  const email = 'old@example.com';
  const old = await createContact(world.deps.db, world.deps.clock.now(), organizationId, {
    email,
    custom_fields: manyFields(120),
  });
  const again = (fields: object) => call(world, 'POST', '/v1/contacts', { token, body: [{ email, ...fields }] });
  assertStatus(t, await again({ last_name: 'Older', custom_fields: { f1: 'y' } }), 200);
  refused(await again({ custom_fields: { one: 'more' } }), 'body.0.custom_fields');
  assertStatus(t, await call(world, 'PATCH', `/v1/contacts/${old}`, { token, body: { company: 'Old' } }), 200);
});

test('an edit whose answer would not fit into memory changes nothing', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  await world.deps.db.raw(
    `insert into contacts (id, organization_id, email, custom_fields, created_at, updated_at)
     select gen_random_uuid(), :org, n || '@large.test', jsonb_build_object('k', repeat('x', 50000)), now(), now() from generate_series(1, 700) n`,
    { org: organizationId },
  );
  const body = { all: true, filters: {}, confirm_all: true, subscribe: false };
  const answer = await call(world, 'PATCH', '/v1/contacts', { token, body });
  t.deepEqual([answer.status, answer.body.code], [400, 'selection_too_large'], answer.text.slice(0, 300));
  t.is((await world.deps.db('contacts').where({ organization_id: organizationId, subscribed: false })).length, 0);
});
