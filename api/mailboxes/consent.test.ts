import test from 'ava';
import { claimSend } from '../../domain/sending/claim.ts';
import { deliverSend } from '../../domain/sending/deliver.ts';
import { ensureAccess, expireAccess } from '../../domain/sending/control/access-token.ts';
import { revokeConsents } from '../../domain/mailboxes/revoke.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { createSmtpSender } from '../../lib/smtp/index.ts';
import { rotateKeys } from '../../domain/operations/system/rotate-keys.ts';
import { createKeyring } from '../../lib/keyring.ts';
import { newSecret } from '../../lib/crypto.ts';
import { startEngine, type Engine } from '../../test/harness/engine.ts';
import { eventually } from '../../test/harness/eventually.ts';
import {
  createApiKey,
  createCampaign,
  createContact,
  createMailbox,
  enroll,
  type Tenant,
} from '../../test/harness/factories.ts';
import { connectByConsent } from '../../deploy/connect-mailbox.ts';
import { heron } from '../../test/harness/heron.ts';
import { freePort } from '../../local/servers.ts';
import { startMailWorld, type MailWorld, type MailWorldMailbox } from '../../test/harness/mail.ts';
import { startMailProvider, type MailProviderServer, type ProviderPerson } from '../../test/harness/provider.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../test/harness/world.ts';
import { assertNowhere } from '../../test/harness/secrets.ts';

const GMAIL = 'ada@gmail.test';
const OUTLOOK = 'bob@outlook.test';
const START = '/v1/emails/onboarding/oauth/cli-start';

let world: World;
let mail: MailWorld;
let engine: Engine;
let google: MailProviderServer;
let microsoft: MailProviderServer;
let gmail: MailWorldMailbox;
/** Consents issued by Google, in order. */
const issued: ProviderPerson[] = [];

test.before(async () => {
  mail = await startMailWorld();
  gmail = await mail.addMailbox({ email: GMAIL, password: newSecret(), imapPort: await freePort() });
  const outlook = await mail.addMailbox({ email: OUTLOOK, password: newSecret(), imapPort: await freePort() });
  google = await startMailProvider();
  microsoft = await startMailProvider();
  google.onToken(({ email, accessToken }) => email === GMAIL && gmail.setToken(accessToken));
  google.onToken((person) => issued.push(person));
  microsoft.onToken(({ accessToken }) => outlook.setToken(accessToken));
  world = await createWorld({
    ownAddress: true,
    env: { WORKER_ROLES: 'temporal', ...google.env('GOOGLE', gmail), ...microsoft.env('MICROSOFT', outlook) },
  });
  engine = await startEngine(world);
  await eventually(async () => (await world.deps.workflows.health()).workers > 0);
});
test.after.always(async () => {
  await engine?.stop();
  await Promise.all([google?.close(), microsoft?.close(), mail?.stop()]);
  await world?.close();
});

const start = (token: string, provider = 'gmail') => call(world, 'POST', START, { token, body: { provider } });
const poll = (token: string, session: string) =>
  call(world, 'GET', `/v1/emails/onboarding/oauth/session/${session}`, { token });

/** The browser returns from the provider to the page that asks for confirmation. */
const land = (redirect: string) => call(world, 'GET', redirect.slice(world.url.length));

/** Submits the form of the confirmation page from the same browser. */
function press(page: Answer, answer: 'connect' | 'decline', headers: Record<string, string> = {}): Promise<Answer> {
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? '';
  const fields = { csrf: field('csrf'), consent: field('consent'), answer };
  const cookie = page.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return call(world, 'POST', '/mailboxes/consent', {
    body: new URLSearchParams(fields),
    headers: { origin: world.url, cookie, ...headers },
  });
}

/** Connects a mailbox through all steps of the consent, and returns its row. */
async function connected(tenant: Tenant, provider: 'gmail' | 'outlook' = 'gmail') {
  const [server, email] = provider === 'gmail' ? ([google, GMAIL] as const) : ([microsoft, OUTLOOK] as const);
  const { body } = await start(tenant.apiKey, provider);
  await press(await land(server.consent(body.url, email)), 'connect');
  const { body: result } = await poll(tenant.apiKey, body.session);
  return result.account as Record<string, any>;
}

const tokenRow = (mailboxId: string) => world.deps.db('mailbox_tokens').where({ mailbox_id: mailboxId }).first();

test.serial('a Gmail mailbox is connected by consent, from the terminal and a browser', async (t) => {
  const tenant = await world.tenant('Engines & Sons');
  google.sendAs = [
    { sendAsEmail: GMAIL, isPrimary: true },
    { sendAsEmail: 'Sales@ada.test', displayName: 'Sales', verificationStatus: 'accepted' },
  ];
  const begun = await start(tenant.apiKey);
  assertStatus(t, begun, 200);
  t.is(begun.body.expires_in, 900);
  const asked = new URL(begun.body.url).searchParams;
  t.like(Object.fromEntries(asked), {
    access_type: 'offline',
    code_challenge_method: 'S256',
    redirect_uri: `${world.url}/mailboxes/consent`,
  });
  t.false(begun.body.url.includes(begun.body.session));
  t.deepEqual((await poll(tenant.apiKey, begun.body.session)).body, { status: 'pending', provider: 'gmail' });

  const page = await land(google.consent(begun.body.url, GMAIL));
  assertStatus(t, page, 200);
  t.regex(page.text, /Engines &amp; Sons.*ada@gmail\.test.*Olivia Owner/s);
  t.regex(page.headers.get('content-security-policy')!, /default-src 'none'/);
  t.is((await poll(tenant.apiKey, begun.body.session)).body.status, 'pending');
  t.is((await world.deps.db('mailboxes').where({ organization_id: tenant.organizationId })).length, 0);

  assertStatus(t, await press(page, 'connect', { origin: 'https://evil.example' }), 403);
  assertStatus(t, await press(page, 'connect', { cookie: '' }), 403);
  t.regex((await press(page, 'connect')).text, /ada@gmail\.test can be used now/);
  const done = (await poll(tenant.apiKey, begun.body.session)).body;
  t.like(done, {
    status: 'done',
    account: { email: GMAIL, provider: 'gmail', status: 'active', smtp: { username: GMAIL }, hold: null },
  });
  t.regex((await press(page, 'connect')).text, /expired, or has been used/);

  const row = await world.deps.db('mailboxes').where({ id: done.account.id }).first();
  t.like(row, { user_id: tenant.userId });
  const [audit] = await world.deps.db('audit_logs').where({ entity_id: row.id });
  t.like(audit, { action: 'create', actor_kind: 'api_key', api_key_id: tenant.apiKeyId });
  const stored = [row, await tokenRow(row.id), await world.deps.db('mailbox_consents')];
  const { accessToken, refreshToken } = issued.at(-1)!;
  assertNowhere(t, stored, [accessToken, refreshToken, begun.body.session, asked.get('state')!]);
});

test.serial('an Outlook mailbox is connected, read and tested in the same way', async (t) => {
  const tenant = await world.tenant();
  const account = await connected(tenant, 'outlook');
  t.like(account, { email: OUTLOOK, provider: 'outlook' });
  const checked = await call(world, 'POST', `/v1/emails/${account.id}/test`, { token: tenant.apiKey });
  t.like(checked.body, { smtp: true, imap: true, auth: true, healthy: true });
  const alias = await call(world, 'PATCH', `/v1/emails/${account.id}`, {
    token: tenant.apiKey,
    body: { send_as_email: 'other@outlook.test' },
  });
  t.is(alias.body.code, 'mailbox_send_as_unsupported');
  const servers = await call(world, 'PATCH', `/v1/emails/${account.id}`, {
    token: tenant.apiKey,
    body: { smtp: { ...account.smtp, password: 'x' } },
  });
  t.is(servers.body.code, 'mailbox_provider_requires_oauth');
});

test.serial('a person who declines, and a provider that gives nothing, leave nothing behind', async (t) => {
  const tenant = await world.tenant();
  const begin = async () => (await start(tenant.apiKey)).body as { url: string; session: string };
  const outcome = async (session: string) => (await poll(tenant.apiKey, session)).body;

  const declined = await begin();
  await press(await land(google.consent(declined.url, GMAIL)), 'decline');
  t.like(await outcome(declined.session), { status: 'failed', error: { message: 'The person declined' } });

  const denied = await begin();
  const state = new URL(denied.url).searchParams.get('state')!;
  const refused = await land(`${world.url}/mailboxes/consent?error=access_denied&state=${state}`);
  assertStatus(t, refused, 400);
  t.regex((await outcome(denied.session)).error.message, /access_denied/);

  const replayed = await begin();
  const redirect = google.consent(replayed.url, GMAIL);
  assertStatus(t, await land(redirect), 200);
  assertStatus(t, await land(redirect), 404);

  for (const claims of [{ nonce: 'another' }, { aud: 'another' }, { email_verified: false }, { email: 'no address' }]) {
    const strange = await begin();
    t.is((await land(google.consent(strange.url, GMAIL, claims))).status, 400, JSON.stringify(claims));
    t.is((await outcome(strange.session)).status, 'failed');
  }

  const unknown = await begin();
  assertStatus(t, await land(google.consent(unknown.url, 'eve@gmail.test')), 200);
  const wrong = await begin();
  await press(await land(google.consent(wrong.url, 'eve@gmail.test')), 'connect');
  t.like(await outcome(wrong.session), { status: 'failed', error: { code: 'mailbox_auth_failed' } });

  const late = await begin();
  const page = await land(google.consent(late.url, GMAIL));
  const organization = world.deps.db('organizations').where({ id: tenant.organizationId });
  await organization.clone().update({ deletion_scheduled_for: new Date() });
  await press(page, 'connect');
  await organization.clone().update({ deletion_scheduled_for: null });
  world.actors.forget();
  t.like(await outcome(late.session), { status: 'failed', error: { code: 'workspace_deletion_scheduled' } });
  t.deepEqual(await world.deps.db('mailboxes').where({ organization_id: tenant.organizationId }), []);
});

test.serial(
  'a consent lapses after its time, is the workspace’s own, and a revoked key connects nothing',
  async (t) => {
    const tenant = await world.tenant();
    const other = await world.tenant();
    const { body } = await start(tenant.apiKey);
    t.like(await poll(other.apiKey, body.session), { status: 404, body: { code: 'not_found' } });
    assertStatus(t, await poll(tenant.apiKey, 'made-up'), 404);
    await world.deps
      .db('mailbox_consents')
      .where({ organization_id: tenant.organizationId })
      .update({ expires_at: new Date(Date.now() - 1000) });
    t.like(await poll(tenant.apiKey, body.session), { status: 404, body: { code: 'mailbox_consent_expired' } });
    assertStatus(t, await land(google.consent(body.url, GMAIL)), 404);

    const key = await createApiKey(world.deps, tenant.organizationId, tenant.userId);
    const { body: doomed } = await start(key.apiKey);
    const page = await land(google.consent(doomed.url, GMAIL));
    await world.deps.db('api_keys').where({ id: key.apiKeyId }).update({ status: 'revoked' });
    assertStatus(t, await press(page, 'connect'), 403);
    t.is((await poll(tenant.apiKey, doomed.session)).body.status, 'failed');

    const mine = await createMailbox(world.deps, tenant.organizationId, 'other@ours.test', gmail);
    const narrow = await createApiKey(world.deps, tenant.organizationId, tenant.userId, { allowedMailboxes: [mine] });
    const { body: narrowed } = await start(narrow.apiKey);
    await press(await land(google.consent(narrowed.url, GMAIL)), 'connect');
    t.like((await poll(narrow.apiKey, narrowed.session)).body, { status: 'failed', error: { code: 'forbidden' } });

    await world.deps.db('mailbox_consents').update({ expires_at: new Date(Date.now() - 2 * DAY_MS) });
    await start(tenant.apiKey);
    t.is((await world.deps.db('mailbox_consents').where({ organization_id: tenant.organizationId })).length, 1);
  },
);

test.serial(
  'the allowance counts at the start and at the end; a known mailbox is connected anew at any time',
  async (t) => {
    const tenant = await world.tenant();
    const ids: string[] = [];
    for (let i = 0; i < 9; i += 1)
      ids.push(await createMailbox(world.deps, tenant.organizationId, `${newId()}@ours.test`, gmail));
    const { body } = await start(tenant.apiKey);
    ids.push(await createMailbox(world.deps, tenant.organizationId, `${newId()}@ours.test`, gmail));
    t.like(await start(tenant.apiKey), { status: 403, body: { code: 'mailbox_allowance_reached' } });
    await press(await land(google.consent(body.url, GMAIL)), 'connect');
    t.like((await poll(tenant.apiKey, body.session)).body, {
      status: 'failed',
      error: { code: 'mailbox_allowance_reached' },
    });

    await world.deps.db('mailboxes').where({ id: ids[0] }).update({ email: GMAIL, name: 'Kept', campaign_limit: 7 });
    await world.deps.db('mailboxes').where({ id: ids[0] }).update({ provider: 'gmail' });
    t.like(await connected(tenant), { id: ids[0], name: 'Kept', campaign_limit: 7, provider: 'gmail' });
  },
);

test.serial('without a client the provider is not offered', async (t) => {
  const bare = await createWorld();
  t.teardown(() => bare.close());
  const { apiKey } = await bare.tenant();
  for (const [provider, prefix] of [
    ['gmail', 'GOOGLE'],
    ['outlook', 'MICROSOFT'],
  ]) {
    const answer = await call(bare, 'POST', START, { token: apiKey, body: { provider } });
    t.like(answer, { status: 503, body: { code: 'mailbox_provider_not_configured' } });
    t.regex(answer.body.fix, new RegExp(`${prefix}_MAILBOX_CLIENT_ID`));
  }
});

test.serial('the address to send as is one that Gmail has verified', async (t) => {
  const tenant = await world.tenant();
  google.sendAs = [
    { sendAsEmail: GMAIL, isPrimary: true },
    { sendAsEmail: 'new@ada.test', verificationStatus: 'pending' },
  ];
  const { id } = await connected(tenant);
  const choose = (address: string) =>
    call(world, 'PATCH', `/v1/emails/${id}`, { token: tenant.apiKey, body: { send_as_email: address } });
  t.like(await choose('new@ada.test'), { status: 400, body: { code: 'mailbox_send_as_unknown' } });
  t.like(await choose('stranger@ada.test'), { status: 400, body: { code: 'mailbox_send_as_unknown' } });
  google.sendAs[1]!.verificationStatus = 'accepted';
  t.like(await choose('new@ada.test'), { status: 200, body: { send_as_email: 'new@ada.test' } });
  const at = `/v1/emails/${id}/identity`;
  t.like((await call(world, 'GET', at, { token: tenant.apiKey })).body, {
    supported: true,
    send_as_email: 'new@ada.test',
    identities: [
      { email: GMAIL, is_primary: true },
      { email: 'new@ada.test', verified: true },
    ],
  });
  google.sendAs[1]!.verificationStatus = 'pending';
  const refreshed = await call(world, 'POST', `${at}/refresh`, { token: tenant.apiKey });
  t.like(refreshed, { status: 200, body: { send_as_email: '' } });
  t.false(refreshed.body.identities[1].verified);
  google.sendAs[1]!.verificationStatus = 'accepted';
  t.like(await choose(GMAIL), { status: 200 });
  t.like(await choose(''), { status: 200, body: { send_as_email: '' } });
});

/** Creates a campaign with one lead, whose email from the given mailbox is due now. Returns the id of the send. */
async function dueEmail(tenant: Tenant, mailboxId: string): Promise<string> {
  const { deps } = world;
  const { campaignId, stepIds } = await createCampaign(deps, tenant.organizationId, [
    { subject: 'Hi', body_plain: 'Hello' },
  ]);
  const contactId = await createContact(deps.db, deps.clock.now(), tenant.organizationId);
  const [enrollmentId] = await enroll(deps, tenant.organizationId, campaignId, [contactId]);
  const now = deps.clock.now();
  const id = newId();
  // Sets the gap between two emails of the mailbox to zero.
  await deps.db('mailboxes').where({ id: mailboxId }).update({ min_wait_time: 0 });
  await deps.db('enrollments').where({ id: enrollmentId }).update({ state: 'active', current_step_id: stepIds[0] });
  await deps.db('sends').insert({
    id,
    organization_id: tenant.organizationId,
    campaign_id: campaignId,
    enrollment_id: enrollmentId,
    contact_id: contactId,
    step_id: stepIds[0],
    mailbox_id: mailboxId,
    state: 'reserved',
    slot_at: now,
    slot_day: now.toISOString().slice(0, 10),
    recipient: '',
    created_at: now,
    updated_at: now,
  });
  return id;
}

test.serial(
  'an email leaves by XOAUTH2, with a new access token when the old one has run out or is refused early',
  async (t) => {
    const tenant = await world.tenant();
    const { id } = await connected(tenant);
    const ctx = world.system(tenant.organizationId);
    const smtp = createSmtpSender({ allowPrivate: true });
    t.teardown(() => smtp.close());
    const before = google.refreshes;

    t.deepEqual(await deliverSend(ctx, { smtp }, await dueEmail(tenant, id)), { outcome: 'sent' });
    t.is(google.refreshes, before);

    await world.deps.db('mailbox_tokens').where({ mailbox_id: id }).update({ access_expires_at: new Date() });
    const second = await dueEmail(tenant, id);
    t.is((await claimSend(ctx, second)).kind, 'access_expired');
    t.deepEqual(await deliverSend(ctx, { smtp }, second), { outcome: 'sent' });
    t.is(google.refreshes, before + 1);

    // The provider ends the token early. Heron requests another token, and the mailbox is not held.
    gmail.setToken('another');
    await world.deps
      .db('mailbox_tokens')
      .where({ mailbox_id: id })
      .update({ refreshed_at: new Date(Date.now() - 10 * MINUTE_MS) });
    await world.deps.db('mailboxes').where({ id }).increment('credentials_version', 1);
    const third = await dueEmail(tenant, id);
    t.deepEqual(await deliverSend(ctx, { smtp }, third), { outcome: 'deferred' });
    await world.deps.db('sends').where({ id: third }).update({ slot_at: new Date() });
    t.deepEqual(await deliverSend(ctx, { smtp }, third), { outcome: 'sent' });
    t.like(await world.deps.db('mailboxes').where({ id }).first(), { hold_code: null });

    // If the mail server also refuses a new token, expiry is not the cause.
    gmail.setToken('another');
    await world.deps.db('mailboxes').where({ id }).increment('credentials_version', 1);
    t.false(await expireAccess(ctx, id));
    t.deepEqual(await deliverSend(ctx, { smtp }, await dueEmail(tenant, id)), { outcome: 'mailbox_held' });
    t.like(await world.deps.db('mailboxes').where({ id }).first(), { hold_code: 'auth_failed' });
  },
);

test.serial('of many who need a new access token, one asks the provider', async (t) => {
  const tenant = await world.tenant();
  const { id } = await connected(tenant);
  const ctx = world.system(tenant.organizationId);
  await world.deps.db('mailbox_tokens').where({ mailbox_id: id }).update({ access_expires_at: new Date() });
  google.delay(300);
  t.teardown(() => google.delay(0));
  const before = google.refreshes;
  const all = await Promise.all(Array.from({ length: 8 }, () => ensureAccess(ctx, id)));
  t.true(all.every(({ kind }) => kind === 'valid'));
  t.is(google.refreshes, before + 1);
});

test.serial(
  'a consent that was ended holds the mailbox until it is given anew; a provider that is away holds nothing',
  async (t) => {
    const tenant = await world.tenant();
    const { id } = await connected(tenant);
    const ctx = world.system(tenant.organizationId);
    const expire = () =>
      world.deps
        .db('mailbox_tokens')
        .where({ mailbox_id: id })
        .update({ access_expires_at: new Date(), retry_at: null });

    await expire();
    google.refuse({ status: 503, body: {} });
    t.teardown(() => google.refuse(undefined));
    t.is((await ensureAccess(ctx, id)).kind, 'unavailable');
    t.like(await world.deps.db('mailboxes').where({ id }).first(), { hold_code: null });
    t.like(await tokenRow(id), { failures: 1, lease_token: null });
    const waiting = await dueEmail(tenant, id);
    const smtp = createSmtpSender({ allowPrivate: true });
    t.teardown(() => smtp.close());
    t.like(await deliverSend(ctx, { smtp }, waiting), { outcome: 'host_busy' });

    google.refuse({
      status: 400,
      body: { error: 'invalid_grant', error_description: 'Token has been\r\nexpired or revoked.' },
    });
    await expire();
    t.is(((await deliverSend(ctx, { smtp }, waiting)) as { outcome: string }).outcome, 'released');
    const held = await call(world, 'GET', `/v1/emails/${id}`, { token: tenant.apiKey });
    t.like(held.body.hold, { code: 'consent_ended', until: null });
    t.regex(held.body.hold.reason, /Token has been expired or revoked/);
    const checked = await call(world, 'POST', `/v1/emails/${id}/test`, { token: tenant.apiKey });
    t.like(checked.body, { auth: false, error: { code: 'mailbox_auth_failed' } });
    t.like((await call(world, 'GET', `/v1/emails/${id}`, { token: tenant.apiKey })).body.hold, {
      code: 'consent_ended',
      until: null,
    });

    google.refuse(undefined);
    const again = await connected(tenant);
    t.like(again, { id, hold: null });
    t.is((await ensureAccess(ctx, id)).kind, 'valid');
  },
);

test.serial('a removed mailbox ends its consent at Google, tried until that has worked', async (t) => {
  const [tenant, other] = [await world.tenant(), await world.tenant()];
  const { deps } = world;
  const left = () => deps.db('mailbox_revocations');
  const remove = async (owner: Tenant, id: string) =>
    assertStatus(t, await call(world, 'DELETE', `/v1/emails/${id}`, { token: owner.apiKey }), 204);
  const makeDue = () => left().update({ due_at: new Date(0) });
  await deps.db('mailboxes').where({ email: GMAIL }).delete();

  // Connects the same account in another workspace, so that both share its consent.
  const { id: shared } = await connected(other);
  await remove(tenant, (await connected(tenant)).id);
  const [noted] = await left();
  assertNowhere(t, noted, [issued.at(-1)!.refreshToken]);
  t.is(await revokeConsents(deps), 1);
  t.deepEqual([google.revoked.length, (await left()).length], [0, 0]);

  await remove(other, shared);
  google.refuse({ status: 503, body: {} });
  t.teardown(() => google.refuse(undefined));
  t.is(await revokeConsents(deps), 0);
  const [waiting] = await left();
  t.is(waiting.attempts, 1);
  t.true(waiting.due_at.getTime() > Date.now());
  google.refuse(undefined);
  t.is(await revokeConsents(deps), 0);
  await makeDue();
  t.is(await revokeConsents(deps), 1);
  t.is(google.revoked.length, 1);
  t.is((await left()).length, 0);

  // Adds a consent that the person has revoked, and one whose provider never answers. Also adds a token that cannot be
  // decrypted, which must not block the others.
  const unreadable = { mailbox_id: newId(), sealed: Buffer.from('of a key that is gone') };
  await left().insert([
    { ...waiting, ...unreadable, attempts: 0, due_at: new Date(0) },
    { ...waiting, attempts: 0, due_at: new Date(1) },
  ]);
  t.is(await revokeConsents(deps), 1);
  t.is(await left().where({ mailbox_id: unreadable.mailbox_id }).delete(), 1);
  google.refuse({ status: 500, body: {} });
  await left().insert({ ...waiting, attempts: 29, due_at: new Date(0) });
  t.is(await revokeConsents(deps), 1);
  t.is((await left()).length, 0);

  await remove(tenant, (await connected(tenant, 'outlook')).id);
  t.is((await left()).length, 0);
});

test.serial('heron mailbox connect prints where to consent, and waits for the outcome', async (t) => {
  const tenant = await world.tenant();
  const env = { HERON_API_URL: world.url, HERON_API_KEY: tenant.apiKey };
  const lines: string[] = [];
  const connect = () => connectByConsent(env, { provider: 'gmail', browser: false }, (line) => lines.push(line));
  const printed = () => eventually(async () => /http\S+/.exec(lines.splice(0).join('\n'))?.[0]);
  const waiting = connect();
  await press(await land(google.consent(await printed(), GMAIL)), 'connect');
  t.like(await waiting, { email: GMAIL, provider: 'gmail' });
  const declining = t.throwsAsync(connect(), { message: /The person declined/ });
  await press(await land(google.consent(await printed(), GMAIL)), 'decline');
  await declining;
  const { code, stderr } = await heron(['mailbox', 'connect', '--provider', 'gmail', '--no-browser'], {
    ...env,
    HERON_API_KEY: 'ssk_wrong',
  });
  t.is(code, 1);
  t.regex(stderr, /^heron: The credential is missing, invalid/);
});

test.serial('rotating keys seals tokens anew', async (t) => {
  const tenant = await world.tenant();
  const { id } = await connected(tenant);
  const keyring = createKeyring('f'.repeat(64), [world.deps.config.CREDENTIALS_ENCRYPTION_KEY]);
  const report = await rotateKeys({ db: world.deps.db, keyring });
  t.true(report.find(({ column }) => column === 'mailbox_tokens.sealed')!.resealed > 0);
  t.true(report.every(({ unreadable }) => unreadable === 0));
  const old = createKeyring(world.deps.config.CREDENTIALS_ENCRYPTION_KEY, ['f'.repeat(64)]);
  t.true((await rotateKeys({ db: world.deps.db, keyring: old })).some(({ resealed }) => resealed > 0));
  t.is((await ensureAccess(world.system(tenant.organizationId), id)).kind, 'valid');
});
