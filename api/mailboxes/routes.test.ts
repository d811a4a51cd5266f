import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { checkAuthentication } from '../../domain/mailboxes/auth-check.ts';
import { silentLogger } from '../../lib/log.ts';
import { newId } from '../../lib/ids.ts';
import { createWorkflowGateway } from '../../temporal/client.ts';
import { startEngine, type Engine } from '../../test/harness/engine.ts';
import { eventually } from '../../test/harness/eventually.ts';
import {
  createLabel,
  createApiKey,
  createCampaign,
  createContact,
  createMailbox,
  enroll,
  type Tenant,
} from '../../test/harness/factories.ts';
import { startMailWorld, type MailWorld } from '../../test/harness/mail.ts';
import { plainRun } from '../../test/harness/plain-history.ts';
import { createReservedSend } from '../../test/harness/inbound.ts';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';
import { assertNowhere } from '../../test/harness/secrets.ts';
import { externalText } from '../../domain/platform/external-text.ts';

let world: World;
let mail: MailWorld;
let engine: Engine;

test.before(async () => {
  world = await createWorld({ env: { WORKER_ROLES: 'temporal' } });
  mail = await startMailWorld();
  engine = await startEngine(world);
  await eventually(async () => (await world.deps.workflows.health()).workers > 0);
});
test.after.always(async () => {
  await engine?.stop();
  await mail?.stop();
  await world?.close();
});

let count = 0;

/** Creates a user of the test's mail server, and the request body that connects the mailbox. */
async function user(password = 'a right password') {
  const email = `sam${(count += 1)}@ours.test`;
  const box = await mail.addMailbox({ email, password });
  const service = (endpoint: { host: string; port: number }) => ({
    ...endpoint,
    username: email,
    password,
    security: 'none',
  });
  return {
    email,
    box,
    body: { provider: 'smtp_imap', email, name: 'Sam Sender', smtp: service(box.smtp), imap: service(box.imap) },
  };
}

const bare = (tenant: Tenant, email: string, fields: Record<string, unknown> = {}) =>
  createMailbox(
    world.deps,
    tenant.organizationId,
    email,
    { smtp: { host: '127.0.0.1', port: 1 }, imap: { host: '127.0.0.1', port: 1 } },
    fields,
  );
const events = async (tenant: Tenant) =>
  (await world.deps.db('domain_events').where({ organization_id: tenant.organizationId }).orderBy('id')).map(
    ({ type }) => type as string,
  );
const audits = async (tenant: Tenant) =>
  (
    await world.deps
      .db('audit_logs')
      .where({ organization_id: tenant.organizationId, entity_type: 'email_account' })
      .orderBy('id')
  ).map(({ action }) => action as string);

/** Returns every row of every table as text; bytes as hex. */
async function dump(): Promise<string> {
  const { rows } = await world.deps.db.raw(`select tablename from pg_tables where schemaname = 'public'`);
  const parts = await Promise.all(
    rows.map(async ({ tablename }: { tablename: string }) =>
      JSON.stringify((await world.deps.db.raw('select t::text from ?? t', [tablename])).rows),
    ),
  );
  return parts.join('\n');
}

/** Starts a server that breaks the mail protocol. Returns its port. */
async function stranger(t: ExecutionContext, greet: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    greet(socket);
  }).listen(0, '127.0.0.1');
  t.teardown(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Returns the decoded histories of all workflows of this world's worker. */
async function histories(): Promise<string> {
  const query = `TaskQueue = '${world.deps.config.TEMPORAL_TASK_QUEUE}'`;
  await eventually(async () => (await engine.temporal.workflow.count(query)).count > 0);
  const parts: string[] = [];
  for await (const run of engine.temporal.workflow.list({ query })) {
    parts.push(await plainRun(engine.temporal, run.workflowId, run.runId));
  }
  return parts.join('\n');
}

test.serial(
  'a mailbox is dialed, connected, read, changed and removed; its password is nowhere in the clear',
  async (t) => {
    const tenant = await world.tenant();
    const token = tenant.apiKey;
    const { email, body } = await user('correct horse 77');
    const created = await call(world, 'POST', '/v1/emails', {
      token,
      body: { ...body, email: email.toUpperCase(), campaign_limit: 20 },
      headers: { 'idempotency-key': 'k1' },
    });
    assertStatus(t, created, 201);
    t.like(created.body, {
      email,
      provider: 'smtp_imap',
      status: 'active',
      campaign_limit: 20,
      min_wait_time: 600,
      tags: [],
      hold: null,
    });
    t.like(created.body.imap, { username: email, security: 'none' });
    const { id } = created.body;

    const detail = await call(world, 'GET', `/v1/emails/${id}`, { token });
    t.deepEqual([detail.status, detail.body.campaigns, detail.body.recent_errors], [200, [], []]);
    const patched = await call(world, 'PATCH', `/v1/emails/${id}`, {
      token,
      body: { name: 'Sam S.', min_wait_time: 90, reply_to: 'Desk@ours.test' },
    });
    t.like(patched.body, { name: 'Sam S.', min_wait_time: 90, reply_to: 'desk@ours.test', campaign_limit: 20 });
    const tested = await call(world, 'POST', `/v1/emails/${id}/test`, { token });
    assertStatus(t, tested, 200);
    t.like(tested.body, {
      smtp: true,
      imap: true,
      auth: true,
      healthy: true,
      sending_status: 'active',
      daily_limit: 20,
      min_delay_seconds: 90,
    });
    t.false('error' in tested.body);

    t.is((await world.deps.db('mailbox_checks')).length, 0);
    assertNowhere(
      t,
      (await dump()) + [created, detail, patched, tested].map(({ text }) => text).join('') + (await histories()),
      ['correct horse 77'],
    );
    assertStatus(t, await call(world, 'DELETE', `/v1/emails/${id}`, { token }), 204);
    assertStatus(t, await call(world, 'GET', `/v1/emails/${id}`, { token }), 404);
    t.deepEqual(await events(tenant), ['email_account.connected', 'email_account.removed']);
    t.deepEqual(await audits(tenant), ['create', 'update', 'delete']);
  },
);

test.serial('a wrong password names side and stage, and nothing of it is left anywhere', async (t) => {
  const tenant = await world.tenant();
  const { body } = await user();
  const wrong = 'not-the-password-4711';
  const refused = await call(world, 'POST', '/v1/emails', {
    token: tenant.apiKey,
    headers: { 'idempotency-key': 'wrong' },
    body: { ...body, smtp: { ...body.smtp, password: wrong }, imap: { ...body.imap, password: wrong } },
  });
  t.like(refused, { status: 400, body: { code: 'mailbox_auth_failed' } });
  t.deepEqual(
    refused.body.problems.map(({ path }: { path: string }) => path),
    ['body.smtp.password', 'body.imap.password'],
  );
  t.is((await world.deps.db('mailboxes').where({ organization_id: tenant.organizationId })).length, 0);
  t.is((await world.deps.db('mailbox_checks')).length, 0);
  assertNowhere(t, (await dump()) + refused.text + (await histories()), [wrong]);
  t.deepEqual(await events(tenant), []);
});

test.serial(
  'each side is checked by itself: a closed port, a server that speaks something else, TLS that is not there',
  async (t) => {
    const tenant = await world.tenant();
    const { body } = await user();
    const closed = await call(world, 'POST', '/v1/emails', {
      token: tenant.apiKey,
      body: { ...body, imap: { ...body.imap, port: 1 } },
    });
    t.deepEqual(
      closed.body.problems.map(({ path }: { path: string }) => path),
      ['body.imap.host'],
    );
    const port = await stranger(t, (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const confused = await call(world, 'POST', '/v1/emails', {
      token: tenant.apiKey,
      body: { ...body, imap: { ...body.imap, port } },
    });
    t.deepEqual(
      confused.body.problems.map(({ path }: { path: string }) => path),
      ['body.imap.host'],
    );
    const plain = await call(world, 'POST', '/v1/emails', {
      token: tenant.apiKey,
      body: { ...body, smtp: { ...body.smtp, security: 'starttls' }, imap: { ...body.imap, security: 'starttls' } },
    });
    t.deepEqual(
      plain.body.problems.map(({ path }: { path: string }) => path),
      ['body.smtp.security', 'body.imap.security'],
    );
    t.is((await world.deps.db('mailboxes').where({ organization_id: tenant.organizationId })).length, 0);
  },
);

test.serial('a server without UIDVALIDITY is refused, and the problem names it', async (t) => {
  const tenant = await world.tenant();
  const { body, box } = await user();
  box.lacks.add('UIDVALIDITY');
  const answer = await call(world, 'POST', '/v1/emails', { token: tenant.apiKey, body });
  assertStatus(t, answer, 400);
  t.like(answer.body, { code: 'mailbox_auth_failed', problems: [{ path: 'body.imap.host' }] });
  t.regex(answer.body.problems[0].message, /no UIDVALIDITY/);
});

test.serial('a mailbox is connected to a server that lacks what reading can do without, and says so', async (t) => {
  const tenant = await world.tenant();
  const { body, box } = await user();
  for (const lack of ['UIDNEXT', 'SINCE'] as const) box.lacks.add(lack);
  const token = tenant.apiKey;
  const connected = await call(world, 'POST', '/v1/emails', { token, body });
  assertStatus(t, connected, 201);
  const { body: detail } = await call(world, 'GET', `/v1/emails/${connected.body.id}`, { token });
  t.like(detail.recent_errors, [{ error_code: 'imap_lacks', severity: 'warning' }] as never);
  t.regex(detail.recent_errors[0].message, /lacks UIDNEXT and SEARCH SINCE;/);
  box.lacks.add('UIDVALIDITY');
  const tested = await call(world, 'POST', `/v1/emails/${connected.body.id}/test`, { token });
  t.false(tested.body.imap);
  t.regex(tested.body.error.message, /no UIDVALIDITY/);
});

test.serial('a server that quotes the password back does not get it into the answer or a history', async (t) => {
  const tenant = await world.tenant();
  const { body } = await user();
  const port = await stranger(t, (socket) => {
    socket.write('* OK ready\r\n');
    socket.on('data', (data) => {
      const [tag, command] = data.toString().split(' ');
      if (/^capability/i.test(command ?? '')) socket.write(`* CAPABILITY IMAP4rev1\r\n${tag} OK done\r\n`);
      else socket.write(`${tag} NO cannot log in with ${data.toString().trim()}\r\n`);
    });
  });
  const password = 'parroted-secret-99';
  const answer = await call(world, 'POST', '/v1/emails', {
    token: tenant.apiKey,
    body: { ...body, imap: { ...body.imap, port, password } },
  });
  t.is(answer.body.code, 'mailbox_auth_failed');
  assertNowhere(t, answer.text + (await histories()), [password]);
});

test.serial(
  'the allowance ends at ten, also for connects at the same moment; a reconnect never counts and renews the credentials',
  async (t) => {
    const tenant = await world.tenant();
    const token = tenant.apiKey;
    for (let n = 0; n < 8; n += 1) await bare(tenant, `bare${n}@ours.test`);
    t.deepEqual((await call(world, 'GET', '/v1/emails/allowance', { token })).body, {
      remaining: 2,
      limit: 10,
      used: 8,
      pending_request: null,
    });
    const users = await Promise.all(Array.from({ length: 4 }, () => user()));
    const answers = await Promise.all(users.map(({ body }) => call(world, 'POST', '/v1/emails', { token, body })));
    t.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 403, 403]);
    t.true(
      answers.filter(({ status }) => status === 403).every(({ body }) => body.code === 'mailbox_allowance_reached'),
    );
    t.is((await call(world, 'GET', '/v1/emails/allowance', { token })).body.remaining, 0);

    const known = users[answers.findIndex(({ status }) => status === 201)]!;
    const { id } = answers.find(({ status }) => status === 201)!.body;
    known.box.setPassword('changed since');
    await world.deps
      .db('mailboxes')
      .where({ id })
      .update({ hold_code: 'auth_failed', hold_reason: externalText('refused'), status: 'inactive' });
    const again = await call(world, 'POST', '/v1/emails', {
      token,
      body: {
        ...known.body,
        smtp: { ...known.body.smtp, password: 'changed since' },
        imap: { ...known.body.imap, password: 'changed since' },
      },
    });
    assertStatus(t, again, 201);
    t.like(again.body, { id, status: 'active', hold: null });
    t.like((await call(world, 'POST', `/v1/emails/${id}/test`, { token })).body, { healthy: true });
    t.is((await world.deps.db('mailboxes').where({ id }).first()).credentials_version, 2);

    await world.deps.db('organizations').where({ id: tenant.organizationId }).update({ plan: 'paid' });
    t.deepEqual((await call(world, 'GET', '/v1/emails/allowance', { token })).body, {
      remaining: null,
      limit: null,
      used: 10,
      pending_request: null,
    });
  },
);

test.serial(
  'a live check of credentials that stopped working is 200, holds the mailbox, and lifts the hold when they work again',
  async (t) => {
    const tenant = await world.tenant();
    const token = tenant.apiKey;
    const { email, box } = await user();
    const id = await createMailbox(world.deps, tenant.organizationId, email, {
      smtp: box.smtp,
      imap: box.imap,
      password: 'a right password',
    });
    box.setPassword('changed');
    const failed = await call(world, 'POST', `/v1/emails/${id}/test`, { token });
    assertStatus(t, failed, 200);
    t.like(failed.body, {
      smtp: false,
      imap: false,
      auth: false,
      healthy: false,
      sending_status: 'held',
      error: { code: 'mailbox_auth_failed' },
    });
    t.deepEqual(failed.body.recent_errors.map(({ error_code }: { error_code: string }) => error_code).sort(), [
      'auth_failed',
      'imap_auth_failed',
    ]);
    await call(world, 'POST', `/v1/emails/${id}/test`, { token });
    t.deepEqual(await events(tenant), ['email_account.health_changed', 'email_account.error', 'email_account.error']);
    box.setPassword('a right password');
    t.like((await call(world, 'POST', `/v1/emails/${id}/test`, { token })).body, {
      healthy: true,
      sending_status: 'active',
    });
    t.is((await world.deps.db('mailbox_errors').where({ mailbox_id: id }).whereNull('resolved_at')).length, 0);

    await call(world, 'PATCH', `/v1/emails/${id}`, { token, body: { status: 'inactive' } });
    t.like((await call(world, 'POST', `/v1/emails/${id}/test`, { token })).body, {
      healthy: false,
      status: 'inactive',
      error: { code: 'mailbox_unhealthy' },
    });
  },
);

test.serial('without a worker a connect answers 503 at once and a live check says so', async (t) => {
  const lonely = await createWorld();
  t.teardown(() => lonely.close());
  lonely.deps.workflows = createWorkflowGateway(engine.temporal, lonely.deps.config, silentLogger, lonely.deps.db);
  const tenant = await lonely.tenant();
  const { body } = await user();
  t.like(await call(lonely, 'POST', '/v1/emails', { token: tenant.apiKey, body }), {
    status: 503,
    body: { code: 'mailbox_worker_unreachable' },
  });
  t.is((await lonely.deps.db('mailbox_checks')).length, 0);
  const id = await createMailbox(lonely.deps, tenant.organizationId, 'a@ours.test', {
    smtp: body.smtp,
    imap: body.imap,
  });
  t.like((await call(lonely, 'POST', `/v1/emails/${id}/test`, { token: tenant.apiKey })).body, {
    healthy: false,
    error: { code: 'mailbox_unhealthy' },
  });
});

test('new servers are dialed before they are stored', async (t) => {
  const tenant = await world.tenant();
  const token = tenant.apiKey;
  const { email, body, box } = await user();
  const id = await createMailbox(world.deps, tenant.organizationId, email, {
    smtp: box.smtp,
    imap: box.imap,
    password: 'a right password',
  });
  await world.deps.db('mailbox_sync').where({ mailbox_id: id }).update({ uid_validity: 5, last_uid: 9, failures: 3 });
  const refused = await call(world, 'PATCH', `/v1/emails/${id}`, {
    token,
    body: { name: 'New', imap: { ...body.imap, password: 'wrong' } },
  });
  t.like(refused.body, { code: 'mailbox_auth_failed', problems: [{ path: 'body.imap.password' }] });
  t.like(await world.deps.db('mailboxes').where({ id }).first(), { name: 'Sam Sender', credentials_version: 1 });
  box.setPassword('second');
  const changed = await call(world, 'PATCH', `/v1/emails/${id}`, {
    token,
    body: { smtp: { ...body.smtp, password: 'second' }, imap: { ...body.imap, password: 'second' } },
  });
  assertStatus(t, changed, 200);
  t.like(await world.deps.db('mailbox_sync').where({ mailbox_id: id }).first(), {
    uid_validity: 5,
    last_uid: 9,
    failures: 0,
  });
  t.is((await world.deps.db('mailboxes').where({ id }).first()).credentials_version, 2);
  t.like(
    (
      await call(world, 'PATCH', `/v1/emails/${id}`, {
        token,
        body: { imap: { host: '127.0.0.1', port: 1, username: 'x', security: 'none' } },
      })
    ).body,
    {
      code: 'bad_request',
      problems: [{ path: 'body.imap.password' }],
    },
  );
});

test('Google and Microsoft are sent to consent; send-as is not for SMTP; all faults come at once', async (t) => {
  const tenant = await world.tenant();
  const token = tenant.apiKey;
  for (const provider of ['gmail', 'outlook']) {
    t.like(await call(world, 'POST', '/v1/emails', { token, body: { provider } }), {
      status: 400,
      body: { code: 'mailbox_provider_requires_oauth' },
    });
  }
  const id = await bare(tenant, 'b@ours.test');
  t.like(await call(world, 'PATCH', `/v1/emails/${id}`, { token, body: { send_as_email: 'x@ours.test' } }), {
    status: 400,
    body: { code: 'mailbox_send_as_unsupported' },
  });
  assertStatus(t, await call(world, 'PATCH', `/v1/emails/${id}`, { token, body: { send_as_email: '' } }), 200);
  const bad = await call(world, 'POST', '/v1/emails', {
    token,
    body: {
      provider: 'smtp_imap',
      email: 'nonsense',
      name: 'a\r\nBcc: b',
      smtp: { host: '', port: 0, username: 'u', password: 'p', security: 'ssl' },
      campaign_limit: 101,
    },
  });
  t.deepEqual(bad.body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.campaign_limit',
    'body.email',
    'body.imap',
    'body.name',
    'body.smtp.host',
    'body.smtp.port',
    'body.smtp.security',
  ]);
});

test("the list is filtered by text and tag, paged, and bound to a key's mailboxes", async (t) => {
  const tenant = await world.tenant();
  const token = tenant.apiKey;
  const tagId = await createLabel(world.deps, tenant.organizationId, 'tag', 'EU');
  const ids: string[] = [];
  for (const name of ['ann', 'bob', 'cat']) ids.push(await bare(tenant, `${name}@ours.test`));
  const tagged = await call(world, 'PATCH', `/v1/emails/${ids[1]}`, { token, body: { tags: [tagId, tagId] } });
  t.deepEqual(tagged.body.tags, [tagId]);
  t.like(
    (await call(world, 'PATCH', `/v1/emails/${ids[1]}`, { token, body: { tags: [tagId, newId(), 'x'] } })).body
      .problems,
    [{ path: 'body.tags.1' }, { path: 'body.tags.2' }] as never,
  );
  const list = async (query: string, as = token) =>
    (await call(world, 'GET', `/v1/emails${query}`, { token: as })).body;
  t.deepEqual(
    (await list('')).data.map(({ id }: { id: string }) => id),
    [...ids].reverse(),
  );
  t.deepEqual(
    (await list(`?tag=${tagId}`)).data.map(({ id }: { id: string }) => id),
    [ids[1]],
  );
  t.deepEqual(
    (await list('?q=CAT@')).data.map(({ id }: { id: string }) => id),
    [ids[2]],
  );
  t.is((await list('?q=%25')).data.length, 0);
  const first = await list('?limit=2');
  const second = await list(`?limit=2&cursor=${first.pagination.next_cursor}`);
  t.deepEqual(
    second.data.map(({ id }: { id: string }) => id),
    [ids[0]],
  );
  t.is((await list(`?limit=2&q=a&cursor=${first.pagination.next_cursor}`)).code, 'bad_request');
  t.is((await list('?tag=x')).code, 'bad_request');

  const { apiKey } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
    allowedMailboxes: [ids[0]!],
  });
  t.deepEqual(
    (await list('', apiKey)).data.map(({ id }: { id: string }) => id),
    [ids[0]],
  );
  assertStatus(t, await call(world, 'GET', `/v1/emails/${ids[1]}`, { token: apiKey }), 403);
  const { body } = await user();
  t.like(await call(world, 'POST', '/v1/emails', { token: apiKey, body }), {
    status: 403,
    body: { code: 'forbidden' },
  });
});

test('switched off, a mailbox gives its reserved slots back; switched on, a hold is over', async (t) => {
  const tenant = await world.tenant();
  const token = tenant.apiKey;
  const id = await bare(tenant, 'c@ours.test', { hold_code: 'auth_failed', hold_reason: externalText('refused') });
  const now = new Date();
  const { campaignId, stepIds } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hi' }]);
  const contactId = await createContact(world.deps.db, now, tenant.organizationId);
  const [enrollmentId] = await enroll(world.deps, tenant.organizationId, campaignId, [contactId]);
  await createReservedSend(world.deps, tenant.organizationId, {
    campaignId,
    enrollmentId: enrollmentId!,
    stepId: stepIds[0]!,
    contactId,
    mailboxId: id,
  });
  const detail = await call(world, 'GET', `/v1/emails/${id}`, { token });
  t.like(detail.body, {
    hold: { code: 'auth_failed', until: null },
    campaigns: [{ id: campaignId, status: 'active' }],
  });
  t.like((await call(world, 'PATCH', `/v1/emails/${id}`, { token, body: { status: 'inactive' } })).body, {
    status: 'inactive',
  });
  t.is((await world.deps.db('sends').where({ mailbox_id: id })).length, 0);
  t.like((await call(world, 'PATCH', `/v1/emails/${id}`, { token, body: { status: 'active' } })).body, {
    status: 'active',
    hold: null,
  });
  t.deepEqual(await events(tenant), [
    'email_account.disconnected',
    'email_account.health_changed',
    'email_account.connected',
  ]);
});

test('SPF, DKIM and DMARC are read from DNS', async (t) => {
  const tenant = await world.tenant();
  const id = await bare(tenant, 'd@sender.example');
  const ctx = world.system(tenant.organizationId);
  const zone: Record<string, string[]> = {
    'sender.example': ['google-site-verification=1', 'v=spf1 include:_spf.example ~all'],
    'selector1._domainkey.sender.example': ['v=DKIM1; k=rsa; p=MIIB'],
    's1._domainkey.sender.example': ['v=DKIM1; p='],
    '_dmarc.sender.example': ['v=DMARC1; p=Quarantine; rua=mailto:d@sender.example'],
  };
  const resolver = { txt: (name: string) => Promise.resolve(zone[name] ?? []) };
  t.deepEqual(await checkAuthentication(ctx, id, resolver), {
    domain: 'sender.example',
    spfRecord: 'v=spf1 include:_spf.example ~all',
    dkimSelectors: ['selector1'],
    dmarcPolicy: 'quarantine',
    allAligned: true,
    summary: { code: 'mailboxes.dns_complete', values: {} },
  });
  delete zone['_dmarc.sender.example'];
  t.like(await checkAuthentication(ctx, id, resolver), {
    dmarcPolicy: null,
    allAligned: false,
    summary: { code: 'mailboxes.dns_missing', values: { records: ['DMARC'] } },
  });
});
