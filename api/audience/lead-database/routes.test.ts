import { request as httpRequest } from 'node:http';
import test from 'ava';
import { parse } from 'csv-parse/sync';
import { inSnapshot } from '../../../db/transaction.ts';
import { runImport } from '../../../domain/audience/imports/run.ts';
import { recordReply } from '../../../domain/sending/outcomes/reply.ts';
import { lockSubject } from '../../../domain/sending/outcomes/subject.ts';
import { recordSendUnsubscribe } from '../../../domain/sending/outcomes/effects.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { registerSubscribers } from '../../../domain/platform/events/register.ts';
import { updateFacts } from '../../../domain/reporting/aggregates/update-facts.ts';
import { newId } from '../../../lib/ids.ts';
import { announceSend } from '../../../test/harness/acquisition.ts';
import { rawDb } from '../../../test/harness/database.ts';
import {
  createCampaign,
  createContact,
  createLabel,
  createMailbox,
  enroll,
  type Tenant,
} from '../../../test/harness/factories.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { react } from '../../../test/harness/reactions.ts';
import { createSentLead } from '../../../test/harness/standing-leads.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { awaitStatement } from '../../../test/harness/statements.ts';

const clock = new ManualClock(new Date('2026-06-30T12:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, [updateFacts]);
});
test.after.always(() => world?.close());

const ask = (tenant: Tenant, what: string, body: object = {}) =>
  call(world, 'POST', `/v1/lead-database/${what}`, { token: tenant.apiKey, body });

/** Creates one person of every outreach status, through the records that the engine itself stores. */
async function scene() {
  const tenant = await world.tenant();
  const org = tenant.organizationId;
  const { deps } = world;
  const email = `ada-${newId()}@ours.test`;
  const mailbox = {
    id: await createMailbox(deps, org, email),
    email,
  };
  const { campaignId, stepIds } = await createCampaign(deps, org, [{ subject: 'Hello' }]);
  const contact = { custom_fields: { job_title: '=cmd()', department: 'Sales' }, company: 'Lead Ltd' };
  const send = async (name: string) => {
    const lead = await createSentLead(deps, org, {
      campaignId,
      stepId: stepIds[0]!,
      mailbox,
      email: `${name}@lead.test`,
      contact,
    });
    await announceSend(world, org, {
      id: lead.sendId,
      campaignId,
      stepId: stepIds[0]!,
      contactId: lead.contactId,
      email: lead.email,
      mailboxId: mailbox.id,
      at: clock.now(),
    });
    return lead;
  };
  await send('contacted');
  const [replied, positive, gone] = [await send('replied'), await send('positive'), await send('unsubscribed')];
  for (const [lead, intent] of [
    [replied, 'negative'],
    [positive, 'positive'],
  ] as const)
    await transact(world.system(org), async (tx) =>
      recordReply(tx, (await lockSubject(tx, lead.sendId))!, {
        intent,
        confidence: 1,
        unsubscribeRequest: false,
        source: 'reported',
        message: null,
      }),
    );
  await transact(world.system(org), (tx) =>
    recordSendUnsubscribe(tx, { sendId: gone.sendId, email: gone.email }, 'link'),
  );
  const enrolled = await createContact(deps.db, clock.now(), org, { email: 'enrolled@other.test' });
  await enroll(deps, org, campaignId, [enrolled]);
  await createContact(deps.db, clock.now(), org, { email: 'fresh@gmail.com' });
  await react(deps, [updateFacts]);
  return { tenant, campaignId };
}

test.serial('people, companies, coverage and facets follow what the engine records', async (t) => {
  const { tenant, campaignId } = await scene();
  const people = await ask(tenant, 'people', { sort: 'created' });
  assertStatus(t, people, 200);
  t.deepEqual(
    Object.fromEntries(
      people.body.data.map((row: { email: string; outreach_status: string }) => [
        row.email.split('@')[0],
        row.outreach_status,
      ]),
    ),
    Object.fromEntries(
      ['contacted', 'replied', 'positive', 'unsubscribed', 'enrolled', 'fresh'].map((name) => [name, name]),
    ),
  );
  t.like(people.body.pagination, { has_more: false, next_cursor: null });

  const emailed = await ask(tenant, 'people', {
    conditions: [{ field: 'emailed_by_campaign', operator: 'in', values: [campaignId] }],
    q: 'LEAD',
  });
  t.is(emailed.body.data.length, 4);
  t.like(emailed.body.data[0], { company_domain: 'lead.test', job_title: '=cmd()', department: 'sales', campaigns: 1 });

  const companies = await ask(tenant, 'companies');
  t.deepEqual(
    companies.body.data.map((row: { domain: string }) => row.domain),
    ['lead.test', 'other.test'],
    'a private address is of no company',
  );
  t.like(companies.body.data[0], {
    name: 'Lead Ltd',
    people: 4,
    contacted: 4,
    replied: 2,
    positive: 1,
    unsubscribed: 1,
  });

  const coverage = await ask(tenant, 'coverage');
  t.like(coverage.body, { total: 6, contacted: 4, contacted_90d: 4, enrolled: 1, fresh: 1, fresh_reachable: 1 });
  t.is(coverage.body.contacted_share, 4 / 6);
  clock.advance(91 * 24 * 3600_000);
  t.is((await ask(tenant, 'coverage')).body.contacted_90d, 0);
  t.is((await ask(tenant, 'coverage', { q: 'nothing like it' })).body.contacted_share, null);

  const facets = await ask(tenant, 'facets');
  t.deepEqual(facets.body.esp_provider, [{ key: 'unknown', count: 6 }]);
  t.deepEqual(facets.body.department, [
    { key: 'sales', count: 4 },
    { key: '', count: 2 },
  ]);
  const other = await world.tenant();
  t.is((await ask(other, 'coverage')).body.total, 0, 'nothing of another workspace');
});

test.serial('a segment narrows, an unknown one matches nothing, and the same language works in both', async (t) => {
  const { tenant } = await scene();
  const conditions = [{ field: 'outreach_status', operator: 'in', values: ['replied', 'positive'] }];
  const segment = await call(world, 'POST', '/v1/segments', {
    token: tenant.apiKey,
    body: { name: 'Warm', conditions },
  });
  assertStatus(t, segment, 201);
  t.is((await ask(tenant, 'coverage', { segment_id: segment.body.id })).body.total, 2);
  t.is((await ask(tenant, 'coverage', { conditions })).body.total, 2);
  for (const segment_id of [newId(), 'nonsense']) t.is((await ask(tenant, 'coverage', { segment_id })).body.total, 0);
  const foreign = await world.tenant();
  t.is((await ask(foreign, 'coverage', { segment_id: segment.body.id })).body.total, 0);
});

test.serial('bad input has its own codes, and every fault is named', async (t) => {
  const tenant = await world.tenant();
  const faulty = { field: 'shoe_size', operator: 'equal', values: ['1'] };
  for (const [body, code] of [
    [{ conditions: [faulty] }, 'invalid_lead_query'],
    [{ match: 'some' }, 'invalid_lead_query'],
    [{ q: 'x'.repeat(201) }, 'invalid_lead_query'],
    [{ conditions: 'all' }, 'invalid_lead_query'],
    [{ sort: 'age' }, 'invalid_sort'],
    [{ limit: 0 }, 'invalid_limit'],
    [{ limit: 201 }, 'invalid_limit'],
    [{ cursor: 'nonsense' }, 'invalid_cursor'],
    [{ cursor: 7 }, 'invalid_cursor'],
  ] as const) {
    const answer = await ask(tenant, 'people', body);
    assertStatus(t, answer, 400);
    t.is(answer.body.code, code, JSON.stringify(body));
  }
  const all = await ask(tenant, 'companies', { conditions: [faulty], sort: 'age', limit: 0, match: 'x' });
  t.deepEqual(all.body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.conditions.0.field',
    'body.limit',
    'body.match',
    'body.sort',
  ]);
  const page = await ask(tenant, 'people', { limit: 1 });
  t.is(page.body.pagination.next_cursor, null);
  const { tenant: full } = await scene();
  const { next_cursor: cursor } = (await ask(full, 'people', { limit: 1 })).body.pagination;
  assertStatus(t, await ask(full, 'people', { limit: 1, cursor }), 200);
  t.is((await ask(full, 'people', { limit: 1, cursor, q: 'lead' })).body.code, 'invalid_cursor');
  t.is((await ask(full, 'companies', { limit: 1, cursor })).body.code, 'invalid_cursor');
});

test.serial(
  'a question that would compare too many patterns is refused before it runs; a long list of names is not',
  async (t) => {
    const tenant = await world.tenant();
    const people = 1_001;
    await world.deps.db.raw(
      `insert into contacts (id, organization_id, email, company, created_at, updated_at)
     select gen_random_uuid(), ?, 'p' || n || '@big.test', n::text, now(), now() from generate_series(1, ?::int) n`,
      [tenant.organizationId, people],
    );
    const conditions = (operator: string) =>
      Array.from({ length: 50 }, (_, at) => ({
        field: 'company',
        operator,
        values: Array.from({ length: 400 }, (_value, n) => String(at * 400 + n)),
      }));
    for (const what of ['people', 'companies', 'coverage', 'facets', 'export']) {
      const refused = await ask(tenant, what, { match: 'any', conditions: conditions('contains') });
      assertStatus(t, refused, 400);
      t.like(refused.body, {
        code: 'invalid_lead_query',
        problems: [{ path: 'body.conditions', code: 'directory.too_many_patterns' }],
      });
      t.deepEqual(refused.body.problems[0].values, { patterns: 20_000, contacts: 1_000 });
    }
    const facets = await ask(tenant, 'facets', { match: 'any', conditions: conditions('in') });
    assertStatus(t, facets, 200);
    t.deepEqual(facets.body.outreach_status, [{ key: 'fresh', count: people }]);
    const fewer = await ask(tenant, 'people', { match: 'any', conditions: conditions('contains').slice(0, 5) });
    assertStatus(t, fewer, 200);
  },
);

test.serial('the export is CSV without formulas, says how many rows follow, and is audited', async (t) => {
  const { tenant } = await scene();
  const answer = await fetch(`${world.url}/v1/lead-database/export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ q: 'lead', sort: 'name' }),
  });
  t.is(answer.status, 200);
  t.regex(answer.headers.get('content-type')!, /^text\/csv/);
  t.is(answer.headers.get('x-total-rows'), '4');
  const rows = parse(await answer.text(), { columns: true }) as Record<string, string>[];
  t.is(rows.length, 4);
  t.true(rows.every((row) => row.job_title === "'=cmd()"));
  const [entry] = (await call(world, 'GET', '/v1/audit-logs?action=export', { token: tenant.apiKey })).body.data;
  t.is(entry.entity_type, 'contact');
  const { conditions, match, ...said } = entry.metadata;
  t.deepEqual([conditions, match], [[], 'all']);
  t.deepEqual(said, { rows: 4, sort: 'name', searched: true }, 'what was searched for is not kept');
});

test.serial('an export is read as UTF-8 by spreadsheets, and imports again without a loss', async (t) => {
  const { db } = world.deps;
  const from = await world.tenant();
  const contact = {
    email: 'zoe@xn--mller-kva.example',
    first_name: 'Zoë, "Q"\nline2',
    last_name: '👩‍👩‍👧',
    company: '=会社;x',
    phone: '+47 1',
    custom_fields: { title: 'Head of "Things"', 'odd key; with, signs': '-1', Straße: 'x' },
  };
  const id = await createContact(db, clock.now(), from.organizationId, contact);
  await createContact(db, clock.now(), from.organizationId, { email: 'out@example.com', subscribed: false });
  const label = await createLabel(world.deps, from.organizationId, 'category', 'Fair');
  await db('contact_categories').insert({ organization_id: from.organizationId, contact_id: id, label_id: label });
  const answer = await fetch(`${world.url}/v1/lead-database/export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${from.apiKey}`, 'content-type': 'application/json' },
    body: '{}',
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  t.is(bytes.subarray(0, 3).toString('hex'), 'efbbbf');

  const to = await world.tenant();
  await createLabel(world.deps, to.organizationId, 'category', 'Fair');
  const body = new FormData();
  body.append('file', new Blob([bytes]), 'people.csv');
  const started = await call(world, 'POST', '/v1/contacts/import', { token: to.apiKey, body });
  assertStatus(t, started, 202);
  await runImport(world.system(to.organizationId), started.body.id);
  const rows = await db('contacts').where({ organization_id: to.organizationId }).orderBy('email', 'desc');
  t.like(rows[0], { ...contact, subscribed: true });
  t.deepEqual(rows[0].custom_fields, contact.custom_fields);
  t.like(rows[1], { email: 'out@example.com', subscribed: false, custom_fields: {} });
  t.is((await db('contact_categories').where({ contact_id: rows[0].id })).length, 1);
});

test.serial('a client that goes away ends its export', async (t) => {
  const tenant = await world.tenant();
  await rawDb(world.deps.db).raw(
    `insert into contacts (id, organization_id, email, company, custom_fields, created_at, updated_at)
     select gen_random_uuid(), ?, 'p' || n || '@many.test', repeat('c', 200), jsonb_build_object('job_title', repeat('t', 200)), now(), now()
     from generate_series(1, 12000) n`,
    [tenant.organizationId],
  );
  const running = async () =>
    (
      await rawDb(world.deps.db).raw(
        `select 1 from pg_stat_activity where datname = current_database() and query like 'fetch % from batches' and state <> 'idle'`,
      )
    ).rows.length as number;
  await new Promise<void>((resolve, reject) => {
    const request = httpRequest(`${world.url}/v1/lead-database/export`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
    });
    request.on('error', reject);
    request.on('response', (answer) => {
      t.is(answer.headers['x-total-rows'], '12000');
      answer.once('data', () => {
        answer.pause();
        void eventually(async () => ((await running()) === 1 ? true : undefined))
          .then(() => void request.destroy())
          .then(resolve, reject);
      });
      answer.on('error', () => {});
    });
    request.end('{}');
  });
  await eventually(async () => ((await running()) === 0 ? true : undefined));
  t.is((await ask(tenant, 'export')).status, 200, 'the next export has its turn');
});

test.serial('a statement that runs is cancelled, and its connection serves the next', async (t) => {
  const end = new AbortController();
  const work = inSnapshot(world.deps.db, { signal: end.signal, statementMs: 90_000 }, async (trx) => {
    await rawDb(trx as never).raw('select pg_sleep(60)');
  });
  void awaitStatement(world.deps.db, 'select pg_sleep(60)').then(() => end.abort());
  t.like(await t.throwsAsync(work), { code: '57014' });
  await t.throwsAsync(
    inSnapshot(world.deps.db, { signal: AbortSignal.abort(), statementMs: 90_000 }, async () => {}),
    { any: true },
  );
  await t.notThrowsAsync(
    inSnapshot(world.deps.db, { signal: new AbortController().signal, statementMs: 90_000 }, async () => {}),
  );
});
