import test from 'ava';
import { approvalContent, createApproval } from '../../test/harness/approvals.ts';
import { newId } from '../../lib/ids.ts';
import { createMember, type Tenant } from '../../test/harness/factories.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { createAccessToken } from '../../test/harness/oauth.ts';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';

const APPROVAL_MS = 30 * 60_000;

const clock = new ManualClock();
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

const list = (tenant: Tenant, query = '', token = tenant.sessionToken) =>
  call(world, 'GET', `/v1/approvals${query}`, { token });
const decide = (id: string, body: object, token: string) =>
  call(world, 'POST', `/v1/approvals/${id}/decision`, { token, body });
const hold = (tenant: Tenant, changes = {}) => createApproval(world.system(tenant.organizationId), tenant, changes);

test.serial('a person sees what waits, as it was asked for, and decides once', async (t) => {
  const tenant = await world.tenant();
  const senders = [
    {
      mailbox_id: newId(),
      email: 'me@acme.example',
      name: 'Me',
      reply_to: 'desk@acme.example',
      smtp: 'mail.acme.example:587',
    },
  ];
  const content = approvalContent({ senders });
  const { id, subject_id, payload_hash } = await hold(tenant, { content, preflight: { passed: true, score: 92 } });
  const { data } = (await list(tenant)).body;
  t.is(data.length, 1);
  t.like(data[0], {
    id,
    run_id: null,
    subject_type: 'direct_send',
    subject_id,
    action_type: 'email.compose',
    status: 'pending',
    requested_by: { api_key_id: tenant.apiKeyId, oauth_grant_id: null, name: 'test' },
    reasons: ['The credential has no policy: a person decides on every action'],
    payload_hash,
    preflight: { passed: true, score: 92 },
    approval_url: `${world.deps.config.APP_URL}/approvals/${id}`,
    decided_by: null,
  });
  t.deepEqual(data[0].payload, content as object);

  const denied = await decide(id, { decision: 'denied', reason: ' No. ' }, tenant.sessionToken);
  assertStatus(t, denied, 200);
  t.like(denied.body, { id, status: 'denied', decided_by: tenant.userId, reason: 'No.' });
  const late = await decide(id, { decision: 'approved' }, tenant.sessionToken);
  t.like(late.body, { code: 'conflict' });
  t.regex(late.body.message, /denied/);
  const audit = await world.deps.db('audit_logs').where({ entity_id: id }).orderBy('id');
  t.deepEqual(
    audit.map(({ action }) => action),
    ['approval.requested', 'approval.denied'],
  );
  t.is(audit[1].metadata.payload_hash, payload_hash);
});

test.serial('one that is out of time reads as expired at once, and is not decided', async (t) => {
  const tenant = await world.tenant();
  const { id } = await hold(tenant);
  const decided = await hold(tenant);
  await decide(decided.id, { decision: 'denied' }, tenant.sessionToken);
  const ids = async (status: string, token = tenant.sessionToken) =>
    (await list(tenant, `?status=${status}`, token)).body.data.map((one: { id: string }) => one.id);
  t.deepEqual(await ids('pending'), [id]);
  clock.advance(APPROVAL_MS);
  const { sessionToken } = await createMember(world.deps, tenant, 'Member');
  const [, read] = (await list(tenant, '', sessionToken)).body.data;
  t.like(read, { id, status: 'expired' });
  t.regex(read.reason, /^No decision until \w+ \d+, \d{4}, \d/);
  t.is((await world.deps.db('approvals').where({ id }).first()).status, 'pending', 'no person has decided');
  t.deepEqual(await ids('pending', sessionToken), []);
  t.deepEqual(await ids('expired', sessionToken), [id]);
  t.deepEqual(await ids('denied', sessionToken), [decided.id]);
  const answer = await decide(id, { decision: 'approved' }, sessionToken);
  assertStatus(t, answer, 409);
  t.regex(answer.body.message, /expired/);
});

test.serial('only people who may send see approvals and decide', async (t) => {
  const tenant = await world.tenant();
  const { id } = await hold(tenant);
  const viewer = await createMember(world.deps, tenant, 'Viewer');
  const { accessToken } = await createAccessToken(world, tenant);
  for (const token of [tenant.apiKey, accessToken, viewer.sessionToken]) {
    assertStatus(t, await list(tenant, '', token), 403);
    assertStatus(t, await decide(id, { decision: 'approved' }, token), 403);
  }
  const answer = await decide(id, { decision: 'maybe', reason: 7, force: true }, tenant.sessionToken);
  t.deepEqual(answer.body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.decision',
    'body.force',
    'body.reason',
  ]);
});

test.serial('approvals are paged, newest first', async (t) => {
  const tenant = await world.tenant();
  const made: string[] = [];
  for (let n = 0; n < 3; n += 1) made.unshift((await hold(tenant)).id);
  const first = (await list(tenant, '?limit=2')).body;
  const rest = (await list(tenant, `?limit=2&cursor=${first.pagination.next_cursor}`)).body;
  t.deepEqual(
    [...first.data, ...rest.data].map(({ id }: { id: string }) => id),
    made,
  );
  assertStatus(t, await list(tenant, `?limit=2&status=pending&cursor=${first.pagination.next_cursor}`), 400);
});
