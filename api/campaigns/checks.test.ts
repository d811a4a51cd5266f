import test from 'ava';
import { allowEverything } from '../../test/harness/approvals.ts';
import { openDesk, problemPaths } from '../../test/harness/campaign-desk.ts';
import { createPipeline } from '../../test/harness/crm.ts';
import { newId } from '../../lib/ids.ts';
import { maskOf } from '../../lib/permissions.ts';
import {
  createApiKey,
  createCampaign,
  createContact,
  createMailbox,
  enroll,
  type StepSpec,
  type Tenant,
} from '../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

interface Found {
  code: string;
  severity: string;
  step_id?: string;
  message: string;
  fix: string;
}

const validate = (tenant: Tenant, id: string): Promise<Answer> =>
  call(world, 'POST', `/v1/campaigns/${id}/validate`, { token: tenant.apiKey });

/** Creates a draft that meets all requirements of a start, except for the one under test. */
async function ready(
  steps: StepSpec[],
  { mailbox = true, lead = true, contact = {} as Record<string, unknown>, fields = {} as Record<string, unknown> } = {},
) {
  const tenant = await world.tenant();
  const { deps } = world;
  if (mailbox) await createMailbox(deps, tenant.organizationId);
  const campaign = await createCampaign(deps, tenant.organizationId, steps, {
    status: 'draft',
    had_leads: false,
    ...fields,
  });
  if (lead) {
    const contactId = await createContact(deps.db, deps.clock.now(), tenant.organizationId, contact);
    await enroll(deps, tenant.organizationId, campaign.campaignId, [contactId]);
  }
  const check = async () => {
    const { status, body } = await validate(tenant, campaign.campaignId);
    return { status, valid: body.valid as boolean, problems: body.problems as Found[] };
  };
  return { tenant, ...campaign, check };
}

const brief = (problems: Found[], stepIds: string[]) =>
  problems.map(({ code, severity, step_id }) => [
    code,
    severity,
    step_id === undefined ? null : stepIds.indexOf(step_id),
  ]);

test('a campaign that can start has no problem', async (t) => {
  const { tenant, campaignId, check } = await ready(
    [{ subject: 'Hello {{.FirstName}}', body_plain: 'Hi {{.plan}} {{if .Company}}x{{end}}' }],
    { contact: { custom_fields: { plan: 'pro' } } },
  );
  t.deepEqual(await check(), { status: 200, valid: true, problems: [] });
  await allowEverything(world.deps, tenant);
  t.is(
    (await call(world, 'POST', `/v1/campaigns/${campaignId}/start`, { token: tenant.apiKey, body: {} })).status,
    200,
  );
});

test('everything that would refuse a start comes at once, and starting is refused for the first of them', async (t) => {
  const { tenant, campaignId, stepIds, check } = await ready(
    [{ subject: 'Empty' }, { body_html: '<p>Text</p>' }, { subject: 'Empty too' }],
    { mailbox: false, lead: false },
  );
  const before = await world.deps.db('campaigns').where({ id: campaignId }).first();
  const { valid, problems } = await check();
  t.false(valid);
  t.deepEqual(brief(problems, stepIds), [
    ['empty_step_body', 'error', 0],
    ['empty_step_body', 'error', 2],
    ['campaign_no_mailbox', 'error', null],
    ['campaign_no_contacts', 'error', null],
  ]);
  t.true(problems.every(({ fix, message }) => fix !== '' && message !== ''));
  t.is(
    (await call(world, 'POST', `/v1/campaigns/${campaignId}/start`, { token: tenant.apiKey, body: {} })).body.code,
    'empty_step_body',
  );
  t.deepEqual(await world.deps.db('campaigns').where({ id: campaignId }).first(), before);
  t.deepEqual(brief((await (await ready([])).check()).problems, []), [['campaign_invalid', 'error', null]]);
});

test('merge fields: what no step produces is an error, what no lead has a warning', async (t) => {
  const app = {
    type: 'wait_for_event',
    wait_event_name: 'order.paid',
    timeout_minutes: 5,
    on_timeout: 'continue',
    output_key: 'order',
  };
  const { stepIds, check } = await ready(
    [
      {
        subject: 'One {{.App.order.total}}',
        body_plain: '{{.Nickname}} {{.Nickname}} {{.Title | default "you"}} {{.App.none | default "x"}}',
      },
      { kind: 'wait', action: app },
      { subject: 'Two', body_plain: '{{.App.order.total}} {{.App.other}} {{.FirstName}} {{.Email}}' },
      { subject: 'Three', body_plain: 'Broken {{.FirstName' },
    ],
    { contact: { custom_fields: { nickname: 'lower case is another field' } } },
  );
  const { valid, problems } = await check();
  t.false(valid);
  t.deepEqual(brief(problems, stepIds), [
    ['campaign_variable_missing', 'error', 0],
    ['campaign_variable_missing', 'error', 2],
    ['campaign_variable_missing', 'error', 3],
    ['campaign_variable_missing', 'warning', 0],
  ]);
  t.regex(problems[0]!.message, /App\.order/);
  t.regex(problems[1]!.message, /App\.other/);
  t.regex(problems[3]!.message, /Nickname/);
});

test('an email that begins a conversation needs a subject, also behind a wait, in a variant and when it does not reply', async (t) => {
  const wait: StepSpec = { kind: 'wait', action: { type: 'wait', wait_minutes: 5 } };
  const first = await ready([wait, { body_plain: 'Hi' }, { body_plain: 'Again' }]);
  const found = await first.check();
  t.false(found.valid);
  t.deepEqual(brief(found.problems, first.stepIds), [['campaign_invalid', 'error', 1]], 'a reply takes the subject');
  const apart = await ready([
    { subject: 'One', body_plain: 'Hi' },
    { subject: '', thread_reply: false, body_plain: 'Again' },
  ]);
  t.deepEqual(brief((await apart.check()).problems, apart.stepIds), [['campaign_invalid', 'error', 1]]);
  const good = await ready([{ subject: 'One', body_plain: 'Hi' }, { body_plain: 'Again' }]);
  t.true((await good.check()).valid);
});

test('the step graph: what nothing leads to, waits without an end, timeouts that lead nowhere', async (t) => {
  const wait = (more: object) => ({ type: 'wait_for_event', wait_event_name: 'a.b', on_timeout: 'continue', ...more });
  const { stepIds, check } = await ready([
    { subject: 'One', body_plain: 'Hi', conditions: { branches: [] } },
    { kind: 'wait', action: wait({ timeout_minutes: null }) },
    {
      kind: 'wait',
      action: wait({ timeout_minutes: 10 }),
      conditions: { branches: [{ to: null, when: [{ field: 'node_outcome', operator: 'equals', value: 'event' }] }] },
    },
    { kind: 'wait', action: wait({ timeout_minutes: 10, on_timeout: 'stop' }), conditions: { branches: [] } },
  ]);
  const { valid, problems } = await check();
  t.true(valid);
  t.deepEqual(brief(problems, stepIds), [
    ['step_unreachable', 'warning', 1],
    ['wait_unbounded', 'warning', 1],
    ['step_unreachable', 'warning', 2],
    ['wait_timeout_unrouted', 'warning', 2],
    ['step_unreachable', 'warning', 3],
  ]);
});

test('rows that no request could have written: a missing target, a circle', async (t) => {
  const { stepIds, campaignId, check } = await ready([
    { subject: 'One', body_plain: 'Hi' },
    { subject: 'Two', body_plain: 'Hi' },
  ]);
  await world.deps
    .db('campaign_steps')
    .where({ id: stepIds[0] })
    .update({
      conditions: JSON.stringify({
        branches: [{ to: newId(), when: [{ field: 'opened', operator: 'equals', value: true }] }, { to: stepIds[1] }],
      }),
    });
  await world.deps
    .db('campaign_steps')
    .where({ id: stepIds[1] })
    .update({ conditions: JSON.stringify({ branches: [{ to: stepIds[0] }] }) });
  t.truthy(campaignId);
  const { valid, problems } = await check();
  t.false(valid);
  t.deepEqual(brief(problems, stepIds), [
    ['campaign_invalid', 'error', 0],
    ['campaign_invalid', 'error', 1],
  ]);
});

test('a step is appended with its content in one request, or not at all', async (t) => {
  const { tenant, campaignId, stepIds } = await ready([{ subject: 'One', body_plain: 'Hi' }]);
  const append = (body?: object, headers: Record<string, string> = {}) =>
    call(world, 'POST', `/v1/campaigns/${campaignId}/steps`, {
      token: tenant.apiKey,
      headers,
      ...(body ? { body } : {}),
    });
  const steps = async () =>
    (await call(world, 'GET', `/v1/campaigns/${campaignId}/steps`, { token: tenant.apiKey })).body;

  const follow = await append({ body_plain: 'Again {{.First', wait_after: 2 });
  assertStatus(t, follow, 201);
  t.like(follow.body, { kind: 'email', subject: '', wait_after: 2, thread_reply: true });
  t.is(follow.body.warnings.length, 1);
  t.like((await append({ subject: 'Re: One', body_plain: 'x' })).body, { thread_reply: true });
  t.like((await append({ subject: 'Another matter', body_plain: 'x' })).body, { thread_reply: false, wait_after: 3 });
  t.like((await append({ subject: 'Another matter', body_plain: 'x' })).body, { thread_reply: true });
  t.like((await append({ subject: 'Third', thread_reply: true })).body, { thread_reply: true });
  t.like((await append({ action: { type: 'wait', wait_minutes: 5 } })).body, {
    kind: 'wait',
    action: { type: 'wait', wait_minutes: 5 },
  });
  const all = await steps();
  t.is(all.length, 7);
  for (const [index, step] of all.slice(0, -1).entries()) t.is(step.conditions.branches[0].to, all[index + 1].id);

  const refused: [object, string[]][] = [
    [{ wait_after: 99, subject: 5 }, ['body.subject', 'body.wait_after']],
    [{ kind: 'action' }, ['body.action']],
    [
      { kind: 'wait', action: { type: 'app_action', app_connection_id: newId(), path: '/x', output_key: 'x' } },
      ['body.action.app_connection_id', 'body.action.type'],
    ],
    [{ conditions: { branches: [{ to: stepIds[0] }] } }, ['body.conditions.branches.0.to']],
    [{ conditions: { branches: [{ to: newId() }] } }, ['body.conditions.branches.0.to']],
  ];
  const events = async () =>
    Number(
      (await world.deps
        .db('domain_events')
        .where({ organization_id: tenant.organizationId })
        .count('id as count')
        .first())!.count,
    );
  const before = await events();
  for (const [body, paths] of refused) {
    const answer = await append(body);
    t.deepEqual(
      [answer.status, (answer.body.problems ?? []).map(({ path }: { path: string }) => path).sort()],
      [400, paths],
      JSON.stringify(body),
    );
  }
  t.deepEqual(await steps(), all);
  t.is(await events(), before);
  const key = newId();
  const first = await append({ subject: 'Once' }, { 'idempotency-key': key });
  t.deepEqual((await append({ subject: 'Once' }, { 'idempotency-key': key })).body, first.body);
  t.is(await events(), before + 1);
});

test('a one-time campaign takes no second email, but may wait', async (t) => {
  const { tenant, campaignId } = await ready([{ subject: 'One', body_plain: 'Hi' }], { fields: { kind: 'one_time' } });
  const append = (body: object) =>
    call(world, 'POST', `/v1/campaigns/${campaignId}/steps`, { token: tenant.apiKey, body });
  assertStatus(t, await append({ subject: 'Two' }), 400);
  assertStatus(t, await append({ action: { type: 'wait', wait_minutes: 5 } }), 201);
});

test('steps that make tasks and deals name what is there, and are written by who may make them', async (t) => {
  const desk = await openDesk(world);
  const [pipeline, elsewhere] = [await createPipeline(world, desk.tenant), await createPipeline(world, desk.tenant)];
  const foreign = await createPipeline(world, (await openDesk(world)).tenant);
  const [stage] = pipeline.stageIds;
  const deal = { type: 'create_deal', name: 'x', pipeline_id: pipeline.id, stage_id: stage };
  const write = (...actions: object[]) =>
    desk.call('POST', '/campaigns', { name: 'Deals', steps: actions.map((action) => ({ action })) });
  t.deepEqual(
    problemPaths(
      await write(
        { type: 'create_task', title: '{{.FirstName', assigned_to: newId(), task_type: 'None of ours' },
        { ...deal, stage_id: elsewhere.stageIds[0], value: 1.5, currency: 'JPY' },
        { ...deal, pipeline_id: foreign.id, stage_id: foreign.stageIds[0], name: '{{nope .Email}}' },
        { type: 'move_deal_stage', stage_id: newId() },
      ),
    ),
    [
      'body.steps.0.action.assigned_to',
      'body.steps.0.action.task_type',
      'body.steps.0.action.title',
      'body.steps.1.action.stage_id',
      'body.steps.1.action.value',
      'body.steps.2.action.name',
      'body.steps.2.action.pipeline_id',
      'body.steps.2.action.stage_id',
      'body.steps.3.action.stage_id',
    ],
  );
  t.deepEqual(
    problemPaths(
      await write(
        { type: 'create_task', title: '', due_in_days: 366, priority: 'now' },
        { ...deal, currency: 'euro', value: -1 },
      ),
    ),
    [
      'body.steps.0.action.due_in_days',
      'body.steps.0.action.priority',
      'body.steps.0.action.title',
      'body.steps.1.action.currency',
      'body.steps.1.action.value',
    ],
  );
  const task = { type: 'create_task', title: 'Call', assigned_to: desk.tenant.userId.toUpperCase(), task_type: 'call' };
  const written = await write(
    task,
    { ...deal, stage_id: stage!.toUpperCase() },
    { type: 'move_deal_stage', stage_id: stage },
  );
  assertStatus(t, written, 201);
  const steps = (await desk.call('GET', `/campaigns/${written.body.id}/steps`)).body;
  t.deepEqual(steps[0].action, { ...task, assigned_to: desk.tenant.userId, priority: 'medium' });
  t.like(steps[1].action, { stage_id: stage });
  const copy = await desk.call('POST', `/campaigns/${written.body.id}/duplicate`);
  const copied = (await desk.call('GET', `/campaigns/${copy.body.id}/steps`)).body;
  t.deepEqual(
    copied.map((step: any) => step.action),
    steps.map((step: any) => step.action),
  );
  await desk.call('DELETE', `/crm/pipelines/${pipeline.id}`);
  const { problems } = (await desk.call('POST', `/campaigns/${copy.body.id}/validate`)).body;
  t.deepEqual(
    problems.filter((one: any) => one.step_id).map((one: any) => [one.code, one.step_id, one.message]),
    [
      ['campaign_invalid', copied[1].id, "The step's action.pipeline_id is not a pipeline of this workspace"],
      ['campaign_invalid', copied[1].id, "The step's action.stage_id is not a stage of this workspace"],
      ['campaign_invalid', copied[2].id, "The step's action.stage_id is not a stage of this workspace"],
    ],
  );

  const { apiKey } = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, {
    permissions: maskOf(['READ_CAMPAIGNS', 'WRITE_CAMPAIGNS']),
  });
  const refused = await desk.call(
    'PATCH',
    `/campaigns/${copy.body.id}/steps/${copied[0].id}`,
    { action: task },
    apiKey,
  );
  assertStatus(t, refused, 403);
  t.is(refused.body.problems.length, 1);
  t.like(refused.body.problems[0], {
    path: 'body.action.type',
    code: 'field.needs_right',
    values: { action: 'create_task', right: 'WRITE_CRM' },
  });
});

test('a launch is shown before it: its leads, senders, earliest time and first emails; without contacts no emails', async (t) => {
  const tenant = await world.tenant();
  const { deps } = world;
  const mailboxId = await createMailbox(deps, tenant.organizationId, 'mira@ours.test', undefined, { name: 'Mira' });
  const { campaignId } = await createCampaign(
    deps,
    tenant.organizationId,
    [{ kind: 'email', subject: 'Hi {{.FirstName}}', body_plain: 'At {{.Company}}?' }],
    { status: 'draft', start_date: new Date(deps.clock.now().getTime() + 86_400_000) },
  );
  const shown = (token = tenant.apiKey) => call(world, 'GET', `/v1/campaigns/${campaignId}/launch`, { token });
  t.like((await shown()).body, { leads: 0, first_email_at: null, samples: [] });
  const contacts = await Promise.all(
    ['Ada', 'Bo', 'Cy', 'Di', 'Eve', 'Flo'].map((name) =>
      createContact(deps.db, deps.clock.now(), tenant.organizationId, {
        email: `${name}@lead.test`.toLowerCase(),
        first_name: name,
        company: 'Lights',
      }),
    ),
  );
  await enroll(deps, tenant.organizationId, campaignId, contacts);
  const { body } = await shown();
  t.is(body.leads, 6);
  t.deepEqual(
    body.senders.map(({ mailbox_id, email }: { mailbox_id: string; email: string }) => [mailbox_id, email]),
    [[mailboxId, 'mira@ours.test']],
  );
  t.true(Date.parse(body.first_email_at) > deps.clock.now().getTime());
  t.is(body.samples.length, 5);
  t.deepEqual(
    body.samples.map(({ from, subject }: { from: string; subject: string }) => [from, subject]),
    ['Ada', 'Bo', 'Cy', 'Di', 'Eve'].map((name) => ['Mira <mira@ours.test>', `Hi ${name}`]),
  );
  t.regex(body.samples[0].text, /At Lights\?/);
  const { apiKey: blind } = await createApiKey(deps, tenant.organizationId, tenant.userId, {
    permissions: maskOf(['READ_CAMPAIGNS']),
  });
  t.like((await shown(blind)).body, { leads: 6, samples: [] });
  const stranger = await world.tenant();
  t.is((await shown(stranger.apiKey)).status, 404);
});
