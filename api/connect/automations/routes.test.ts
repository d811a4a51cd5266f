import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { json } from '../../../db/connection.ts';
import { maskOf, type Permission } from '../../../lib/permissions.ts';
import {
  createApiKey,
  createCampaign,
  createContact,
  createMember,
  type Tenant,
} from '../../../test/harness/factories.ts';
import { assertConcurrentChangeRefused } from '../../../test/harness/concurrent-change.ts';
import { chain, createAutomation } from '../../../test/harness/automations.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const ask = (tenant: Tenant, method: string, path: string, body?: unknown) =>
  call(world, method, `/v1/automations${path}`, { token: tenant.apiKey, ...(body === undefined ? {} : { body }) });

type Node = Record<string, unknown> & { id: string };
const at = { x: 0, y: 0 };
const trigger: Node = { id: 'trigger', type: 'trigger', ...at };
const action = (id: string, name: string, config: object = {}, more: object = {}): Node => ({
  id,
  type: 'action',
  action: name,
  config,
  ...at,
  ...more,
});
const ifPositive: Node = {
  id: 'if',
  type: 'condition',
  condition: { field: 'field', key: 'intent', operator: 'eq', value: 'positive' },
  ...at,
};
const edge = (source: string, target: string, when = '') => ({
  id: `${source}-${target}${when}`,
  source,
  target,
  when,
});
const write = (nodes: Node[], edges: object[], more: object = {}) => ({
  name: 'Answer the interested',
  trigger_event: 'email.replied',
  graph: { nodes, edges },
  ...more,
});
const SIMPLE = write([trigger, action('tell', 'sendsets.notify', { message: 'Hi' })], [edge('trigger', 'tell')]);

async function category(tenant: Tenant): Promise<string> {
  const { body } = await call(world, 'POST', '/v1/categories', { token: tenant.apiKey, body: { title: newId() } });
  return body.id ?? body.data?.id;
}

test.serial(
  'an automation that adds contacts to campaigns is saved by a person, as a policy bounds what a key adds',
  async (t) => {
    const tenant = await world.tenant();
    const { campaignId: campaign_id } = await createCampaign(world.deps, tenant.organizationId, []);
    const adding = write(
      [trigger, action('add', 'sendsets.add_to_campaign', { campaign_id })],
      [edge('trigger', 'add')],
    );
    const byPerson = (method: string, path: string, body: unknown) =>
      call(world, method, `/v1/automations${path}`, { token: tenant.sessionToken, body });
    t.like(await ask(tenant, 'POST', '', adding), { status: 403 });
    const { id } = (await byPerson('POST', '', adding)).body.automation;
    t.like(await ask(tenant, 'PATCH', `/${id}`, { ...adding, name: 'Another' }), { status: 403 });
    assertStatus(t, await byPerson('PATCH', `/${id}`, { ...adding, name: 'Another' }), 200);
    assertStatus(t, await ask(tenant, 'PATCH', `/${id}`, SIMPLE), 200);
  },
);

test.serial(
  'who switches an automation on may do all that it does; anybody who draws one may save it switched off',
  async (t) => {
    const tenant = await world.tenant();
    const { db, clock } = world.deps;
    const stamps = { created_at: clock.now(), updated_at: clock.now() };
    await db('roles').insert({
      id: newId(),
      organization_id: tenant.organizationId,
      name: 'Plumber',
      permissions: ['use_integrations'],
      is_owner: false,
      is_system: false,
      ...stamps,
    });
    const { sessionToken } = await createMember(world.deps, tenant, 'Plumber');
    const suppressing = write(
      [trigger, action('tell', 'sendsets.notify', { message: 'Hi' }), action('stop', 'sendsets.suppress')],
      [edge('trigger', 'tell'), edge('tell', 'stop')],
    );
    const by = (token: string, method: string, path: string, body: unknown) =>
      call(world, method, `/v1/automations${path}`, { token, body });
    const refused = await by(sessionToken, 'POST', '', suppressing);
    assertStatus(t, refused, 403);
    t.is(refused.body.problems.length, 1);
    t.like(refused.body.problems[0], {
      path: 'body.graph.nodes.2',
      message: 'Node "stop" is sendsets.suppress, which needs manage_contacts',
    });
    const { id } = (await by(sessionToken, 'POST', '', { ...suppressing, enabled: false })).body.automation;
    assertStatus(t, await by(sessionToken, 'PATCH', `/${id}`, suppressing), 403);
    const { apiKey } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
      permissions: maskOf(['INTEGRATIONS']),
    });
    t.regex((await by(apiKey, 'PATCH', `/${id}`, suppressing)).text, /needs WRITE_CONTACTS/);
    assertStatus(t, await by(tenant.sessionToken, 'PATCH', `/${id}`, suppressing), 200);
    assertStatus(t, await by(sessionToken, 'PATCH', `/${id}`, { ...suppressing, enabled: false }), 200);
    assertStatus(t, await by(sessionToken, 'POST', '', SIMPLE), 201);
  },
);

test.serial(
  'who starts an automation may do all that it does, and all that it starts in turn: with another automation, and with a step',
  async (t) => {
    const tenant = await world.tenant();
    const keyWith = async (...names: Permission[]) =>
      (await createApiKey(world.deps, tenant.organizationId, tenant.userId, { permissions: maskOf(names) })).apiKey;
    const by = (token: string, method: string, path: string, body: unknown) =>
      call(world, method, `/v1${path}`, { token, body });
    const starting = (automation_id: string, more: object = {}) =>
      write([trigger, action('run', 'sendsets.run_automation', { automation_id })], [edge('trigger', 'run')], more);
    const { campaignId: campaign_id } = await createCampaign(world.deps, tenant.organizationId, []);
    const far = write(
      [
        trigger,
        action('stop', 'sendsets.suppress'),
        action('task', 'sendsets.create_task', { title: 'Call' }),
        action('add', 'sendsets.add_to_campaign', { campaign_id }),
      ],
      [edge('trigger', 'stop'), edge('stop', 'task'), edge('task', 'add')],
      { name: 'Far', enabled: false },
    );
    const { automation: last } = (await by(tenant.sessionToken, 'POST', '/automations', far)).body;
    const { automation: middle } = (await by(tenant.sessionToken, 'POST', '/automations', starting(last.id))).body;
    const reader = await keyWith('INTEGRATIONS', 'WRITE_CONTACTS');
    const refused = await by(reader, 'POST', '/automations', starting(middle.id));
    assertStatus(t, refused, 403);
    const says = 'Node "run" starts the automation "Far", whose sendsets.';
    t.deepEqual(
      refused.body.problems.map(({ message }: { message: string }) => message),
      [
        `${says}create_task needs WRITE_CRM`,
        `${says}add_to_campaign needs WRITE_CAMPAIGNS`,
        `${says}add_to_campaign only a person may save`,
      ],
    );
    t.is(refused.body.problems[0].path, 'body.graph.nodes.1.config.automation_id');
    const drawn = await by(reader, 'POST', '/automations', starting(middle.id, { enabled: false }));
    assertStatus(t, drawn, 201);
    assertStatus(t, await by(reader, 'PATCH', `/automations/${drawn.body.automation.id}`, starting(middle.id)), 403);
    assertStatus(t, await by(tenant.sessionToken, 'PATCH', `/automations/${middle.id}`, starting(last.id)), 200);
    const stored = await world.deps.db('automations').where({ organization_id: tenant.organizationId }).orderBy('id');
    t.deepEqual(
      stored.map((row) => row.author_rights),
      [
        ['contacts', 'crm', 'campaigns', 'inbox', 'leads'],
        ['contacts', 'crm', 'campaigns', 'inbox', 'leads'],
        ['contacts'],
      ],
    );

    const step = { kind: 'action', action: { type: 'run_automation', automation_id: middle.id } };
    const author = await keyWith('READ_CAMPAIGNS', 'WRITE_CAMPAIGNS', 'WRITE_CONTACTS');
    const { body: draft } = await by(author, 'POST', '/campaigns', { name: 'Draft' });
    const steps = `/campaigns/${draft.id}/steps`;
    const added = await by(author, 'POST', steps, step);
    assertStatus(t, added, 403);
    t.regex(added.text, /body\.action\.automation_id.*starts the automation .*create_task needs WRITE_CRM/);
    const created = await by(author, 'POST', '/campaigns', { name: 'New', steps: [step] });
    assertStatus(t, created, 403);
    t.regex(created.text, /body\.steps\.0\.action\.automation_id/);
    const { body: plain } = await by(author, 'POST', steps, {});
    assertStatus(t, await by(author, 'PATCH', `${steps}/${plain.id}`, step), 403);
    assertStatus(t, await by(tenant.sessionToken, 'POST', steps, step), 201);
    const copied = await by(author, 'POST', `/campaigns/${draft.id}/duplicate`, {});
    t.is(copied.status, 403, 'whoever copies a step is its author');
    t.regex(copied.text, /steps\.1\.action\.automation_id.*create_task needs WRITE_CRM/);
    assertStatus(t, await by(tenant.sessionToken, 'POST', `/campaigns/${draft.id}/duplicate`, {}), 201);
  },
);

test.serial('an automation is kept as it is drawn, replaced as a whole, and deleted with its runs', async (t) => {
  const tenant = await world.tenant();
  const tag = await category(tenant);
  const body = write(
    [
      trigger,
      ifPositive,
      action('tag', 'sendsets.add_tag', { category_id: tag }),
      action('later', 'sendsets.wait', { wait_minutes: 5 }),
    ],
    [edge('trigger', 'if'), edge('if', 'tag', 'true'), edge('if', 'later', 'false')],
    { filter: { intents: ['positive', 'question'], min_confidence: 0.5 }, enabled: false },
  );
  const created = await ask(tenant, 'POST', '', body);
  t.is(created.status, 201, JSON.stringify(created.body));
  const { automation } = created.body;
  t.like(automation, { ...body, organization_id: tenant.organizationId });
  t.deepEqual((await ask(tenant, 'GET', `/${automation.id}`)).body, { automation });
  t.deepEqual((await ask(tenant, 'GET', '')).body, { automations: [automation] });

  const replaced = (await ask(tenant, 'PATCH', `/${automation.id}`, SIMPLE)).body.automation;
  t.like(replaced, { ...SIMPLE, filter: {}, enabled: true, created_at: automation.created_at });
  await assertConcurrentChangeRefused(t, replaced.updated_at, (more) =>
    ask(tenant, 'PATCH', `/${automation.id}`, { ...SIMPLE, ...more }),
  );
  await world.deps.db('automation_runs').insert({
    id: newId(),
    organization_id: tenant.organizationId,
    automation_id: automation.id,
    cause: 'event/1',
    trigger_event: 'email.replied',
    status: 'success',
    data: '{}',
    node_results: '[]',
    error_detail: null,
    hops: 0,
    started_at: world.deps.clock.now(),
    finished_at: world.deps.clock.now(),
  });
  const { runs } = (await ask(tenant, 'GET', `/${automation.id}/runs?limit=1`)).body;
  t.like(runs[0], { automation_id: automation.id, status: 'success', node_results: [], error_detail: '' });
  assertStatus(t, await ask(tenant, 'GET', `/${automation.id}/runs?limit=0`), 400);
  t.deepEqual((await ask(tenant, 'DELETE', `/${automation.id}`)).body, { deleted: true });
  assertStatus(t, await ask(tenant, 'GET', `/${automation.id}`), 404);
  assertStatus(t, await ask(tenant, 'GET', `/${automation.id}/runs`), 404);
});

test.serial('one answer names every fault of a graph, with its node', async (t) => {
  const tenant = await world.tenant();
  const foreign = await category(await world.tenant());
  const { status, body } = await ask(tenant, 'POST', '', {
    name: '',
    trigger_event: 'campaign.reply_received',
    filter: { intents: [], colour: 'red' },
    graph: {
      nodes: [
        { ...trigger },
        { id: 'second', type: 'trigger', ...at },
        { ...ifPositive, id: 'half' },
        { id: 'bare', type: 'condition', ...at },
        { ...ifPositive, id: 'op', condition: { field: 'field', key: 'a..b', operator: 'like', value: 1 } },
        { ...ifPositive, id: 'broken', condition: { field: 'expression', expression: '{{ range .x }}' } },
        action('tag', 'sendsets.add_tag', { category_id: foreign }),
        action('same', 'sendsets.wait', { wait_minutes: 0 }),
        action('same', 'sendsets.wait', { wait_minutes: 1 }),
        action('unknown', 'sendsets.fly'),
        action('slack', 'slack.fly'),
        action('bad', 'sendsets.notify', { message: '{{ .x', colour: 1 }, { connection_id: newId() }),
        action('alone', 'sendsets.notify', { message: 'x' }),
        action('round', 'sendsets.notify', { message: 'x' }),
        ...Array.from({ length: 11 }, (_unused, n) =>
          action(`call${n}`, 'sendsets.run_automation', { automation_id: newId() }),
        ),
      ],
      edges: [
        edge('trigger', 'half'),
        edge('half', 'tag', 'true'),
        edge('trigger', 'tag', 'true'),
        edge('trigger', 'nowhere'),
        edge('round', 'round'),
        edge('trigger', 'round'),
        edge('half', 'same'),
      ],
    },
  });
  t.is(status, 400);
  const said = body.problems.map(({ path, message }: { path: string; message: string }) => `${path}: ${message}`);
  const has = (pattern: RegExp) =>
    t.true(
      said.some((line: string) => pattern.test(line)),
      `${pattern} in\n${said.join('\n')}`,
    );
  has(/^body\.name/);
  has(/^body\.trigger_event: is not a trigger/);
  has(/^body\.filter/);
  has(/"second" is a second trigger/);
  has(/"second" is the trigger: its id must be/);
  has(/"half" needs an edge for false/);
  has(/"bare" is required/);
  has(/nodes\.4\.condition\.key: Node "op"/);
  has(/nodes\.4\.condition\.operator: Node "op"/);
  has(/nodes\.5\.condition\.expression: Node "broken"/);
  has(/nodes\.6\.config\.category_id: Node "tag" is not a category of this workspace/);
  has(/nodes\.7\.config\.wait_minutes: Node "same"/);
  has(/"same" has the id of another node/);
  has(/"unknown" "sendsets\.fly" is not an action/);
  has(/"slack" "slack\.fly" is not an action/);
  has(/nodes\.11\.config\.message: Node "bad"/);
  has(/Node "bad" .*colour/i);
  has(/"bad" must be left out: sendsets\.notify uses no connection/);
  has(/"alone" is not reached from the trigger/);
  has(/"round" is in a cycle/);
  has(/^body\.graph\.nodes: can have at most 10 nodes that run another automation/);
  has(/leads to "nowhere", which is not a node/);
  has(/leaves "trigger", which is not a condition/);
  has(/leaves the condition "half"/);
});

test.serial('ids are the same in capitals, and a deal that could never be made is refused', async (t) => {
  const tenant = await world.tenant();
  const pipelineOf = async () =>
    (
      await call(world, 'POST', '/v1/crm/pipelines', {
        token: tenant.apiKey,
        body: { name: 'Sales', stages: [{ name: 'New', color: '#000000' }] },
      })
    ).body;
  const [one, other] = [await pipelineOf(), await pipelineOf()];
  const dealing = (config: object) =>
    write(
      [trigger, action('deal', 'sendsets.create_deal', { name: 'x', pipeline_id: one.id, ...config })],
      [edge('trigger', 'deal')],
    );
  const faults = async (config: object) =>
    (await ask(tenant, 'POST', '', dealing(config))).body.problems.map(({ path }: { path: string }) => path);
  const of = (field: string) => `body.graph.nodes.1.config.${field}`;
  t.deepEqual(await faults({ stage_id: other.stages[0].id, value: 1.999 }), [of('stage_id'), of('value')]);
  t.deepEqual(await faults({ stage_id: one.stages[0].id, currency: 'ZZZ' }), [of('currency')]);
  const task = write(
    [trigger, action('task', 'sendsets.create_task', { title: 'x', type: 'None of ours' })],
    [edge('trigger', 'task')],
  );
  const unknown = (await ask(tenant, 'POST', '', task)).body.problems;
  t.is(unknown.length, 1);
  t.like(unknown[0], { path: of('type'), code: 'connect.node_fault' });
  t.is(unknown[0].values.problem.code, 'steps.unknown_task_type');
  const capitals = { pipeline_id: one.id.toUpperCase(), stage_id: one.stages[0].id.toUpperCase(), currency: 'JPY' };
  const { body, status } = await ask(tenant, 'POST', '', dealing({ ...capitals, value: 20 }));
  t.is(status, 201);
  const { id } = body.automation;
  const itself = write(
    [trigger, action('again', 'sendsets.run_automation', { automation_id: id.toUpperCase() })],
    [edge('trigger', 'again')],
  );
  for (const own of [id, id.toUpperCase()])
    t.regex((await ask(tenant, 'PATCH', `/${own}`, itself)).text, /cannot run itself/);
});

test.serial('filters are of what the trigger says; without a trigger a graph is refused', async (t) => {
  const tenant = await world.tenant();
  const refused = async (body: object, pattern: RegExp) =>
    t.regex(JSON.stringify((await ask(tenant, 'POST', '', body)).body.problems), pattern);
  await refused({ ...SIMPLE, trigger_event: 'deal.won', filter: { intents: ['positive'] } }, /deal.won has no intent/);
  await refused({ ...SIMPLE, trigger_event: 'email.sent', filter: { min_confidence: 0.5 } }, /has no confidence/);
  await refused(
    { ...SIMPLE, filter: { intents: ['question', 'positve'] } },
    /filter\.intents\.1.*must be one of positive/,
  );
  await refused(write([action('tell', 'sendsets.notify', { message: 'x' })], []), /needs a trigger/);
});

test.serial(
  'one that is run by a step or by another automation cannot be deleted; the answer names them',
  async (t) => {
    const tenant = await world.tenant();
    const called = { ...SIMPLE, trigger_event: 'automation.called' };
    const { id } = (await ask(tenant, 'POST', '', called)).body.automation;
    const run = (automation: string) =>
      write(
        [trigger, action('run', 'sendsets.run_automation', { automation_id: automation })],
        [edge('trigger', 'run')],
      );
    t.regex(JSON.stringify((await ask(tenant, 'PATCH', `/${id}`, run(id))).body.problems), /cannot run itself/);
    const caller = (await ask(tenant, 'POST', '', run(id))).body.automation;
    const { db } = world.deps;
    const { stepIds } = await createCampaign(world.deps, tenant.organizationId, [{}]);
    await db('campaign_steps')
      .where({ id: stepIds[0] })
      .update({ kind: 'action', action: json({ type: 'run_automation', automation_id: id }) });
    const refusal = await ask(tenant, 'DELETE', `/${id}`);
    assertStatus(t, refusal, 409);
    t.deepEqual(
      refusal.body.problems.map(({ path }: { path: string }) => path),
      [`campaign_steps.${stepIds[0]}`, `automations.${caller.id}`],
    );
    await db('campaign_steps').where({ id: stepIds[0] }).update({ kind: 'email', action: null });
    assertStatus(t, await ask(tenant, 'DELETE', `/${caller.id}`), 200);
    assertStatus(t, await ask(tenant, 'DELETE', `/${id}`), 200);
  },
);

test.serial(
  'a dry run says what would be done, with data of a sample or of the caller, and does nothing',
  async (t) => {
    const tenant = await world.tenant();
    const tag = await category(tenant);
    const body = write(
      [
        trigger,
        { ...ifPositive, condition: { field: 'expression', expression: 'eq .intent "positive"' } },
        action('tag', 'sendsets.add_tag', { category_id: tag }),
        action('tell', 'sendsets.notify', { message: 'Call {{ .contact.first_name }}: {{ .subject }}' }),
        action('else', 'sendsets.wait', { wait_minutes: 60 }),
      ],
      [edge('trigger', 'if'), edge('if', 'tag', 'true'), edge('tag', 'tell'), edge('if', 'else', 'false')],
      { filter: { intents: ['positive', 'negative'] } },
    );
    const { id } = (await ask(tenant, 'POST', '', body)).body.automation;
    const dry = async (data?: object) => {
      const { body: answer } = await ask(tenant, 'POST', `/${id}/test`, data ? { data } : {});
      const trace = answer.trace.map((line: { node_id: string; status: string }) => `${line.node_id} ${line.status}`);
      return { ...answer, trace, lines: answer.trace };
    };
    const contactId = await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId);
    await world.deps.db('contacts').where({ id: contactId }).update({ first_name: 'Mia' });
    const yes = await dry({ intent: 'positive', contact_id: contactId, subject: 'Yes' });
    t.deepEqual(yes.trace, ['trigger success', 'if branch_true', 'tag success', 'else skipped', 'tell success']);
    t.deepEqual(yes.lines[4].preview, { message: 'Call Mia: Yes' });
    t.deepEqual((await dry({ intent: 'negative', contact_id: contactId })).trace, [
      'trigger success',
      'if branch_false',
      'tag skipped',
      'else success',
      'tell skipped',
    ]);
    t.is((await dry({ intent: 'neutral' })).trace[0], 'trigger skipped');
    const sample = await dry();
    t.like(sample.data, { intent: 'positive', contact_email: 'lea@example.com' });
    t.deepEqual(sample.lines[4].preview, { message: 'Call Lea: Re: Hello' });
    const ofProvider = await createAutomation(
      world,
      tenant.organizationId,
      'email.replied',
      chain(
        action('chat', 'slack.notify', {
          channel: '#sales',
          message: '{{.first_name}} or {{.contact.first_name}}: {{.subject}} ({{.trigger}})',
        }) as never,
      ),
    );
    const { body: shown } = await ask(tenant, 'POST', `/${ofProvider}/test`, {
      data: { contact_id: contactId.toUpperCase(), subject: 'Yes' },
    });
    t.is(shown.trace[1].preview.message, 'Mia or Mia: Yes (email.replied)', 'what the provider would get');
    t.like(shown.trace[1], { status: 'error', error: 'needs a connection of Slack for slack.notify' });
    await world.deps.db('labels').where({ id: tag }).delete();
    const { trace, lines: said } = await dry({ intent: 'positive', contact_id: contactId });
    t.deepEqual(trace, ['trigger success', 'if branch_true', 'tag error', 'else skipped', 'tell skipped']);
    t.is(said[2].error, 'is not a category of this workspace');
    for (const table of ['contact_categories', 'automation_runs', 'integration_deliveries'])
      t.deepEqual(await world.deps.db(table).where({ organization_id: tenant.organizationId }), []);
  },
);

test.serial('the conditions and texts of a run take together no more work than one of them may', async (t) => {
  const tenant = await world.tenant();
  const costly = Array.from({ length: 90 }, (_, n) => ({
    ...ifPositive,
    id: `if${n}`,
    condition: { field: 'expression', expression: 'eq (title .text) "x"' },
  }));
  const ids = [...costly.map(({ id }) => id), 'tell'];
  const body = write(
    [trigger, ...costly, action('tell', 'sendsets.notify', { message: '{{ .text }}' })],
    [
      edge('trigger', 'if0'),
      ...costly.flatMap(({ id }, n) => ['true', 'false'].map((when) => edge(id, ids[n + 1]!, when))),
    ],
  );
  const { id } = (await ask(tenant, 'POST', '', body)).body.automation;
  const { body: answer } = await ask(tenant, 'POST', `/${id}/test`, { data: { text: 'words '.repeat(10_000) } });
  const statuses = answer.trace.slice(1).map(({ status }: { status: string }) => status);
  const asked = statuses.indexOf('error');
  t.true(asked > 0 && asked < 10, `${asked} were asked`);
  t.deepEqual(new Set(statuses.slice(0, asked)), new Set(['branch_false']));
  t.deepEqual(new Set(statuses.slice(asked + 1)), new Set(['skipped']));
});

test.serial('with plans that are paid for, the free plan may look and not write', async (t) => {
  const tenant = await world.tenant();
  const { id } = (await ask(tenant, 'POST', '', SIMPLE)).body.automation;
  const free = await createWorld({ env: { REQUIRE_PAID_PLAN: 'true' } });
  t.teardown(() => free.close());
  const poor = await free.tenant();
  const of = (method: string, path: string, body?: object) =>
    call(free, method, `/v1/automations${path}`, { token: poor.apiKey, ...(body && { body }) });
  assertStatus(t, await of('GET', ''), 200);
  const refusal = await of('POST', '', SIMPLE);
  assertStatus(t, refusal, 403);
  t.regex(refusal.body.message ?? refusal.body.error?.message, /plan/i);
  assertStatus(t, await of('PATCH', `/${id}`, SIMPLE), 403);
  assertStatus(t, await of('DELETE', `/${id}`), 403);
});
