import { readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { newId } from '../../lib/ids.ts';
import { createContact, createCampaign, createMailbox, type Tenant } from '../harness/factories.ts';
import { createLead, createMondayWorld } from '../harness/lead.ts';
import { createSentLead } from '../harness/standing-leads.ts';
import { assertStatus, call, type Answer } from '../harness/world.ts';

/* Plays the situations of test/cases/data that have no test elsewhere. */

const stage = await createMondayWorld(test);
const { world, clock } = stage;
const [, ...rows] = readFileSync(new URL('../cases/data/expected.tsv', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
const titles = new Set(readFileSync(new URL('../titles.txt', import.meta.url), 'utf8').split('\n'));

type Api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
type Play = (t: ExecutionContext, api: Api, tenant: Tenant) => Promise<void>;

/** Returns a case for a condition that means "is not": contacts with and without a value. */
const negation =
  (column: string): Play =>
  async (t, api, { organizationId }) => {
    const field = column === 'company_domain' ? 'company_domain' : column;
    for (const [name, value] of [
      ['with', 'CEO'],
      ['other', 'Intern'],
      ['without', null],
    ] as const)
      await createContact(world.deps.db, clock.now(), organizationId, {
        email: `${name}@gmail.com`,
        custom_fields: value === null ? {} : { [field]: value },
      });
    for (const operator of ['not_equal', 'not_in']) {
      const found = await api('POST', '/lead-database/people', {
        conditions: [{ field: column, operator, values: ['CEO'] }],
      });
      t.deepEqual(
        found.body.data.map(({ email }: { email: string }) => email).sort(),
        ['other@gmail.com', 'without@gmail.com'],
        operator,
      );
    }
    const without = await api('POST', '/lead-database/people', {
      conditions: [{ field: column, operator: 'not_exists', values: [] }],
    });
    t.deepEqual(
      without.body.data.map(({ email }: { email: string }) => email),
      ['without@gmail.com'],
    );
  };

const IMPOSSIBLE = ['2026-02-30', '2026-04-31T00:00:00Z', '2025-02-29', '2026-11-28T24:00:00Z'];

const PLAYED: Readonly<Record<string, Play>> = {
  '27-negation-company_domain.json': negation('company_domain'),
  '27-negation-department.json': negation('department'),
  '27-negation-job_title.json': negation('job_title'),
  '27-negation-seniority.json': negation('seniority'),

  async '33-empty-conditions.json'(t, api) {
    const everybody = await api('POST', '/segments', { name: 'Everybody', match: 'any', conditions: [] });
    assertStatus(t, everybody, 201);
    const conditions = [{ field: 'company', operator: 'in', values: [] }];
    assertStatus(t, await api('POST', '/segments', { name: 'Nobody', match: 'all', conditions }), 400);
  },

  async '34-email-case.json'(t, api) {
    const made = await api('POST', '/contacts', [
      { email: 'Mixed.Case@EXAMPLE.com' },
      { email: 'mixed.case@example.com' },
    ]);
    t.is(made.body.length, 1);
    const found = await api('GET', '/contacts/lookup?email=MIXED.case%40Example.com');
    t.is(found.body.contact.id, made.body[0].id);
  },

  async '35-impossible-dates.json'(t, api, tenant) {
    const { campaignId } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'S' }], {
      status: 'draft',
    });
    const pipeline = (
      await api('POST', '/crm/pipelines', { name: 'Sales', stages: [{ name: 'New', color: '#112233' }] })
    ).body;
    const deal = { name: 'D', pipeline_id: pipeline.id, stage_id: pipeline.stages[0].id };
    for (const at of IMPOSSIBLE) {
      const asked: Record<string, Answer> = {
        event: await api('POST', '/events', { name: 'a.b', email: 'a@example.com', occurred_at: at }, key()),
        deal: await api('POST', '/crm/deals', { ...deal, expected_close_date: at }),
        task: await api('POST', '/crm/tasks', { title: 'T', due_date: at }),
        'end of a campaign': await api('PATCH', `/campaigns/${campaignId}`, { end_date: at }),
        key: await api('POST', '/api-keys', { name: 'K', permissions: 1, expires_at: at }),
        segment: await api('POST', '/segments', {
          name: 'S',
          match: 'all',
          conditions: [{ field: 'created_at', operator: 'before', values: [at] }],
        }),
        estimate: await api('POST', '/campaigns-estimate', { segment_ids: [], start_date: at }),
        meetings: await api('GET', `/meetings?from=${encodeURIComponent(at)}`),
        'audit log': await api('GET', `/audit-logs?start_date=${encodeURIComponent(at)}`),
      };
      for (const [name, answer] of Object.entries(asked)) t.is(answer.status, 400, `${name} ${at}: ${answer.text}`);
    }
  },

  async '40-idempotency.json'(t, api) {
    const headers = key();
    const body = { name: 'Once', match: 'all', conditions: [] };
    const eight = await Promise.all(Array.from({ length: 8 }, () => api('POST', '/segments', body, headers)));
    t.is(new Set(eight.map((answer) => answer.body.id)).size, 1);
    t.deepEqual([...new Set(eight.map(({ status }) => status))], [201]);
    assertStatus(t, await api('POST', '/segments', { ...body, name: 'Other' }, headers), 409);
    const other = await world.tenant();
    const elsewhere = await call(world, 'POST', '/v1/segments', { token: other.apiKey, body, headers });
    assertStatus(t, elsewhere, 201);
    const failed = key();
    assertStatus(t, await api('POST', '/segments', { name: '' }, failed), 400);
    assertStatus(t, await api('POST', '/segments', body, failed), 201);
    assertStatus(t, await api('POST', '/segments', body, { 'idempotency-key': 'k'.repeat(9_000) }), 400);
  },

  async '42-parameters.json'(t, api) {
    for (const path of [
      '/campaigns?status=draft,paused',
      '/campaigns?status=DRAFT',
      '/crm/deals?status=open&status=won',
      '/webhooks/deliveries?status=delivered,failed',
      '/events?name=a.b&name=c.d',
      '/suppressions?limit=201',
      '/analytics/campaigns/compare?ids=',
      '/crm/deals?pipeline_id=x',
      '/crm/tasks?assigned_to=x',
    ])
      assertStatus(t, await api('GET', path), 400);
  },

  async '43-names.json'(t, api) {
    for (const name of [
      '\u202egnp.exe',
      'a\u200bb',
      '👩‍👩‍👧‍👦',
      'مرحبا שלום',
      '<b>x</b>',
      '{{.Email}}',
      'NULL',
      'undefined',
      'ﷺ',
    ])
      for (const path of ['/segments', '/campaigns']) {
        const made = await api('POST', path, {
          name,
          ...(path === '/segments' ? { match: 'all', conditions: [] } : {}),
        });
        assertStatus(t, made, 201);
        t.is(made.body.name, name.normalize('NFC'));
      }
    for (const name of ['   ', '\u2003', '\n'])
      assertStatus(t, await api('POST', '/segments', { name, match: 'all', conditions: [] }), 400);
  },

  async '44-bodies.json'(t, api, { apiKey }) {
    const segment = JSON.stringify({ name: 'B', match: 'all', conditions: [] });
    const send = async (body: string | Uint8Array<ArrayBuffer>, type: string, more: Record<string, string> = {}) =>
      (
        await fetch(`${world.url}/v1/segments`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': type, ...more },
          body,
        })
      ).status;
    const refused = async (status: Promise<number>, what: string) => t.true([400, 415].includes(await status), what);
    t.true((await send(new Uint8Array(gzipSync(segment)), 'application/json', { 'content-encoding': 'gzip' })) < 500);
    await refused(send(new Uint8Array(Buffer.from(segment, 'utf16le')), 'application/json'), 'UTF-16');
    await refused(send('', 'application/json'), 'empty');
    await refused(send(segment, 'text/plain'), 'text');
    const { hostname, port } = new URL(world.url);
    await new Promise<void>((resolve) => {
      const socket = connectTcp({ host: hostname, port: Number(port) }, () => {
        socket.end(
          `POST /v1/segments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":`,
        );
      });
      socket
        .on('error', () => resolve())
        .on('close', () => resolve())
        .resume();
    });
    assertStatus(t, await api('GET', '/segments'), 200);
  },

  async '51-contact-deleted.json'(t, api) {
    const [contact] = (await api('POST', '/contacts', [{ email: 'gone@example.com' }])).body;
    const pipeline = (
      await api('POST', '/crm/pipelines', { name: 'Sales', stages: [{ name: 'New', color: '#112233' }] })
    ).body;
    const deal = await api('POST', '/crm/deals', {
      name: 'D',
      contact_id: contact.id,
      pipeline_id: pipeline.id,
      stage_id: pipeline.stages[0].id,
    });
    const task = await api('POST', '/crm/tasks', { title: 'T', contact_id: contact.id });
    assertStatus(t, deal, 201);
    assertStatus(t, task, 201);
    assertStatus(t, await api('POST', '/events', { name: 'a.b', email: contact.email }, key()), 202);
    assertStatus(t, await api('DELETE', `/contacts/${contact.id}`), 204);
    for (const [path, id] of [
      ['/crm/deals', deal.body.id],
      ['/crm/tasks', task.body.id],
    ]) {
      const kept = await api('GET', `${path}/${id}`);
      assertStatus(t, kept, 200);
      t.is(kept.body.contact_id, null);
    }
    t.deepEqual(await world.deps.db('product_events').where({ contact_id: contact.id }), []);
    const [again] = (await api('POST', '/contacts', [{ email: 'gone@example.com' }])).body;
    t.not(again.id, contact.id);
  },

  async '62-variants.json'(t) {
    const lead = await createLead(stage, [{ subject: 'Own', body_plain: 'b' }]);
    const api = apiOf({ ...lead.tenant, apiKey: lead.tenant.sessionToken });
    const at = `/campaigns/${lead.campaignId}`;
    const variant = await api('POST', `${at}/ab-variants`, {
      name: 'B',
      step_id: lead.stepIds[0],
      weight: 100,
      subject: 'Variant',
      body_plain: 'b',
    });
    assertStatus(t, variant, 201);
    const first = await lead.reserve();
    await lead.deliver(first);
    t.like(await lead.readSend(first), { subject: 'Variant', state: 'sent' });
    assertStatus(t, await api('DELETE', `${at}/ab-variants/${variant.body.id}`), 204);
    const kept = await lead.readSend(first);
    t.deepEqual([kept.state, kept.subject], ['sent', 'Variant']);
  },

  async '67-order.json'(t, api, { organizationId }) {
    const [contact] = (await api('POST', '/contacts', [{ email: 'o@example.com', first_name: 'v0' }])).body;
    for (const first_name of ['v1', 'v2', 'v3']) {
      clock.advance(1_000);
      assertStatus(t, await api('PATCH', `/contacts/${contact.id}`, { first_name }), 200);
    }
    const events = await world.deps
      .db('domain_events')
      .where({ organization_id: organizationId, type: 'contact.updated' })
      .orderBy('id');
    const seen = events.map(({ data }) => [data.updated_at as string, data.first_name as string]);
    t.deepEqual(
      seen.toSorted(([a], [b]) => (a! < b! ? -1 : 1)).map(([, name]) => name),
      ['v1', 'v2', 'v3'],
    );
    t.is(new Set(seen.map(([at]) => at)).size, 3);
  },

  async '91-emailed-by-deleted-campaign.json'(t, api, { organizationId: org }) {
    const mailbox = { id: await createMailbox(world.deps, org, 'm@s.example.com'), email: 'm@s.example.com' };
    const { campaignId, stepIds } = await createCampaign(world.deps, org, [{ subject: 'S' }], { status: 'paused' });
    const email = 'mailed@example.com';
    const lead = await createSentLead(world.deps, org, { campaignId, stepId: stepIds[0]!, mailbox, email });
    await createContact(world.deps.db, clock.now(), org, { email: 'never@example.com' });
    await world.deps.db('send_facts').insert({
      send_id: lead.sendId,
      organization_id: org,
      contact_id: lead.contactId,
      campaign_id: campaignId,
      sent_at: clock.now(),
    });
    const conditions = [{ field: 'emailed_by_campaign', operator: 'not_in', values: [campaignId] }];
    const segment = await api('POST', '/segments', { name: 'Not mailed', match: 'all', conditions });
    assertStatus(t, segment, 201);
    const people = async () =>
      (await api('POST', '/lead-database/people', { segment_id: segment.body.id })).body.data.map(
        ({ email }: { email: string }) => email,
      );
    t.deepEqual(await people(), ['never@example.com']);
    await api('DELETE', `/campaigns/${campaignId}`);
    t.deepEqual(await people(), ['never@example.com'], 'whoever it has mailed stays out');
  },

  async '115-plus.json'(t, api) {
    const [contact] = (await api('POST', '/contacts', [{ email: 'a+b@example.com' }])).body;
    assertStatus(t, await api('GET', '/contacts/lookup?email=a+b@example.com'), 400);
    assertStatus(t, await api('GET', '/events?email=a+b@example.com'), 400);
    t.is((await api('GET', '/contacts/lookup?email=a%2Bb@example.com')).body.contact.id, contact.id);
  },

  async '119-one-bad.json'(t, api) {
    const answer = await api('POST', '/contacts', [{ email: 'good@example.com' }, { email: 'bad' }]);
    assertStatus(t, answer, 400);
    t.deepEqual(
      answer.body.problems.map(({ path }: { path: string }) => path),
      ['body.1.email'],
    );
    t.is((await api('GET', '/contacts/lookup?email=good%40example.com')).body.contact ?? null, null);
  },

  async '129-paths.json'(t, api) {
    for (const [method, path, status] of [
      ['GET', '/contacts/', 200],
      ['GET', '//contacts', 404],
      ['GET', '/contacts/..%2fcampaigns', 404],
      ['GET', '/campaigns/aaaaaaaaaaaaaaaa', 404],
      ['DELETE', '/webhooks/00000000000000000', 404],
    ] as const)
      t.is((await api(method, path)).status, status, path);
    const malformed = await api('GET', '/contacts/%E0%A4%A');
    t.true([400, 404].includes(malformed.status));
  },
};

const key = () => ({ 'idempotency-key': newId() });

function apiOf({ apiKey: token }: Tenant): Api {
  return (method, path, body, headers = {}) => call(world, method, `/v1${path}`, { token, body, headers });
}

for (const row of rows) {
  const [input = '', , expected = '', shownBy = ''] = row.split('\t');

  test.serial(`${input}: ${expected}`, async (t) => {
    if (shownBy !== '') {
      t.true(titles.has(shownBy), `there is no test "${shownBy}"`);
      return;
    }
    const tenant = await world.tenant();
    await PLAYED[input]!(t, apiOf(tenant), tenant);
  });
}
