import test from 'ava';
import fc from 'fast-check';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { silentLogger } from '../../../lib/log.ts';
import { createSystemMail } from '../../../lib/mail/index.ts';
import { ORG_PERMISSIONS } from '../../../lib/permissions.ts';
import { freePort } from '../../../local/servers.ts';
import { createCampaign, createMember, createSession, type Tenant } from '../../../test/harness/factories.ts';
import { createConnectionRow } from '../../../test/harness/integrations.ts';
import { createApplication } from '../../../test/harness/oauth.ts';
import { freshEmail, login, mailedToken, register } from '../../../test/harness/people.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';
import { assertNowhere } from '../../../test/harness/secrets.ts';
import { newId } from '../../../lib/ids.ts';

const CURRENT = '/v1/organizations/current';
let world: World;

test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const as = (token: string, on = world) => ({
  get: (path: string) => call(on, 'GET', path, { token }),
  post: (path: string, body?: unknown) => call(on, 'POST', path, { token, body }),
  patch: (path: string, body: unknown) => call(on, 'PATCH', path, { token, body }),
  delete: (path: string) => call(on, 'DELETE', path, { token }),
});

async function roleId(tenant: Tenant, name: string, on = world): Promise<string> {
  return (await on.deps.db('roles').where({ organization_id: tenant.organizationId, name }).first('id')).id;
}

/** Creates a member with a role of exactly these permissions. */
async function memberWith(
  tenant: Tenant,
  permissions: readonly string[],
): Promise<{ userId: string; sessionToken: string }> {
  const name = `role ${permissions.join(' ')} ${newId()}`;
  await as(tenant.sessionToken).post(`${CURRENT}/roles`, { name, permissions });
  return createMember(world.deps, tenant, name);
}

const audits = (tenant: Tenant) =>
  world.deps
    .db('audit_logs')
    .where('organization_id', tenant.organizationId)
    .orderBy('id')
    .then((rows) => rows.map((row) => `${row.action} ${row.entity_type}`));
const events = (tenant: Tenant) =>
  world.deps
    .db('domain_events')
    .where('organization_id', tenant.organizationId)
    .orderBy('id')
    .then((rows) => rows.map((row) => row.type as string));

function refused(t: { is(a: unknown, b: unknown): void }, answer: Answer, status: number, code: string): void {
  t.is(answer.status, status);
  t.is(answer.body?.code, code);
}

test('a person founds workspaces, moves between them, and sees only their own', async (t) => {
  const tenant = await world.tenant();
  const email = freshEmail();
  await register(world, email);
  const me = as((await login(world, email)).access_token);
  refused(t, await me.get(CURRENT), 400, 'no_organization');
  const first = await me.post('/v1/organizations', { name: ' Blue ' });
  assertStatus(t, first, 201);
  t.is(first.body.name, 'Blue');
  t.true(first.body.current, 'selected, as none was');
  t.deepEqual([...first.body.permissions].sort(), [...ORG_PERMISSIONS].sort());
  const second = await me.post('/v1/organizations', { name: 'Green' });
  t.false(second.body.current);
  t.is((await me.get(CURRENT)).body.id, first.body.id);
  t.is((await me.post(`/v1/organizations/${second.body.id}/select`)).body.current, true);
  t.is((await me.get(CURRENT)).body.id, second.body.id, 'the next request already works there');
  t.deepEqual(
    (await me.get('/v1/organizations')).body.data.map((row: { name: string; current: boolean }) => [
      row.name,
      row.current,
    ]),
    [
      ['Blue', false],
      ['Green', true],
    ],
  );
  refused(t, await me.post(`/v1/organizations/${tenant.organizationId}/select`), 404, 'not_found');
  const roles = await me.get(`${CURRENT}/roles`);
  t.deepEqual(roles.body.data.map((row: { name: string }) => row.name).sort(), ['Admin', 'Member', 'Owner', 'Viewer']);
});

test('renaming needs manage_settings and leaves a trail', async (t) => {
  const tenant = await world.tenant();
  const renamed = await as(tenant.sessionToken).patch(CURRENT, { name: 'Renamed' });
  t.is(renamed.body.name, 'Renamed');
  t.deepEqual(await audits(tenant), ['update organization']);
  t.deepEqual(await events(tenant), ['settings.updated']);
  const member = await memberWith(tenant, ['manage_team']);
  refused(t, await as(member.sessionToken).patch(CURRENT, { name: 'No' }), 403, 'forbidden');
});

test('API keys are refused on organization routes', async (t) => {
  const { apiKey } = await world.tenant();
  for (const path of [
    CURRENT,
    `${CURRENT}/members`,
    `${CURRENT}/roles`,
    `${CURRENT}/invitations`,
    '/v1/organizations',
  ]) {
    refused(t, await as(apiKey).get(path), 403, 'forbidden');
  }
});

test('members page by cursor and change roles', async (t) => {
  const tenant = await world.tenant();
  const owner = as(tenant.sessionToken);
  for (let i = 0; i < 4; i += 1) await createMember(world.deps, tenant, 'Viewer');
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await owner.get(`${CURRENT}/members?limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...page.body.data.map((row: { user_id: string }) => row.user_id));
    cursor = page.body.pagination.next_cursor ?? '';
  } while (cursor);
  t.is(new Set(seen).size, 5);
  refused(t, await owner.get(`${CURRENT}/members?cursor=junk`), 400, 'bad_request');

  const userId = seen.at(-1)!;
  const changed = await owner.patch(`${CURRENT}/members/${userId}`, { role_id: await roleId(tenant, 'Member') });
  t.is(changed.body.role.name, 'Member');
  const other = await world.tenant();
  const foreignRole = await owner.patch(`${CURRENT}/members/${userId}`, { role_id: await roleId(other, 'Member') });
  refused(t, foreignRole, 400, 'bad_request');
  t.is(foreignRole.body.problems[0].path, 'body.role_id');
  refused(
    t,
    await owner.patch(`${CURRENT}/members/${other.userId}`, { role_id: await roleId(tenant, 'Member') }),
    404,
    'not_found',
  );
  t.deepEqual(await audits(tenant), ['update member']);
  t.deepEqual(await events(tenant), ['team.member_role_changed']);
});

test('a changed role and a removal are felt by the next request', async (t) => {
  const tenant = await world.tenant();
  const owner = as(tenant.sessionToken);
  const member = await createMember(world.deps, tenant, 'Admin');
  assertStatus(t, await as(member.sessionToken).get(`${CURRENT}/invitations`), 200);
  await owner.patch(`${CURRENT}/members/${member.userId}`, { role_id: await roleId(tenant, 'Viewer') });
  refused(t, await as(member.sessionToken).get(`${CURRENT}/invitations`), 403, 'forbidden');
  assertStatus(t, await owner.delete(`${CURRENT}/members/${member.userId}`), 204);
  refused(t, await as(member.sessionToken).get(CURRENT), 400, 'no_organization');
  refused(t, await owner.delete(`${CURRENT}/members/${member.userId}`), 404, 'not_found');
  t.deepEqual(await events(tenant), ['team.member_role_changed', 'team.member_removed']);
});

test('what a member made is listed when they are removed, and kept or ended as the caller says', async (t) => {
  const tenant = await world.tenant();
  const owner = as(tenant.sessionToken);
  const { db, clock } = world.deps;
  const scene = async () => {
    const member = await createMember(world.deps, tenant, 'Admin');
    const key = (await as(member.sessionToken).post('/v1/api-keys', { name: 'CI', permissions: 1 })).body.id as string;
    const app = await createApplication(world.deps, tenant.organizationId, { created_by: member.userId, name: 'Sync' });
    const connection = await createConnectionRow(world, tenant);
    await db('integration_connections').where({ id: connection }).update({ connected_by: member.userId });
    const called = await as(member.sessionToken).post('/v1/app-connections', {
      name: `CRM of ${member.userId}`,
      base_url: 'https://app.example.com',
    });
    t.is(called.body.connection.created_by, member.userId);
    const appConnection = called.body.connection.id as string;
    const row = (table: string, id: string) => db(table).where({ id }).first();
    return { member, key, app: app.id, connection, appConnection, row, path: `${CURRENT}/members/${member.userId}` };
  };
  const kept = await scene();
  const asked = await owner.delete(kept.path);
  refused(t, asked, 409, 'conflict');
  const named = asked.body.problems.map(({ path, message }: Record<string, string>) => ({ path, message }));
  t.deepEqual(named, [
    { path: `api_keys.${kept.key}`, message: 'is the API key CI' },
    { path: `app_connections.${kept.appConnection}`, message: `is the app connection CRM of ${kept.member.userId}` },
    { path: `integration_connections.${kept.connection}`, message: 'is the connection Webhook' },
    { path: `oauth_applications.${kept.app}`, message: 'is the application Sync' },
  ]);
  refused(t, await owner.delete(`${kept.path}?made=sell`), 400, 'bad_request');
  assertStatus(t, await owner.get(CURRENT), 200);
  assertStatus(t, await owner.delete(`${kept.path}?made=keep`), 204);
  t.like(await kept.row('api_keys', kept.key), { status: 'active', user_id: tenant.userId });
  t.like(await kept.row('oauth_applications', kept.app), { created_by: tenant.userId });
  t.like(await kept.row('integration_connections', kept.connection), { connected_by: tenant.userId });

  t.like(await kept.row('app_connections', kept.appConnection), { created_by: tenant.userId });

  const ended = await scene();
  const action = {
    type: 'app_action',
    app_connection_id: ended.appConnection,
    path: '/x',
    inputs: {},
    output_key: 'x',
  };
  const { campaignId, stepIds } = await createCampaign(world.deps, tenant.organizationId, [{ kind: 'action', action }]);
  const used = await owner.delete(`${ended.path}?made=revoke`);
  refused(t, used, 409, 'app_connection_in_use');
  t.is(used.body.problems[0].path, `app_connections.${ended.appConnection}`);
  t.like(await ended.row('api_keys', ended.key), { status: 'active' }, 'a refusal ends nothing');
  await db('campaign_steps')
    .where({ campaign_id: campaignId, id: stepIds[0] })
    .update({ action: { type: 'end' } });
  assertStatus(t, await owner.delete(`${ended.path}?made=revoke`), 204);
  t.like(await ended.row('api_keys', ended.key), { status: 'revoked' });
  t.is(await ended.row('oauth_applications', ended.app), undefined);
  t.is(await ended.row('integration_connections', ended.connection), undefined);
  t.is(await ended.row('app_connections', ended.appConnection), undefined);
  const bare = await createMember(world.deps, tenant, 'Admin');
  await db('api_keys').where({ user_id: bare.userId }).update({ expires_at: clock.now() });
  assertStatus(t, await owner.delete(`${CURRENT}/members/${bare.userId}`), 204);
});

test('a member cannot hand out, or change, more than they hold', async (t) => {
  const tenant = await world.tenant();
  const lead = as((await memberWith(tenant, ['manage_team', 'view_contacts'])).sessionToken);
  const viewer = await memberWith(tenant, ['view_contacts']);
  const admin = await createMember(world.deps, tenant, 'Admin');
  const adminToken = as(admin.sessionToken);

  refused(
    t,
    await lead.post(`${CURRENT}/roles`, { name: 'Sneaky', permissions: ['view_contacts', 'manage_settings'] }),
    403,
    'forbidden',
  );
  const own = await lead.post(`${CURRENT}/roles`, { name: 'Reader', permissions: ['view_contacts'] });
  assertStatus(t, own, 201);
  refused(
    t,
    await lead.patch(`${CURRENT}/roles/${own.body.id}`, { permissions: ['view_contacts', 'send_campaigns'] }),
    403,
    'forbidden',
  );
  refused(
    t,
    await lead.patch(`${CURRENT}/members/${viewer.userId}`, { role_id: await roleId(tenant, 'Admin') }),
    403,
    'forbidden',
  );
  refused(
    t,
    await lead.post(`${CURRENT}/invitations`, { email: freshEmail(), role_id: await roleId(tenant, 'Member') }),
    403,
    'forbidden',
  );
  refused(t, await lead.delete(`${CURRENT}/members/${admin.userId}`), 403, 'forbidden');
  refused(t, await lead.patch(`${CURRENT}/members/${admin.userId}`, { role_id: own.body.id }), 403, 'forbidden');
  assertStatus(t, await lead.patch(`${CURRENT}/members/${viewer.userId}`, { role_id: own.body.id }), 200);

  refused(
    t,
    await adminToken.patch(`${CURRENT}/members/${admin.userId}`, { role_id: await roleId(tenant, 'Owner') }),
    403,
    'forbidden',
  );
  refused(
    t,
    await adminToken.post(`${CURRENT}/invitations`, { email: freshEmail(), role_id: await roleId(tenant, 'Owner') }),
    403,
    'forbidden',
  );
  refused(t, await adminToken.delete(`${CURRENT}/members/${tenant.userId}`), 403, 'forbidden');
});

test('roles: names are unique, system roles stand, a role in use stays', async (t) => {
  const tenant = await world.tenant();
  const owner = as(tenant.sessionToken);
  const made = await owner.post(`${CURRENT}/roles`, { name: 'Sales', permissions: ['view_contacts', 'view_contacts'] });
  t.deepEqual(made.body.permissions, ['view_contacts']);
  refused(t, await owner.post(`${CURRENT}/roles`, { name: 'Sales', permissions: [] }), 409, 'conflict');
  const unknown = await owner.post(`${CURRENT}/roles`, { name: 'X', permissions: ['fly'] });
  refused(t, unknown, 400, 'bad_request');
  t.is(unknown.body.problems[0].path, 'body.permissions.0');
  for (const name of ['Owner', 'Admin', 'Member', 'Viewer']) {
    const id = await roleId(tenant, name);
    refused(t, await owner.patch(`${CURRENT}/roles/${id}`, { name: 'Mine' }), 409, 'conflict');
    refused(t, await owner.delete(`${CURRENT}/roles/${id}`), 409, 'conflict');
  }
  const changed = await owner.patch(`${CURRENT}/roles/${made.body.id}`, { name: 'Selling' });
  t.is(changed.body.name, 'Selling');
  t.deepEqual(changed.body.permissions, ['view_contacts']);

  const member = await createMember(world.deps, tenant, 'Selling');
  refused(t, await owner.delete(`${CURRENT}/roles/${made.body.id}`), 409, 'conflict');
  await owner.delete(`${CURRENT}/members/${member.userId}`);
  const email = freshEmail();
  const invitation = await owner.post(`${CURRENT}/invitations`, { email, role_id: made.body.id });
  refused(t, await owner.delete(`${CURRENT}/roles/${made.body.id}`), 409, 'conflict');
  await owner.delete(`${CURRENT}/invitations/${invitation.body.id}`);
  assertStatus(t, await owner.delete(`${CURRENT}/roles/${made.body.id}`), 204);
  refused(t, await owner.delete(`${CURRENT}/roles/${made.body.id}`), 404, 'not_found');
  t.deepEqual(await events(tenant), [
    'role.created',
    'role.updated',
    'team.member_removed',
    'team.member_invited',
    'team.invitation_cancelled',
    'role.deleted',
  ]);
  t.deepEqual(await audits(tenant), [
    'create role',
    'update role',
    'delete member',
    'create invitation',
    'delete invitation',
    'delete role',
  ]);
});

test('an invitation is mailed, listed, accepted once, and only by its address', async (t) => {
  const tenant = await world.tenant('Northwind');
  const owner = as(tenant.sessionToken);
  const email = freshEmail('invited');
  const made = await owner.post(`${CURRENT}/invitations`, { email, role_id: await roleId(tenant, 'Member') });
  assertStatus(t, made, 201);
  t.is(made.body.status, 'open');
  const mail = world.outgoing.findLast((message) => message.to === email)!;
  t.regex(mail.subject, /Northwind/);
  t.true(mail.text.includes(`${world.deps.config.APP_URL}/invitations/`));
  const token = mailedToken(world, email);
  // Only the hash of the invitation's token is stored.
  assertNowhere(t, [await world.deps.db('invitations').where({ email }), made.text], [token]);
  refused(
    t,
    await owner.post(`${CURRENT}/invitations`, { email, role_id: await roleId(tenant, 'Viewer') }),
    409,
    'conflict',
  );
  refused(
    t,
    await owner.post(`${CURRENT}/invitations`, { email: tenant.email, role_id: await roleId(tenant, 'Viewer') }),
    409,
    'conflict',
  );
  t.deepEqual(
    (await owner.get(`${CURRENT}/invitations`)).body.data.map((row: { email: string }) => row.email),
    [email],
  );

  const stranger = freshEmail();
  await register(world, stranger);
  refused(
    t,
    await as((await login(world, stranger)).access_token).post('/v1/invitations/accept', { token }),
    403,
    'invitation_invalid',
  );
  await register(world, email);
  const session = (await login(world, email)).access_token;
  const answers = await Promise.all([1, 2, 3].map(() => as(session).post('/v1/invitations/accept', { token })));
  t.deepEqual(answers.map((answer) => answer.status).sort(), [200, 403, 403]);
  t.is((await as(session).get(CURRENT)).body.id, tenant.organizationId);
  t.deepEqual((await owner.get(`${CURRENT}/invitations`)).body.data, []);
  t.deepEqual(await events(tenant), ['team.member_invited', 'team.member_joined']);
});

test('an expired or cancelled invitation is invalid and makes room for a new one', async (t) => {
  const clock = new ManualClock();
  const timed = await createWorld({ clock });
  t.teardown(() => timed.close());
  const tenant = await timed.tenant();
  const email = freshEmail('invited');
  await register(timed, email);
  const userId = (await timed.deps.db('users').where({ email }).first('id')).id as string;
  const role_id = await roleId(tenant, 'Viewer', timed);
  const owner = async () => as(await createSession(timed.deps, tenant.userId, tenant.organizationId), timed);
  const invite = async () => (await owner()).post(`${CURRENT}/invitations`, { email, role_id });
  const accept = async (token: string) =>
    as(await createSession(timed.deps, userId, null), timed).post('/v1/invitations/accept', { token });
  await invite();
  const expired = mailedToken(timed, email);
  clock.advance(7 * 24 * 3600_000);
  refused(t, await accept(expired), 403, 'invitation_invalid');
  t.is((await (await owner()).get(`${CURRENT}/invitations`)).body.data[0].status, 'expired');
  const again = await invite();
  assertStatus(t, again, 201);
  const cancelled = mailedToken(timed, email);
  assertStatus(t, await (await owner()).delete(`${CURRENT}/invitations/${again.body.id}`), 204);
  refused(t, await (await owner()).delete(`${CURRENT}/invitations/${again.body.id}`), 404, 'not_found');
  refused(t, await accept(cancelled), 403, 'invitation_invalid');
  assertStatus(t, await invite(), 201);
  assertStatus(t, await accept(mailedToken(timed, email)), 200);
});

test('an invitation whose mail cannot leave is not stored', async (t) => {
  const email = freshEmail();
  const broken = await createWorld();
  t.teardown(() => broken.close());
  broken.deps.systemMail = createSystemMail(
    {
      ...broken.deps.config,
      MAIL_TRANSPORT: 'smtp',
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: await freePort(),
      SMTP_SECURITY: 'none',
    },
    silentLogger,
  );
  const tenant = await broken.tenant();
  const body = { email, role_id: await roleId(tenant, 'Viewer', broken) };
  const answer = await as(tenant.sessionToken, broken).post(`${CURRENT}/invitations`, body);
  refused(t, answer, 500, 'internal_error');
  t.is(await broken.deps.db('invitations').where({ email }).first('id'), undefined);
  t.deepEqual(await broken.deps.db('domain_events').where({ organization_id: tenant.organizationId }), []);
});

test('whatever owners do to each other at once, an owner remains', async (t) => {
  const action = fc.record({ by: fc.nat(2), to: fc.nat(2), remove: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 2, maxLength: 6 }), async (actions) => {
      const tenant = await world.tenant();
      const people = [
        tenant,
        await createMember(world.deps, tenant, 'Owner'),
        await createMember(world.deps, tenant, 'Owner'),
      ];
      const viewer = await roleId(tenant, 'Viewer');
      const answers = await Promise.all(
        actions.map(({ by, to, remove }) => {
          const path = `${CURRENT}/members/${people[to]!.userId}`;
          return remove
            ? as(people[by]!.sessionToken).delete(path)
            : as(people[by]!.sessionToken).patch(path, { role_id: viewer });
        }),
      );
      t.true(
        answers.every((answer) => answer.status < 500),
        JSON.stringify(answers.map((answer) => answer.body)),
      );
      const owners = await world.deps
        .db('memberships as m')
        .join('roles as r', 'r.id', 'm.role_id')
        .where({ 'm.organization_id': tenant.organizationId, 'r.is_owner': true })
        .select('m.user_id');
      t.true(owners.length >= 1);
    }),
    { numRuns: 15 },
  );
});

test('the last owner can neither be removed nor get a lesser role', async (t) => {
  const tenant = await world.tenant();
  const owner = as(tenant.sessionToken);
  refused(t, await owner.delete(`${CURRENT}/members/${tenant.userId}`), 409, 'conflict');
  refused(
    t,
    await owner.patch(`${CURRENT}/members/${tenant.userId}`, { role_id: await roleId(tenant, 'Admin') }),
    409,
    'conflict',
  );
});
