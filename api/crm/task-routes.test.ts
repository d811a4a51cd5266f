import test from 'ava';
import { createCampaign, createContact, createMember, type Tenant } from '../../test/harness/factories.ts';
import { createPipeline } from '../../test/harness/crm.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';
import { newId } from '../../lib/ids.ts';
import { openTasksForReplies } from '../../domain/crm/reply-task.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';

const NOW = new Date('2026-11-22T10:00:00Z');
const clock = new ManualClock(NOW);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.beforeEach(() => clock.set(NOW));
test.after.always(() => world?.close());

const apiOf =
  (tenant: Tenant) =>
  (method: string, path: string, body?: unknown, token = tenant.apiKey) =>
    call(world, method, `/v1${path}`, { token, ...(body === undefined ? {} : { body }) });

async function scene() {
  const tenant = await world.tenant();
  const api = apiOf(tenant);
  const contactId = await createContact(world.deps.db, clock.now(), tenant.organizationId);
  const task = async (fields: object = {}) => {
    const made = await api('POST', '/crm/tasks', { title: 'Task', ...fields });
    if (made.status !== 201) throw new Error(made.text);
    return made.body;
  };
  const dealOf = async () => {
    const { id, stageIds } = await createPipeline(world, tenant);
    return (await api('POST', '/crm/deals', { pipeline_id: id, stage_id: stageIds[0], name: 'Deal' })).body
      .id as string;
  };
  const events = async (type: string) =>
    (await world.deps.db('domain_events').where({ organization_id: tenant.organizationId, type }).orderBy('id')).map(
      ({ data }) => data,
    );
  return { tenant, api, contactId, task, dealOf, events };
}
const problemPaths = ({ body }: { body: any }): string[] =>
  body.problems.map(({ path }: { path: string }) => path).sort();

test.serial(
  'the first list seeds the task types, once, also for many who ask at once; who deletes all keeps none',
  async (t) => {
    const { tenant, api } = await scene();
    const lists = await Promise.all(Array.from({ length: 8 }, () => api('GET', '/crm/task-types')));
    for (const { status, body } of lists) {
      t.is(status, 200);
      t.deepEqual(body, lists[0]!.body);
    }
    const types = lists[0]!.body.data;
    t.deepEqual(
      types.map(({ name, position }: Record<string, unknown>) => [name, position]),
      [
        ['To-do', 1],
        ['Call', 2],
        ['Email', 3],
        ['Meeting', 4],
        ['Follow-up', 5],
      ],
    );
    t.like(types[0], { organization_id: tenant.organizationId, color: '#64748b' });
    for (const { id } of types) t.is((await api('DELETE', `/crm/task-types/${id}`)).status, 204);
    t.deepEqual((await api('GET', '/crm/task-types')).body, { data: [] });
    t.is((await api('POST', '/crm/tasks', { title: 'Without a type' })).body.type, 'To-do');
  },
);

test.serial('task types are appended, renamed, moved; a name is there once, in any case', async (t) => {
  const { api, task } = await scene();
  const demo = await api('POST', '/crm/task-types', { name: 'Demo' });
  assertStatus(t, demo, 201);
  t.like(demo.body, { name: 'Demo', color: '#94a3b8', position: 6 });
  t.is((await api('POST', '/crm/task-types', { name: 'dEMO' })).body.code, 'conflict');
  const order = async () =>
    (await api('GET', '/crm/task-types')).body.data.map(
      ({ position, name }: { name: string; position: number }) => `${position} ${name}`,
    );
  t.like((await api('PATCH', `/crm/task-types/${demo.body.id}`, { position: 2, color: '#ABCDEF' })).body, {
    position: 2,
    color: '#abcdef',
  });
  t.deepEqual(await order(), ['1 To-do', '2 Demo', '3 Call', '4 Email', '5 Meeting', '6 Follow-up']);
  const { id } = await task({ type: 'demo' });
  t.is((await api('PATCH', `/crm/task-types/${demo.body.id}`, { name: 'call' })).body.code, 'conflict');
  t.is((await api('PATCH', `/crm/task-types/${demo.body.id}`, { name: 'Show' })).body.name, 'Show');
  assertStatus(t, await api('DELETE', `/crm/task-types/${demo.body.id}`), 204);
  t.is((await api('GET', `/crm/tasks/${id}`)).body.type, 'Demo', 'the task keeps the name');
  t.deepEqual(await order(), ['1 To-do', '2 Call', '3 Email', '4 Meeting', '5 Follow-up']);
  t.deepEqual(problemPaths(await api('POST', '/crm/task-types', { name: 'x'.repeat(61), color: 'red' })), [
    'body.color',
    'body.name',
  ]);
  assertStatus(t, await api('POST', '/crm/task-types', { name: 'x'.repeat(60) }), 201);
  t.deepEqual(problemPaths(await api('POST', '/crm/tasks', { title: 'x', type: 'Show' })), ['body.type']);
});

test.serial('a new task is pending and by the caller; it stands in the log and fires its event', async (t) => {
  const { tenant, api, contactId, dealOf, events } = await scene();
  const dealId = await dealOf();
  const team = (await api('POST', '/teams', { name: 'Sales' })).body;
  const sent = {
    title: 'Call back',
    contact_id: contactId,
    deal_id: dealId,
    assigned_to: tenant.userId,
    assigned_team_id: team.id,
    description: 'After lunch',
    due_date: '2026-11-23T12:00:00.000Z',
    priority: 'urgent',
    type: 'Call',
  };
  const { status, body } = await api('POST', '/crm/tasks', { ...sent, type: 'cALL' });
  t.is(status, 201);
  t.like(body, { ...sent, created_by: tenant.userId, status: 'pending', completed_at: null });
  t.deepEqual((await api('GET', `/crm/tasks/${body.id}`)).body, body);
  t.like((await events('crm.task_created'))[0], {
    entity_id: body.id,
    task_id: body.id,
    priority: 'urgent',
    due_date: sent.due_date,
  });
  t.like((await api('GET', `/contacts/${contactId}/activities`)).body.data[0], {
    activity_type: 'task_created',
    user: { id: tenant.userId, name: 'Olivia Owner' },
  });
  t.like((await api('POST', '/crm/tasks', { title: 'Bare' })).body, {
    type: 'To-do',
    priority: 'medium',
    due_date: null,
  });
});

test.serial('completed stamps when, once; a task that is taken up again has no stamp', async (t) => {
  const { api, contactId, task, events } = await scene();
  const { id } = await task({ contact_id: contactId });
  const patch = async (body: object) => {
    clock.advance(60_000);
    return (await api('PATCH', `/crm/tasks/${id}`, body)).body;
  };
  t.like(await patch({ status: 'completed' }), { completed_at: '2026-11-22T10:01:00.000Z' });
  t.like(await patch({ status: 'completed', title: 'Done' }), {
    completed_at: '2026-11-22T10:01:00.000Z',
    title: 'Done',
  });
  t.like(await patch({ status: 'in_progress', due_date: null }), { completed_at: null, status: 'in_progress' });
  t.deepEqual(
    (await events('crm.task_updated')).map(({ fields }) => fields),
    [['status'], ['title'], ['status']],
  );
  const log = (await api('GET', `/contacts/${contactId}/activities`)).body.data;
  t.deepEqual(
    log.map(({ activity_type: type }: { activity_type: string }) => type),
    ['task_completed', 'task_created'],
  );
  assertStatus(t, await api('DELETE', `/crm/tasks/${id}`), 204);
  assertStatus(t, await api('GET', `/crm/tasks/${id}`), 404);
  t.is((await api('PATCH', `/crm/tasks/${id}`, { contact_id: contactId })).status, 400, 'the contact of a task stays');
});

test.serial('ids of nothing, and of another workspace, are named each', async (t) => {
  const { api, task } = await scene();
  const theirs = await scene();
  const named = { assigned_to: theirs.tenant.userId, assigned_team_id: newId(), type: 'Nap' };
  const paths = ['body.assigned_team_id', 'body.assigned_to', 'body.type'];
  t.deepEqual(
    problemPaths(
      await api('POST', '/crm/tasks', {
        ...named,
        title: '',
        priority: 'max',
        contact_id: theirs.contactId,
        deal_id: await theirs.dealOf(),
      }),
    ),
    [...paths.slice(0, 2), 'body.contact_id', 'body.deal_id', 'body.priority', 'body.title', 'body.type'],
  );
  const { id } = await task();
  t.deepEqual(problemPaths(await api('PATCH', `/crm/tasks/${id}`, named)), paths);
  t.deepEqual(problemPaths(await api('PATCH', `/crm/tasks/${id}`, { ...named, status: 'open' })), [
    ...paths.slice(0, 2),
    'body.status',
    'body.type',
  ]);
});

test.serial('lists and searches: filters, orders, exact totals, and ids that are none', async (t) => {
  const { tenant, api, contactId, task, dealOf } = await scene();
  const dealId = await dealOf();
  const member = await createMember(world.deps, tenant, 'Member');
  const team = (await api('POST', '/teams', { name: 'Sales' })).body;
  await api('POST', `/teams/${team.id}/members`, { user_id: member.userId });
  const at = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000).toISOString();
  const made = [
    { title: 'b one', contact_id: contactId, priority: 'low', due_date: at(-5), type: 'Call' },
    { title: 'A two', deal_id: dealId, priority: 'urgent', due_date: at(5), assigned_to: member.userId },
    { title: 'c 100%', priority: 'high', assigned_team_id: team.id },
    { title: 'd four', priority: 'medium', due_date: at(-10), assigned_to: tenant.userId, type: 'Email' },
  ];
  const ids: string[] = [];
  for (const fields of made) {
    ids.push((await task(fields)).id);
    clock.advance(1000);
  }
  clock.set(NOW);
  await api('PATCH', `/crm/tasks/${ids[3]}`, { status: 'completed' });
  const indexes = ({ body }: { body: any }): string =>
    body.data.map(({ id }: { id: string }) => ids.indexOf(id)).join('');
  const found = async (search: object) => {
    const answer = await api('POST', '/crm/tasks/search', { sort_by: 'created_at', reverse: true, ...search });
    const { sort_by: _by, reverse: _reverse, ...filters } = search as Record<string, unknown>;
    t.is(answer.body.pagination.total, answer.body.data.length);
    t.is((await api('POST', '/crm/tasks/summary', filters)).body.total, answer.body.data.length);
    return indexes(answer);
  };
  t.is(await found({}), '0123');
  t.is(await found({ query: 'TWO' }), '1');
  t.is(await found({ query: '%' }), '2');
  t.is(await found({ statuses: ['pending'] }), '012');
  t.is(await found({ priorities: ['low', 'high'] }), '02');
  t.is(await found({ types: ['Call', 'Email'] }), '03');
  t.is(await found({ assigned_to: [member.userId, tenant.userId] }), '13');
  t.is(await found({ team_ids: [team.id] }), '12', "the team's own, and its members'");
  t.is(await found({ contact_id: contactId }), '0');
  t.is(await found({ deal_id: dealId }), '1');
  t.is(await found({ due_after: at(-5), due_before: at(5) }), '01');
  t.is(await found({ due_before: at(-6) }), '3');
  t.is(await found({ overdue: true }), '0', 'a completed one is not');
  t.is(await found({ overdue: false }), '0123');
  t.is(
    await found({ sort_by: 'due_date' }),
    '3012'
      .split('')
      .sort((a, b) => '2301'.indexOf(a) - '2301'.indexOf(b))
      .join(''),
  );
  t.is(await found({ sort_by: 'priority', reverse: false }), '1230');
  t.is(await found({ sort_by: 'title' }), '1023');
  t.deepEqual((await api('POST', '/crm/tasks/summary', {})).body, {
    total: 4,
    pending_count: 3,
    in_progress_count: 0,
    completed_count: 1,
    cancelled_count: 0,
    overdue_count: 1,
    high_priority_count: 2,
  });
  t.is(indexes(await api('GET', `/crm/tasks?status=pending&assigned_to=${member.userId}`)), '1');
  t.is(indexes(await api('GET', `/crm/tasks?contact_id=${contactId}&limit=1`)), '0');
  const page = await api('GET', '/crm/tasks?limit=3');
  t.is(indexes(page), '321');
  t.is(indexes(await api('GET', `/crm/tasks?limit=3&cursor=${page.body.pagination.next_cursor}`)), '0');
  assertStatus(t, await api('GET', `/crm/tasks?status=pending&cursor=${page.body.pagination.next_cursor}`), 400);
  for (const refused of [
    await api('GET', '/crm/tasks?contact_id=x&deal_id=y&assigned_to=z'),
    await api('POST', '/crm/tasks/search', { contact_id: 'x', deal_id: 'y', assigned_to: ['z'] }),
    await api('POST', '/crm/tasks/summary', { contact_id: 'x', deal_id: 'y', assigned_to: ['z'] }),
  ]) {
    t.is(refused.body.code, 'invalid_filter');
    t.is(refused.body.problems.length, 3);
  }
  const all = await api('POST', '/crm/tasks/search', { contact_id: 'x', priorities: ['max'], due_after: 'soon' });
  t.deepEqual(problemPaths(all), ['body.contact_id', 'body.due_after', 'body.priorities.0']);
});

test.serial(
  'many at once: by ids or all with filters less some; one event with the count, stamps and logs',
  async (t) => {
    const { api, contactId, task, events } = await scene();
    const theirs = await scene();
    const strange = (await theirs.task()).id;
    const ids = [(await task({ contact_id: contactId })).id, (await task()).id, (await task({ title: 'Other' })).id];
    await api('PATCH', `/crm/tasks/${ids[1]}`, { status: 'completed' });
    const before = (await api('GET', `/crm/tasks/${ids[1]}`)).body.completed_at;
    clock.advance(60_000);
    const done = await api('PATCH', '/crm/tasks', {
      tasks: [ids[0], ids[1], strange, newId(), 'x'],
      status: 'completed',
      priority: 'high',
    });
    t.deepEqual([done.status, done.body], [200, { affected: 2 }]);
    t.like((await api('GET', `/crm/tasks/${ids[0]}`)).body, {
      status: 'completed',
      priority: 'high',
      completed_at: '2026-11-22T10:01:00.000Z',
    });
    t.is((await api('GET', `/crm/tasks/${ids[1]}`)).body.completed_at, before);
    t.is((await theirs.api('GET', `/crm/tasks/${strange}`)).body.status, 'pending');
    t.deepEqual((await events('crm.task_updated')).at(-1), { metadata: { bulk: true, count: 2 } });
    t.is((await api('GET', `/contacts/${contactId}/activities`)).body.data[0].activity_type, 'task_completed');
    const rest = await api('PATCH', '/crm/tasks', {
      all: true,
      filters: { statuses: ['completed'] },
      exclude: [ids[0]],
      priority: 'low',
    });
    t.deepEqual(rest.body, { affected: 1 });
    t.is((await api('GET', `/crm/tasks/${ids[1]}`)).body.priority, 'low');
    t.deepEqual((await api('PATCH', '/crm/tasks', { tasks: [newId()], priority: 'low' })).body, { affected: 0 });
    t.deepEqual((await api('DELETE', '/crm/tasks', { all: true, filters: { query: 'task' } })).body, { affected: 2 });
    t.is((await api('POST', '/crm/tasks/search', {})).body.pagination.total, 1);
    t.is((await theirs.api('POST', '/crm/tasks/search', {})).body.pagination.total, 1);
  },
);

test.serial('a selection that is none, is too large or holds no ids is refused whole', async (t) => {
  const { tenant, api } = await scene();
  const many = (count: number) => Array.from({ length: count }, () => newId());
  t.is((await api('PATCH', '/crm/tasks', { tasks: many(1001), status: 'completed' })).body.code, 'too_many_tasks');
  t.is((await api('DELETE', '/crm/tasks', { tasks: many(1001) })).body.code, 'too_many_tasks');
  assertStatus(t, await api('DELETE', '/crm/tasks', { tasks: many(1000) }), 200);
  t.is(
    (await api('DELETE', '/crm/tasks', { all: true, filters: {}, exclude: many(50_001) })).body.code,
    'too_many_tasks',
  );
  for (const body of [
    {},
    { tasks: [] },
    { all: true },
    { all: true, filters: {}, tasks: [newId()] },
    { all: false, filters: {} },
  ])
    t.is((await api('DELETE', '/crm/tasks', body)).status, 400, JSON.stringify(body));
  t.is((await api('PATCH', '/crm/tasks', { tasks: [newId()] })).status, 400, 'neither status nor priority');
  t.is((await api('DELETE', '/crm/tasks', { all: true, filters: { deal_id: 'x' } })).body.code, 'invalid_filter');
  await world.deps.db.raw(
    `insert into crm_tasks (id, organization_id, title, priority, type, created_at, updated_at)
     select gen_random_uuid(), ?, 'Many', 'low', 'To-do', now(), now() from generate_series(1, 50001)`,
    [tenant.organizationId],
  );
  t.is(
    (await api('PATCH', '/crm/tasks', { all: true, filters: {}, priority: 'high' })).body.code,
    'selection_too_large',
  );
  t.is((await api('POST', '/crm/tasks/search', { priorities: ['high'] })).body.pagination.total, 0);
  const { id } = await world.deps.db('crm_tasks').where({ organization_id: tenant.organizationId }).first('id');
  t.deepEqual((await api('PATCH', '/crm/tasks', { all: true, filters: {}, exclude: [id], priority: 'high' })).body, {
    affected: 50_000,
  });
  t.is((await api('POST', '/crm/tasks/search', { priorities: ['high'] })).body.pagination.total, 50_000);
  t.is((await api('POST', '/crm/tasks/search', {})).body.pagination.total, 50_001);
});

test.serial('teams: their colour, members with the right to manage, and what becomes of tasks', async (t) => {
  const { tenant, api, task } = await scene();
  const member = await createMember(world.deps, tenant, 'Member');
  const made = await api('POST', '/teams', { name: 'Sales' });
  assertStatus(t, made, 201);
  t.like(made.body, { name: 'Sales', color: '#94a3b8', members: [], organization_id: tenant.organizationId });
  const path = `/teams/${made.body.id}`;
  assertStatus(t, await api('PATCH', path, {}), 400);
  t.like((await api('PATCH', path, { color: '#FFFFFF' })).body, { name: 'Sales', color: '#ffffff' });
  assertStatus(t, await api('POST', `${path}/members`, { user_id: tenant.userId }, member.sessionToken), 403);
  assertStatus(t, await api('PATCH', path, { name: 'Sales EU' }, member.sessionToken), 200);
  const added = await api('POST', `${path}/members`, { user_id: tenant.userId });
  t.like(added.body.members[0], {
    user_id: tenant.userId,
    email: tenant.email,
    name: 'Olivia Owner',
    added_at: NOW.toISOString(),
  });
  assertStatus(t, await api('POST', `${path}/members`, { user_id: tenant.userId }), 409);
  t.deepEqual(problemPaths(await api('POST', `${path}/members`, { user_id: (await scene()).tenant.userId })), [
    'body.user_id',
  ]);
  await api('POST', `${path}/members`, { user_id: member.userId });
  t.is((await api('GET', '/teams')).body.data[0].members.length, 2);
  t.is(
    (await api('DELETE', `/organizations/current/members/${member.userId}`, undefined, tenant.sessionToken)).status,
    204,
  );
  t.is((await api('GET', path)).body.members.length, 1, 'who leaves the workspace leaves its teams');
  assertStatus(t, await api('DELETE', `${path}/members/${tenant.userId}`), 204);
  assertStatus(t, await api('DELETE', `${path}/members/${tenant.userId}`), 404);
  const { id } = await task({ assigned_team_id: made.body.id });
  assertStatus(t, await api('DELETE', path), 204);
  t.is((await api('GET', `/crm/tasks/${id}`)).body.assigned_team_id, null);
});

test.serial('a title that no person wrote is in the language of its reader, until a person writes one', async (t) => {
  const { tenant, api, contactId, events } = await scene();
  const { campaignId } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hello' }]);
  await world.deps.db('campaigns').where({ id: campaignId }).update({ name: 'Spring' });
  const reply = { campaignId, contactId, intent: 'question', answer: '<answer@lead.test>' };
  await transact(world.system(tenant.organizationId), (tx) => openTasksForReplies(tx, [reply]));
  const { id } = (await api('GET', '/crm/tasks')).body.data[0];
  const path = `/v1/crm/tasks/${id}`;
  const german = (method: string, body?: unknown) =>
    call(world, method, path, {
      token: tenant.apiKey,
      headers: { 'accept-language': 'de' },
      ...(body === undefined ? {} : { body }),
    });
  const shown = (await german('GET')).body;
  t.like(shown, { title: 'Eine Frage beantworten: Spring', title_code: 'crm.task_of_campaign' });
  t.like((await api('GET', `/crm/tasks/${id}`)).body, { title: 'Answer a question: Spring', description_code: null });
  t.is((await api('POST', '/crm/tasks/search', { query: 'ANSWER A' })).body.data.length, 1);
  t.like((await events('crm.task_created'))[0], {
    title: 'Answer a question: Spring',
    title_code: 'crm.task_of_campaign',
  });
  const sameTitle = await german('PATCH', { title: shown.title, priority: 'low' });
  t.like(sameTitle.body, { title: shown.title, title_code: 'crm.task_of_campaign', priority: 'low' });
  t.deepEqual((await events('crm.task_updated'))[0].fields, ['priority']);
  t.like((await german('PATCH', { title: 'Zuerst anrufen' })).body, { title: 'Zuerst anrufen', title_code: null });
  t.like((await api('GET', `/crm/tasks/${id}`)).body, { title: 'Zuerst anrufen', title_code: null });
});
