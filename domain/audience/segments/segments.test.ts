import test from 'ava';
import fc from 'fast-check';
import { newId } from '../../../lib/ids.ts';
import { assertConcurrentChangeRefused } from '../../../test/harness/concurrent-change.ts';
import { createContact, createLabel } from '../../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { countSegmentContacts, segmentContactIds } from '../../directory/segments/contacts.ts';
import { createSegment, type SegmentCondition } from './segments.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

interface Person {
  id: string;
  texts: Record<string, string>;
  subscribed: boolean;
  verification_status: string;
  created_at: Date;
  category: string[];
}

const unit = fc.constantFrom('a', 'B', 'c', '%', '_', '\\', "'");
const text = fc.string({ unit, maxLength: 3 });
const said = fc.string({ unit, minLength: 1, maxLength: 2 });
const DAYS = ['2026-01-01', '2026-01-02T12:00:00Z', '2026-01-03T00:00:00+02:00', '2026-01-04'];
const STATUSES = ['valid', 'risky', 'invalid', 'unknown'] as const;
const CATEGORIES = [newId(), newId()];

const TEXT_FIELDS = ['email', 'email_domain', 'first_name', 'company', 'custom.plan', "custom.o'dd key"];
const condition: fc.Arbitrary<SegmentCondition> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      field: fc.constantFrom(...TEXT_FIELDS),
      operator: fc.constantFrom('equal', 'not_equal', 'contains', 'starts_with', 'ends_with', 'in', 'not_in'),
      values: fc.array(said, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      field: fc.constantFrom(...TEXT_FIELDS, 'category'),
      operator: fc.constantFrom('exists', 'not_exists'),
      values: fc.constant<string[]>([]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      field: fc.constant('subscribed'),
      operator: fc.constantFrom('equal', 'not_equal'),
      values: fc.constantFrom('true', 'false').map((value) => [value]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      field: fc.constant('created_at'),
      operator: fc.constantFrom('before', 'after'),
      values: fc.constantFrom(...DAYS).map((day) => [day]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      field: fc.constant('verification_status'),
      operator: fc.constantFrom('equal', 'not_equal', 'in', 'not_in'),
      values: fc.subarray([...STATUSES], { minLength: 1 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      field: fc.constant('category'),
      operator: fc.constantFrom('equal', 'not_equal', 'in', 'not_in'),
      values: fc.subarray(CATEGORIES, { minLength: 1 }),
    }),
  },
);

/** Reference implementation of a condition, written as simply as possible. */
function holds(who: Person, { field, operator, values }: SegmentCondition): boolean {
  if (field === 'subscribed') return (who.subscribed === (values[0] === 'true')) === (operator === 'equal');
  if (field === 'created_at')
    return operator === 'before' ? who.created_at < new Date(values[0]!) : who.created_at >= new Date(values[0]!);
  if (field === 'category') {
    const any = operator.endsWith('exists') ? who.category.length > 0 : who.category.some((id) => values.includes(id));
    return any !== operator.startsWith('not_');
  }
  const own = (field === 'verification_status' ? who.verification_status : (who.texts[field] ?? '')).toLowerCase();
  const wanted = values.map((value) => value.toLowerCase());
  switch (operator) {
    case 'exists':
      return own !== '';
    case 'not_exists':
      return own === '';
    case 'contains':
      return wanted.some((value) => own.includes(value));
    case 'starts_with':
      return wanted.some((value) => own.startsWith(value));
    case 'ends_with':
      return wanted.some((value) => own.endsWith(value));
    default:
      return wanted.includes(own) !== operator.startsWith('not_');
  }
}

test('a compiled segment selects exactly whom a plain reading of it selects', async (t) => {
  const { organizationId } = await world.tenant();
  const { db } = world.deps;
  const now = world.deps.clock.now();
  for (const id of CATEGORIES) await createLabel(world.deps, organizationId, 'category', 'x', id);
  const people: Person[] = [];
  const drafts = fc.sample(
    fc.record({
      first_name: text,
      company: text,
      plan: fc.option(text, { nil: undefined }),
      odd: fc.option(text, { nil: undefined }),
      subscribed: fc.boolean(),
      verification_status: fc.constantFrom(...STATUSES),
      day: fc.nat({ max: 3 }),
      category: fc.subarray(CATEGORIES),
      mailbox: fc.constantFrom('a', 'cab', 'abc'),
      host: fc.constantFrom('a.test', 'cb.test'),
    }),
    { numRuns: 60, seed: 11 },
  );
  for (const [index, { plan, odd, day, category, mailbox, host, ...fields }] of drafts.entries()) {
    const email = `${mailbox}${index}@${host}`;
    const custom = { ...(plan === undefined ? {} : { plan }), ...(odd === undefined ? {} : { "o'dd key": odd }) };
    const created_at = new Date(Date.UTC(2026, 0, 1 + day, 11));
    const id = await createContact(db, now, organizationId, { ...fields, email, created_at, custom_fields: custom });
    for (const label of category)
      await db('contact_categories').insert({ organization_id: organizationId, contact_id: id, label_id: label });
    people.push({
      id,
      subscribed: fields.subscribed,
      verification_status: fields.verification_status,
      created_at,
      category,
      texts: {
        email,
        email_domain: host,
        first_name: fields.first_name,
        company: fields.company,
        'custom.plan': plan ?? '',
        "custom.o'dd key": odd ?? '',
      },
    });
  }
  const ctx = world.system(organizationId);
  let selected = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(condition, { maxLength: 3 }),
      fc.constantFrom('all', 'any'),
      async (conditions, match) => {
        const { id } = await createSegment(ctx, { name: 'x', match, conditions });
        const expected = people
          .filter(
            (who) =>
              conditions.length === 0 || conditions[match === 'all' ? 'every' : 'some']((one) => holds(who, one)),
          )
          .map((who) => who.id)
          .sort();
        const ids: string[] = [];
        for (let after: string | undefined; ;) {
          const page = await segmentContactIds(reader(ctx), id, { after, limit: 17 });
          ids.push(...page);
          if (page.length < 17) break;
          after = page.at(-1);
        }
        t.deepEqual(ids, expected, JSON.stringify({ match, conditions }));
        t.is(await countSegmentContacts(reader(ctx), [id, id]), expected.length);
        selected += ids.length;
      },
    ),
    { numRuns: 250 },
  );
  t.true(selected > 1000, `${selected} selected in all: too few to mean anything`);
  t.deepEqual(await segmentContactIds(reader(ctx), newId(), { limit: 10 }), []);
});

test('a page of large segments ends at a megabyte of conditions, and the cursor goes on', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const values = Array.from({ length: 180 }, () => 'x'.repeat(490));
  const conditions: SegmentCondition[] = [{ field: 'company', operator: 'in', values }];
  const ctx = world.system(organizationId);
  const ids: string[] = [];
  for (let n = 0; n < 25; n += 1)
    ids.unshift((await createSegment(ctx, { name: `Large ${n}`, match: 'all', conditions })).id);
  const pages: string[][] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const path = `/v1/segments?limit=24${cursor && `&cursor=${cursor}`}`;
    const answer = await call(world, 'GET', path, { token });
    assertStatus(t, answer, 200);
    t.true(answer.text.length < 1_200_000, `${answer.text.length} characters`);
    pages.push(answer.body.data.map(({ id }: { id: string }) => id));
    cursor = answer.body.pagination.next_cursor;
  }
  t.deepEqual(pages.flat(), ids);
  t.deepEqual(
    pages.map(({ length }) => length),
    [12, 12, 1],
  );
});

test('segments are saved, changed and deleted; faulty conditions are all named', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  await createContact(world.deps.db, world.deps.clock.now(), organizationId, { custom_fields: { plan: 'pro' } });
  const fields = await call(world, 'GET', '/v1/segments/fields', { token });
  assertStatus(t, fields, 200);
  t.true(fields.body.fields.some((field: { name: string }) => field.name === 'custom.plan'));

  const made = await call(world, 'POST', '/v1/segments', {
    token,
    body: { name: 'Pro', conditions: [{ field: 'custom.plan', operator: 'equal', values: ['pro'] }] },
  });
  assertStatus(t, made, 201);
  t.is(
    (await call(world, 'PATCH', `/v1/segments/${made.body.id}`, { token, body: { name: 'Pros', match: 'any' } })).body
      .name,
    'Pros',
  );
  t.deepEqual(
    (await call(world, 'GET', `/v1/segments/${made.body.id}`, { token })).body.conditions,
    made.body.conditions,
  );
  t.is((await call(world, 'GET', '/v1/segments', { token })).body.data.length, 1);
  const { updated_at: seen } = (await call(world, 'GET', `/v1/segments/${made.body.id}`, { token })).body;
  await assertConcurrentChangeRefused(t, seen, (more) =>
    call(world, 'PATCH', `/v1/segments/${made.body.id}`, { token, body: { match: 'all', ...more } }),
  );

  const faulty = await call(world, 'POST', '/v1/segments', {
    token,
    body: {
      name: 'x',
      conditions: [
        { field: 'shoe_size', operator: 'equal', values: ['1'] },
        { field: 'email', operator: 'before', values: ['1'] },
        { field: 'email', operator: 'equal', values: [] },
        { field: 'subscribed', operator: 'equal', values: ['maybe'] },
        { field: 'category', operator: 'in', values: ['x'] },
        { field: 'created_at', operator: 'after', values: ['soon'] },
        { field: 'email', operator: 'exists', values: ['x'] },
      ],
    },
  });
  assertStatus(t, faulty, 400);
  t.deepEqual(
    faulty.body.problems.map((problem: { path: string }) => problem.path.replace('body.conditions.', '')),
    ['0.field', '1.operator', '2.values', '3.values.0', '4.values.0', '5.values.0', '6.values'],
  );

  const other = await world.tenant('Other');
  for (const id of [made.body.id, newId(), 'x']) {
    for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
      t.is(
        (await call(world, method, `/v1/segments/${id}`, { token: other.apiKey, ...(body ? { body } : {}) })).status,
        404,
      );
    }
  }
  t.deepEqual(await segmentContactIds(reader(world.system(other.organizationId)), made.body.id, { limit: 10 }), []);
  assertStatus(t, await call(world, 'DELETE', `/v1/segments/${made.body.id}`, { token }), 204);
});

test('text is found in any case and any form of Unicode, however it was typed and stored', async (t) => {
  const tenant = await world.tenant();
  const token = tenant.apiKey;
  const names = ['MÜNCHEN', 'Mu\u0308nchen', 'ΣΊΣΥΦΟΣ', 'Straße', 'STRASSE', 'İpek', 'ıpek', 'Jose\u0301'];
  const people = names.map((first_name, index) => ({
    email: `${index}-${newId()}@fold.example`,
    first_name,
    custom_fields: { 'cite\u0301': first_name },
  }));
  assertStatus(t, await call(world, 'POST', '/v1/contacts', { token, body: people }), 200);
  const found = async (body: object) => {
    const answer = await call(world, 'POST', '/v1/contacts/search', { token, body });
    return answer.body.data.map((contact: { email: string }) => Number(contact.email.split('-')[0])).sort();
  };
  for (const [asked, places] of [
    ['münchen', [0, 1]],
    ['mu\u0308nch', [0, 1]],
    ['σίσυφος', [2]],
    ['ΣΊΣΥΦΟΣ', [2]],
    ['strasse', [3, 4]],
    ['straße', [3, 4]],
    ['STRAẞE', [3, 4]],
    ['ipek', [5, 6]],
    ['IPEK', [5, 6]],
    ['JOSÉ', [7]],
    ['jose\u0301', [7]],
  ] as const) {
    t.deepEqual(await found({ query: asked }), places, `search ${asked}`);
    for (const name of ['cite\u0301', 'cité'])
      t.deepEqual(
        await found({ custom_field_filters: [{ name, value: asked, type: 'starts_with' }] }),
        places,
        `field ${asked}`,
      );
    for (const field of ['first_name', 'custom.cité', 'custom.cite\u0301']) {
      const conditions = [{ field, operator: 'contains', values: [asked] }];
      const body = { name: newId(), match: 'all', conditions };
      const { id } = (await call(world, 'POST', '/v1/segments', { token, body })).body;
      const ids = await segmentContactIds(reader(world.system(tenant.organizationId)), id, { limit: 10 });
      t.is(ids.length, places.length, `${field} ${asked}`);
    }
  }
});

test('a day or a moment that does not exist is refused', async (t) => {
  const { apiKey: token } = await world.tenant();
  const created = (value: string) =>
    call(world, 'POST', '/v1/segments', {
      token,
      body: { name: newId(), match: 'all', conditions: [{ field: 'created_at', operator: 'before', values: [value] }] },
    });
  const none = ['2026-02-30', '2026-02-31', '2026-04-31T00:00:00Z', '2025-02-29', '2026-11-28T24:00:00Z'];
  for (const value of [...none, '2026-13-01', '2026-11-28 10:00', '2026-11-28T10:00:00'])
    assertStatus(t, await created(value), 400);
  for (const value of ['2026-11-28', '2024-02-29', '2026-11-28T00:00:00+05:45'])
    assertStatus(t, await created(value), 201);
});
