import test from 'ava';
import { SUBSCRIBERS } from '../../../domain/operations/subscribers/index.ts';
import { registerSubscribers } from '../../../domain/platform/events/register.ts';
import { startCampaign, stopCampaign } from '../../../domain/campaigns/start.ts';
import { deleteCampaign } from '../../../domain/campaigns/remove.ts';
import { completeCampaign } from '../../../domain/sending/control/status.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { newId } from '../../../lib/ids.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { problemPaths } from '../../../test/harness/campaign-desk.ts';
import {
  createCampaign,
  createContact,
  createLabel,
  createMailbox,
  createMember,
} from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { react } from '../../../test/harness/reactions.ts';
import { openRunDesk } from '../../../test/harness/run-desk.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { message } from '../../../messages/index.ts';

const MINUTE_MS = 60_000;
const clock = new ManualClock(new Date('2026-11-20T08:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

test.serial(
  'a run builds its campaign, and is shown with it, its leads as contacts and its start as an intent',
  async (t) => {
    const desk = await openRunDesk(world);
    const { db } = world.deps;
    const answer = await call(world, 'POST', '/v1/runs', {
      token: desk.tenant.apiKey,
      body: desk.body(),
      headers: { 'idempotency-key': 'spring-1', 'x-heron-example': 'true' },
    });
    assertStatus(t, answer, 202);
    const { id, campaign_id: campaignId } = answer.body;
    t.like(answer.body, { state: 'queued', intent: 'launch', recipient_count: 2, action_count: 0 });
    t.deepEqual(answer.body.frozen_sender_ids, [desk.mailboxId]);
    t.deepEqual(answer.body.policy_decision, { decision: 'undecided' });
    t.is(answer.body.input.leads, undefined);
    t.is(answer.body.input.steps.length, 2);

    const campaign = await db('campaigns').where({ id: campaignId }).first();
    t.like(campaign, {
      name: 'Spring offer',
      status: 'draft',
      daily_limit: 50,
      timezone: 'Europe/Berlin',
      days: 31,
      start_time: '09:00',
      end_time: '17:00',
      sender_strategy: 'explicit',
      stop_on_reply: true,
      unsubscribe_mode: 'inherit',
      unsubscribe_header: true,
    });
    t.deepEqual(await db('campaign_senders').where({ campaign_id: campaignId }).pluck('mailbox_id'), [desk.mailboxId]);
    const steps = await db('campaign_steps').where({ campaign_id: campaignId }).orderBy('position');
    t.deepEqual(
      steps.map(({ kind, wait_after }) => [kind, wait_after]),
      [
        ['email', 0],
        ['email', 3],
      ],
    );
    t.true(steps[1].thread_reply, 'a follow-up without a subject replies in the thread');
    t.deepEqual(
      (await db('contacts').where({ organization_id: desk.tenant.organizationId }).orderBy('email')).map((c) => [
        c.email,
        c.first_name,
        c.custom_fields,
      ]),
      [
        ['ada@example.com', 'Ada', { plan: 'pro' }],
        ['grace@example.com', 'Grace', {}],
      ],
    );
    t.is((await db('enrollments').where({ campaign_id: campaignId })).length, 2);
    t.is((await db('outbox').where({ workflow_id: `run/${id}` })).length, 1);

    const again = await call(world, 'POST', '/v1/runs', {
      token: desk.tenant.apiKey,
      body: desk.body(),
      headers: { 'idempotency-key': 'spring-1' },
    });
    t.deepEqual([again.status, again.text], [202, answer.text]);
    const detail = await desk.call('GET', `/runs/${id}`);
    t.like(detail.body, { id, state: 'queued' });
    t.like(detail.body.events[0], { seq: 1, type: 'created', state: 'queued', previous_state: null });
    const list = await desk.call('GET', '/runs?limit=10');
    t.is(list.body.data.length, 1);
    t.is(list.body.data[0].input.steps, undefined);
    t.deepEqual((await desk.call('GET', '/runs?state=active')).body.data, []);
  },
);

test.serial('a request needs its key, and all of its faults are named at once', async (t) => {
  const desk = await openRunDesk(world);
  const bare = await call(world, 'POST', '/v1/runs', { token: desk.tenant.apiKey, body: desk.body() });
  assertStatus(t, bare, 400);
  const bad = await desk.call('POST', '/runs', {
    ...desk.body({
      name: undefined,
      daily_limit: 0,
      senders: { mode: 'explicit', mailbox_ids: [newId()], tag_ids: [newId()] },
      schedule: { mode: 'auto', timezone: 'Mars/Base', days: 3 },
      contact_ids: [newId()],
      segment_ids: ['nonsense'],
      steps: [
        { type: 'wait' },
        { variants: [{ subject: 'x' }], wait: { minutes: 1 } },
        { type: 'app_action', app_action: { connection: 'CRM', path: '/x', output_key: 'x' } },
      ],
    }),
  });
  assertStatus(t, bad, 400);
  t.deepEqual(problemPaths(bad), [
    'body.contact_ids.0',
    'body.daily_limit',
    'body.name',
    'body.schedule.days',
    'body.schedule.timezone',
    'body.segment_ids.0',
    'body.senders.mailbox_ids.0',
    'body.senders.tag_ids',
    'body.senders.tag_ids.0',
    'body.steps.0.wait',
    'body.steps.1.wait',
    'body.steps.2.app_action.connection',
  ]);
  const { db } = world.deps;
  t.deepEqual(await db('runs').where({ organization_id: desk.tenant.organizationId }), []);
  t.deepEqual(await db('campaigns').where({ organization_id: desk.tenant.organizationId }), []);

  const connection = await desk.call(
    'POST',
    '/runs',
    desk.body({
      steps: [{ type: 'app_action', app_action: { connection: 'CRM', path: '/x', output_key: 'x' } }],
    }),
  );
  t.like(connection.body, { code: 'app_connection_not_found' });
  t.deepEqual(problemPaths(connection), ['body.steps.0.app_action.connection']);
  const empty = await desk.call('POST', '/runs', desk.body({ leads: [], steps: [] }));
  t.deepEqual(problemPaths(empty), ['body.leads', 'body.steps']);
  assertStatus(t, await desk.call('POST', '/runs', desk.body({ intent: 'draft', leads: [], steps: [] })), 202);
});

test.serial('senders: all active ones, those with a tag, those named; a key sees only its own', async (t) => {
  const desk = await openRunDesk(world);
  const org = desk.tenant.organizationId;
  const smtp = { smtp: { host: '127.0.0.1', port: 1 } };
  const other = await createMailbox(world.deps, org, `b-${newId()}@ours.test`, smtp);
  await createMailbox(world.deps, org, `c-${newId()}@ours.test`, smtp, { status: 'inactive' });
  await createMailbox(world.deps, org, `d-${newId()}@ours.test`, smtp, { hold_code: 'auth_failed' });
  const tag = await createLabel(world.deps, org, 'tag');
  await world.deps.db('mailbox_tags').insert({ organization_id: org, mailbox_id: other, label_id: tag });
  const frozen = async (senders: object, token?: string) =>
    (await desk.create({ senders }, token)).frozen_sender_ids.toSorted();
  t.deepEqual(await frozen({ mode: 'auto' }), [desk.mailboxId, other].toSorted());
  t.deepEqual(await frozen({ mode: 'tags', tag_ids: [tag] }), [other]);
  t.deepEqual(await frozen({ mode: 'explicit', mailbox_ids: [other] }), [other]);
  const { apiKey } = await desk.key({ allowedMailboxes: [other] });
  t.deepEqual(await frozen({ mode: 'auto' }, apiKey), [other]);
  const named = desk.body({ senders: { mode: 'explicit', mailbox_ids: [desk.mailboxId] } });
  assertStatus(t, await desk.call('POST', '/runs', named, apiKey), 403);

  await world.deps.db('mailboxes').where({ organization_id: org }).update({ status: 'inactive' });
  const none = await desk.call('POST', '/runs', desk.body({ senders: { mode: 'auto' } }));
  t.deepEqual([none.status, none.body.code], [400, 'campaign_no_mailbox']);
});

test.serial('steps become those of a campaign: variants, calls to apps by name, waits', async (t) => {
  const desk = await openRunDesk(world);
  const org = desk.tenant.organizationId;
  const connection = newId();
  await world.deps.db('app_connections').insert({
    id: connection,
    organization_id: org,
    name: 'Billing',
    base_url: 'http://127.0.0.1:1',
    secret: world.deps.keyring.seal('ss_app_x', `app_connections/${connection}`),
    created_at: clock.now(),
    updated_at: clock.now(),
  });
  const run = await desk.create({
    steps: [
      { type: 'app_action', app_action: { connection: 'billing', path: '/plan', output_key: 'plan' } },
      {
        variants: [
          { subject: 'A', body_plain: 'a', weight: 70 },
          { subject: 'B', body_html: '<p>b</p>', weight: 30 },
        ],
      },
      {
        type: 'wait_for_event',
        wait_for_event: { event: 'signup.completed', timeout_minutes: 60, on_timeout: 'stop' },
      },
      { type: 'wait', wait: { minutes: 5 } },
    ],
  });
  t.is(run.action_count, 2);
  const steps = await world.deps.db('campaign_steps').where({ campaign_id: run.campaign_id }).orderBy('position');
  t.deepEqual(
    steps.map(({ kind, action }) => [kind, action?.type ?? null]),
    [
      ['action', 'app_action'],
      ['email', null],
      ['wait', 'wait_for_event'],
      ['wait', 'wait'],
    ],
  );
  t.is(steps[0].action.app_connection_id, connection);
  const variants = await world.deps.db('campaign_variants').where({ campaign_id: run.campaign_id }).orderBy('name');
  t.deepEqual(
    variants.map(({ name, step_id, subject, weight, is_control }) => [name, step_id, subject, weight, is_control]),
    [
      ['A', steps[1].id, 'A', 70, true],
      ['B', steps[1].id, 'B', 30, false],
    ],
  );
});

test.serial('an existing campaign is taken as it is, with the senders and limits of the run', async (t) => {
  const desk = await openRunDesk(world);
  const org = desk.tenant.organizationId;
  const { campaignId } = await createCampaign(world.deps, org, [{ subject: 'Hi', body_plain: 'Hello' }], {
    status: 'draft',
    timezone: 'Asia/Tokyo',
  });
  const contact = await createContact(world.deps.db, clock.now(), org, { email: 'kim@example.com' });
  const body = desk.body({ campaign_id: campaignId, name: undefined, steps: undefined, leads: undefined });
  const run = await desk.create({ ...body, contact_ids: [contact], daily_limit: 7 });
  t.is(run.campaign_id, campaignId);
  t.like(await desk.campaign(run.id), { daily_limit: 7, timezone: 'Asia/Tokyo', sender_strategy: 'explicit' });
  const second = await desk.call('POST', '/runs', body);
  t.deepEqual([second.status, second.body.code], [409, 'conflict']);
  const both = await desk.call('POST', '/runs', desk.body({ campaign_id: newId() }));
  t.deepEqual(problemPaths(both), ['body.campaign_id', 'body.name', 'body.steps']);
  const active = await createCampaign(world.deps, org, [{ subject: 'Hi', body_plain: 'Hello' }]);
  const taken = await desk.call('POST', '/runs', { ...body, campaign_id: active.campaignId });
  t.deepEqual(problemPaths(taken), ['body.campaign_id']);
});

test.serial(
  'a draft is checked and completed, and nothing is started; one that fails the checks has failed',
  async (t) => {
    const desk = await openRunDesk(world);
    const run = await desk.create({ intent: 'draft' });
    const done = await desk.step(run);
    t.is(done.state, 'completed');
    t.like(done.preflight_report, { passed: true });
    t.is((await desk.campaign(run.id)).status, 'draft');
    t.deepEqual(await desk.story(run.id), ['queued', 'preflighting', 'completed: draft_ready']);
    const late = await desk.call('POST', `/runs/${run.id}/cancel`);
    t.deepEqual([late.status, late.body.code], [409, 'conflict']);

    const broken = await desk.step(await desk.create({ steps: [{ variants: [{ subject: 'Hi' }] }] }));
    t.is(broken.state, 'failed');
    t.like(broken.error_details, { code: 'empty_step_body' });
    t.like(broken.preflight_report, { passed: false });
  },
);

test.serial('a launch needs EXECUTE_RUNS; reading and cancelling have rights of their own', async (t) => {
  const desk = await openRunDesk(world);
  const writer = (await desk.key({ permissions: maskOf(['WRITE_RUNS']) })).apiKey;
  const reader = (await desk.key({ permissions: maskOf(['READ_RUNS']) })).apiKey;
  assertStatus(t, await desk.call('POST', '/runs', desk.body(), writer), 403);
  const draft = await desk.call('POST', '/runs', desk.body({ intent: 'draft' }), writer);
  assertStatus(t, draft, 202);
  assertStatus(t, await desk.call('GET', `/runs/${draft.body.id}`, undefined, writer), 403);
  assertStatus(t, await desk.call('GET', `/runs/${draft.body.id}`, undefined, reader), 200);
  assertStatus(t, await desk.call('POST', `/runs/${draft.body.id}/cancel`, undefined, reader), 403);
  assertStatus(t, await desk.call('POST', `/runs/${draft.body.id}/cancel`, undefined, writer), 200);
  const viewer = await createMember(world.deps, desk.tenant, 'Viewer');
  assertStatus(t, await desk.call('GET', '/runs', undefined, viewer.sessionToken), 200);
  assertStatus(t, await desk.call('POST', '/runs', desk.body(), viewer.sessionToken), 403);
});

test.serial('a session launches at once; a key only as far as its policy allows', async (t) => {
  const desk = await openRunDesk(world);
  const own = await desk.step(await desk.create({}, desk.tenant.sessionToken));
  t.is(own.state, 'active');
  t.is((await desk.campaign(own.id)).status, 'active');
  t.deepEqual(await desk.story(own.id), ['queued', 'preflighting', 'launching: policy_allows', 'active: launched']);

  const { apiKey, apiKeyId } = await desk.key({});
  await desk.policy(apiKeyId, { max_recipients_per_run: 1 });
  const many = await desk.step(await desk.create({}, apiKey));
  t.is(many.state, 'awaiting_approval');
  t.like(many.policy_decision, { decision: 'awaiting_approval' });
  t.is((many.policy_decision as any).reasons[0].code, 'recipients_per_run_exceeded');
  const few = await desk.step(await desk.create({ leads: [{ email: 'one@example.com' }] }, apiKey));
  t.is(few.state, 'active');
});

test.serial('a run waits for a person, who sees what is sent; approved, it is launched', async (t) => {
  const desk = await openRunDesk(world);
  const waiting = await desk.step(await desk.create());
  t.is(waiting.state, 'awaiting_approval');
  const { body } = await desk.call('GET', `/runs/${waiting.id}`);
  t.is(body.approval_url, `${world.deps.config.APP_URL}/approvals/${waiting.approval_id}`);
  t.is(body.policy_decision.reasons[0].code, 'no_policy');
  const approval = await world.deps.db('approvals').where({ id: waiting.approval_id }).first();
  t.like(approval, { action_type: 'campaign.launch', subject_type: 'run', subject_id: waiting.id, status: 'pending' });
  t.is(body.approval_expires_at, approval.expires_at.toISOString());
  const { payload } = approval;
  t.is(payload.recipients.count, 2);
  t.deepEqual(payload.recipients.addresses, ['ada@example.com', 'grace@example.com']);
  t.is(payload.samples[0].subject, 'A question, Ada');
  t.regex(payload.samples[0].text, /Hello Ada, may I ask something\?[^]*unsubscribe/);
  t.is(payload.senders[0].mailbox_id, desk.mailboxId);
  t.is(payload.steps.length, 2);
  t.is((await desk.step(waiting)).state, 'awaiting_approval', 'nothing happens before the decision');

  await desk.decide(waiting.id, 'approved');
  t.truthy(
    (await world.deps.db('outbox').where({ workflow_id: `run/${waiting.id}` })).find(
      ({ payload: intent }) => intent.signal === 'decided',
    ),
  );
  const launching = await desk.step(waiting);
  t.is(launching.state, 'launching');
  t.is((await desk.step(launching)).state, 'active');
  t.is((await desk.campaign(waiting.id)).status, 'active');
  t.like(await world.deps.db('approvals').where({ id: waiting.approval_id }).first(), { status: 'executed' });
  t.deepEqual(await desk.story(waiting.id), [
    'queued',
    'preflighting',
    'awaiting_approval: approval_needed',
    'launching: approved',
    'active: launched',
  ]);
});

test.serial('denied, or not decided within 30 minutes: denied, and nothing is sent', async (t) => {
  const desk = await openRunDesk(world);
  const denied = await desk.step(await desk.create());
  await desk.decide(denied.id, 'denied', 'Too pushy');
  const ended = await desk.step(denied);
  t.is(ended.state, 'denied');
  t.like(ended.error_details, {
    code: 'approval_denied',
    message: message('runs.denied_because', { reason: message('words', { words: 'Too pushy' }) }),
  });

  const late = await desk.step(await desk.create());
  clock.advance(30 * MINUTE_MS - 1);
  t.is((await desk.step(late)).state, 'awaiting_approval');
  clock.advance(1);
  await t.throwsAsync(desk.decide(late.id, 'approved'), { message: /expired/ });
  const expired = await desk.step(late);
  t.like(expired, { state: 'denied' });
  t.like(expired.error_details, { code: 'approval_expired' });
  t.is((await desk.campaign(late.id)).status, 'draft');
});

test.serial(
  'what was changed after the approval needs another; what fails the checks by then is not launched',
  async (t) => {
    const desk = await openRunDesk(world);
    const { db } = world.deps;
    const run = await desk.step(await desk.create());
    await desk.decide(run.id, 'approved');
    await db('campaign_steps')
      .where({ campaign_id: run.campaign_id, position: 0 })
      .update({ body_plain: 'Other words' });
    const held = await desk.step(await desk.step(run));
    t.is(held.state, 'awaiting_approval');
    t.not(held.approval_id, run.approval_id);
    t.is((await desk.campaign(run.id)).status, 'draft');
    t.like(await db('approvals').where({ id: run.approval_id }).first(), { status: 'expired' });

    await desk.decide(run.id, 'approved');
    await db('mailboxes').where({ id: desk.mailboxId }).update({ status: 'inactive' });
    const failed = await desk.step(await desk.step(held));
    t.is(failed.state, 'failed');
    t.like(failed.error_details, { code: 'campaign_no_mailbox' });
    t.is((await desk.campaign(run.id)).status, 'draft');
  },
);

test.serial('a run whose key was revoked is denied, before and after the approval', async (t) => {
  const desk = await openRunDesk(world);
  const { apiKey, apiKeyId } = await desk.key({});
  const before = await desk.create({}, apiKey);
  const waiting = await desk.step(await desk.create({ name: 'Second' }, apiKey));
  await desk.decide(waiting.id, 'approved');
  await world.deps.db('api_keys').where({ id: apiKeyId }).update({ status: 'revoked' });
  for (const run of [await desk.step(before), await desk.step(await desk.step(waiting))]) {
    t.is(run.state, 'denied');
    t.like(run.error_details, { code: 'credential_revoked' });
  }
});

test.serial('a cancelled run is never launched: while it is queued, waits, is approved, or is active', async (t) => {
  const desk = await openRunDesk(world);
  const queued = await desk.create();
  const waiting = await desk.step(await desk.create());
  const approved = await desk.step(await desk.create());
  await desk.decide(approved.id, 'approved');
  const launching = await desk.step(await desk.step(await desk.create()));
  for (const run of [queued, waiting, approved, launching]) {
    const answer = await desk.call('POST', `/runs/${run.id}/cancel`);
    t.deepEqual([answer.status, answer.body.state], [200, 'cancelled'], answer.text);
    t.is((await desk.step(await desk.row(run.id))).state, 'cancelled');
    t.is((await desk.step({ ...run })).state, 'cancelled', 'a workflow that has not heard of it');
    t.is((await desk.campaign(run.id)).status, 'draft');
    t.is((await desk.call('POST', `/runs/${run.id}/cancel`)).status, 200, 'once more changes nothing');
    t.is((await desk.story(run.id)).filter((line) => line.startsWith('cancelled')).length, 1);
  }
  const statuses = await world.deps
    .db('approvals')
    .where({ organization_id: desk.tenant.organizationId })
    .pluck('status');
  t.false(statuses.includes('pending') || statuses.includes('approved'));

  const active = await desk.step(await desk.create({}, desk.tenant.sessionToken));
  t.is((await desk.call('POST', `/runs/${active.id}/cancel`)).body.state, 'cancelled');
  t.is((await desk.campaign(active.id)).status, 'paused');
});

test.serial(
  'an active run follows its campaign: paused, active again, completed; deleted, it is cancelled',
  async (t) => {
    const desk = await openRunDesk(world);
    const ctx = world.system(desk.tenant.organizationId);
    const run = await desk.step(await desk.create({}, desk.tenant.sessionToken));
    const state = async () => {
      await react(world.deps, SUBSCRIBERS);
      return (await desk.row(run.id)).state;
    };
    t.is(await state(), 'active');
    await stopCampaign(ctx, run.campaign_id);
    t.is(await state(), 'paused');
    await startCampaign(ctx, run.campaign_id);
    t.is(await state(), 'active');
    await world.deps.db('enrollments').where({ campaign_id: run.campaign_id }).update({ state: 'completed' });
    await transact(ctx, (tx) => completeCampaign(tx, run.campaign_id));
    t.is(await state(), 'completed');
    t.deepEqual((await desk.story(run.id)).slice(-3), [
      'paused: campaign_paused',
      'active: campaign_resumed',
      'completed: campaign_completed',
    ]);

    const waiting = await desk.step(await desk.create());
    await deleteCampaign(ctx, waiting.campaign_id);
    await react(world.deps, SUBSCRIBERS);
    t.like(await desk.row(waiting.id), { state: 'cancelled' });
    t.like(await world.deps.db('approvals').where({ id: waiting.approval_id }).first(), { status: 'expired' });
  },
);

test.serial('events of a run cannot be changed', async (t) => {
  const desk = await openRunDesk(world);
  const run = await desk.create({ intent: 'draft' });
  await t.throwsAsync(world.deps.db('run_events').where({ run_id: run.id }).update({ state: 'active' }), {
    message: /append-only/,
  });
});

test.serial('the tools answer 202 for a run that waits for a person, and 200 for any other', async (t) => {
  const desk = await openRunDesk(world);
  const run = await desk.create();
  const read = () => desk.call('POST', '/ai/tools/get_run/call', { arguments: { run_id: run.id } });
  assertStatus(t, await read(), 200);
  await desk.step(run);
  const waiting = await read();
  assertStatus(t, waiting, 202);
  t.like(waiting.body.result, { state: 'awaiting_approval' });
  t.truthy(waiting.body.result.approval_id && waiting.body.result.approval_url);
});
