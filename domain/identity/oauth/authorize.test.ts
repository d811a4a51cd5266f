import test from 'ava';
import { maskOf, type Permission } from '../../../lib/permissions.ts';
import { addMember, createMember } from '../../../test/harness/factories.ts';
import {
  CALLBACK,
  createApplication,
  createCode,
  createPublicClient,
  personCtx,
  pkce,
  token,
  type TestClient,
} from '../../../test/harness/oauth.ts';
import { call, createWorld, type World } from '../../../test/harness/world.ts';
import { removeMember } from '../organizations/members.ts';
import {
  approveAuthorization,
  denyAuthorization,
  readAuthorizationRequest,
  type AuthorizationRequest,
} from './authorize.ts';
import { listAuthorizedApps, revokeGrant } from './grants.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

type Query = Record<string, string | readonly string[] | undefined>;
const challenge = { code_challenge: pkce().challenge, code_challenge_method: 'S256' };
const read = (client: TestClient, query: Query = {}) =>
  readAuthorizationRequest(world.deps, {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: CALLBACK,
    state: 'st at/e?&=é',
    ...challenge,
    ...query,
  });

async function asked(client: TestClient, query: Query = {}): Promise<AuthorizationRequest> {
  const request = await read(client, query);
  if (request.kind !== 'request') throw new Error(JSON.stringify(request));
  return request;
}

test('while it is not sure who asks or where the answer goes, the browser is sent nowhere', async (t) => {
  const client = await createPublicClient(world.deps, { redirect_uris: [CALLBACK, 'http://127.0.0.1/cb'] });
  for (const query of [
    { client_id: undefined },
    { client_id: '' },
    { client_id: 'sscid_made-up' },
    { client_id: 'x\u0000' },
    { client_id: [client.clientId, client.clientId] },
    { redirect_uri: undefined },
    { redirect_uri: '' },
    { redirect_uri: [CALLBACK, CALLBACK] },
    { redirect_uri: [CALLBACK, 'https://evil.example.com'] },
    { redirect_uri: `${CALLBACK}/` },
    { redirect_uri: `${CALLBACK}?x=1` },
    { redirect_uri: CALLBACK.replace('callback', 'CALLBACK') },
    { redirect_uri: CALLBACK.replace('c', '%63') },
    { redirect_uri: CALLBACK.replace('client.', 'CLIENT.') },
    { redirect_uri: `${CALLBACK}#x` },
    { redirect_uri: CALLBACK.replace('https', 'http') },
    { redirect_uri: CALLBACK.replace('//', '//user@') },
    { redirect_uri: CALLBACK.replace('.com', '.com.evil.example') },
    { redirect_uri: CALLBACK.replace('.com', '.com:444') },
    { redirect_uri: `${CALLBACK}/../other` },
    { redirect_uri: 'https://client.example.com' },
    { redirect_uri: '//client.example.com/callback' },
    { redirect_uri: 'javascript:alert(1)' },
    { redirect_uri: 'http://127.0.0.1:80@evil.example.com/cb' },
    { redirect_uri: 'http://localhost/cb' },
    { state: ['a', 'b'] },
    { scope: ['read_emails', 'read_contacts'] },
    { code_challenge: [challenge.code_challenge, 'x'] },
    { response_type: ['code', 'token'] },
  ] as Query[])
    t.is((await read(client, query)).kind, 'page', JSON.stringify(query));
});

test('everything else is answered at the redirect URI, with state and issuer, without a code', async (t) => {
  const client = await createPublicClient(world.deps, { scopes: maskOf(['READ_EMAILS', 'READ_CONTACTS']) });
  for (const [query, error] of [
    [{ response_type: undefined }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: 'code id_token' }, 'unsupported_response_type'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge_method: undefined }, 'invalid_request'],
    [{ code_challenge_method: 's256' }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ code_challenge: `${challenge.code_challenge.slice(0, 42)}=` }, 'invalid_request'],
    [{ scope: 'read_emails write_emails' }, 'invalid_scope'],
    [{ scope: 'send_campaigns' }, 'invalid_scope'],
    [{ scope: 'nothing' }, 'invalid_scope'],
    [{ scope: 'READ_EMAILS' }, 'invalid_scope'],
    [{ resource: 'https://other.example.com' }, 'invalid_target'],
    [{ resource: [world.deps.config.API_PUBLIC_URL, 'https://other.example.com'] }, 'invalid_target'],
  ] as [Query, string][]) {
    const answer = await read(client, query);
    if (answer.kind !== 'redirect') return t.fail(`${JSON.stringify(query)} gives ${answer.kind}`);
    const url = new URL(answer.location);
    t.is(url.origin + url.pathname, CALLBACK);
    t.is(url.searchParams.get('error'), error, JSON.stringify(query));
    t.is(url.searchParams.get('state'), 'st at/e?&=é');
    t.is(url.searchParams.get('iss'), world.deps.config.API_PUBLIC_URL);
    t.false(url.searchParams.has('code'));
  }
  return undefined;
});

test('a good request says who asks for what; without scopes, for all it is registered with', async (t) => {
  const client = await createPublicClient(world.deps, { scopes: maskOf(['READ_EMAILS', 'READ_CONTACTS']) });
  t.deepEqual((await asked(client)).scopes, ['READ_EMAILS', 'READ_CONTACTS']);
  t.deepEqual((await asked(client, { scope: ' read_contacts ' })).scopes, ['READ_CONTACTS']);
  const base = world.deps.config.API_PUBLIC_URL;
  for (const resource of [base, `${base}/`, `${base}/v1`, `${base}/mcp`, `${base}/v1/mcp`])
    t.is((await asked(client, { resource })).resource, resource);
  const loopback = await createPublicClient(world.deps, { redirect_uris: ['http://localhost/cb'] });
  t.is((await asked(loopback, { redirect_uri: 'http://localhost:5123/cb' })).redirectUri, 'http://localhost:5123/cb');
  const tenant = await world.tenant();
  const confidential = await createApplication(world.deps, tenant.organizationId);
  t.is(
    (await asked(confidential, { code_challenge: undefined, code_challenge_method: undefined })).codeChallenge,
    null,
  );
  t.is((await read(confidential, { code_challenge_method: 'plain' })).kind, 'redirect');
  t.is((await read(confidential, { code_challenge: undefined })).kind, 'redirect', 'a method without a challenge');
});

test('the answer keeps what the redirect URI had in its query, and state as it was', async (t) => {
  const tenant = await world.tenant();
  for (const uri of [
    'https://client.example.com/cb?tenant=a%20b',
    'https://client.example.com/cb?',
    'com.example.app:/cb',
    'http://[::1]:7000/',
  ]) {
    const client = await createPublicClient(world.deps, { redirect_uris: [uri] });
    const request = await asked(client, { redirect_uri: uri });
    const { location } = await approveAuthorization(personCtx(world.deps, tenant), request, request.scopes);
    t.true(location.startsWith(uri), location);
    const { searchParams } = new URL(location);
    t.regex(searchParams.get('code')!, /^ssac_/);
    t.is(searchParams.get('state'), 'st at/e?&=é');
    t.is(searchParams.get('iss'), world.deps.config.API_PUBLIC_URL);
    if (uri.includes('tenant')) t.is(searchParams.get('tenant'), 'a b');
    const denied = new URL(denyAuthorization(request).location);
    t.is(denied.searchParams.get('error'), 'access_denied');
    t.is(denied.searchParams.get('state'), 'st at/e?&=é');
    t.false(denied.searchParams.has('code'));
  }
  const client = await createPublicClient(world.deps);
  t.false(new URL(denyAuthorization(await asked(client, { state: undefined })).location).searchParams.has('state'));
});

test('a person approves no more than was asked for and their role lets them hand out', async (t) => {
  const tenant = await world.tenant();
  const client = await createApplication(world.deps, tenant.organizationId);
  const request = await asked(client, { scope: 'read_contacts write_contacts' });
  const owner = personCtx(world.deps, tenant);
  await t.throwsAsync(approveAuthorization(owner, request, ['READ_EMAILS']), {
    message: /did not ask for read_emails/,
  });
  await t.throwsAsync(approveAuthorization(owner, request, []), { message: /Nothing was approved/ });
  const viewer = { ...(await createMember(world.deps, tenant, 'Viewer')), organizationId: tenant.organizationId };
  await t.throwsAsync(approveAuthorization(personCtx(world.deps, viewer), request, request.scopes), {
    message: /grant write_contacts/,
    code: 'forbidden',
  });
  const stranger = { userId: (await world.tenant()).userId, organizationId: tenant.organizationId };
  await t.throwsAsync(approveAuthorization(personCtx(world.deps, stranger), request, ['READ_CONTACTS']), {
    code: 'forbidden',
  });
  const key = { ...owner, actor: { ...owner.actor, kind: 'api_key' as const } };
  await t.throwsAsync(approveAuthorization(key, request, ['READ_CONTACTS']), { code: 'forbidden' });
  t.is(
    Number(
      (await world.deps.db('oauth_grants').where({ organization_id: tenant.organizationId }).count('id as n').first())!
        .n,
    ),
    0,
  );

  await approveAuthorization(personCtx(world.deps, viewer), request, ['READ_CONTACTS']);
  const grant = await world.deps.db('oauth_grants').where({ organization_id: tenant.organizationId }).first();
  t.deepEqual([grant.user_id, grant.scopes], [viewer.userId, maskOf(['READ_CONTACTS'])]);
});

async function createToken(
  tenant: { userId: string; organizationId: string },
  client: TestClient,
  scopes: readonly Permission[] = ['READ_CONTACTS'],
): Promise<string> {
  const { code, verifier } = await createCode(world.deps, tenant, client, { scopes });
  const answer = await token(world, {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: CALLBACK,
    client_id: client.clientId,
    ...(client.secret ? { client_secret: client.secret } : {}),
  });
  return answer.body.access_token;
}

const tried = async (accessToken: string, path = '/v1/contacts') => {
  world.actors.forget();
  return (await call(world, 'GET', path, { token: accessToken })).status;
};

test('approving again replaces what was approved: older tokens carry no more than the newest approval', async (t) => {
  const tenant = await world.tenant();
  const client = await createPublicClient(world.deps);
  const older = await createToken(tenant, client, ['READ_CONTACTS', 'READ_CAMPAIGNS']);
  const newer = await createToken(tenant, client, ['READ_CONTACTS']);
  t.deepEqual([await tried(older), await tried(older, '/v1/campaigns'), await tried(newer)], [200, 403, 200]);
  const apps = await listAuthorizedApps(world.deps, tenant.userId);
  t.deepEqual(
    apps.map(({ scopes, client_id }) => [scopes, client_id]),
    [[maskOf(['READ_CONTACTS']), client.clientId]],
  );
});

test('an owner takes back what any member granted to an application; a member only their own', async (t) => {
  const owner = await world.tenant('Owned');
  const [one, two] = [await createMember(world.deps, owner, 'Member'), await createMember(world.deps, owner, 'Member')];
  const member = (userId: string) => ({ userId, organizationId: owner.organizationId });
  const elsewhere = await world.tenant('Elsewhere');
  const [client, other] = [await createPublicClient(world.deps), await createPublicClient(world.deps)];
  const tokens = [
    await createToken(member(one.userId), client, ['READ_CONTACTS']),
    await createToken(member(two.userId), client, ['READ_CONTACTS']),
  ];
  const kept = [
    await createToken(elsewhere, client, ['READ_CONTACTS']),
    await createToken(member(two.userId), other, ['READ_CONTACTS']),
  ];
  const shown = await listAuthorizedApps(world.deps, owner.userId);
  t.deepEqual(
    shown.map(({ client_id, people, for_all }) => [client_id, people, for_all]),
    [
      [other.clientId, 1, true],
      [client.clientId, 2, true],
    ],
  );
  t.is((await listAuthorizedApps(world.deps, one.userId)).length, 1, 'a member sees their own');

  const [own] = await listAuthorizedApps(world.deps, one.userId);
  await t.throwsAsync(revokeGrant(personCtx(world.deps, member(two.userId)), own!.grant_id), {
    code: 'not_found',
  } as never);
  await t.throwsAsync(revokeGrant(personCtx(world.deps, elsewhere), own!.grant_id), { code: 'not_found' } as never);
  await revokeGrant(personCtx(world.deps, member(one.userId)), own!.grant_id);
  t.deepEqual([await tried(tokens[0]!), await tried(tokens[1]!)], [401, 200]);

  const left = (await listAuthorizedApps(world.deps, owner.userId)).find((app) => app.client_id === client.clientId)!;
  await revokeGrant(personCtx(world.deps, owner), left.grant_id);
  t.is(await tried(tokens[1]!), 401);
  t.deepEqual([await tried(kept[0]!), await tried(kept[1]!)], [200, 200]);
});

test('a person sees and takes back their own grants, in every workspace, each by itself', async (t) => {
  const first = await world.tenant('First');
  const second = await world.tenant('Second');
  await addMember(world.deps, second.organizationId, first.userId, 'Viewer');
  const client = await createPublicClient(world.deps);
  const here = await createToken(first, client);
  const there = await createToken({ userId: first.userId, organizationId: second.organizationId }, client);
  const theirs = await createToken(second, client);
  const apps = await listAuthorizedApps(world.deps, first.userId);
  t.deepEqual(
    apps.map(({ organization_name }) => organization_name),
    ['Second', 'First'],
  );

  await t.throwsAsync(revokeGrant(personCtx(world.deps, second), apps[1]!.grant_id), { code: 'not_found' });
  await t.throwsAsync(revokeGrant(personCtx(world.deps, first), 'not-an-id'), { code: 'not_found' });
  // The person revokes a grant in the second workspace while the first one is selected.
  await revokeGrant(personCtx(world.deps, first), apps[0]!.grant_id);
  await t.throwsAsync(revokeGrant(personCtx(world.deps, first), apps[0]!.grant_id), { code: 'not_found' });
  t.deepEqual([await tried(here), await tried(there), await tried(theirs)], [200, 401, 200]);
  t.is((await listAuthorizedApps(world.deps, first.userId)).length, 1);
  const audit = await world.deps
    .db('audit_logs')
    .where({ entity_type: 'oauth_grant', entity_id: apps[0]!.grant_id })
    .orderBy('id');
  t.deepEqual(
    audit.map((row) => [row.action, row.organization_id]),
    [
      ['create', second.organizationId],
      ['revoke', second.organizationId],
    ],
  );
});

test('whoever leaves a workspace ends what they granted there, also for when they come back', async (t) => {
  const tenant = await world.tenant();
  const member = { ...(await createMember(world.deps, tenant, 'Member')), organizationId: tenant.organizationId };
  const client = await createPublicClient(world.deps);
  const accessToken = await createToken(member, client);
  const owners = await createToken(tenant, client);
  const owner = personCtx(world.deps, tenant);
  const all = new Set([
    'manage_team',
    'use_integrations',
    'view_contacts',
    'manage_contacts',
    'view_campaigns',
    'manage_campaigns',
    'send_campaigns',
    'view_analytics',
  ] as const);
  await removeMember({ ...owner, actor: { ...owner.actor, orgPermissions: all, isOwner: true } }, member.userId);
  t.is(await tried(accessToken), 401);
  await addMember(world.deps, tenant.organizationId, member.userId, 'Member');
  t.is(await tried(accessToken), 401);
  t.is(await tried(owners), 200);
});

test('approving and taking back at the same time ends in one of the two, never in an error', async (t) => {
  const tenant = await world.tenant();
  const client = await createPublicClient(world.deps);
  const request = await asked(client);
  const ctx = personCtx(world.deps, tenant);
  for (let round = 0; round < 2; round += 1) {
    await Promise.all(Array.from({ length: 4 }, () => approveAuthorization(ctx, request, request.scopes)));
    const apps = await listAuthorizedApps(world.deps, tenant.userId);
    t.is(apps.length, 1);
    await Promise.all([revokeGrant(ctx, apps[0]!.grant_id), approveAuthorization(ctx, request, request.scopes)]);
    t.true((await listAuthorizedApps(world.deps, tenant.userId)).length <= 1);
  }
});
