import test from 'ava';
import fc from 'fast-check';
import { encodeCursor } from '../../../lib/cursor.ts';
import { newId } from '../../../lib/ids.ts';
import { createContact, createLabel } from '../../../test/harness/factories.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import type { ContactFilters } from '../../directory/contact-filters.ts';
import { CONTACT_VIEW } from '../../directory/contact-view.ts';
import { listContacts, searchContacts } from './search.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

interface Person {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  company: string;
  custom_fields: Record<string, string>;
  subscribed: boolean;
  created_at: Date;
  campaigns: string[];
  categories: string[];
}

const DAY = (n: number) => new Date(Date.UTC(2026, 0, 1 + n));
/** Alphabetic characters and characters with a special meaning in LIKE or SQL. */
const unit = fc.constantFrom('a', 'B', 'c', '%', '_', '\\', "'", '"', ' ', '.', ':org');
const text = fc.string({ unit, maxLength: 3 });
const CAMPAIGNS = [newId(), newId(), newId()];
const CATEGORIES = [newId(), newId()];

const person = fc.record({
  first_name: text,
  last_name: text,
  company: text,
  plan: fc.option(text, { nil: undefined }),
  subscribed: fc.boolean(),
  day: fc.nat({ max: 4 }),
  campaigns: fc.subarray(CAMPAIGNS),
  categories: fc.subarray(CATEGORIES),
});

const everyFilter: fc.Arbitrary<
  Required<
    Omit<
      ContactFilters,
      | 'lead_status'
      | 'engagement'
      | 'updated_after'
      | 'updated_before'
      | 'verification_status'
      | 'verification_provider'
    >
  >
> = fc.record({
  query: text,
  custom_field_filters: fc.array(
    fc.record({
      name: fc.constantFrom('plan', "o'dd"),
      value: text,
      type: fc.constantFrom('equal', 'starts_with', 'ends_with', 'contains') as fc.Arbitrary<'equal'>,
    }),
    { maxLength: 2 },
  ),
  campaign_ids: fc.subarray([...CAMPAIGNS, 'no-id'], { maxLength: 2 }),
  category_ids: fc.subarray(CATEGORIES),
  min_campaigns: fc.nat({ max: 3 }),
  max_campaigns: fc.nat({ max: 3 }),
  subscribed: fc.boolean(),
  created_after: fc.nat({ max: 4 }).map(DAY),
  created_before: fc.nat({ max: 5 }).map(DAY),
});
/** Draws few filters per case, because all of them together would match no contact. */
const filters: fc.Arbitrary<ContactFilters> = fc
  .tuple(
    everyFilter,
    fc.subarray(
      [
        'query',
        'custom_field_filters',
        'campaign_ids',
        'category_ids',
        'min_campaigns',
        'max_campaigns',
        'subscribed',
        'created_after',
        'created_before',
      ],
      { maxLength: 3 },
    ),
  )
  .map(([all, keys]) => Object.fromEntries(Object.entries(all).filter(([key]) => keys.includes(key))));

const low = (value: string) => value.toLowerCase();

/** Reference implementation of the filters, written as simply as possible. */
function matches(who: Person, f: ContactFilters): boolean {
  const query = low((f.query ?? '').trim());
  const haystack = low(`${who.email} ${who.first_name} ${who.last_name} ${who.company}`);
  const custom = (f.custom_field_filters ?? []).every(({ name, value, type }) => {
    const has = who.custom_fields[name];
    if (has === undefined) return false;
    const [a, b] = [low(has), low(value.trim())];
    return { equal: a === b, starts_with: a.startsWith(b), ends_with: a.endsWith(b), contains: a.includes(b) }[type];
  });
  return (
    haystack.includes(query) &&
    custom &&
    (f.campaign_ids ?? []).every((id) => who.campaigns.includes(id)) &&
    (f.category_ids ?? []).every((id) => who.categories.includes(id)) &&
    who.campaigns.length >= (f.min_campaigns ?? 0) &&
    who.campaigns.length <= (f.max_campaigns ?? Infinity) &&
    (f.subscribed === undefined || who.subscribed === f.subscribed) &&
    (!f.created_after || who.created_at >= f.created_after) &&
    (!f.created_before || who.created_at < f.created_before)
  );
}

test.serial('search finds exactly whom a plain reading of the filters finds', async (t) => {
  const { organizationId } = await world.tenant();
  const { organizationId: elsewhere } = await world.tenant('Other');
  const { db } = world.deps;
  const now = world.deps.clock.now();
  for (const id of CAMPAIGNS)
    await db('campaigns').insert({ id, organization_id: organizationId, name: 'c', created_at: now, updated_at: now });
  for (const id of CATEGORIES) await createLabel(world.deps, organizationId, 'category', 'x', id);
  const people: Person[] = [];
  for (const [index, sample] of fc.sample(person, { numRuns: 60, seed: 7 }).entries()) {
    const { plan, day, campaigns, categories, ...fields } = sample;
    const row = {
      ...fields,
      email: `p${index}@example.com`,
      created_at: DAY(day),
      custom_fields: plan === undefined ? {} : { plan },
    };
    const id = await createContact(db, now, organizationId, row);
    await createContact(db, now, elsewhere, row);
    for (const campaign of campaigns)
      await db('enrollments').insert({
        id: newId(),
        organization_id: organizationId,
        campaign_id: campaign,
        contact_id: id,
        entered_at: now,
      });
    for (const category of categories)
      await db('contact_categories').insert({ organization_id: organizationId, contact_id: id, label_id: category });
    people.push({ id, ...row, custom_fields: row.custom_fields as Record<string, string>, campaigns, categories });
  }
  const ctx = world.system(organizationId);
  let found = 0;
  await fc.assert(
    fc.asyncProperty(filters, async (f) => {
      const { rows } = await searchContacts(ctx, { limit: 100 }, f);
      const expected = people.filter((who) => matches(who, f)).map((who) => who.id);
      t.deepEqual(rows.map((row) => row.id).sort(), expected.sort());
      found += rows.length;
    }),
    { numRuns: 300 },
  );
  t.true(found > 3000, `the filters found ${found} in all: too few to mean anything`);
});

test.serial('list and search read pages by index, however deep', async (t) => {
  const { organizationId } = await world.tenant();
  const { db } = world.deps;
  await db.raw(
    `insert into contacts (id, organization_id, email, first_name, created_at, updated_at)
     select gen_random_uuid(), ?, 'p' || i || '@example.com', 'F' || i, timestamptz '2026-01-01' + i * interval '1 second', now() from generate_series(1, 20000) i`,
    [organizationId],
  );
  await db.raw('analyze contacts');
  const seen: { sql: string; bindings: readonly unknown[] }[] = [];
  const watch = (query: { sql: string; bindings: unknown[] }) => {
    if (query.sql.includes('from contacts c')) seen.push({ sql: query.sql, bindings: query.bindings });
  };
  db.on('query', watch);
  const ctx = world.system(organizationId);
  const first = await listContacts(ctx, { limit: 50 });
  t.is(first.rows.length, 50);
  const [deep] = (
    await db.raw('select id from contacts where organization_id = ? order by id limit 1 offset 60', [organizationId])
  ).rows;
  const last = await listContacts(ctx, { limit: 50, cursor: encodeCursor('contacts.list', [null, null], [deep.id]) });
  t.is(last.rows.length, 50);
  for (const sort_by of ['created_at', 'updated_at', 'email']) {
    const page = await searchContacts(ctx, { limit: 50 }, { sort_by });
    await searchContacts(ctx, { limit: 50, cursor: page.nextCursor! }, { sort_by });
  }
  db.removeListener('query', watch);
  t.is(seen.length, 8);
  for (const { sql, bindings } of seen) {
    const plan = (await db.raw(`explain (analyze, format json) ${sql.replace(/\$\d+/g, '?')}`, bindings as never))
      .rows[0]['QUERY PLAN'][0].Plan;
    const scans: { node: string; rows: number }[] = [];
    const walk = (node: any) => {
      if (node['Relation Name'] === 'contacts')
        scans.push({ node: node['Node Type'], rows: node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) });
      for (const child of node.Plans ?? []) walk(child);
    };
    walk(plan);
    t.true(
      scans.length > 0 && scans.every(({ node, rows }) => node.startsWith('Index') && rows <= 150),
      `${JSON.stringify(scans)}\n${sql.replace(CONTACT_VIEW, '…')}`,
    );
  }
});
