import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import Stripe from 'stripe';
import { SEALED_COLUMNS } from '../../domain/operations/system/rotate-keys.ts';
import { createKeyring } from '../../lib/keyring.ts';
import { newId } from '../../lib/ids.ts';
import { SEAL_PLACES } from '../../lib/seal-places.ts';
import { startChild } from '../../local/child.ts';
import type { ProcessName } from '../../deploy/processes.ts';
import { eventually } from '../harness/eventually.ts';
import { createMailbox, type Tenant } from '../harness/factories.ts';
import { heron } from '../harness/heron.ts';
import { startReceiver, type ReceivedRequest } from '../harness/receiver.ts';
import { createEndpoint } from '../harness/webhooks.ts';
import { assertStatus, call, createWorld, type World } from '../harness/world.ts';

const OLD = '0a'.repeat(32);
const NEW = '5a'.repeat(32);
const MAILBOXES = 600;
const CONNECTIONS = 30;

async function startProcess(t: ExecutionContext, name: ProcessName, env: Record<string, string>) {
  const dataDir = await mkdtemp(join(tmpdir(), 'heron-rotate-'));
  const child = await startChild(name, {
    env: { ...process.env, ...env },
    logFile: join(dataDir, 'log'),
    graceMs: 25_000,
  });
  t.teardown(async () => {
    await child.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  return child;
}

/** Creates a workspace with every kind of sealed data: mailboxes, app connections, a webhook endpoint. */
async function fill(world: World, receiverUrl: string) {
  const tenant = await world.tenant();
  for (let n = 0; n < MAILBOXES; n += 1) await createMailbox(world.deps, tenant.organizationId, `m${n}@ours.test`);
  const connections: string[] = [];
  for (let n = 0; n < CONNECTIONS; n += 1) {
    const body = { name: `App ${n}`, base_url: 'http://127.0.0.1:1' };
    const made = await call(world, 'POST', '/v1/app-connections', { token: tenant.apiKey, body });
    connections.push(made.body.connection.id);
  }
  const endpoint = await createEndpoint(world.deps, tenant.organizationId, receiverUrl, {
    event_types: ['contact.created'],
  });
  return { tenant, connections, endpoint };
}

/** Adds a contact with an Idempotency-Key, so that the request can be repeated. */
function addContact(api: { url: string }, { apiKey: token }: Tenant, n: number) {
  return call(api, 'POST', '/v1/contacts', {
    token,
    body: [{ email: `person${n}@theirs.test` }],
    headers: { 'idempotency-key': `person-${n}` },
  });
}

test('heron rotate-keys, while an API and a worker serve with both keys: nothing is lost, and the new key alone opens all', async (t) => {
  t.timeout(120_000);
  const world = await createWorld({ env: { CREDENTIALS_ENCRYPTION_KEY: OLD } });
  t.teardown(() => world.close());
  const receiver = await startReceiver();
  t.teardown(() => receiver.stop());
  const { tenant, connections, endpoint } = await fill(world, receiver.url);
  const before = await addContact(world, tenant, 0);
  assertStatus(t, before, 200);

  const both = {
    PRIMARY_DB: world.databaseUrl,
    CREDENTIALS_ENCRYPTION_KEY: NEW,
    CREDENTIALS_PREVIOUS_KEYS: OLD,
    TEMPORAL_ADDRESS: world.deps.config.TEMPORAL_ADDRESS,
    TEMPORAL_TASK_QUEUE: `test-${newId()}`,
    ALLOW_UNSAFE_WEBHOOK_URLS: 'true',
    ORG_WRITES_PER_MINUTE: '0',
    LOG_LEVEL: 'error',
  };
  const [api] = await Promise.all([
    startProcess(t, 'api', { ...both, API_PORT: '0' }),
    startProcess(t, 'worker', { ...both, WORKER_PORT: '0', WORKER_ROLES: 'workflows,webhooks,relay,fanout' }),
  ]);
  const serving = { url: api.ready.url! };

  let contacts = 1;
  const secrets = new Map<string, string>();
  let rotating = true;
  const faults: string[] = [];
  const traffic = (async () => {
    for (; rotating; contacts += 1) {
      const added = await addContact(serving, tenant, contacts);
      const id = connections[contacts % CONNECTIONS]!;
      const path = `/v1/app-connections/${id}/rotate-secret`;
      const rotated = await call(serving, 'POST', path, { token: tenant.apiKey });
      secrets.set(id, rotated.body.secret);
      for (const answer of [added, rotated]) if (answer.status !== 200) faults.push(answer.text);
    }
  })();
  const done = await heron(['rotate-keys'], both).finally(() => (rotating = false));
  await traffic;
  t.is(done.code, 0, done.stderr);
  t.deepEqual(faults, []);
  t.true(contacts > 1 && secrets.size > 0, 'requests went through meanwhile');
  const columns = JSON.parse(done.stdout).columns as { column: string; resealed: number; unreadable: number }[];
  t.is(columns.find(({ column }) => column === 'mailboxes.credentials')!.resealed, MAILBOXES);
  t.true(columns.every(({ unreadable }) => unreadable === 0));
  const again = JSON.parse((await heron(['rotate-keys', '--dry-run'], both)).stdout);
  t.true(
    again.columns.every(({ resealed }: { resealed: number }) => resealed === 0),
    'nothing is left',
  );

  const keyring = createKeyring(NEW);
  for (const { table, column, key, place } of SEALED_COLUMNS)
    for (const row of await world.deps
      .db(table)
      .whereNotNull(column)
      .select([...key, column]))
      t.notThrows(() => keyring.open(row[column], place(row)), `${table}.${column}`);
  for (const [id, secret] of secrets) {
    const row = await world.deps.db('app_connections').where({ id }).first('secret');
    t.is(keyring.open(row.secret, SEAL_PLACES.appConnection(id)).toString(), secret);
  }

  // The first contact existed before the processes; the worker signs its event like all others.
  const requests = await receiver.received(contacts);
  for (const request of requests) t.is(signer(request, endpoint.secret), undefined);

  await api.stop();
  const after = await startProcess(t, 'api', { ...both, API_PORT: '0', CREDENTIALS_PREVIOUS_KEYS: '' });
  const repeated = await addContact({ url: after.ready.url! }, tenant, 0);
  t.is(repeated.headers.get('idempotent-replayed'), 'true');
  t.is(repeated.text, before.text, 'an answer stored under the old key is repeated');
  await eventually(
    async () => (await world.deps.db('webhook_deliveries').whereNot('status', 'delivered')).length === 0,
  );
});

/** Returns the reason why Stripe's verifier refuses a request; undefined if it accepts the request. */
function signer(request: ReceivedRequest, secret: string): string | undefined {
  try {
    const header = request.headers['x-service-signature'] as string;
    Stripe.webhooks.constructEvent(request.raw, header, secret, 300, undefined, request.receivedAt);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
