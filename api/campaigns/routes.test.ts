import test from 'ava';
import { effectiveSettings } from '../../domain/sending/campaign/outreach-settings.ts';
import { reader } from '../../domain/platform/kernel/transact.ts';
import { newId } from '../../lib/ids.ts';
import { maskOf } from '../../lib/permissions.ts';
import { createApiKey, createMember } from '../../test/harness/factories.ts';
import { createWorld, type World } from '../../test/harness/world.ts';
import { openDesk, problemPaths } from '../../test/harness/campaign-desk.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('only a name is required; the rest has defaults', async (t) => {
  const desk = await openDesk(world);
  const answer = await desk.call('POST', '/campaigns', { name: 'Spring' });
  t.is(answer.status, 201);
  t.like(answer.body, {
    status: 'draft',
    kind: 'sequence',
    timezone: 'UTC',
    sender_strategy: 'tags',
    continuous: false,
    entry_delay_minutes: 0,
    esp_match_mode: 'off',
    utm_tracking: false,
    user_id: desk.tenant.userId,
    organization_id: desk.tenant.organizationId,
  });
  t.false('warnings' in answer.body);
  t.deepEqual((await desk.call('GET', `/campaigns/${answer.body.id}`)).body, answer.body);
  t.deepEqual(await desk.events(), ['campaign.created']);
  t.deepEqual(problemPaths(await desk.call('POST', '/campaigns', { name: ' ', colour: 'red' })), [
    'body.colour',
    'body.name',
  ]);
});

test('every fault of a create request is listed with its path', async (t) => {
  const desk = await openDesk(world);
  const other = await openDesk(world);
  const answer = await desk.call('POST', '/campaigns', {
    name: 'Broken',
    kind: 'one_time',
    timezone: 'Mars/Base',
    days: 128,
    start_time: '9:00',
    end_time: '25:00',
    schedule_windows: [[{ start: 600, end: 500 }], [], [], [], [], [], []],
    start_date: '2001-01-01T00:00:00Z',
    end_date: '2001-02-30T00:00:00Z',
    contact_order_by: 'custom_field',
    email_tag_ids: [await other.label('tag'), 'nonsense'],
    folder_ids: [await desk.label('tag')],
    senders: [{ email_account_id: await other.mailbox() }, { email_account_id: newId() }],
    steps: [
      { subject: 'a', body_plain: 'a' },
      { subject: 'b', body_plain: 'b' },
      { action: { type: 'app_action', app_connection_id: newId(), path: '/x', output_key: 'x' } },
      {
        action: { type: 'add_tag', category_id: await desk.label('folder') },
        conditions: { branches: [{ to: 0 }, { to: newId() }] },
      },
      { kind: 'wait' },
    ],
  });
  t.is(answer.status, 400);
  t.is(answer.body.code, 'bad_request');
  t.deepEqual(problemPaths(answer), [
    'body.contact_order_field',
    'body.days',
    'body.email_tag_ids.0',
    'body.email_tag_ids.1',
    'body.end_date',
    'body.end_time',
    'body.folder_ids.0',
    'body.schedule_windows.0.0',
    'body.senders.0.email_account_id',
    'body.senders.1.email_account_id',
    'body.start_date',
    'body.start_time',
    'body.steps.1.kind',
    'body.steps.2.action.app_connection_id',
    'body.steps.3.action.category_id',
    'body.steps.3.conditions.branches.0.to',
    'body.steps.3.conditions.branches.1.to',
    'body.steps.4.action',
    'body.timezone',
  ]);
  t.is((await desk.call('GET', '/campaigns')).body.pagination.total, 0);
});

test('a campaign is created with senders, steps, variants of the first email, overrides; faulty copy warns', async (t) => {
  const desk = await openDesk(world);
  const mailbox = await desk.mailbox();
  const tag = await desk.label('tag');
  const campaign = await desk.campaign({
    email_tag_ids: [tag, tag],
    sender_strategy: 'explicit',
    senders: [{ email_account_id: mailbox, weight: 3 }],
    steps: [{ action: { type: 'wait', wait_minutes: 5 } }, { subject: 'Hi {{.FirstName', body_plain: 'x' }],
    variants: [{ name: 'B', subject: 'Other', weight: 2 }],
    advanced_overrides: { preflight: { min_content_score: 500 } },
  });
  t.deepEqual(campaign.email_tags, [tag]);
  t.is(campaign.warnings.length, 1);
  t.like(campaign.warnings[0], { field: 'subject', line: 1, column: 4, code: 'template.action_open' });
  const steps = (await desk.call('GET', `/campaigns/${campaign.id}/steps`)).body;
  t.deepEqual(
    steps.map((step: any) => step.kind),
    ['wait', 'email'],
  );
  const variants = (await desk.call('GET', `/campaigns/${campaign.id}/ab-variants`)).body.data;
  t.like(variants[0], { name: 'B', weight: 2, step_id: steps[1].id });
  t.like((await desk.call('GET', `/campaigns/${campaign.id}/senders`)).body.data[0], {
    email_account_id: mailbox,
    weight: 3,
    enabled: true,
  });
  t.deepEqual((await desk.call('GET', `/campaigns/${campaign.id}/advanced`)).body.overrides, {
    preflight: { min_content_score: 100 },
  });
});

test('the list filters, counts and pages; `paused` is every paused variant; the overview sums them', async (t) => {
  const desk = await openDesk(world);
  const folder = await desk.label('folder');
  const ids: string[] = [];
  for (const status of ['draft', 'active', 'paused', 'paused_no_accounts', 'paused_undeliverable', 'completed']) {
    const { id } = await desk.campaign({
      name: `Plan ${status} 50%`,
      ...(status === 'draft' ? { kind: 'one_time', folder_ids: [folder] } : {}),
    });
    await world.deps.db('campaigns').where({ id }).update({ status });
    ids.push(id);
  }
  const list = async (query: string) => (await desk.call('GET', `/campaigns?${query}`)).body;
  const first = await list('limit=4');
  t.deepEqual(
    first.data.map((row: any) => row.id),
    ids.toReversed().slice(0, 4),
  );
  t.like(first.pagination, { total: 6, has_more: true, next_cursor: ids[2] });
  const second = await list(`limit=4&cursor=${first.pagination.next_cursor}`);
  t.deepEqual(
    second.data.map((row: any) => row.id),
    [ids[1], ids[0]],
  );
  t.like(second.pagination, { total: 6, has_more: false, next_cursor: null });
  t.is((await list('status=paused')).pagination.total, 3);
  t.is((await list('status=draft&kind=one_time')).pagination.total, 1);
  t.is((await list('q=COMPLETED')).pagination.total, 1);
  t.is((await list('q=50%25')).pagination.total, 6);
  t.is((await list('q=5_%25')).pagination.total, 0);
  t.deepEqual(
    (await list(`folder=${folder}`)).data.map((row: any) => row.id),
    [ids[0]],
  );
  t.is((await list('folder=none')).pagination.total, 0);
  for (const bad of ['status=scheduled', 'kind=other', 'limit=0', 'limit=101', 'cursor=zzz'])
    t.is((await desk.call('GET', `/campaigns?${bad}`)).status, 400, bad);
  t.deepEqual((await desk.call('GET', '/campaigns-overview')).body, {
    total: 6,
    active: 1,
    paused: 2,
    draft: 1,
    completed: 1,
    archived: 0,
    one_time: 1,
    folders: [{ folder_id: folder, total: 1 }],
  });
});

test('appended steps are linked; a changed action changes links made by default, and only those', async (t) => {
  const desk = await openDesk(world);
  const { id } = await desk.campaign();
  const [a, b] = [
    (await desk.call('POST', `/campaigns/${id}/steps`)).body,
    (await desk.call('POST', `/campaigns/${id}/steps`)).body,
  ];
  t.like(a, { position: 0, wait_after: 0, kind: 'email', body_plain: '' });
  t.like(b, { position: 1, wait_after: 3 });
  const read = async () => (await desk.call('GET', `/campaigns/${id}/steps`)).body;
  t.deepEqual((await read())[0].conditions, { branches: [{ to: b.id }] });

  const connection = newId();
  await world.deps.db('app_connections').insert({
    id: connection,
    organization_id: desk.tenant.organizationId,
    name: 'App',
    base_url: 'https://app.example.com',
    secret: Buffer.from('x'),
    created_at: new Date(),
    updated_at: new Date(),
  });
  const action = { type: 'app_action', app_connection_id: connection, path: '/offers', output_key: 'offer' };
  const patched = await desk.call('PATCH', `/campaigns/${id}/steps/${a.id}`, { kind: 'action', action });
  t.is(patched.status, 200, patched.text);
  t.deepEqual(patched.body.conditions.branches, [
    { to: b.id, when: [{ field: 'node_outcome', operator: 'equals', value: 'success' }] },
  ]);
  t.deepEqual(patched.body.action, { ...action, inputs: {} });

  const byHand = {
    branches: [{ to: null, when: [{ field: 'opened', operator: 'equals', value: true }] }, { to: b.id }],
    layout: { x: 4 },
  };
  await desk.call('PATCH', `/campaigns/${id}/steps/${a.id}`, { conditions: byHand });
  const back = await desk.call('PATCH', `/campaigns/${id}/steps/${a.id}`, { kind: 'email', body_plain: 'Hi {{' });
  t.deepEqual(back.body.conditions, byHand);
  t.is(back.body.action, null);
  t.is(back.body.warnings.length, 1);
  t.is((await desk.row(id)).graph_version, 5);
});

test('a step edit lists its faults: kind without action, circle, stranger, foreign connection, second email of a one-time campaign', async (t) => {
  const desk = await openDesk(world);
  const campaign = await desk.campaign({
    kind: 'one_time',
    steps: [{ subject: 'a', body_plain: 'a' }, { action: { type: 'end' } }],
  });
  const [a, b] = (await desk.call('GET', `/campaigns/${campaign.id}/steps`)).body;
  const patch = (sid: string, body: object) => desk.call('PATCH', `/campaigns/${campaign.id}/steps/${sid}`, body);
  t.deepEqual(problemPaths(await patch(b.id, { kind: 'email' })), ['body.kind']);
  t.deepEqual(problemPaths(await patch(a.id, { kind: 'wait' })), ['body.action']);
  t.deepEqual(problemPaths(await patch(b.id, { conditions: { branches: [{ to: a.id }, { to: newId() }] } })), [
    'body.conditions.branches.0.to',
    'body.conditions.branches.1.to',
  ]);
  t.deepEqual(
    problemPaths(
      await patch(b.id, { action: { type: 'app_action', app_connection_id: newId(), path: '/', output_key: 'k' } }),
    ),
    ['body.action.app_connection_id'],
  );
  t.is((await patch(b.id, { action: { type: 'create_deal' } })).status, 400);
  t.is((await patch(b.id, { wait_after: 61 })).status, 400);
  t.is((await desk.call('POST', `/campaigns/${campaign.id}/steps`)).status, 400);
  t.is((await patch(newId(), { name: 'x' })).status, 404);
});

test('a removed step is bridged, its variants go, positions close up', async (t) => {
  const desk = await openDesk(world);
  const { id } = await desk.campaign({ steps: ['a', 'b', 'c'].map((subject) => ({ subject, body_plain: subject })) });
  const [a, b, c] = (await desk.call('GET', `/campaigns/${id}/steps`)).body;
  await desk.call('POST', `/campaigns/${id}/ab-variants`, { name: 'B', step_id: b.id });
  const gone = await desk.call('DELETE', `/campaigns/${id}/steps/${b.id}`);
  t.is(gone.status, 200);
  t.is(gone.text, '');
  const left = (await desk.call('GET', `/campaigns/${id}/steps`)).body;
  t.deepEqual(
    left.map((step: any) => [step.id, step.position]),
    [
      [a.id, 0],
      [c.id, 1],
    ],
  );
  t.deepEqual(left[0].conditions.branches, [{ to: c.id }]);
  t.deepEqual((await desk.call('GET', `/campaigns/${id}/ab-variants`)).body.data, []);
});

test('variants live and die with their campaign; a step of another campaign is not found', async (t) => {
  const desk = await openDesk(world);
  const [one, two] = [
    await desk.campaign({ steps: [{ subject: 'a', body_plain: 'a' }] }),
    await desk.campaign({ steps: [{ subject: 'a', body_plain: 'a' }] }),
  ];
  const [foreign] = (await desk.call('GET', `/campaigns/${two.id}/steps`)).body;
  const path = `/campaigns/${one.id}/ab-variants`;
  t.is((await desk.call('POST', path, { name: 'X', step_id: foreign.id })).status, 404);
  const made = await desk.call('POST', path, { name: 'X', metadata: { idea: 1 } });
  t.is(made.status, 201);
  t.like(made.body, { step_id: null, weight: 1, is_active: true, metadata: { idea: 1 } });
  t.like((await desk.call('PATCH', `${path}/${made.body.id}`, { weight: 0, is_active: false })).body, {
    name: 'X',
    weight: 0,
    is_active: false,
  });
  t.is((await desk.call('PATCH', `/campaigns/${two.id}/ab-variants/${made.body.id}`, { weight: 1 })).status, 404);
  t.is((await desk.call('DELETE', `${path}/${made.body.id}`)).status, 204);
  t.is((await desk.call('DELETE', `${path}/${made.body.id}`)).status, 404);
});

test('a sender pool is replaced whole; keys bound to mailboxes may name only those', async (t) => {
  const desk = await openDesk(world);
  const { id } = await desk.campaign();
  const [one, two] = [await desk.mailbox(), await desk.mailbox()];
  const put = (senders: object[], token?: string) => desk.call('PUT', `/campaigns/${id}/senders`, { senders }, token);
  t.is(
    (await put([{ email_account_id: one }, { email_account_id: two, weight: 5, enabled: false }])).body.data.length,
    2,
  );
  t.deepEqual((await put([{ email_account_id: two }])).body.data, [
    { email_account_id: two, weight: 1, enabled: true, last_sent_at: null },
  ]);
  t.deepEqual(
    problemPaths(await put([{ email_account_id: one }, { email_account_id: one }, { email_account_id: 'x' }])),
    ['body.senders.1.email_account_id', 'body.senders.2.email_account_id'],
  );
  const bound = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, {
    allowedMailboxes: [two],
  });
  t.is((await put([{ email_account_id: one }], bound.apiKey)).status, 403);
  t.is((await put([{ email_account_id: two }], bound.apiKey)).status, 200);
});

test('settings of the workspace, overrides of the campaign and its unsubscribe_mode lie over each other', async (t) => {
  const desk = await openDesk(world);
  const { id } = await desk.campaign({ unsubscribe_mode: 'link' });
  t.is(
    (
      await desk.call('PATCH', '/outreach/settings', {
        settings: { unsubscribe: { mode: 'off', link_text: 'Out' }, reply_intent: { out_of_office_hold_days: 3 } },
      })
    ).status,
    204,
  );
  t.is((await desk.call('GET', '/outreach/settings')).body.reply_intent.out_of_office_hold_days, 3);
  const stored = await desk.call('PATCH', `/campaigns/${id}/advanced`, {
    settings: { reply_intent: { enabled: false }, custom: { note: [1] } },
  });
  t.is(stored.status, 200);
  t.deepEqual(stored.body.overrides, { reply_intent: { enabled: false }, custom: { note: [1] } });
  const org = reader(world.system(desk.tenant.organizationId));
  const campaign = await effectiveSettings(org, id);
  t.like(campaign, {
    unsubscribe: { mode: 'link', link_text: 'Out' },
    reply_intent: { enabled: false, out_of_office_hold_days: 3 },
    custom: { note: [1] },
  });
  t.is((await effectiveSettings(org, null)).unsubscribe.mode, 'off');

  t.is((await desk.call('PATCH', '/outreach/settings', { settings: {} })).status, 204);
  t.is((await desk.call('GET', '/outreach/settings')).body.reply_intent.out_of_office_hold_days, 7);
  const refused = await desk.call('PATCH', '/outreach/settings', {
    settings: { reply_intent: { crm_task_intents: ['angry'] } },
  });
  t.like(refused.body, { code: 'invalid_setting' });
  t.deepEqual(problemPaths(refused), ['body.settings.reply_intent.crm_task_intents.0']);
  t.is(
    (
      await desk.call('PATCH', `/campaigns/${id}/advanced`, {
        settings: { reply_intent: { crm_task_intents: ['angry'] } },
      })
    ).body.code,
    'invalid_setting',
  );
  t.is(
    (await desk.call('PATCH', '/outreach/settings', { settings: { reply_intent: { out_of_office_hold_days: 91 } } }))
      .status,
    400,
  );

  const viewer = await createMember(world.deps, desk.tenant, 'Member');
  t.is((await desk.call('PATCH', `/campaigns/${id}/advanced`, { settings: {} }, viewer.sessionToken)).status, 403);
});

test('a wait for an event times out after six seconds at the earliest, and after fractions of a minute too', async (t) => {
  const desk = await openDesk(world);
  const waitFor = (minutes: number) => ({
    name: 'Waits',
    steps: [{ action: { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: minutes } }],
  });
  t.is((await desk.call('POST', '/campaigns', waitFor(0.05))).status, 400);
  const { status, body } = await desk.call('POST', '/campaigns', waitFor(0.5));
  t.is(status, 201);
  const steps = (await desk.call('GET', `/campaigns/${body.id}/steps`)).body;
  t.is(steps[0].action.timeout_minutes, 0.5);
});

test('a duplicate is a draft of its own with the graph rewired, and leaves progress behind', async (t) => {
  const desk = await openDesk(world);
  const mailbox = await desk.mailbox();
  const wait = { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: 60 };
  const source = await desk.campaign({
    name: 'A very long campaign name that runs to the very end of it',
    folder_ids: [await desk.label('folder')],
    daily_limit: 9,
    senders: [{ email_account_id: mailbox, weight: 4 }],
    advanced_overrides: { dashboard: { enabled: false } },
    steps: [
      {
        kind: 'wait',
        action: wait,
        conditions: {
          branches: [
            { to: 2, when: [{ field: 'node_outcome', operator: 'equals', value: 'event' }], colour: 'green' },
            { to: 1 },
          ],
        },
      },
      { subject: 'Late', body_plain: 'x', conditions: { branches: [{ to: null }] } },
      { subject: 'Paid', body_plain: 'y' },
    ],
    variants: [{ name: 'B', subject: 'Later' }],
  });
  const contact = await desk.contact();
  await desk.call('POST', `/campaigns/${source.id}/leads`, { contact_ids: [contact] });
  await world.deps
    .db('campaigns')
    .where({ id: source.id })
    .update({
      status: 'active',
      ramp_level: 30,
      start_date: new Date('2020-01-01'),
      end_date: new Date('2100-01-01'),
      control_epoch: 7,
    });
  const member = await createMember(world.deps, desk.tenant, 'Admin');
  const answer = await desk.call('POST', `/campaigns/${source.id}/duplicate`, undefined, member.sessionToken);
  t.is(answer.status, 201, answer.text);
  const copy = answer.body;
  t.is(copy.name, 'A very long campaign name that runs to the (copy)');
  t.like(copy, {
    status: 'draft',
    daily_limit: 9,
    ramp_level: 0,
    start_date: null,
    end_date: '2100-01-01T00:00:00.000Z',
    user_id: member.userId,
    folders: source.folders,
  });
  t.like(await desk.row(copy.id), { had_leads: false, control_epoch: 0, started_at: null });

  const before = (await desk.call('GET', `/campaigns/${source.id}/steps`)).body;
  const after = (await desk.call('GET', `/campaigns/${copy.id}/steps`)).body;
  const places = (steps: any[]) =>
    steps.map((step) => ({
      ...step,
      id: 0,
      created_at: 0,
      updated_at: 0,
      conditions: {
        branches: step.conditions.branches.map((branch: any) => ({
          ...branch,
          to: steps.findIndex(({ id }) => id === branch.to),
        })),
      },
    }));
  t.deepEqual(places(after), places(before));
  t.is(new Set([...before, ...after].map((step: any) => step.id)).size, 6);
  const [variant] = (await desk.call('GET', `/campaigns/${copy.id}/ab-variants`)).body.data;
  t.like(variant, { name: 'B', step_id: after[1].id });
  t.deepEqual((await desk.call('GET', `/campaigns/${copy.id}/senders`)).body.data, [
    { email_account_id: mailbox, weight: 4, enabled: true, last_sent_at: null },
  ]);
  t.deepEqual((await desk.call('GET', `/campaigns/${copy.id}/advanced`)).body.overrides, {
    dashboard: { enabled: false },
  });
  t.deepEqual((await desk.call('GET', `/campaigns/${copy.id}/leads`)).body.data, []);
  t.deepEqual(await desk.logs(copy.id), ['campaign_duplicated']);
  t.is((await desk.call('POST', `/campaigns/${source.id}/duplicate`, { name: 'Own' })).body.name, 'Own');
  for (const name of ['ab', 'x'.repeat(51)])
    t.is((await desk.call('POST', `/campaigns/${source.id}/duplicate`, { name })).status, 400);
});

test('a preview renders for the sample or a contact, and says what is wrong', async (t) => {
  const desk = await openDesk(world);
  const preview = (body: object, token?: string) => desk.call('POST', '/campaign-template-preview', body, token);
  t.deepEqual(
    (
      await preview({
        subject: 'Hi {{.FirstName}}',
        body_plain: 'From {{.Plan}}',
        contact: { custom_fields: { Plan: 'Pro' } },
      })
    ).body,
    { subject: 'Hi Alex', body_plain: 'From Pro' },
  );
  const long = { company: 'x'.repeat(201), custom_fields: { a: 'x'.repeat(5_001) } };
  t.is((await preview({ subject: 'x', contact: long })).status, 400, 'values are limited as those of contacts are');
  const faulty = (await preview({ body_plain: '{{.Nope}} {{if}}' })).body;
  t.deepEqual(faulty.unresolved[0], '{{.Nope}}');
  t.deepEqual(faulty.errors, ['body_plain 1:11: a value is missing']);
  t.like(faulty.problems[0], { field: 'body_plain', line: 1, column: 11, code: 'template.value_missing' });
  const contact = await desk.contact({ first_name: 'Zoë' });
  const mailbox = await desk.mailbox();
  const campaign = await desk.campaign({ steps: [{ subject: 'For {{.FirstName}}', body_plain: 'x' }] });
  const [step] = (await desk.call('GET', `/campaigns/${campaign.id}/steps`)).body;
  const full = (await preview({ contact_id: contact, step_id: step.id, campaign_id: campaign.id, account_id: mailbox }))
    .body;
  t.like(full, { subject: 'For Zoë', from: { name: 'Sam Sender' } });
  const key = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, {
    permissions: maskOf(['READ_CAMPAIGNS']),
  });
  t.is((await preview({ subject: 'x' }, key.apiKey)).status, 200);
  t.is((await preview({ subject: 'x', contact_id: contact }, key.apiKey)).status, 403);
  const other = await openDesk(world);
  for (const body of [
    { contact_id: await other.contact() },
    { account_id: await other.mailbox() },
    { step_id: newId() },
    { campaign_id: newId() },
  ]) {
    t.is((await preview(body)).status, 404, JSON.stringify(body));
  }
});

test('one answer names the faults of shape and of meaning together', async (t) => {
  const desk = await openDesk(world);
  const body = { name: '', days: 900, timezone: 'Mars', nonsense: 1, email_tag_ids: [newId()] };
  const refused = await desk.call('POST', '/campaigns', body);
  t.is(refused.status, 400);
  t.deepEqual(problemPaths(refused), [
    'body.days',
    'body.email_tag_ids.0',
    'body.name',
    'body.nonsense',
    'body.timezone',
  ]);
  const { id } = await desk.campaign();
  const edit = await desk.call('PATCH', `/campaigns/${id}`, { name: 7, days: 900, status: 'odd', nonsense: 1 });
  t.deepEqual(problemPaths(edit), ['body.days', 'body.name', 'body.nonsense', 'body.status']);
});

test("another workspace's, unknown and malformed ids are the same 404 on every path", async (t) => {
  const [desk, other] = [await openDesk(world), await openDesk(world)];
  const { campaign, contacts } = await other.ready();
  const [step] = (await other.call('GET', `/campaigns/${campaign.id}/steps`)).body;
  const variant = (await other.call('POST', `/campaigns/${campaign.id}/ab-variants`, { name: 'B' })).body;
  for (const id of [campaign.id, newId(), 'nonsense']) {
    const at = `/campaigns/${id}`;
    const lead = `${at}/leads/${id === campaign.id ? contacts[0] : id}`;
    const calls: [string, string, object?][] = [
      ['GET', at],
      ['PATCH', at, { name: 'x' }],
      ['DELETE', at],
      ['POST', `${at}/duplicate`],
      ['GET', `${at}/advanced`],
      ['PATCH', `${at}/advanced`, { settings: {} }],
      ['GET', `${at}/steps`],
      ['POST', `${at}/steps`],
      ['PATCH', `${at}/steps/${step.id}`, { name: 'x' }],
      ['DELETE', `${at}/steps/${step.id}`],
      ['GET', `${at}/ab-variants`],
      ['POST', `${at}/ab-variants`, { name: 'x' }],
      ['PATCH', `${at}/ab-variants/${variant.id}`, { name: 'x' }],
      ['DELETE', `${at}/ab-variants/${variant.id}`],
      ['GET', `${at}/senders`],
      ['PUT', `${at}/senders`, { senders: [] }],
      ['GET', `${at}/leads`],
      ['POST', `${at}/leads`, { contact_ids: [contacts[0]] }],
      ['DELETE', lead],
      ['GET', `${lead}/hold`],
      ['POST', `${lead}/pause`, {}],
      ['POST', `${lead}/resume`],
      ['POST', `${at}/start`],
      ['POST', `${at}/stop`],
      ['GET', `${at}/logs`],
      ['POST', `${at}/tracking-domain/verify`],
    ];
    for (const [method, path, body] of calls) {
      const answer = await desk.call(method, path, body);
      t.like(
        { status: answer.status, code: answer.body?.code },
        { status: 404, code: 'not_found' },
        `${method} ${path}`,
      );
    }
  }
});
