import test from 'ava';
import { createKeyring } from '../../../lib/keyring.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';
import { createMailbox } from '../../../test/harness/factories.ts';
import { createEndpoint } from '../../../test/harness/webhooks.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { readTrackingToken, trackingToken } from '../../mail/messages/tracking-token.ts';
import { rotateKeys, SEALED_COLUMNS } from './rotate-keys.ts';

const NEW = '5a'.repeat(32);

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test.serial('every column that can hold a seal is known', async (t) => {
  const { rows } = await world.deps.db.raw(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and data_type = 'bytea'`,
  );
  const contents = ['blob_chunks.bytes', 'sent_contents.packed'];
  t.deepEqual(
    rows.map(({ name }: { name: string }) => name).sort(),
    [...SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`), ...contents].sort(),
  );
});

test.serial('after a rotation the new key alone opens everything, and links of sent mail still count', async (t) => {
  const { db, config, keyring: before } = world.deps;
  const { organizationId, apiKey: token } = await world.tenant();
  const mailboxes = [];
  for (let n = 0; n < 205; n += 1) mailboxes.push(await createMailbox(world.deps, organizationId, `m${n}@ours.test`));
  const now = new Date();
  const byConsent = { organization_id: organizationId, id: mailboxes[0]! };
  await db('mailbox_tokens').insert({
    mailbox_id: byConsent.id,
    organization_id: organizationId,
    sealed: before.seal('token', SEAL_PLACES.mailboxToken(byConsent.id)),
    access_expires_at: now,
    refreshed_at: now,
  });
  await db('mailbox_consents').insert({
    ...byConsent,
    provider: 'gmail',
    session_hash: 'session',
    state_hash: 'state',
    sealed: before.seal('consent', SEAL_PLACES.mailboxConsent(byConsent.id)),
    actor: '{}',
    created_at: now,
    expires_at: now,
  });
  const order = { organization_id: organizationId, provider: 'google', count: 11, domains: '[]', warmup: false };
  const cents = { currency: 'usd', total_monthly_cents: 1, total_due_today_cents: 1, line_items: '[]' };
  await db('mailbox_orders').insert({
    ...order,
    ...cents,
    id: byConsent.id,
    quote_id: byConsent.id,
    state: 'configuring',
    pay_by: now,
    actor_kind: 'session',
    created_at: now,
    updated_at: now,
  });
  for (const position of [2, 10])
    await db('order_mailboxes').insert({
      order_id: byConsent.id,
      position,
      organization_id: organizationId,
      email: `${position}@managed.test`,
      domain: 'managed.test',
      first_name: '',
      last_name: '',
      credentials: before.seal(`of ${position}`, SEAL_PLACES.orderMailbox(byConsent.id, position)),
    });
  const integration = { organization_id: organizationId, provider: 'hubspot', label: '', created_at: now };
  const sealedHere = before.seal('keys', SEAL_PLACES.integration(byConsent.id));
  await db('integration_connections').insert({
    ...integration,
    id: byConsent.id,
    status: 'connected',
    auth_method: 'oauth',
    sealed: sealedHere,
    signing_secret: before.seal('signs', SEAL_PLACES.integrationSigning(byConsent.id)),
    external_account_id: '1',
    external_account_name: '',
    display_fields: '{}',
    config_capabilities: '{}',
    sync_direction: 'push',
    health_due_at: now,
    updated_at: now,
  });
  const { label: _, ...revoked } = integration;
  await db('integration_revocations').insert({
    ...revoked,
    connection_id: byConsent.id,
    sealed: sealedHere,
    due_at: now,
  });
  await db('integration_oauth_states').insert({
    ...integration,
    id: byConsent.id,
    state_hash: 'state',
    session_id: 'session',
    sealed: before.seal('verifier', SEAL_PLACES.integrationState(byConsent.id)),
    actor: '{}',
    expires_at: now,
  });
  const endpoint = await createEndpoint(world.deps, organizationId, 'https://receiver.example.com/hook');
  const created = await call(world, 'POST', '/v1/categories', {
    token,
    body: { title: 'Fair' },
    headers: { 'idempotency-key': 'once' },
  });
  assertStatus(t, created, 200);
  const link = trackingToken(before.tracking.current, 'unsubscribe', mailboxes[0]!);

  const keyring = createKeyring(NEW, [config.CREDENTIALS_ENCRYPTION_KEY]);
  const [lost] = await rotateKeys({ db, keyring: createKeyring(NEW) }, { dryRun: true });
  t.deepEqual(
    lost,
    { column: 'mailboxes.credentials', resealed: 0, unreadable: 205 },
    'without the key before nothing opens',
  );
  const planned = await rotateKeys({ db, keyring }, { dryRun: true });
  const done = await rotateKeys({ db, keyring });
  t.deepEqual(done, planned);
  t.deepEqual(
    done.map(({ column, resealed, unreadable }) => [column, resealed, unreadable]),
    [
      ['mailboxes.credentials', 205, 0],
      ['mailbox_tokens.sealed', 1, 0],
      ['mailbox_revocations.sealed', 0, 0],
      ['mailbox_consents.sealed', 1, 0],
      ['mailbox_checks.request', 0, 0],
      ['order_mailboxes.credentials', 2, 0],
      ['app_connections.secret', 0, 0],
      ['integration_connections.sealed', 1, 0],
      ['integration_connections.signing_secret', 1, 0],
      ['integration_revocations.sealed', 1, 0],
      ['integration_oauth_states.sealed', 1, 0],
      ['webhook_secrets.sealed', 1, 0],
      ['idempotency_keys.body', 1, 0],
    ],
  );
  t.true(
    (await rotateKeys({ db, keyring })).every(({ resealed }) => resealed === 0),
    'once is enough',
  );

  const after = createKeyring(NEW);
  for (const { id, credentials } of await db('mailboxes').select('id', 'credentials'))
    t.truthy(JSON.parse(after.open(credentials, SEAL_PLACES.mailbox(id)).toString()).smtp_password);
  const tokens = await db('mailbox_tokens').where({ mailbox_id: byConsent.id }).first();
  t.is(after.open(tokens.sealed, SEAL_PLACES.mailboxToken(byConsent.id)).toString(), 'token');
  const consent = await db('mailbox_consents').where({ id: byConsent.id }).first();
  t.is(after.open(consent.sealed, SEAL_PLACES.mailboxConsent(byConsent.id)).toString(), 'consent');
  for (const { position, credentials } of await db('order_mailboxes').where({ order_id: byConsent.id }))
    t.is(after.open(credentials, SEAL_PLACES.orderMailbox(byConsent.id, position)).toString(), `of ${position}`);
  const connection = await db('integration_connections').where({ id: byConsent.id }).first();
  t.is(after.open(connection.sealed, SEAL_PLACES.integration(byConsent.id)).toString(), 'keys');
  t.is(after.open(connection.signing_secret, SEAL_PLACES.integrationSigning(byConsent.id)).toString(), 'signs');
  const secret = await db('webhook_secrets').where({ endpoint_id: endpoint.id }).first();
  t.is(after.open(secret.sealed, SEAL_PLACES.webhookSecret(secret.id)).toString(), endpoint.secret);
  world.deps.keyring = after;
  const again = await call(world, 'POST', '/v1/categories', {
    token,
    body: { title: 'Fair' },
    headers: { 'idempotency-key': 'once' },
  });
  t.deepEqual(again.body, created.body, 'a stored answer is repeated');
  t.is(readTrackingToken(keyring.tracking.accepted, 'unsubscribe', link), mailboxes[0]);
  t.is(readTrackingToken(after.tracking.accepted, 'unsubscribe', link), undefined);
});

test.serial('a stored request hash is keyed: a password in a body cannot be guessed from it', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  await call(world, 'POST', '/v1/categories', { token, body: { title: 'x' }, headers: { 'idempotency-key': 'k' } });
  const row = await world.deps.db('idempotency_keys').where({ organization_id: organizationId }).first();
  const other = await createWorld({ env: { AUTH_SECRET: 'another secret of thirty-two chars' } });
  t.teardown(() => other.close());
  const elsewhere = await other.tenant();
  await call(other, 'POST', '/v1/categories', {
    token: elsewhere.apiKey,
    body: { title: 'x' },
    headers: { 'idempotency-key': 'k' },
  });
  const otherRow = await other.deps.db('idempotency_keys').first();
  t.not(row.request_hash, otherRow.request_hash);
});
