import test from 'ava';
import { openCatalogue } from '../../../db/catalogue/reader.ts';
import { catalogueIdOf, createTestCatalogue, type TestCatalogue } from '../../../test/harness/catalogue.ts';
import { createContact, createMember, type Tenant } from '../../../test/harness/factories.ts';
import { freePort } from '../../../local/servers.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';

let catalogue: TestCatalogue;
let world: World;
let bare: World;

const ACME = catalogueIdOf('c', 1);
const BOLT = catalogueIdOf('c', 2);
const ANA = catalogueIdOf('p', 1);
const BO = catalogueIdOf('p', 2);
const CY = catalogueIdOf('p', 3);
const DEE = catalogueIdOf('p', 4);

const RECORDS = [
  {
    type: 'company',
    id: ACME,
    name: 'Acme  Robotics',
    domain: 'www.Acme.example',
    industries: ['Software', 'robots'],
    technologies: 'PostgreSQL; react',
    employees: 120,
    country: 'Germany',
    state: 'Bavaria',
    city: 'Munich',
    founded_year: 1999,
    updated_at: '2024-03-01',
  },
  { type: 'company', id: BOLT, name: 'Bolt', domain: 'bolt.example', country: 'France' },
  {
    id: ANA,
    first_name: 'Ana',
    last_name: 'Ortiz',
    email: 'Ana@acme.example',
    email_status: 'verified',
    title: 'VP of Sales',
    seniority: 'VP',
    department: 'Sales',
    country: 'Germany',
    state: 'Bavaria',
    city: 'Munich',
    company_id: ACME,
    updated_at: '2024-03-01',
  },
  {
    id: BO,
    first_name: 'Bo',
    last_name: 'Lee',
    email: 'bo@bolt.example',
    title: 'Engineer',
    country: 'France',
    company_id: BOLT,
  },
  { id: CY, first_name: 'Cy', last_name: 'Ortiz', email: '', seniority: 'vp', country: 'germany', company_id: ACME },
  { id: DEE, first_name: 'Dee', last_name: 'Two', email: 'ana@acme.example', country: 'Austria' },
  { id: catalogueIdOf('p', 5), first_name: 'Eve', last_name: 'Half', email: 'eve at acme', country: 'Spain' },
];

test.before(async () => {
  catalogue = await createTestCatalogue();
  await catalogue.load(RECORDS);
  [world, bare] = await Promise.all([createWorld({ catalogue: catalogue.reader }), createWorld()]);
});
test.after.always(async () => {
  await world?.close();
  await bare?.close();
  await catalogue?.drop();
});

const ask = (who: Tenant, list: 'people' | 'companies', body: object): Promise<Answer> =>
  call(world, 'POST', `/v1/b2b-database/${list}`, { token: who.apiKey, body });
const take = (who: Tenant, ids: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  call(world, 'POST', '/v1/b2b-database/import', { token: who.apiKey, body: { person_ids: ids }, headers });
const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);

test('the metadata counts the whole catalogue, and is kept for an hour', async (t) => {
  const tenant = await world.tenant();
  const { status, body } = await call(world, 'GET', '/v1/b2b-database/metadata', { token: tenant.apiKey });
  t.is(status, 200);
  t.is(body.people, 5);
  t.is(body.companies, 2);
  t.deepEqual([body.source, body.source_period], ['Acme Data', '2024']);
  t.deepEqual(body.countries[0], { key: 'germany', count: 2 });
  t.deepEqual(
    body.seniorities.find(({ key }: { key: string }) => key === 'vp'),
    { key: 'vp', count: 2 },
  );
});

test('people come by country, seniority and id, with their company, a page at a time', async (t) => {
  const tenant = await world.tenant();
  const all = await ask(tenant, 'people', {});
  assertStatus(t, all, 200);
  t.deepEqual(idsOf(all), [DEE, BO, ANA, CY, catalogueIdOf('p', 5)]);
  const ana = all.body.data[2];
  t.is(ana.email, 'ana@acme.example');
  t.is(ana.source_updated_at, '2024-03-01T00:00:00.000Z');
  t.like(ana.company, { id: ACME, name: 'Acme Robotics', domain: 'acme.example', employees: 120, founded_year: 1999 });
  t.deepEqual(ana.company.technologies, ['postgresql', 'react']);
  t.is(all.body.data[0].company, null);
  t.is(all.body.data[1].company.employees, null);

  const pages: string[] = [];
  let cursor: string | undefined;
  do {
    const page: Answer = await ask(tenant, 'people', { limit: 2, ...(cursor ? { cursor } : {}) });
    pages.push(...idsOf(page));
    cursor = page.body.pagination.next_cursor ?? undefined;
  } while (cursor);
  t.deepEqual(pages, idsOf(all));
});

test('companies come by country, employees and id', async (t) => {
  const tenant = await world.tenant();
  const all = await ask(tenant, 'companies', {});
  t.deepEqual(idsOf(all), [BOLT, ACME], all.text);
  t.deepEqual(idsOf(await ask(tenant, 'companies', { q: 'ACME.ex' })), [ACME]);
  t.deepEqual(idsOf(await ask(tenant, 'companies', { q: 'robot' })), [ACME]);
  t.deepEqual(idsOf(await ask(tenant, 'companies', { min_employees: 0 })), [ACME], 'unknown sizes are in no range');
});

test('every filter, alone', async (t) => {
  const tenant = await world.tenant();
  for (const [filters, found] of [
    [{ q: ' oRTiz ' }, [ANA, CY]],
    [{ q: 'ANA@acme.example' }, [DEE, ANA]],
    [{ q: 'ana@acme' }, []],
    [{ q: '100%' }, []],
    [{ country: 'GERMANY' }, [ANA, CY]],
    [{ country: 'german' }, []],
    [{ state: 'bavaria' }, [ANA]],
    [{ city: 'MUNICH' }, [ANA]],
    [{ domain: 'WWW.acme.example' }, [ANA, CY]],
    [{ domain: 'acme' }, []],
    [{ industry: 'Software' }, [ANA, CY]],
    [{ technology: 'react' }, [ANA, CY]],
    [{ technology: 'reac' }, []],
    [{ min_employees: 120 }, [ANA, CY]],
    [{ min_employees: 121 }, []],
    [{ max_employees: 120 }, [ANA, CY]],
    [{ max_employees: 119 }, []],
    [{ company_id: BOLT }, [BO]],
    [{ title: 'sales' }, [ANA]],
    [{ seniority: 'vp' }, [ANA, CY]],
    [{ department: 'sales' }, [ANA]],
    [{ email: 'present' }, [DEE, BO, ANA, catalogueIdOf('p', 5)]],
    [{ email: 'missing' }, [CY]],
    [{ email: 'valid' }, [DEE, BO, ANA]],
    [{ seniority: 'vp', email: 'missing', technology: 'react' }, [CY]],
    [{ q: '', country: '  ' }, [DEE, BO, ANA, CY, catalogueIdOf('p', 5)]],
  ] as const)
    t.deepEqual(idsOf(await ask(tenant, 'people', filters)), [...found], JSON.stringify(filters));
});

test('a bad search is refused with the code of its first fault, and every fault is named', async (t) => {
  const tenant = await world.tenant();
  for (const [list, body, code] of [
    ['people', { limit: 0 }, 'invalid_limit'],
    ['people', { limit: 101 }, 'invalid_limit'],
    ['people', { cursor: 'nonsense' }, 'invalid_cursor'],
    ['companies', { title: 'engineer' }, 'invalid_b2b_filter'],
    ['companies', { seniority: 'vp' }, 'invalid_b2b_filter'],
    ['companies', { department: 'sales' }, 'invalid_b2b_filter'],
    ['companies', { email: 'valid' }, 'invalid_b2b_filter'],
    ['people', { email: 'maybe' }, 'invalid_b2b_filter'],
    ['people', { company_id: 'ABC' }, 'invalid_b2b_filter'],
    ['people', { q: 'é'.repeat(101) }, 'invalid_b2b_filter'],
    ['people', { min_employees: -1 }, 'invalid_b2b_filter'],
    ['people', { min_employees: 2, max_employees: 1 }, 'invalid_b2b_filter'],
  ] as const) {
    const { status, body: answer } = await ask(tenant, list, body);
    t.is(status, 400, JSON.stringify(body));
    t.is(answer.code, code, JSON.stringify(body));
  }
  const { body } = await ask(tenant, 'people', { company_id: 'X', min_employees: 5, max_employees: 1, cursor: 'x' });
  t.deepEqual(body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.company_id',
    'body.cursor',
    'body.max_employees',
  ]);
});

test('a cursor is bound to its search', async (t) => {
  const tenant = await world.tenant();
  const { body } = await ask(tenant, 'people', { limit: 1 });
  const cursor = body.pagination.next_cursor;
  t.is((await ask(tenant, 'people', { limit: 1, cursor, q: '' })).status, 200, 'an empty filter is none');
  t.is((await ask(tenant, 'people', { limit: 1, cursor, q: 'ortiz' })).body.code, 'invalid_cursor');
  t.is((await ask(tenant, 'companies', { limit: 1, cursor })).body.code, 'invalid_cursor');
});

test('an import makes contacts, once per address, keeps what the source says, and has them verified', async (t) => {
  const tenant = await world.tenant();
  const first = await take(tenant, [ANA, BO, DEE]);
  assertStatus(t, first, 200);
  t.is(first.body.count, 2, 'two people of one address are one contact');
  t.deepEqual(first.body.existing_ids, []);
  const [ana] = first.body.data;
  t.like(ana, {
    email: 'ana@acme.example',
    first_name: 'Ana',
    company: 'Acme Robotics',
    campaigns: [],
    verification_status: 'unknown',
  });
  t.like(ana.custom_fields, {
    source_email_status: 'verified',
    job_title: 'VP of Sales',
    company_domain: 'acme.example',
  });
  t.is(first.body.data[1].custom_fields.source_email_status, 'unknown');
  const scheduled = await world.deps.db('contact_verifications').where({ organization_id: tenant.organizationId });
  t.is(scheduled.length, 2);

  const again = await take(tenant, [ANA]);
  t.deepEqual(again.body.existing_ids, [ana.id]);
  t.is((await world.deps.db('contacts').where({ organization_id: tenant.organizationId })).length, 2);
});

test('a known contact keeps what it has and gets what it lacks; a suppressed one is told and stays unsubscribed', async (t) => {
  const tenant = await world.tenant();
  const key = { token: tenant.apiKey };
  await call(world, 'POST', '/v1/contacts', {
    ...key,
    body: [{ email: 'ana@acme.example', first_name: 'Anita', custom_fields: { job_title: 'Chief' } }],
  });
  await call(world, 'POST', '/v1/suppressions', {
    ...key,
    body: { reason: 'asked', entries: [{ value: 'bo@bolt.example' }] },
  });
  const { body } = await take(tenant, [ANA, BO]);
  t.like(body.data[0], { first_name: 'Anita', last_name: 'Ortiz', company: 'Acme Robotics', subscribed: true });
  t.is(body.data[0].custom_fields.job_title, 'Chief');
  t.is(body.data[0].custom_fields.source_email_status, 'verified');
  t.deepEqual(body.suppressed_ids, [body.data[1].id]);
  t.false(body.data[1].subscribed);
});

test('every id is checked, and nothing is imported when one fails', async (t) => {
  const tenant = await world.tenant();
  const unknown = catalogueIdOf('p', 99);
  for (const [ids, code, paths] of [
    [[ANA, unknown], 'invalid_selection', ['body.person_ids.1']],
    [[ANA, ANA], 'invalid_selection', ['body.person_ids.1']],
    [['no id', ANA, ACME], 'invalid_selection', ['body.person_ids.0']],
    [[ACME], 'invalid_selection', ['body.person_ids.0']],
    [[], 'invalid_selection', ['body.person_ids']],
    [Array.from({ length: 101 }, (_, index) => catalogueIdOf('p', index)), 'invalid_selection', ['body.person_ids']],
    [[ANA, CY, catalogueIdOf('p', 5)], 'b2b_email_required', ['body.person_ids.1', 'body.person_ids.2']],
  ] as const) {
    const { status, body } = await take(tenant, ids);
    t.is(status, 400);
    t.is(body.code, code, JSON.stringify(body));
    t.deepEqual(
      body.problems.map(({ path }: { path: string }) => path),
      [...paths],
    );
  }
  await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, {
    email: 'ana@acme.example',
    custom_fields: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, 'x'])),
  });
  const full = await take(tenant, [BO, ANA]);
  t.deepEqual(
    [full.status, full.body.code, full.body.problems[0].path],
    [400, 'invalid_selection', 'body.person_ids.1'],
  );
  t.is((await world.deps.db('contacts').where({ organization_id: tenant.organizationId })).length, 1);
});

test('an Idempotency-Key repeats the answer of an import', async (t) => {
  const tenant = await world.tenant();
  const headers = { 'idempotency-key': 'once' };
  const first = await take(tenant, [ANA], headers);
  const second = await take(tenant, [ANA], headers);
  t.is(second.text, first.text);
  assertStatus(t, await take(tenant, [BO], headers), 409);
});

test('a person who may only look cannot import', async (t) => {
  const tenant = await world.tenant();
  const { sessionToken } = await createMember(world.deps, tenant, 'Viewer');
  const read = await call(world, 'POST', '/v1/b2b-database/people', { token: sessionToken, body: {} });
  assertStatus(t, read, 200);
  const { status } = await call(world, 'POST', '/v1/b2b-database/import', {
    token: sessionToken,
    body: { person_ids: [ANA] },
  });
  t.is(status, 403);
});

test('without a catalogue, and with one that gives no answer', async (t) => {
  const tenant = await bare.tenant();
  const options = { token: tenant.apiKey, body: {} };
  const without = await call(bare, 'POST', '/v1/b2b-database/people', options);
  t.deepEqual([without.status, without.body.code], [503, 'b2b_unavailable']);
  const nobody = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
  for (const [reader, code] of [
    [openCatalogue({ url: nobody }), 'b2b_query_failed'],
    [openCatalogue({ url: world.databaseUrl }), 'b2b_unavailable'],
    [openCatalogue({ url: catalogue.url, maxAnswerBytes: 500 }), 'b2b_query_failed'],
    [openCatalogue({ url: catalogue.url, deadlineMs: 0 }), 'b2b_query_failed'],
  ] as const) {
    bare.deps.catalogue = reader;
    const { status, body } = await call(bare, 'POST', '/v1/b2b-database/people', options);
    t.deepEqual([status, body.code], [503, code]);
    await reader.close();
  }
});
