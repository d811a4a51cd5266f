import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { connect as dial, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { connectRaw } from '../../db/connection.ts';
import { createTestDatabase, testPostgresUrl, type RawDb, type TestDatabase } from '../harness/database.ts';
import { startChild } from '../../local/child.ts';
import { startLocalStack } from '../../local/stack.ts';
import { waitForDatabase } from '../../deploy/waiting.ts';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { newId } from '../../lib/ids.ts';
import { localSecrets } from '../../local/secrets.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { heron } from '../harness/heron.ts';
import { createWorld } from '../harness/world.ts';
import { assertNowhere, randomSecret } from '../harness/secrets.ts';
import { externalText } from '../../domain/platform/external-text.ts';

/** Creates an empty database, like an operator does. */
async function emptyDatabase(t: ExecutionContext): Promise<string> {
  const name = `heron_empty_${newId().replaceAll('-', '')}`;
  const admin = connectRaw({ url: testPostgresUrl(), max: 1 });
  await admin.raw(`create database ${name}`);
  t.teardown(async () => {
    await admin.raw(`drop database ${name} with (force)`);
    await admin.destroy();
  });
  const url = new URL(testPostgresUrl());
  url.pathname = `/${name}`;
  return url.href;
}

async function migratedDatabase(t: ExecutionContext): Promise<TestDatabase> {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  return database;
}

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'heron-deploy-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('migrate applies what is pending once, and says so as JSON', async (t) => {
  const PRIMARY_DB = await emptyDatabase(t);
  const first = await heron(['migrate'], { PRIMARY_DB });
  t.is(first.code, 0, first.stderr);
  const { applied, pending } = JSON.parse(first.stdout) as { applied: string[]; pending: string[] };
  t.is(applied[0], '0001_baseline');
  t.deepEqual(pending, []);
  t.deepEqual(JSON.parse((await heron(['migrate'], { PRIMARY_DB })).stdout), { applied: [], pending: [] });
});

test('nothing works on a schema that lacks migrations, and each says which', async (t) => {
  const PRIMARY_DB = await emptyDatabase(t);
  const outcomes = await Promise.all([
    heron(['bootstrap', '--email', 'ada@example.com', '--organization', 'Acme'], { PRIMARY_DB }),
    heron(['api'], { PRIMARY_DB, API_PORT: '0' }),
    heron(['tracking'], { PRIMARY_DB, TRACKING_PORT: '0' }),
    heron(['realtime'], { PRIMARY_DB, REALTIME_PORT: '0' }),
    heron(['worker'], { PRIMARY_DB, WORKER_PORT: '0' }),
  ]);
  for (const { code, stdout, stderr } of outcomes) {
    t.is(code, 1);
    t.regex(stdout + stderr, /0001_baseline.*heron migrate/);
    t.notRegex(stdout + stderr, /\n\s+at /, 'no stack');
  }
});

test('bootstrap makes person and organization once, a session and a key each time', async (t) => {
  const { url: PRIMARY_DB, db } = await migratedDatabase(t);
  const args = [
    'bootstrap',
    '--email',
    'Ada@Example.com',
    '--organization',
    'Acme',
    '--password',
    'a long enough passphrase',
  ];
  const [first, second] = [await heron(args, { PRIMARY_DB }), await heron(args, { PRIMARY_DB })];
  t.is(first.code, 0, first.stderr);
  const [a, b] = [first, second].map(({ stdout }) => JSON.parse(stdout));
  t.deepEqual([b.organization, b.user], [a.organization, a.user]);
  t.deepEqual(a.organization.name, 'Acme');
  t.is(a.user.email, 'ada@example.com');
  t.not(a.api_key.secret, b.api_key.secret);
  t.truthy(a.session.access_token);
  t.deepEqual([await rows(db, 'users'), await rows(db, 'organizations'), await rows(db, 'api_keys')], [1, 1, 2]);
  t.is((await heron(['bootstrap', '--email', 'nobody', '--organization', 'Acme'], { PRIMARY_DB })).code, 2);
});

test('config shows every setting and its source, and no secret', async (t) => {
  const password = randomSecret('password');
  const secrets = {
    AUTH_SECRET: randomSecret('signs'),
    CREDENTIALS_ENCRYPTION_KEY: 'ab'.repeat(32),
    PRIMARY_DB: `postgres://heron:${password}@db.example.com/heron`,
    SMTP_PASSWORD: randomSecret('mail'),
    TEMPORAL_API_KEY: randomSecret('temporal'),
    METRICS_TOKEN: randomSecret('metrics'),
  };
  const [text, asJson] = await Promise.all([
    heron(['config'], { ...secrets, API_PORT: '8181' }),
    heron(['config', '--json'], { ...secrets, API_PORT: '8181' }),
  ]);
  t.is(text.code, 0, text.stderr);
  assertNowhere(t, [text.stdout, asJson.stdout], [...Object.values(secrets), password]);
  t.regex(text.stdout, /^AUTH_SECRET +sha256:[0-9a-f]{8} +environment$/m);
  t.regex(text.stdout, /^API_PORT +8181 +environment$/m);
  t.regex(text.stdout, /^LOG_LEVEL +info +default$/m);
  const settings = JSON.parse(asJson.stdout) as { name: string; value: unknown; source: string }[];
  t.is(settings.length, text.stdout.trim().split('\n').length);
  t.like(
    settings.find(({ name }) => name === 'API_PORT'),
    { value: 8181, source: 'environment' },
  );
});

test('all faulty settings are reported at once, whatever the command', async (t) => {
  const env = {
    AUTH_SECRET: 'short',
    PRIMARY_DB: 'mysql://x',
    API_PORT: '99999',
    WORKER_ROLES: 'temporal,juggler',
    MAIL_TRANSPORT: 'smtp',
  };
  for (const command of ['config', 'api']) {
    const { code, stdout, stderr } = await heron([command], env);
    t.is(code, 1);
    t.is(stdout, '');
    for (const name of ['AUTH_SECRET', 'PRIMARY_DB', 'API_PORT', 'WORKER_ROLES', 'SMTP_HOST'])
      t.regex(stderr, new RegExp(`^ {2}- ${name}: `, 'm'));
    t.notRegex(stderr, /\n\s+at /, 'no stack');
  }
});

test('production refuses the secrets that are published with the source', async (t) => {
  const { code, stderr } = await heron(['config'], { APP_ENV: 'prod' });
  t.is(code, 1);
  for (const name of ['AUTH_SECRET', 'CREDENTIALS_ENCRYPTION_KEY', 'PRIMARY_DB'])
    t.regex(stderr, new RegExp(`${name}: still the published default`));
});

test('openapi prints the document and nothing else, without a database', async (t) => {
  const { code, stdout, stderr } = await heron(['openapi'], { PRIMARY_DB: 'postgres://nobody@127.0.0.1:1/none' });
  t.is(code, 0, stderr);
  const document = JSON.parse(stdout) as { openapi: string; paths: object };
  t.is(document.openapi, '3.1.0');
  t.true(Object.keys(document.paths).length > 20);
});

test('a database that is away is one line without the password; wrong usage is exit code 2', async (t) => {
  const password = randomSecret('password');
  const PRIMARY_DB = `postgres://heron:${password}@127.0.0.1:1/heron`;
  const { code, stdout, stderr } = await heron(['migrate'], { PRIMARY_DB });
  t.is(code, 1);
  t.is(stdout, '');
  t.is(stderr.trim().split('\n').length, 1, stderr);
  t.regex(stderr, /the database at 127\.0\.0\.1:1\/heron cannot be used: .*ECONNREFUSED/);
  assertNowhere(t, stderr, [password]);
  for (const args of [['nonsense'], ['enrollment']]) t.is((await heron(args)).code, 2, args.join(' '));
});

test('a starting process waits for a database that comes later, not for one that refuses it', async (t) => {
  const said: string[] = [];
  const log = { info: (line: string) => void said.push(line), warn: (line: string) => void said.push(line) };
  const { db, url } = await migratedDatabase(t);
  let refusals = 2;
  const late = answering(db, () => {
    if (refusals-- > 0) throw Object.assign(new Error('starting up'), { code: '57P03' });
  });
  await waitForDatabase(late, url, log);
  t.is(refusals, -1);
  t.is(said.length, 2, 'reported once, however often it is tried, and again when it is there');
  const refusing = answering(db, () => {
    throw Object.assign(new Error('password authentication failed'), { code: '28P01' });
  });
  await t.throwsAsync(waitForDatabase(refusing, url, log), { message: /password authentication failed/ });
  const away = answering(db, () => {
    throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
  });
  await t.throwsAsync(waitForDatabase(away, url, log, 0), { message: /cannot be used: no/ });
});

/** Returns a database whose pool calls `before` before it hands over a connection. `before` may throw. */
function answering(db: RawDb, before: () => void): RawDb {
  const client = new Proxy(db.client as { acquireConnection(): Promise<unknown> }, {
    get: (real, name) =>
      name === 'acquireConnection'
        ? async () => {
            before();
            return real.acquireConnection();
          }
        : Reflect.get(real, name),
  });
  return new Proxy(db, { get: (real, name) => (name === 'client' ? client : Reflect.get(real, name)) });
}

test('a process that is asked to stop finishes its open request, and takes no other', async (t) => {
  const { url: PRIMARY_DB, db } = await migratedDatabase(t);
  const made = JSON.parse(
    (await heron(['bootstrap', '--email', 'ada@example.com', '--organization', 'Acme'], { PRIMARY_DB })).stdout,
  );
  const lines: string[] = [];
  const api = await startChild('api', {
    env: { ...process.env, PRIMARY_DB, API_PORT: '0' },
    logFile: join(await folder(t), 'api.log'),
    graceMs: 25_000,
    onLine: (line) => void lines.push(line),
  });
  t.teardown(() => api.stop());
  t.is(api.ready.setupUrl, null, 'there is an account');
  const url = new URL(api.ready.url!);

  const body = JSON.stringify([{ email: 'bea@example.com' }]);
  // The server answers "Expect: 100-continue" when it has the request's headers. The body is sent only after the server
  // has begun to stop.
  const slow = request({
    host: url.hostname,
    port: url.port,
    path: '/v1/contacts',
    method: 'POST',
    headers: {
      authorization: `Bearer ${made.api_key.secret}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
      connection: 'keep-alive',
    },
  });
  slow.flushHeaders();
  await once(slow, 'continue');
  process.kill(api.pid, 'SIGTERM');
  await eventually(async () => !(await accepts(Number(url.port))));
  slow.end(body);
  const [answer] = (await once(slow, 'response')) as [IncomingMessage];
  answer.resume();
  t.is(answer.statusCode, 200);
  t.deepEqual(await api.exited, { code: 0, signal: null });
  t.is(await rows(db, 'contacts'), 1);
  for (const line of lines) t.notThrows(() => JSON.parse(line), 'every line is structured');
});

test('a first start shows the setup link, and the port of another program is one clear line', async (t) => {
  const { url: PRIMARY_DB } = await migratedDatabase(t);
  const dir = await folder(t);
  const env = { ...process.env, PRIMARY_DB, APP_URL: 'https://heron.example.com' };
  const api = await startChild('api', {
    env: { ...env, API_PORT: '0' },
    logFile: join(dir, 'api.log'),
    graceMs: 25_000,
  });
  t.teardown(() => api.stop());
  t.regex(api.ready.setupUrl!, /^https:\/\/heron\.example\.com\/setup\/\S{40,}$/);
  await eventually(async () => (await readFile(join(dir, 'api.log'), 'utf8')).includes(api.ready.setupUrl!));
  const { port } = new URL(api.ready.url!);
  await t.throwsAsync(
    startChild('tracking', {
      env: { ...env, TRACKING_PORT: port },
      logFile: join(dir, 'tracking.log'),
      graceMs: 25_000,
    }),
    {
      message: `tracking did not start: port ${port} is taken by another program (TRACKING_PORT)`,
    },
  );
});

test('heron enrollment tells the story from the database, by either id', async (t) => {
  const world = await createWorld();
  t.teardown(() => world.close());
  const { organizationId } = await world.tenant();
  await createMailbox(world.deps, organizationId, 'sender@example.com');
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), organizationId, {
    email: 'private@example.org',
  });
  const { campaignId } = await createCampaign(world.deps, organizationId, [
    {
      name: 'Ask',
      kind: 'action',
      action: { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: 60, on_timeout: 'continue' },
    },
    { name: 'Hello', subject: 'Hello', body_plain: 'Hi' },
  ]);
  const [enrollmentId] = await enroll(world.deps, organizationId, campaignId, [contactId]);
  const ctx = world.system(organizationId);
  await advanceEnrollment(ctx, enrollmentId!);
  const env = { PRIMARY_DB: world.databaseUrl };
  const waiting = await heron(['enrollment', enrollmentId!], env);
  t.is(waiting.code, 0, waiting.stderr);
  t.regex(waiting.stdout, /1\. step 1 of 2 \(Ask\), wait_for_event/);
  t.regex(waiting.stdout, /wait: for order\.paid since \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ, until /);
  t.regex(waiting.stdout, /Now: step 1 of 2 \(Ask\): waiting for order\.paid, until /);

  const eventId = newId();
  const now = world.deps.clock.now();
  await world.deps.db('product_events').insert({
    id: eventId,
    organization_id: organizationId,
    contact_id: contactId,
    name: 'order.paid',
    occurred_at: now,
    received_at: now,
  });
  await world.deps
    .db('waits')
    .where({ contact_id: contactId })
    .update({ state: 'resumed', event_id: eventId, settled_at: now });
  await advanceEnrollment(ctx, enrollmentId!);
  await world.deps
    .db('enrollments')
    .where({ id: enrollmentId })
    .update({ hold_since: now, hold_source: 'manual', hold_reason: externalText('asked to') });
  const later = await heron(['enrollment', `enrollment/${campaignId}/${contactId}`], env);
  t.true(later.stdout.includes(`event ${eventId} at `));
  t.regex(later.stdout, /2\. step 2 of 2 \(Hello\), email\n.*\n +email: reserved, slot /);
  t.regex(later.stdout, /Held since .* until a person resumes it \(manual: asked to\)/);
  assertNowhere(t, later.stdout, ['private@example.org']);

  const story = JSON.parse((await heron(['enrollment', enrollmentId!, '--json'], env)).stdout);
  t.like(story, { contact_id: contactId, campaign: { id: campaignId }, state: 'active', hold: { source: 'manual' } });
  t.deepEqual(
    story.steps.map((step: { outcome: string | null }) => step.outcome),
    ['event', null],
  );
  for (const unknown of ['no-id', newId()]) {
    const { code, stderr } = await heron(['enrollment', unknown], env);
    t.deepEqual([code, stderr.trim()], [1, 'heron: Enrollment not found']);
  }
});

test('a stack runs its processes apart: one that is killed comes back, one that is restarted keeps its address, and all end in order', async (t) => {
  const { url: PRIMARY_DB } = await migratedDatabase(t);
  const dataDir = await folder(t);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => void other.close());
  const { port: taken } = other.address() as AddressInfo;
  const said: string[] = [];
  const stack = await startLocalStack({
    dataDir,
    persistent: true,
    supervise: true,
    ports: { api: taken },
    log: (line) => void said.push(line),
    env: {
      PRIMARY_DB,
      TEMPORAL_ADDRESS: process.env.HERON_TEST_TEMPORAL,
      TEMPORAL_TASK_QUEUE: `test-${newId()}`,
      WORKER_ROLES: 'relay',
    },
  });
  t.teardown(() => stack.stop());
  t.true(said.some((line) => line.startsWith(`port ${taken} (api) is taken`)));
  t.is(stack.processes.postgres, undefined, 'it was given');
  const healthy = async (url: string) => (await fetch(`${url}/health`)).status;
  t.is(await healthy(stack.urls.api), 200);
  t.is(await healthy(stack.urls.tracking), 200);
  t.is(await healthy(stack.urls.forms), 200);
  t.is(await healthy(new URL(stack.urls.realtime).origin.replace('ws', 'http')), 200);
  t.is((await fetch(stack.urls.workerMetrics)).status, 200);
  t.is(
    `${stack.env.REALTIME_PUBLIC_URL!.replace('http', 'ws')}/v1/realtime`,
    stack.urls.realtime,
    'the dashboard follows this one',
  );

  await t.throwsAsync(
    startLocalStack({ dataDir, persistent: true, env: { PRIMARY_DB, TEMPORAL_ADDRESS: '127.0.0.1:1' }, log: () => {} }),
    { message: /^Heron already runs on / },
  );

  const { serve, worker } = stack.processes;
  const before = [serve.pid, worker.pid];
  await worker.kill('SIGKILL');
  t.is(await healthy(stack.urls.api), 200, 'the servers go on');
  await eventually(async () => worker.pid !== undefined && worker.pid !== before[1]);
  t.is((await fetch(stack.urls.workerMetrics)).status, 200, 'a crashed process is started again');
  await serve.restart();
  t.not(serve.pid, before[0]);
  for (const url of [stack.urls.api, stack.urls.tracking, stack.urls.forms])
    t.is(await healthy(url), 200, 'at the same address');

  await stack.stop();
  t.deepEqual([serve.pid, worker.pid], [undefined, undefined]);
  t.false(await accepts(Number(new URL(stack.urls.api).port)));
  t.like(stack.env, await localSecrets(dataDir), 'the secrets in use are kept for the next start');
});

async function accepts(port: number): Promise<boolean> {
  const socket = dial(port, '127.0.0.1');
  try {
    return await new Promise((resolve) =>
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false)),
    );
  } finally {
    socket.destroy();
  }
}

async function rows(db: RawDb, table: string): Promise<number> {
  return Number((await db(table).count({ n: '*' }).first())!.n);
}
