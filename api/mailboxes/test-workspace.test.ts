import test from 'ava';
import { verifyDueAddresses } from '../../domain/audience/verification/verify-due.ts';
import { advanceDirectSend } from '../../domain/inbox/direct-sends/advance.ts';
import { deliverSend } from '../../domain/sending/deliver.ts';
import { newId } from '../../lib/ids.ts';
import { ALL_PERMISSIONS } from '../../lib/permissions.ts';
import { createSmtpSender, TEST_HOST } from '../../lib/smtp/index.ts';
import { createMailbox } from '../../test/harness/factories.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { assertStatus, call, createWorld, noRecords, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld({
    clock: new ManualClock(new Date('2026-11-02T10:00:00Z')),
    env: { GOOGLE_MAILBOX_CLIENT_ID: 'heron', GOOGLE_MAILBOX_CLIENT_SECRET: 'secret' },
  });
});
test.after.always(() => world?.close());

/** Mail servers to which nothing may connect. A connection would be refused. */
const NOWHERE = { host: '127.0.0.1', port: 1, username: 'sam', password: 'a password', security: 'none' };

/** Creates a test workspace through the API, selects it, and makes a key in it. */
async function given() {
  const tenant = await world.tenant();
  const token = tenant.sessionToken;
  const made = await call(world, 'POST', '/v1/organizations', { token, body: { name: 'Trials', is_test: true } });
  const organizationId = made.body.id as string;
  await call(world, 'POST', `/v1/organizations/${organizationId}/select`, { token });
  const key = await call(world, 'POST', '/v1/api-keys', { token, body: { name: 'CI', permissions: ALL_PERMISSIONS } });
  const as = (method: string, path: string, body?: unknown) =>
    call(world, method, path, {
      token: key.body.secret,
      ...(body === undefined ? {} : { body, headers: { 'idempotency-key': newId() } }),
    });
  return { tenant, organizationId, made, key, as };
}

test('a key of a test workspace sends by the same requests, and no email leaves', async (t) => {
  const { tenant, organizationId, made, key, as } = await given();
  assertStatus(t, made, 201);
  t.true(made.body.is_test);
  t.regex(key.body.secret, /^ssk_test_/);
  t.regex(key.body.key_prefix, /^ssk_test_.{2}$/);
  const me = await as('GET', '/v1/me');
  t.true(me.body.is_test);

  const email = 'sam@ours.test';
  const connect = { provider: 'smtp_imap', email, name: 'Sam', smtp: NOWHERE, imap: NOWHERE };
  const mailbox = await as('POST', '/v1/emails', connect);
  assertStatus(t, mailbox, 201);
  t.like(mailbox.body, { smtp: { host: TEST_HOST }, imap: null });
  // Connects the mailbox again, changes its credentials, and edits it.
  assertStatus(t, await as('POST', '/v1/emails', connect), 201);
  assertStatus(t, await as('PATCH', `/v1/emails/${mailbox.body.id}`, { smtp: NOWHERE }), 200);

  const composed = await as('POST', '/v1/unibox/compose', {
    email_account_id: mailbox.body.id,
    to: ['lea@else.test'],
    subject: 'Hello',
    body_plain: 'Hi there',
  });
  // In a test workspace, too, an action of a key without a policy waits for a person.
  t.like(composed.body, { result: 'awaiting_approval' });
  const decision = { token: tenant.sessionToken, body: { decision: 'approved' } };
  assertStatus(t, await call(world, 'POST', `/v1/approvals/${composed.body.approval_id}/decision`, decision), 200);
  const id = composed.body.task_id as string;
  const ctx = world.system(organizationId);
  const smtp = createSmtpSender({ allowPrivate: true });
  t.teardown(() => smtp.close());
  t.like(await advanceDirectSend(ctx, id), { kind: 'send' });
  t.deepEqual(await deliverSend(ctx, { smtp }, id), { outcome: 'sent' });
  const send = await world.deps.db('sends').where({ id }).first('state', 'smtp_response');
  t.like(send, { state: 'sent', smtp_response: '250 2.0.0 Accepted in a test workspace, and not sent' });
});

test('an email of a test workspace that may not end any more is withheld, as any other', async (t) => {
  const smtp = createSmtpSender({ allowPrivate: true });
  t.teardown(() => smtp.close());
  const target = { host: TEST_HOST, port: 0, security: 'none', username: '', password: '' } as const;
  const send = (beforeEnd: () => Promise<boolean>) =>
    smtp.send('box', target, { from: 'a@ours.test', to: ['b@else.test'] }, Buffer.from('Hi'), { beforeEnd });
  t.is((await send(async () => false)).kind, 'withheld');
  t.is((await send(() => Promise.reject(new Error('no database')))).kind, 'withheld');
  t.is((await send(async () => true)).kind, 'accepted');
});

test('no statement gives a test workspace a server, or another workspace a mailbox without one', async (t) => {
  const { tenant, organizationId } = await given();
  const server = { smtp: { host: '127.0.0.1', port: 1 } };
  await t.throwsAsync(createMailbox(world.deps, organizationId, 'a@ours.test', server), {
    message: /mailboxes_organization_id_is_test_fkey/,
  });
  await t.throwsAsync(createMailbox(world.deps, organizationId, 'a@ours.test', server, { is_test: true }), {
    message: /mailboxes_of_test_workspace/,
  });
  await t.throwsAsync(
    createMailbox(world.deps, tenant.organizationId, 'a@ours.test', { smtp: { host: TEST_HOST, port: 0 } }),
    { message: /mailboxes_of_test_workspace/ },
  );
});

test('a test workspace buys nothing and asks no provider for consent', async (t) => {
  const { as } = await given();
  const quote = await as('POST', '/v1/mailboxes/provision/quote', { provider: 'any', count: 1, domain: 'ours.test' });
  t.deepEqual([quote.status, quote.body.code], [403, 'forbidden']);
  const consent = await as('POST', '/v1/emails/onboarding/oauth/cli-start', { provider: 'gmail' });
  t.is(consent.body.code, 'forbidden');
});

test('addresses of a test workspace get their verdict at once, and no server is asked', async (t) => {
  const { organizationId, as } = await given();
  const { db } = world.deps;
  const [contact] = (await as('POST', '/v1/contacts', [{ email: 'lea@else.test' }])).body;
  const asked = await as('POST', '/v1/contacts/verification', { action: 'verify', contacts: [contact.id] });
  t.like(asked.body, { changed: 1, queued: true });
  t.deepEqual(await db('contact_verifications').where({ organization_id: organizationId }), []);
  t.like((await as('GET', `/v1/contacts/${contact.id}`)).body, {
    verification_status: 'unknown',
    verification_reason: 'test_workspace',
  });
  await verifyDueAddresses({ ...world.deps, dns: { ...noRecords, mx: () => t.fail('no server is asked') as never } });
  t.like((await as('GET', `/v1/contacts/bulk-edits/${asked.body.id}`)).body, { pending: 0 });
  const [event] = await db('domain_events').where({ organization_id: organizationId, type: 'contact.updated' });
  t.like(event, { data: { metadata: { bulk: true, count: 1 } } });
});
