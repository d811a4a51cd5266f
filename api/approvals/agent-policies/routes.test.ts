import test from 'ava';
import { DAY_MS, utcDay } from '../../../lib/clock.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { newId } from '../../../lib/ids.ts';
import { assertConcurrentChangeRefused } from '../../../test/harness/concurrent-change.ts';
import { policyBody } from '../../../test/harness/approvals.ts';
import { openDesk, problemPaths, type Desk } from '../../../test/harness/campaign-desk.ts';
import { createApiKey, createMember } from '../../../test/harness/factories.ts';
import { createAccessToken } from '../../../test/harness/oauth.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const asPerson = (desk: Desk, method: string, path: string, body?: unknown) =>
  desk.call(method, path, body, desk.tenant.sessionToken);
const effective = async (token: string) => (await call(world, 'GET', '/v1/agent-policies/effective', { token })).body;

test('a policy is made, listed, replaced whole and deleted, with its events and audit rows', async (t) => {
  const desk = await openDesk(world);
  const [mailbox, other] = [await desk.mailbox(), await desk.mailbox()];
  const body = { ...policyBody(desk.tenant.apiKeyId, mailbox), max_monthly_mailbox_spend_cents: 5000 };
  const made = await asPerson(desk, 'POST', '/agent-policies', body);
  assertStatus(t, made, 201);
  t.like(made.body, { ...body, oauth_grant_id: null, enabled: true, organization_id: desk.tenant.organizationId });
  t.deepEqual((await asPerson(desk, 'GET', '/agent-policies')).body, {
    data: [made.body],
    pagination: { total: null, next_cursor: null, has_more: false },
  });

  const again = await asPerson(desk, 'POST', '/agent-policies', { ...body, name: 'Second' });
  assertStatus(t, again, 409);
  t.regex(again.body.message, /already has a policy/);

  const at = `/agent-policies/${made.body.id}`;
  const { max_monthly_mailbox_spend_cents: _, ...rest } = body;
  const changed = {
    ...rest,
    mailbox_ids: [other, mailbox, other.toUpperCase()],
    capabilities: ['email.compose'],
    enabled: false,
  };
  const replaced = await asPerson(desk, 'PUT', at, changed);
  assertStatus(t, replaced, 200);
  t.like(replaced.body, {
    id: made.body.id,
    enabled: false,
    capabilities: ['email.compose'],
    mailbox_ids: [mailbox, other].sort(),
    max_monthly_mailbox_spend_cents: null,
  });
  t.deepEqual((await asPerson(desk, 'PUT', at, changed)).body, replaced.body, 'the same again changes nothing');
  const event = await world.deps
    .db('domain_events')
    .where({ type: 'agent_policy.updated', organization_id: desk.tenant.organizationId })
    .first();
  t.deepEqual(event.data.fields, ['enabled', 'capabilities', 'mailbox_ids', 'max_monthly_mailbox_spend_cents']);

  assertStatus(t, await asPerson(desk, 'DELETE', at), 204);
  assertStatus(t, await asPerson(desk, 'DELETE', at), 404);
  assertStatus(t, await asPerson(desk, 'PUT', at, changed), 404);
  t.deepEqual(await desk.events(), ['agent_policy.created', 'agent_policy.updated', 'agent_policy.deleted']);
  const audit = await world.deps
    .db('audit_logs')
    .where({ organization_id: desk.tenant.organizationId, entity_type: 'agent_policy' })
    .orderBy('id');
  t.deepEqual(
    audit.map((row) => [row.action, row.user_id, row.entity_id]),
    ['created', 'updated', 'deleted'].map((what) => [`agent_policy.${what}`, desk.tenant.userId, made.body.id]),
  );
});

test('a policy is for an OAuth grant as well; every list of problems is whole', async (t) => {
  const desk = await openDesk(world);
  const stranger = await openDesk(world);
  const mailbox = await desk.mailbox();
  const { grantId } = await grant(desk);
  const { api_key_id: keyId, ...rest } = policyBody(desk.tenant.apiKeyId, mailbox);
  const made = await asPerson(desk, 'POST', '/agent-policies', { ...rest, oauth_grant_id: grantId });
  assertStatus(t, made, 201);
  t.like(made.body, { api_key_id: null, oauth_grant_id: grantId });
  const twice = await asPerson(desk, 'POST', '/agent-policies', { ...rest, oauth_grant_id: grantId });
  assertStatus(t, twice, 409);

  const paths = async (body: object) => problemPaths(await asPerson(desk, 'POST', '/agent-policies', body));
  t.deepEqual(
    await paths({
      ...rest,
      api_key_id: stranger.tenant.apiKeyId,
      oauth_grant_id: newId(),
      mailbox_ids: [mailbox, await stranger.mailbox(), newId()],
      expires_at: '2020-01-01T00:00:00Z',
    }),
    ['body.api_key_id', 'body.expires_at', 'body.mailbox_ids.1', 'body.mailbox_ids.2', 'body.oauth_grant_id'],
  );
  t.deepEqual(
    await paths({
      name: '',
      capabilities: ['campaign.launch', 'everything'],
      mailbox_ids: [],
      max_recipients_per_run: 0,
      max_recipients_per_day: '5',
      max_actions_per_day: 3_000_000_000,
      max_monthly_mailbox_spend_cents: -1,
      expires_at: 'soon',
      scope: 'all',
    }),
    [
      'body.api_key_id',
      'body.capabilities.1',
      'body.expires_at',
      'body.mailbox_ids',
      'body.max_actions_per_day',
      'body.max_monthly_mailbox_spend_cents',
      'body.max_recipients_per_day',
      'body.max_recipients_per_run',
      'body.name',
      'body.scope',
    ],
  );
  t.deepEqual(await paths({ ...rest }), ['body.api_key_id'], 'for whom');
  await world.deps.db('api_keys').where({ id: keyId }).update({ status: 'revoked' });
  t.deepEqual(await paths({ ...rest, api_key_id: keyId }), ['body.api_key_id'], 'a revoked key');
});

test('whom a policy can be for: keys and grants of the workspace, with the policies they have', async (t) => {
  const [desk, stranger] = [await openDesk(world), await openDesk(world)];
  const { grantId } = await grant(desk);
  const { api_key_id: keyId, ...rest } = policyBody(desk.tenant.apiKeyId, await desk.mailbox());
  const made = await asPerson(desk, 'POST', '/agent-policies', { ...rest, oauth_grant_id: grantId });
  const { data } = (await asPerson(desk, 'GET', '/agent-policies/holders')).body;
  const found = (id: string | undefined) => data.find((one: { id: string }) => one.id === id);
  t.like(found(grantId), { kind: 'oauth_grant', policy_id: made.body.id });
  t.regex(found(grantId).granted_by, /@/);
  t.like(found(keyId), { kind: 'api_key', granted_by: null, policy_id: null });
  const theirs = (await asPerson(stranger, 'GET', '/agent-policies/holders')).body.data;
  t.deepEqual(
    theirs.map(({ id }: { id: string }) => id),
    [stranger.tenant.apiKeyId],
  );
});

test('only people who own the workspace or manage its settings see and change policies', async (t) => {
  const desk = await openDesk(world);
  const body = policyBody(desk.tenant.apiKeyId, await desk.mailbox());
  const made = await asPerson(desk, 'POST', '/agent-policies', body);
  const { accessToken } = await grant(desk);
  const member = await createMember(world.deps, desk.tenant, 'Member');
  const admin = await createMember(world.deps, desk.tenant, 'Admin');
  for (const [method, path] of [
    ['GET', '/agent-policies'],
    ['POST', '/agent-policies'],
    ['PUT', `/agent-policies/${made.body.id}`],
    ['DELETE', `/agent-policies/${made.body.id}`],
  ] as const) {
    const sent = method === 'GET' || method === 'DELETE' ? undefined : body;
    for (const token of [desk.tenant.apiKey, accessToken, member.sessionToken]) {
      const answer = await desk.call(method, path, sent, token);
      t.is(answer.status, 403, `${method} ${path}`);
      t.is(answer.body.code, 'forbidden');
    }
  }
  assertStatus(t, await desk.call('GET', '/agent-policies', undefined, admin.sessionToken), 200);
});

test('effective: a policy as far as the credential can use it, an empty one, and that of a person', async (t) => {
  const desk = await openDesk(world);
  const { organizationId, userId, apiKeyId, apiKey, sessionToken } = desk.tenant;
  const [mine, other] = [await desk.mailbox(), await desk.mailbox()];
  t.deepEqual(await effective(apiKey), {
    id: null,
    source: 'none',
    autonomous: false,
    api_key_id: apiKeyId,
    oauth_grant_id: null,
    name: 'No policy',
    enabled: false,
    capabilities: [],
    mailbox_ids: [],
    max_recipients_per_run: 0,
    max_recipients_per_day: 0,
    max_actions_per_day: 0,
    max_monthly_mailbox_spend_cents: null,
    expires_at: null,
    used_today: { actions: 0, recipients: 0 },
    lead_allowances: [],
  });

  const narrow = await createApiKey(world.deps, organizationId, userId, {
    permissions: maskOf(['EXECUTE_RUNS']),
    allowedMailboxes: [mine],
  });
  const body = { ...policyBody(narrow.apiKeyId, mine), mailbox_ids: [mine, other] };
  const { id } = (await asPerson(desk, 'POST', '/agent-policies', body)).body;
  const used = { organization_id: organizationId, credential_id: narrow.apiKeyId, actions: 3, recipients: 7 };
  // Stores the usage for today and tomorrow (UTC), because the request may be made after midnight.
  const days = [0, DAY_MS].map((later) => utcDay(new Date(Date.now() + later)));
  await world.deps.db('agent_policy_usage').insert(days.map((day) => ({ ...used, day })));
  t.like(await effective(narrow.apiKey), {
    id,
    source: 'policy',
    autonomous: true,
    capabilities: ['campaign.launch'],
    mailbox_ids: [mine],
    max_recipients_per_run: 200,
    used_today: { actions: 3, recipients: 7 },
  });
  await asPerson(desk, 'PUT', `/agent-policies/${id}`, { ...body, enabled: false });
  t.like(await effective(narrow.apiKey), { autonomous: false, enabled: false });

  t.like(await effective(sessionToken), {
    source: 'session',
    autonomous: true,
    capabilities: ['campaign.launch', 'email.compose', 'inbox.reply', 'mailbox.provision'],
    mailbox_ids: null,
    max_recipients_per_run: null,
  });
  const viewer = await createMember(world.deps, desk.tenant, 'Viewer');
  t.like(await effective(viewer.sessionToken), { source: 'session', autonomous: false, capabilities: [] });
  const { accessToken, grantId } = await grant(desk);
  t.like(await effective(accessToken), { source: 'none', api_key_id: null, oauth_grant_id: grantId });
});

test('of two replacements of a policy that name the state they have read, the second is refused', async (t) => {
  const desk = await openDesk(world);
  const body = policyBody(desk.tenant.apiKeyId, await desk.mailbox());
  const { id, updated_at: seen } = (await asPerson(desk, 'POST', '/agent-policies', body)).body;
  await assertConcurrentChangeRefused(t, seen, (more, attempt) =>
    asPerson(desk, 'PUT', `/agent-policies/${id}`, { ...body, name: `Name ${attempt}`, ...more }),
  );
});

test('policies are paged, newest first', async (t) => {
  const desk = await openDesk(world);
  const mailbox = await desk.mailbox();
  const made: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { apiKeyId } = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId);
    made.unshift((await asPerson(desk, 'POST', '/agent-policies', policyBody(apiKeyId, mailbox))).body.id);
  }
  const first = (await asPerson(desk, 'GET', '/agent-policies?limit=2')).body;
  const rest = (await asPerson(desk, 'GET', `/agent-policies?limit=2&cursor=${first.pagination.next_cursor}`)).body;
  t.deepEqual(
    [...first.data, ...rest.data].map(({ id }: { id: string }) => id),
    made,
  );
});

async function grant(desk: Desk): Promise<{ accessToken: string; grantId: string }> {
  const { accessToken } = await createAccessToken(world, desk.tenant);
  const { id } = await world.deps
    .db('oauth_grants')
    .where({ organization_id: desk.tenant.organizationId })
    .orderBy('id', 'desc')
    .first('id');
  return { accessToken, grantId: id };
}
