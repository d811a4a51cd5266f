import test from 'ava';
import { startClose, startN8n, type CloseDouble, type N8nDouble } from '../../../test/doubles/index.ts';
import { createContact } from '../../../test/harness/factories.ts';
import { connect, deliverNow, subscribe } from '../../../test/harness/integrations.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { SUBSCRIBERS } from '../../../domain/operations/subscribers/index.ts';
import { registerSubscribers } from '../../../domain/platform/events/register.ts';
import { newId } from '../../../lib/ids.ts';

/** World of the tests, which push contacts to a CRM while the provider or its credentials fail. */

let world: World;
let n8n: N8nDouble;
let close: CloseDouble;

test.before(async () => {
  [n8n, close] = await Promise.all([startN8n(), startClose()]);
  world = await createWorld({
    env: {
      INTEGRATION_RETRY_BASE_MS: '20',
      INTEGRATION_ENDPOINTS: JSON.stringify({ close: { api: `${close.url}/api/v1` } }),
    },
  });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(async () => {
  await world?.close();
  await Promise.all([n8n, close].map((double) => double?.close()));
});

const connections = async (token: string) =>
  (await call(world, 'GET', '/v1/integrations/connections', { token })).body.connections;

test.serial('a push refuses more than 500, nothing, and providers that take no contacts', async (t) => {
  const tenant = await world.tenant();
  const { id } = await connect(world, tenant, 'n8n', { webhook_url: n8n.hookUrl });
  const push = (body: object, of = id) =>
    call(world, 'POST', `/v1/integrations/connections/${of}/push`, { token: tenant.apiKey, body });
  assertStatus(t, await push({ contact_ids: [newId()] }), 400);
  const { id: crm } = await connect(world, tenant, 'close', { api_key: [...close.keys][0]! });
  assertStatus(t, await push({ contact_ids: [] }, crm), 400);
  t.is((await push({ contact_ids: [newId()] }, crm)).status, 400, 'no contact of ours');
  assertStatus(t, await push({ contact_ids: Array.from({ length: 501 }, () => newId()) }, crm), 400);
  await world.deps.db.raw(
    `insert into contacts (id, organization_id, email, first_name, last_name, company, phone, custom_fields, created_at, updated_at)
     select gen_random_uuid(), '${tenant.organizationId}', 'many' || n || '@lead.test', '', '', '', '', '{}', now(), now() from generate_series(1, 501) n`,
  );
  t.is((await push({ all: true, filters: {} }, crm)).body.code, 'selection_too_large');
});

test.serial('an answer that nobody foresaw fails one contact of a push, and the others go on', async (t) => {
  const tenant = await world.tenant();
  const { id } = await connect(world, tenant, 'close', { api_key: close.keys[0]! });
  const [odd, plain] = await Promise.all(
    ['odd', 'plain'].map((name) =>
      createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, { email: `${name}@push.test` }),
    ),
  );
  close.contacts.push({ id: 'cont_odd', lead_id: 7, emails: [{ email: 'odd@push.test' }] });
  const { body, status } = await call(world, 'POST', `/v1/integrations/connections/${id}/push`, {
    token: tenant.apiKey,
    body: { contact_ids: [odd, plain] },
  });
  close.contacts.splice(
    close.contacts.findIndex((contact) => contact.id === 'cont_odd'),
    1,
  );
  t.is(status, 200);
  t.like(body, { pushed: 1, failed: 1 });
  t.deepEqual(
    body.results.map(({ ok, error }: { ok: boolean; error?: string }) => error ?? ok),
    ['The answer of Close cannot be read', true],
  );
});

test.serial('a push stops asking a provider that asks to wait, and has deliveries wait too', async (t) => {
  const tenant = await world.tenant();
  const { organizationId: org, apiKey: token } = tenant;
  const { id } = await connect(world, tenant, 'close', { api_key: close.keys[0]! });
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      createContact(world.deps.db, world.deps.clock.now(), org, { email: `slow${n}@lead.test` }),
    ),
  );
  close.clear();
  close.failAll({ kind: 'limited', retryAfterSeconds: 3_600 });
  const twice = [...ids, ids[0]!.toUpperCase()];
  const { body } = await call(world, 'POST', `/v1/integrations/connections/${id}/push`, {
    token,
    body: { contact_ids: twice },
  });
  close.failAll(undefined);
  t.like(body, { pushed: 0, failed: 12 });
  for (const { error } of body.results) t.regex(error, /asks to wait/);
  t.true(close.calls().length <= 4, `${close.calls().length} calls: those that were under way at once`);
  await subscribe(world, tenant, id, { event_type: 'contact.created', action: 'close.upsert_contact' });
  await call(world, 'POST', '/v1/contacts', { token, body: [{ email: 'later@lead.test' }] });
  t.is((await deliverNow(world, org, id)).kind, 'wait');
});

test.serial('an account whose key has ended is connected again by a new one; what waits for it goes on', async (t) => {
  const tenant = await world.tenant();
  const { organizationId: org, apiKey: token } = tenant;
  const ended = close.keys[0]!;
  const { id } = await connect(world, tenant, 'close', { api_key: ended });
  await subscribe(world, tenant, id, { event_type: 'contact.created', action: 'close.upsert_contact' });
  const email = `${newId()}@lead.test`;
  const isThere = () => JSON.stringify(close.contacts).includes(email);
  close.keys.splice(0, 1, `api_${newId()}`);
  await call(world, 'POST', '/v1/contacts', { token, body: [{ email }] });
  t.like(await deliverNow(world, org, id), { kind: 'done' });
  t.like((await connections(token))[0], { id, status: 'reauth_required' });
  const wrong = await call(world, 'POST', '/v1/integrations/connections', {
    token,
    body: { provider: 'close', config: { api_key: ended } },
  });
  assertStatus(t, wrong, 400);
  const again = await connect(world, tenant, 'close', { api_key: close.keys[0]! });
  t.like(again, { id, status: 'connected', health: 'healthy' });
  t.is((await connections(token)).length, 1);
  t.false(isThere());
  t.like(await deliverNow(world, org, id), { kind: 'done' });
  t.true(isThere());
  const beside = await connect(world, tenant, 'close', { api_key: close.keys[0]! });
  t.not(beside.id, id, 'one that works keeps its credentials');
  const actions = await world.deps.db('audit_logs').where({ organization_id: org, entity_id: id }).pluck('action');
  t.true(actions.includes('integration.reconnected'));
});

test.serial(
  'a contact keeps its record when its address changes, whoever writes it, and two pushes at once make one',
  async (t) => {
    const tenant = await world.tenant();
    const { organizationId: org, apiKey: token } = tenant;
    close.clear();
    const { id } = await connect(world, tenant, 'close', { api_key: close.keys[0]! });
    await subscribe(world, tenant, id, { event_type: 'contact.updated', action: 'close.upsert_contact' });
    const mark = newId();
    const records = () => close.contacts.filter((one) => JSON.stringify(one.emails).includes(mark));
    const [contact] = (
      await call(world, 'POST', '/v1/contacts', { token, body: [{ email: `a-${mark}@lead.test`, first_name: 'Ada' }] })
    ).body;
    const push = () =>
      call(world, 'POST', `/v1/integrations/connections/${id}/push`, { token, body: { contact_ids: [contact.id] } });
    const answers = await Promise.all([push(), push(), push(), push()]);
    t.deepEqual(
      answers.map(({ body }) => body.pushed),
      [1, 1, 1, 1],
    );
    t.is(records().length, 1);
    // Simulates a person who adds another address in the CRM.
    records()[0]!.emails.push({ email: `home-${mark}@else.test`, type: 'home' });
    const rename = (email: string) => call(world, 'PATCH', `/v1/contacts/${contact.id}`, { token, body: { email } });
    assertStatus(t, await rename(`b-${mark}@lead.test`), 200);
    t.is((await push()).body.pushed, 1);
    t.deepEqual(
      records().map(({ emails }) => emails.map(({ email }: { email: string }) => email)),
      [[`b-${mark}@lead.test`, `home-${mark}@else.test`]],
    );
    assertStatus(t, await rename(`c-${mark}@lead.test`), 200);
    await deliverNow(world, org, id);
    t.deepEqual(
      records().map(({ emails }) => emails[0].email),
      [`c-${mark}@lead.test`],
    );
    assertStatus(t, await call(world, 'DELETE', `/v1/contacts/${contact.id}`, { token }), 204);
    t.deepEqual(await world.deps.db('integration_records').where({ connection_id: id }), []);
  },
);
