import test from 'ava';
import { json } from '../../db/connection.ts';
import { newId } from '../../lib/ids.ts';
import { message } from '../../messages/index.ts';
import { createMailbox } from '../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('the reading of a mailbox is shown by folder, with what waits', async (t) => {
  const { db } = world.deps;
  const { organizationId: organization_id, apiKey: token } = await world.tenant();
  const mailbox_id = await createMailbox(world.deps, organization_id, `${newId()}@ours.test`);
  const sync = () => call(world, 'GET', `/v1/emails/${mailbox_id}/sync`, { token });
  const [early, late] = [new Date('2026-03-02T08:00:00Z'), new Date('2026-03-02T09:00:00Z')];
  t.deepEqual((await sync()).body, { last_synced_at: null, deferred: 0, folders: [] });
  await db('mailbox_sync').insert([
    { organization_id, mailbox_id, folder: 'INBOX', last_uid: 7, last_synced_at: late },
    {
      organization_id,
      mailbox_id,
      folder: 'Spam',
      last_synced_at: early,
      failures: 2,
      retry_at: late,
      last_error: json(message('mailboxes.no_answer_in_time')),
    },
  ]);
  const answer = await sync();
  assertStatus(t, answer, 200);
  t.is(answer.body.last_synced_at, late.toISOString());
  t.like(answer.body.folders[0], { folder: 'INBOX', last_id: 7, failures: 0, last_error: null });
  t.like(answer.body.folders[1], { folder: 'Spam', failures: 2, retry_at: late.toISOString() });
  t.regex(answer.body.folders[1].last_error, /\w+ \w+/);
});

test('a mailbox without send-as addresses says so', async (t) => {
  const { organizationId, apiKey: token } = await world.tenant();
  const email = `${newId()}@ours.test`;
  const id = await createMailbox(world.deps, organizationId, email);
  t.deepEqual((await call(world, 'GET', `/v1/emails/${id}/identity`, { token })).body, {
    supported: false,
    provider: 'smtp_imap',
    mailbox_email: email,
    send_as_email: '',
    identities: [],
    synced_at: null,
  });
  const refresh = await call(world, 'POST', `/v1/emails/${id}/identity/refresh`, { token });
  t.deepEqual([refresh.status, refresh.body.code], [400, 'mailbox_send_as_unsupported']);
});

test('time zones are listed by their offset', async (t) => {
  const { apiKey: token } = await world.tenant();
  const { status, body } = await call(world, 'GET', '/v1/timezones', { token });
  t.is(status, 200);
  const zone = (name: string) => body.findIndex((entry: { name: string }) => entry.name === name);
  t.is(
    body[zone('Asia/Kolkata')]?.display_name ?? body[zone('Asia/Calcutta')].display_name.replace('Calcutta', 'Kolkata'),
    '(UTC+05:30) Asia/Kolkata',
  );
  t.true(zone('America/Los_Angeles') < zone('UTC') && zone('UTC') < zone('Asia/Tokyo'));
});

test('a credential of each kind learns what it stands for, and aliases hold the same rows', async (t) => {
  const { apiKey, sessionToken, userId, organizationId } = await world.tenant();
  const me = async (token: string) => (await call(world, 'GET', '/v1/me', { token })).body;
  const key = await me(apiKey);
  t.like(key, { user_id: userId, organization_id: organizationId, auth_type: 'api_key' });
  t.true(key.scopes.includes('read_contacts'));
  t.like(await me(sessionToken), { user_id: userId, auth_type: 'session', scopes: [] });
  t.is((await call(world, 'GET', '/v1/me')).status, 401);
  for (const [path, alias] of [
    ['/v1/oauth/applications', 'applications'],
    ['/v1/webhooks/throttle-drops', 'drops'],
  ] as const) {
    const { body } = await call(world, 'GET', path, { token: sessionToken });
    t.deepEqual(body[alias], body.data, path);
  }
  const forever = { name: 'Forever', permissions: 1, expires_at: null };
  const made = await call(world, 'POST', '/v1/api-keys', { token: sessionToken, body: forever });
  t.deepEqual([made.status, made.body.expires_at], [201, null]);
  const out = [{ email: 'out@lead.test', subscribed: false }];
  const [contact] = (await call(world, 'POST', '/v1/contacts', { token: apiKey, body: out })).body;
  t.false(contact.subscribed);
  const again = [{ email: 'out@lead.test', subscribed: true }];
  t.false((await call(world, 'POST', '/v1/contacts', { token: apiKey, body: again })).body[0].subscribed);
});
