import test from 'ava';
import { DAY_MS, HOUR_MS } from '../../../lib/clock.ts';
import { createApiKey, createMailbox, type Tenant } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { newId } from '../../../lib/ids.ts';
import { externalText } from '../../../domain/platform/external-text.ts';

const SERVER = { host: '127.0.0.1', port: 1 };
const START = new Date('2026-05-04T10:00:00Z');

let world: World;
const clock = new ManualClock(START);
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());
test.beforeEach(() => clock.set(START));

const mailbox = (tenant: Tenant, email = `sam${newId()}@ours.test`, fields: Record<string, unknown> = {}) =>
  createMailbox(world.deps, tenant.organizationId, email, { smtp: SERVER, imap: SERVER }, fields);
const act = (tenant: Tenant, id: string, action: string) =>
  call(world, 'POST', `/v1/emails/${id}/warmup/${action}`, { token: tenant.apiKey });
const standing = async (tenant: Tenant, id: string) =>
  (await call(world, 'GET', `/v1/emails/${id}/warmup`, { token: tenant.apiKey })).body;

test.serial('the ramp grows by day, rests while it is paused, and is forgotten when it is stopped', async (t) => {
  const tenant = await world.tenant();
  const id = await mailbox(tenant);
  t.like(await standing(tenant, id), {
    enabled: false,
    status: 'stopped',
    daily_target: 0,
    base: 5,
    max: 40,
    increase: 2,
  });
  assertStatus(t, await act(tenant, id, 'pause'), 409);
  t.like(await act(tenant, id, 'resume'), { status: 400, body: { code: 'warmup_enable_failed' } });

  t.like((await act(tenant, id, 'start')).body, { warmup: START.toISOString(), warmup_paused_at: null });
  t.like(await standing(tenant, id), {
    enabled: true,
    status: 'warming',
    daily_target: 5,
    pool: 'free',
    health_state: 'healthy',
  });
  clock.advance(3 * DAY_MS);
  t.is((await act(tenant, id, 'start')).body.warmup, START.toISOString());
  t.is((await standing(tenant, id)).daily_target, 11);

  const paused = await act(tenant, id, 'pause');
  t.is(paused.body.warmup_paused_at, clock.now().toISOString());
  clock.advance(2 * DAY_MS + HOUR_MS);
  t.is((await act(tenant, id, 'pause')).body.warmup_paused_at, paused.body.warmup_paused_at);
  t.like(await standing(tenant, id), { status: 'paused', daily_target: 11 });
  const resumed = await act(tenant, id, 'resume');
  t.is(resumed.body.warmup, new Date(START.getTime() + 2 * DAY_MS + HOUR_MS).toISOString());
  t.is((await standing(tenant, id)).daily_target, 11);
  clock.advance(60 * DAY_MS);
  t.is((await standing(tenant, id)).daily_target, 40);

  await act(tenant, id, 'pause');
  clock.advance(DAY_MS);
  t.is((await act(tenant, id, 'start')).body.warmup_paused_at, null);
  t.like((await act(tenant, id, 'stop')).body, { warmup: null, warmup_paused_at: null });
  assertStatus(t, await act(tenant, id, 'stop'), 200);
  t.is((await act(tenant, id, 'start')).body.warmup, clock.now().toISOString());
  const audits = await world.deps.db('audit_logs').where({ entity_id: id }).orderBy('id');
  t.deepEqual(
    audits.map(({ metadata }) => metadata.warmup),
    ['start', 'pause', 'resume', 'pause', 'start', 'stop', 'start'],
  );
});

test.serial('warmup is refused with the reason where a mailbox cannot send or be read, or is blocked', async (t) => {
  const tenant = await world.tenant();
  const later = new Date(START.getTime() + DAY_MS);
  const refusals: [Record<string, unknown>, RegExp][] = [
    [{ status: 'inactive' }, /is switched off/],
    [{ imap: null }, /no IMAP/],
    [
      { hold_code: 'auth_failed', hold_reason: externalText('wrong password'), hold_until: later },
      /held: wrong password/,
    ],
  ];
  for (const [fields, said] of refusals) {
    const id = await mailbox(tenant, undefined, fields);
    const answer = await act(tenant, id, 'start');
    t.is(answer.body.code, 'warmup_enable_failed');
    t.regex(answer.body.message, said);
    t.is((await standing(tenant, id)).status, 'stopped');
  }
  const id = await mailbox(tenant);
  await act(tenant, id, 'start');
  const ban = async () =>
    (await call(world, 'GET', `/v1/emails/${id}/warmup/ban-status`, { token: tenant.sessionToken })).body;
  const noAppeal = { email_account_id: id, can_appeal: false, pending_appeal: false };
  t.deepEqual(await ban(), { ...noAppeal, blocked: false, health_state: 'healthy' });
  await world.deps
    .db('warmup_standings')
    .where({ mailbox_id: id })
    .update({
      health_state: 'blocked',
      blocked_until: later,
      evaluated_at: later,
      reason: externalText('70 % in spam'),
    });
  t.like(await standing(tenant, id), {
    status: 'blocked',
    daily_target: 0,
    blocked_until: later.toISOString(),
    blocked_reason: '70 % in spam',
  });
  t.deepEqual(await ban(), {
    ...noAppeal,
    blocked: true,
    health_state: 'blocked',
    reason: '70 % in spam',
    blocked_at: later.toISOString(),
    blocked_until: later.toISOString(),
  });
  await act(tenant, id, 'pause');
  t.regex((await act(tenant, id, 'resume')).body.message, /blocked from warmup until/);
  await act(tenant, id, 'stop');
  t.is((await act(tenant, id, 'start')).body.code, 'warmup_enable_failed');
});

test.serial('settings of warmup are changed with the mailbox; the rest of a day is planned anew by them', async (t) => {
  const tenant = await world.tenant();
  const id = await mailbox(tenant);
  const patch = (body: object) => call(world, 'PATCH', `/v1/emails/${id}`, { token: tenant.apiKey, body });
  const settings = {
    warmup_base: 8,
    warmup_max: 30,
    warmup_increase: 3,
    warmup_reply_rate: 55,
    warmup_tag: 'warm-42',
    warmup_start_time: '08:30',
    warmup_end_time: '18:00',
    warmup_days: 127,
  };
  t.like(await patch(settings), { status: 200, body: { ...settings, warmup: null } });
  t.like(await standing(tenant, id), { status: 'stopped', base: 8, max: 30, increase: 3, reply_rate: 55 });
  t.is((await patch({ warmup: true, name: 'Ada' })).body.warmup, START.toISOString());
  t.like(await standing(tenant, id), { status: 'warming', daily_target: 8 });

  const planned = () => world.deps.db('warmup_standings').where({ mailbox_id: id }).first('planned_day');
  const plan = () => world.deps.db('warmup_standings').where({ mailbox_id: id }).update({ planned_day: '2026-05-04' });
  await plan();
  await patch({ warmup_reply_rate: 10, name: 'Bob' });
  t.is((await planned()).planned_day, '2026-05-04');
  await patch({ warmup_base: 9 });
  t.is((await planned()).planned_day, null);
  const signals = await world.deps
    .db('outbox')
    .where({ workflow_id: `warmup/${id}` })
    .orderBy('id');
  t.deepEqual(
    signals.map(({ payload }) => payload.payload.cause),
    ['start', 'settings'],
  );
  await plan();
  t.is((await patch({ warmup: false })).body.warmup, null);
  t.is((await planned()).planned_day, null);

  // If warmup cannot start, no part of the change is stored.
  await patch({ status: 'inactive' });
  t.like(await patch({ name: 'Eve', warmup: true }), { status: 400, body: { code: 'warmup_enable_failed' } });
  t.is((await call(world, 'GET', `/v1/emails/${id}`, { token: tenant.apiKey })).body.name, 'Bob');
  assertStatus(t, await patch({ status: 'active', warmup: true }), 200);

  const faults = await patch({
    warmup_base: -1,
    warmup_max: 101,
    warmup_reply_rate: 120,
    warmup_days: 128,
    warmup_start_time: '24:00',
  });
  t.deepEqual(faults.body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.warmup_base',
    'body.warmup_days',
    'body.warmup_max',
    'body.warmup_reply_rate',
    'body.warmup_start_time',
  ]);
});

test.serial('the live check of a mailbox shows how its warmup stands', async (t) => {
  const tenant = await world.tenant();
  const id = await mailbox(tenant);
  await act(tenant, id, 'start');
  const { status, body } = await call(world, 'POST', `/v1/emails/${id}/test`, { token: tenant.apiKey });
  t.is(status, 200);
  t.deepEqual(body.warmup, await standing(tenant, id));
});

test.serial('a key restricted to other mailboxes, another workspace and an unknown mailbox are refused', async (t) => {
  const tenant = await world.tenant();
  const other = await world.tenant();
  const [id, own] = [await mailbox(tenant), await mailbox(tenant)];
  const narrow = await createApiKey(world.deps, tenant.organizationId, tenant.userId, { allowedMailboxes: [own] });
  assertStatus(t, await call(world, 'POST', `/v1/emails/${id}/warmup/start`, { token: narrow.apiKey }), 403);
  assertStatus(t, await act(other, id, 'start'), 404);
});

const RULE = {
  name: 'No Gmail',
  sender_match_type: 'any',
  recipient_match_type: 'provider',
  recipient_match_value: ' Google ',
  weight: 0,
};

test.serial('routing rules are kept in order, replaced as a whole, and removed', async (t) => {
  const tenant = await world.tenant();
  const { apiKey: token } = tenant;
  t.deepEqual((await call(world, 'GET', '/v1/warmup/routing', { token })).body, { rules: [] });
  const last = await call(world, 'POST', '/v1/warmup/routing', { token, body: { ...RULE, priority: 9 } });
  assertStatus(t, last, 201);
  t.like(last.body, {
    organization_id: tenant.organizationId,
    recipient_match_value: 'google',
    sender_match_value: '',
    weight: 0,
    enabled: true,
  });
  const first = await call(world, 'POST', '/v1/warmup/routing', {
    token,
    body: {
      name: 'Ours',
      priority: -1,
      sender_match_type: 'domain',
      sender_match_value: 'Ours.TEST',
      recipient_match_type: 'tld',
      recipient_match_value: 'de',
      weight: 2.5,
      enabled: false,
    },
  });
  const ids = async () =>
    (await call(world, 'GET', '/v1/warmup/routing', { token })).body.rules.map((rule: { id: string }) => rule.id);
  t.deepEqual(await ids(), [first.body.id, last.body.id]);

  const replaced = await call(world, 'PATCH', `/v1/warmup/routing/${first.body.id}`, { token, body: RULE });
  t.like(replaced.body, {
    name: 'No Gmail',
    priority: 0,
    sender_match_type: 'any',
    sender_match_value: '',
    weight: 0,
    enabled: true,
  });
  assertStatus(t, await call(world, 'DELETE', `/v1/warmup/routing/${last.body.id}`, { token }), 204);
  assertStatus(t, await call(world, 'DELETE', `/v1/warmup/routing/${last.body.id}`, { token }), 404);
  assertStatus(t, await call(world, 'PATCH', '/v1/warmup/routing/nonsense', { token, body: RULE }), 404);
  t.deepEqual(await ids(), [first.body.id]);
});

test.serial('every fault of a rule is named', async (t) => {
  const { apiKey: token } = await world.tenant();
  const paths = async (body: object) =>
    ((await call(world, 'POST', '/v1/warmup/routing', { token, body })).body.problems ?? []).map(
      (problem: { path: string }) => problem.path,
    );
  t.deepEqual(await paths({ ...RULE, name: ' ', weight: -1, sender_match_type: 'planet' }), [
    'body.name',
    'body.sender_match_type',
    'body.weight',
  ]);
  t.deepEqual(await paths({ ...RULE, sender_match_type: 'domain' }), ['body.sender_match_value']);
  t.deepEqual(
    await paths({ ...RULE, sender_match_type: 'domain', sender_match_value: 'a b', recipient_match_value: 'aol' }),
    ['body.sender_match_value', 'body.recipient_match_value'],
  );
});
