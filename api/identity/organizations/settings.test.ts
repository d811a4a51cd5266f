import { deflateSync } from 'node:zlib';
import test from 'ava';
import { credentialKey, credentialStates } from '../../../domain/identity/credential-state.ts';
import { createMember, createSession, type Tenant } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { freshEmail, login, mailedToken, register } from '../../../test/harness/people.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

const CURRENT = '/v1/organizations/current';
const clock = new ManualClock(new Date('2026-03-09T09:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

const ask = (token: string, method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) =>
  call(world, method, path, { token, body, headers: { 'accept-language': 'en' } });
const change = ({ sessionToken }: Pick<Tenant, 'sessionToken'>, body: unknown) =>
  ask(sessionToken, 'PATCH', CURRENT, body);
const roleId = async ({ organizationId }: Tenant, name: string): Promise<string> =>
  (await world.deps.db('roles').where({ organization_id: organizationId, name }).first('id')).id;

/** A PNG of one pixel, with bytes after it up to a size. */
function png(sizeBytes = 0): Buffer {
  const chunk = (type: string, data: Buffer) =>
    Buffer.concat([uint32(data.length), Buffer.from(type), data, Buffer.alloc(4)]);
  const bytes = Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.concat([uint32(1), uint32(1), Buffer.from([8, 6, 0, 0, 0])])),
    chunk('IDAT', deflateSync(Buffer.alloc(5))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
  return Buffer.concat([bytes, Buffer.alloc(Math.max(0, sizeBytes - bytes.length))]);
}
function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

test('settings name every problem, are not overwritten unseen, and leave a trail', async (t) => {
  const tenant = await world.tenant();
  const wrong = await change(tenant, {
    timezone: 'Mars/Base',
    language: 'xx',
    logo: Buffer.from('<svg/>').toString('base64'),
    member_email_domains: ['ours.test', 'not a domain'],
    session_max_hours: 0,
  });
  assertStatus(t, wrong, 400);
  t.deepEqual(wrong.body.problems.map(({ path }: { path: string }) => path).toSorted(), [
    'body.language',
    'body.logo',
    'body.member_email_domains.1',
    'body.session_max_hours',
    'body.timezone',
  ]);
  const before = (await ask(tenant.sessionToken, 'GET', CURRENT)).body;
  t.like(before, { language: null, logo_id: null, member_email_domains: [], session_max_hours: null });
  const seen = { expected_updated_at: before.updated_at };
  clock.advance(1000);
  const changed = await change(tenant, {
    ...seen,
    language: 'de',
    member_email_domains: ['@Ours.test', 'Bücher.example', 'ours.test'],
    session_max_hours: 24,
  });
  assertStatus(t, changed, 200);
  t.like(changed.body, {
    language: 'de',
    member_email_domains: ['ours.test', 'xn--bcher-kva.example'],
    session_max_hours: 24,
    needs_sign_in: false,
  });
  assertStatus(t, await change(tenant, { ...seen, name: 'Late' }), 409);
  const [trail] = await world.deps
    .db('audit_logs')
    .where({ organization_id: tenant.organizationId, action: 'update', entity_type: 'organization' });
  t.deepEqual(Object.keys(trail.changes).toSorted(), ['language', 'member_email_domains', 'session_max_hours']);
});

test('a logo is a small image by its bytes, served to members only, replaced and removed', async (t) => {
  const tenant = await world.tenant();
  const { organizationId: organization_id, sessionToken } = tenant;
  const blobs = () => world.deps.db('blobs').where({ organization_id }).pluck('id');
  const path = `${CURRENT}/logo`;
  assertStatus(t, await ask(sessionToken, 'GET', path), 404);
  const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
  for (const image of [gif, png(200_001), Buffer.from('PNG')]) {
    const refused = await change(tenant, { logo: image.toString('base64') });
    assertStatus(t, refused, 400);
    t.is(refused.body.problems[0].path, 'body.logo');
  }
  t.deepEqual(await blobs(), []);
  const stored = await change(tenant, { logo: png(200_000).toString('base64') });
  assertStatus(t, stored, 200);
  const answer = await fetch(`${world.url}${path}`, { headers: { authorization: `Bearer ${sessionToken}` } });
  t.is(answer.headers.get('content-type'), 'image/png');
  t.is(answer.headers.get('x-content-type-options'), 'nosniff');
  t.regex(answer.headers.get('cache-control')!, /^private, max-age=/);
  t.deepEqual(Buffer.from(await answer.arrayBuffer()), png(200_000));
  t.deepEqual(await blobs(), [stored.body.logo_id]);
  assertStatus(t, await ask((await world.tenant()).sessionToken, 'GET', path), 404);
  assertStatus(t, await call(world, 'GET', path, {}), 401);
  const { sessionToken: viewer } = await createMember(world.deps, tenant, 'Viewer');
  assertStatus(t, await ask(viewer, 'GET', path), 200);
  assertStatus(t, await change({ sessionToken: viewer }, { logo: null }), 403);

  const replaced = await change(tenant, { logo: png().toString('base64') });
  t.not(replaced.body.logo_id, stored.body.logo_id);
  t.deepEqual(await blobs(), [replaced.body.logo_id]);
  t.is((await change(tenant, { logo: null })).body.logo_id, null);
  t.deepEqual(await blobs(), []);
  const trail = await world.deps.db('audit_logs').where({ organization_id, action: 'update' }).orderBy('id');
  t.deepEqual(trail[0].changes, { has_logo: { from: false, to: true } });
});

test('only addresses at the domains of the workspace are invited and join; members elsewhere stay and are named', async (t) => {
  const tenant = await world.tenant();
  const { userId: outsider } = await createMember(world.deps, tenant, 'Member');
  const role_id = await roleId(tenant, 'Viewer');
  const invite = (email: string) => ask(tenant.sessionToken, 'POST', `${CURRENT}/invitations`, { email, role_id });
  const early = freshEmail();
  assertStatus(t, await invite(early), 201);
  const invitation = mailedToken(world, early);
  await register(world, early);
  const { access_token: token } = await login(world, early);

  await change(tenant, { member_email_domains: ['ours.test'] });
  const refused = await invite('ada@elsewhere.test');
  assertStatus(t, refused, 400);
  t.is(refused.body.problems[0].path, 'body.email');
  t.regex(refused.body.problems[0].message, /ours\.test/);
  const both = await ask(tenant.sessionToken, 'POST', `${CURRENT}/invitations`, {
    email: 'ada@elsewhere.test',
    role_id: 'none',
  });
  t.is(both.body.problems.length, 2);
  const accept = () => ask(token, 'POST', '/v1/invitations/accept', { token: invitation });
  const late = await accept();
  assertStatus(t, late, 403);
  t.is(late.body.code, 'invitation_invalid');
  t.regex(late.body.message, /ours\.test/);
  const page = await fetch(`${world.url}/invitations/${invitation}`);
  t.regex(await page.text(), /ours\.test/);

  const outside = await ask(tenant.sessionToken, 'GET', `${CURRENT}/members?outside_domains=true`);
  t.true(outside.body.data.some(({ user_id: id }: { user_id: string }) => id === outsider));
  t.false(outside.body.data.some(({ email }: { email: string }) => email.endsWith('@ours.test')));
  await change(tenant, { member_email_domains: ['ours.test', early.split('@')[1]!] });
  assertStatus(t, await accept(), 200);
  assertStatus(t, await invite('bob@ours.test'), 201);
});

test('an old session acts in no workspace that asks for a new sign-in, and in all others as before', async (t) => {
  const tenant = await world.tenant();
  const other = await ask(tenant.sessionToken, 'POST', '/v1/organizations', { name: 'Other' });
  await change(tenant, { session_max_hours: 2 });
  const { userId, organizationId } = tenant;
  const begun = clock.now();
  const old = () => createSession(world.deps, userId, organizationId);
  const first = await old();
  const [session] = await world.deps.db('sessions').where({ user_id: userId }).orderBy('id', 'desc').limit(1);
  const began = (hours: number) =>
    world.deps
      .db('sessions')
      .where({ id: session.id })
      .update({ created_at: new Date(begun.getTime() - hours * 3600_000) });
  await began(1.9);
  assertStatus(t, await ask(first, 'GET', '/v1/contacts'), 200);
  await began(2);
  for (const [method, path] of [
    ['GET', '/v1/contacts'],
    ['GET', CURRENT],
    ['POST', '/v1/campaigns/019cad4d-3c00-7000-8000-000000000001/stop'],
  ] as const) {
    const answer = await ask(first, method, path);
    assertStatus(t, answer, 401);
    t.is(answer.body.fix, 'Sign in again.');
  }
  const held = { kind: 'session', id: session.id } as const;
  const states = await credentialStates(world.deps, [held]);
  t.is(states.get(credentialKey(held)), '[null,[]]', 'open sockets end');
  const me = await ask(first, 'GET', '/v1/auth/me');
  assertStatus(t, me, 200);
  t.deepEqual(
    me.body.workspaces.map(({ id, needs_sign_in: needs, current }: Record<string, unknown>) => [id, needs, current]),
    [
      [organizationId, true, false],
      [other.body.id, false, false],
    ],
  );
  assertStatus(t, await ask(first, 'POST', `/v1/organizations/${other.body.id}/select`), 200);
  assertStatus(t, await ask(first, 'GET', '/v1/contacts'), 200);
  assertStatus(t, await ask(first, 'POST', `/v1/organizations/${organizationId}/select`), 200);
  assertStatus(t, await ask(first, 'GET', '/v1/contacts'), 401);
  assertStatus(t, await ask(await old(), 'GET', '/v1/contacts'), 200);
  assertStatus(t, await ask(tenant.apiKey, 'GET', '/v1/contacts'), 200);
});

test('mails to people without a language use that of the workspace', async (t) => {
  const tenant = await world.tenant();
  const invite = (email: string) =>
    roleId(tenant, 'Viewer').then((role_id) =>
      ask(tenant.sessionToken, 'POST', `${CURRENT}/invitations`, { email, role_id }),
    );
  const subjectTo = (email: string) => world.outgoing.findLast(({ to }) => to === email)!.subject;
  await invite('a@new.test');
  t.regex(subjectTo('a@new.test'), /^You are invited/);
  await change(tenant, { language: 'de' });
  await invite('b@new.test');
  t.regex(subjectTo('b@new.test'), /^Du bist zu/);
  const english = freshEmail();
  await register(world, english);
  await world.deps.db('users').where({ email: english }).update({ language: 'en' });
  await invite(english);
  t.regex(subjectTo(english), /^You are invited/);
});
