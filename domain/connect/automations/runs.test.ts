import test from 'ava';
import { json } from '../../../db/connection.ts';
import type { AutomationNode } from '../../../db/json-columns.ts';
import { newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { act, ask, chain, draw, openAutomationDesk } from '../../../test/harness/automations.ts';
import { createCampaign } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createConnectionRow } from '../../../test/harness/integrations.ts';
import { react } from '../../../test/harness/reactions.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { deleteContact } from '../../audience/contacts/remove.ts';
import { deleteConnection } from '../integrations/connections.ts';
import type { EventData } from '../../platform/kernel/event-payloads.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { SUBSCRIBERS } from '../../operations/subscribers/index.ts';
import { sampleData } from '../triggers/vocabulary.ts';
import { advanceAutomation } from './advance.ts';
import { deleteAutomation, replaceAutomation } from './automations.ts';
import { STARTED_RUNS, spendBudget } from './budget.ts';
import { startAutomationRuns } from './start.ts';
import { awaitLockWaits } from '../../../test/harness/statements.ts';
import { render } from '../../../messages/render.ts';

const MINUTE = 60_000;
const clock = new ManualClock(new Date('2026-05-04T10:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

const lines = (run: { node_results: { node_id: string; status: string }[] }) =>
  run.node_results.map(({ node_id: id, status }) => `${id} ${status}`);

test.serial('an event makes one run of each automation that takes it, and what it does is done once', async (t) => {
  const { automate, label, reply, settle, runs, rows, tags, events, ctx, contactId } = await openAutomationDesk(world);
  const [added, removed] = [await label(), await label()];
  await world.deps
    .db('contact_categories')
    .insert({ organization_id: ctx.actor.organizationId, contact_id: contactId, label_id: removed });
  const id = await automate(
    draw(
      [
        ask('if', 'intent', 'eq', 'positive'),
        act('add', 'add_tag', { category_id: added }),
        act('remove', 'remove_tag', { category_id: removed }),
        act('task', 'create_task', { title: 'Call {{ .contact.email }}', priority: 'high', due_in_days: 1 }),
        act('tell', 'notify', { message: '{{ .subject }}' }),
        act('no', 'suppress'),
      ],
      ['trigger>if', 'if>add:true', 'add>remove', 'add>task', 'remove>tell', 'task>tell', 'if>no:false'],
    ),
    { filter: { intents: ['positive'], min_confidence: 0.8 } },
  );
  const other = await automate(chain(act('tell', 'notify', { message: 'x' })), {}, 'email.opened');
  const off = await automate(chain(act('tell', 'notify', { message: 'x' })), { enabled: false });
  await reply({ intent: 'positive', intent_confidence: 0.9 });
  await reply({ intent: 'positive', intent_confidence: 0.7 });
  await reply({ intent: 'negative', intent_confidence: 0.9 });
  await settle();
  const [run, ...more] = await runs(id);
  t.deepEqual(more, []);
  t.like(run, {
    status: 'success',
    trigger_event: 'email.replied',
    error_detail: null,
    contact_id: contactId,
    waiting: null,
  });
  t.deepEqual(lines(run), [
    'trigger success',
    'if branch_true',
    'add success',
    'no skipped',
    'remove success',
    'task success',
    'tell success',
  ]);
  t.deepEqual(await tags(), [added]);
  t.like((await rows('crm_tasks'))[0], { contact_id: contactId, priority: 'high' });
  t.regex((await rows('crm_tasks'))[0].title, /^Call .+@/);
  t.like((await events('automation.notified'))[0], { automation_id: id, run_id: run.id, message: 'Re: Hello' });
  t.deepEqual([await runs(other), await runs(off)], [[], []]);

  // Applies the same event again, as when a parked event is replayed.
  const eventId = run.cause.slice('event/'.length);
  const data = sampleData('email.replied');
  await transact(ctx, (tx) =>
    startAutomationRuns(tx, { ...ctx, trx: tx.trx }, [
      { kind: 'trigger', eventId, hops: 0, triggered: [{ trigger: 'email.replied', contactId, data }] },
    ]),
  );
  t.is((await runs(id)).length, 1);
  t.is((await rows('crm_tasks')).length, 1);
});

test.serial('a node that fails ends its branch and is told; the others go on', async (t) => {
  const { automate, label, reply, settle, runs, tags, events } = await openAutomationDesk(world);
  const tag = await label();
  const id = await automate(
    draw(
      [
        act('gone', 'add_to_campaign', { campaign_id: newId() }),
        act('after', 'notify', { message: 'never' }),
        act('tag', 'add_tag', { category_id: tag }),
      ],
      ['trigger>gone', 'gone>after', 'trigger>tag'],
    ),
  );
  await reply();
  await settle();
  const [run] = await runs(id);
  t.deepEqual([run.status, render(run.error_detail)], ['error', 'Node "gone": Campaign not found']);
  t.deepEqual(lines(run), ['trigger success', 'gone error', 'tag success', 'after skipped']);
  t.deepEqual(await tags(), [tag]);
  t.like((await events('automation.run_failed'))[0], { automation_id: id, run_id: run.id, loop: false });
});

test.serial('texts that a stranger wrote long, or not at all, hold no run up', async (t) => {
  const { automate, reply, settle, runs, rows, events } = await openAutomationDesk(world);
  const id = await automate(
    draw(
      [act('task', 'create_task', { title: '{{ .subject }}' }), act('tell', 'notify', { message: '{{ .subject }}' })],
      ['trigger>task', 'trigger>tell'],
    ),
  );
  await reply({ subject: 'y'.repeat(3000) });
  await settle();
  const [long] = await runs(id);
  t.like(long, { status: 'success', blocked_reason: null });
  t.is((await rows('crm_tasks'))[0].title.length, 255);
  t.is((await events('automation.notified'))[0].message.length, 2000);
  await reply({ subject: '' });
  await settle();
  const [, empty] = await runs(id);
  t.like(empty, { status: 'error', blocked_reason: null });
  t.deepEqual(lines(empty), ['trigger success', 'task error', 'tell error']);
  t.regex(render(empty.error_detail), /empty/);
});

test.serial('deals, campaigns, suppressions: each action is the verb of its area', async (t) => {
  const { automate, reply, settle, runs, rows, org, contactId } = await openAutomationDesk(world);
  const { db } = world.deps;
  const stamps = { created_at: clock.now(), updated_at: clock.now() };
  const [pipeline, first, second] = [newId(), newId(), newId()];
  await db('crm_pipelines').insert({ id: pipeline, organization_id: org, name: 'Sales', position: 0, ...stamps });
  for (const [position, stage] of [first, second].entries())
    await db('crm_stages').insert({
      id: stage,
      organization_id: org,
      pipeline_id: pipeline,
      name: stage,
      color: '#000000',
      position,
      ...stamps,
    });
  const { campaignId } = await createCampaign(world.deps, org, [{ subject: 'Hello' }]);
  const id = await automate(
    chain(
      act('deal', 'create_deal', {
        name: 'For {{ .contact.email }}',
        pipeline_id: pipeline,
        stage_id: first,
        value: 19.9,
      }),
      act('move', 'move_deal_stage', { stage_id: second }),
      act('in', 'add_to_campaign', { campaign_id: campaignId }),
    ),
  );
  await reply();
  await settle();
  t.deepEqual(lines((await runs(id))[0]), ['trigger success', 'deal success', 'move success', 'in success']);
  t.like((await rows('crm_deals'))[0], { stage_id: second, contact_id: contactId, value_minor: 1990 });
  t.is((await rows('enrollments')).length, 1);
  const out = await automate(chain(act('out', 'remove_from_campaign'), act('stop', 'suppress', { reason: 'asked' })));
  await reply({ campaign_id: campaignId });
  await settle();
  t.deepEqual(lines((await runs(out))[0]), ['trigger success', 'out success', 'stop success']);
  t.deepEqual(await rows('enrollments').whereIn('state', ['pending', 'active']), []);
  t.like((await rows('suppressions'))[0], { source: 'manual', reason: { code: 'words', values: { words: 'asked' } } });
});

test.serial(
  'a run that waits goes on later, with the graph that it began with; switched off or deleted it ends',
  async (t) => {
    const { automate, reply, settle, runs, ctx, label, tags } = await openAutomationDesk(world);
    const tag = await label();
    const graph = draw(
      [
        act('wait', 'wait', { wait_minutes: 10 }),
        act('tag', 'add_tag', { category_id: tag }),
        act('now', 'notify', { message: 'x' }),
      ],
      ['trigger>wait', 'wait>tag', 'trigger>now'],
    );
    const id = await automate(graph);
    const write = {
      name: 'Edited',
      enabled: true,
      trigger_event: 'email.replied',
      filter: {},
      graph: chain(act('other', 'notify', { message: 'y' })),
    };
    await reply();
    await settle();
    const [run] = await runs(id);
    t.is(run.status, 'running');
    t.deepEqual(lines(run), ['trigger success', 'now success'], 'a wait holds up what comes after it and nothing else');
    t.is((await world.deps.db('outbox')).filter((row) => row.workflow_id === `automation-run/${run.id}`).length, 1);
    await replaceAutomation(ctx, id, write);
    const until = clock.now().getTime() + 10 * MINUTE;
    t.like(await advanceAutomation(ctx, run.id), { kind: 'wait', until });
    clock.advance(10 * MINUTE);
    t.deepEqual(await advanceAutomation(ctx, run.id), { kind: 'done', outcome: 'success' });
    t.deepEqual(lines((await runs(id))[0]), ['trigger success', 'now success', 'wait success', 'tag success']);
    t.deepEqual(await tags(), [tag]);
    t.like(await advanceAutomation(ctx, run.id), { kind: 'done' });

    for (const end of ['switched off', 'deleted'] as const) {
      const waiting = await automate(graph);
      await reply();
      await settle();
      const [open] = await runs(waiting);
      if (end === 'deleted') await deleteAutomation(ctx, waiting);
      else await replaceAutomation(ctx, waiting, { ...write, enabled: false });
      clock.advance(10 * MINUTE);
      t.like(await advanceAutomation(ctx, open.id), { kind: 'done' });
      const left = await runs(waiting);
      if (end === 'deleted') t.deepEqual(left, []);
      else t.like(left[0], { status: 'error', error_detail: message('connect.run_switched_off'), graph: null });
    }
  },
);

test.serial('automations that start each other end at a depth, and it is told', async (t) => {
  const { automate, label, settle, runs, rows, events, ctx, contactId } = await openAutomationDesk(world);
  const [red, blue] = [await label(), await label()];
  const add = await automate(chain(act('red', 'set_category', { category_id: red })), {}, 'contact.updated');
  const change = await automate(chain(act('blue', 'set_category', { category_id: blue })), {}, 'contact.updated');
  await transact(ctx, async (tx) =>
    tx.emit('contact.updated', {
      ...(sampleData('contact.updated') as Extract<EventData<'contact.updated'>, { entity_id: string }>),
      entity_id: contactId,
      contact_id: contactId,
    }),
  );
  await settle();
  const all = [...(await runs(add)), ...(await runs(change))];
  const refused = all.filter((run) => run.error_detail?.code === 'connect.run_loop');
  t.true(refused.length > 0);
  t.true(all.length < 2 ** 10, `${all.length} runs`);
  t.true(refused.every((run) => run.status === 'error' && run.node_results.length === 0));
  t.true((await events('automation.run_failed')).every((data) => data.loop));
  const letters = await rows('dead_letters');
  t.true(letters.length > 0 && letters.every((letter) => letter.task_type === 'automation_loop'));
  t.deepEqual(await rows('reaction_parked_events'), []);
});

test.serial(
  'an automation runs another with its data, once; one that is switched off is the error of the node',
  async (t) => {
    const { automate, reply, settle, runs, events, contactId } = await openAutomationDesk(world);
    const called = await automate(chain(act('tell', 'notify', { message: '{{ .subject }}' })), {}, 'automation.called');
    const off = await automate(chain(act('tell', 'notify', { message: 'x' })), { enabled: false }, 'automation.called');
    const id = await automate(
      draw(
        [
          act('run', 'run_automation', { automation_id: called.toUpperCase() }),
          act('dead', 'run_automation', { automation_id: off }),
        ],
        ['trigger>run', 'trigger>dead'],
      ),
    );
    await reply();
    await settle();
    const [run] = await runs(id);
    t.deepEqual(lines(run), ['trigger success', 'run success', 'dead error']);
    const [child, ...others] = await runs(called);
    t.deepEqual(others, []);
    t.like(child, { status: 'success', trigger_event: 'email.replied', contact_id: contactId, hops: 1 });
    t.is((await events('automation.notified'))[0].message, 'Re: Hello');
    t.deepEqual(await runs(off), []);
  },
);

test.serial(
  'a run starts nothing that its author may not do, not over another automation that may, and not what was changed on the way',
  async (t) => {
    const { automate, reply, settle, runs, rows, events } = await openAutomationDesk(world);
    const CALLED = 'automation.called';
    const run = (id: string, automation: string) => act(id, 'run_automation', { automation_id: automation });
    const tell = act('tell', 'notify', { message: 'x' });
    const adding = await automate(chain(act('task', 'create_task', { title: 'x' })), { authorRights: ['crm'] }, CALLED);
    const between = await automate(chain(run('on', adding)), { authorRights: ['crm', 'contacts'] }, CALLED);
    const late = await automate(chain(tell), { authorRights: ['crm'] }, CALLED);
    const caller = await automate(
      draw(
        [run('straight', adding), run('over', between), run('late', late)],
        ['trigger>straight', 'trigger>over', 'trigger>late'],
      ),
      { authorRights: ['contacts'] },
    );
    await reply();
    // Stores the requests to start the automations. They are processed after the change below.
    await react(world.deps, SUBSCRIBERS);
    const changed = json(chain(act('task', 'create_task', { title: 'x' })));
    await world.deps.db('automations').where({ id: late }).update({ graph: changed });
    await settle();
    const [run1] = await runs(caller);
    t.deepEqual(lines(run1), ['trigger success', 'straight error', 'over success', 'late success']);
    t.regex(render(run1.error_detail), /may not perform sendsets.create_task/);
    const [passed] = await runs(between);
    t.like(passed, { status: 'error', rights: ['contacts'] });
    t.deepEqual(lines(passed), ['trigger success', 'on error']);
    const [refused] = await runs(late);
    t.like(refused, { status: 'error', node_results: [] });
    t.regex(render(refused.error_detail), /may not perform sendsets.create_task/);
    t.deepEqual([await runs(adding), await rows('crm_tasks')], [[], []]);
    t.is((await events('automation.run_failed')).length, 3);

    // The author of this automation has no rights.
    const powerless = await automate(chain(run('on', adding), tell), { authorRights: [] });
    await world.deps.db('automations').where({ id: caller }).update({ enabled: false });
    await reply();
    await settle();
    t.deepEqual(lines((await runs(powerless))[0]), ['trigger success', 'on error', 'tell skipped']);
    t.deepEqual([await runs(adding), await rows('crm_tasks')], [[], []]);

    // An automation may start another one if its author has the rights of that one.
    const trusted = await automate(chain(run('on', adding)), { authorRights: ['crm'] });
    await reply();
    await settle();
    t.like((await runs(trusted))[0], { status: 'success' });
    t.is((await rows('crm_tasks')).length, 1);
  },
);

test.serial('runs that lead to ever more runs end at a number, and are told', async (t) => {
  const { automate, ctx, org, reply, settle, runs, rows, events } = await openAutomationDesk(world);
  const [one, other] = [await automate(chain(), {}), await automate(chain(), {}, 'automation.called')];
  const eightOf = (id: string) => {
    const calls = Array.from({ length: 8 }, (_unused, n) => act(`n${n}`, 'run_automation', { automation_id: id }));
    return json(
      draw(
        calls,
        calls.map((call) => `trigger>${call.id}`),
      ),
    );
  };
  await world.deps
    .db('automations')
    .where({ id: one })
    .update({ graph: eightOf(other) });
  await world.deps
    .db('automations')
    .where({ id: other })
    .update({ graph: eightOf(one) });
  // Simulates that other runs have used up this hour's budget.
  await transact(ctx, (tx) => spendBudget(tx, { first: 0, led: STARTED_RUNS }));
  await reply();
  await settle();
  const all = [...(await runs(one)), ...(await runs(other))];
  t.is(all.filter(({ status }) => status === 'success').length, 1 + 50, 'fifty for the reply');
  t.true(all.length < 1 + 50 + 50 * 8, 'most of the others leave no row');
  t.true((await events('automation.run_failed')).every(({ loop }) => loop === true));
  const told = (await rows('dead_letters')).filter(({ task_type: type }) => type === 'automation_loop');
  t.true(told.length > 0 && told.every(({ last_error: error }) => error.code === 'connect.run_too_many'));
  clock.advance(60 * MINUTE);
  await world.deps
    .db('automations')
    .where({ organization_id: org, id: other })
    .update({ graph: json(chain()) });
  await reply();
  await settle();
  t.is(
    (await runs(other)).filter(({ started_at: at }) => +at === +clock.now()).length,
    8,
    'the next hour is a new one',
  );
});

test.serial('what a provider came to is the result of its node, once, and the run goes on', async (t) => {
  const { automate, ctx, org, settle, runs } = await openAutomationDesk(world);
  const provider: AutomationNode = {
    id: 'chat',
    type: 'action',
    action: 'slack.notify',
    connection_id: newId(),
    x: 0,
    y: 0,
  };
  const graph = draw([provider, act('after', 'notify', { message: 'x' })], ['trigger>chat', 'chat>after']);
  const id = await automate(graph);
  const insert = async () => {
    const runId = newId();
    await world.deps.db('automation_runs').insert({
      id: runId,
      organization_id: org,
      automation_id: id,
      cause: `event/${runId}`,
      trigger_event: 'email.replied',
      status: 'running',
      data: '{}',
      node_results: json([
        {
          node_id: 'trigger',
          type: 'trigger',
          action: '',
          label: message('connect.label_trigger'),
          status: 'success',
          error: null,
        },
      ]),
      error_detail: null,
      hops: 0,
      graph: json(graph),
      waiting: json({ chat: { kind: 'provider' } }),
      started_at: clock.now(),
    });
    return runId;
  };
  const settled = (runId: string, ok: boolean) =>
    transact(ctx, async (tx) =>
      tx.emit('integration.action_settled', {
        delivery_id: newId(),
        connection_id: newId(),
        action: 'slack.notify',
        source: { kind: 'automation', run_id: runId, node_id: 'chat' },
        ok,
        error: ok ? null : message('connect.slack_no_channel'),
      }),
    );
  const [good, bad] = [await insert(), await insert()];
  t.like(await advanceAutomation(ctx, good), { kind: 'wait', until: null });
  await settled(good, true);
  await settled(good, false);
  await settled(bad, false);
  await settle();
  for (const runId of [good, bad]) t.is((await advanceAutomation(ctx, runId)).kind, 'done');
  const [first, second] = await runs(id);
  t.deepEqual(lines(first), ['trigger success', 'chat success', 'after success']);
  t.deepEqual(lines(second), ['trigger success', 'chat error', 'after skipped']);
  t.is(render(second.error_detail), 'Node "chat": Slack has no such channel, or the app is not in it');
});

test.serial(
  'what a run has asked of a provider is taken back when its automation is switched off or deleted',
  async (t) => {
    const { automate, ctx, org, reply, settle, rows, runs } = await openAutomationDesk(world);
    const connection = await createConnectionRow(world, { organizationId: org });
    const provider: AutomationNode = {
      id: 'hook',
      type: 'action',
      action: 'n8n.send_webhook',
      connection_id: connection,
      config: {},
      x: 0,
      y: 0,
    };
    const graph = draw([provider], ['trigger>hook']);
    const write = { name: 'x', trigger_event: 'email.replied', filter: {}, graph };
    const [off, deleted, kept] = [await automate(graph), await automate(graph), await automate(graph)];
    await reply();
    await settle();
    t.is((await rows('integration_deliveries')).length, 3);
    await replaceAutomation(ctx, off, { ...write, enabled: false });
    await deleteAutomation(ctx, deleted);
    const [left, ...others] = await rows('integration_deliveries');
    t.deepEqual(others, []);
    const [run] = await runs(kept);
    t.is(left.source.run_id, run.id, 'that of the automation that is on');
    t.is(run.status, 'running');
    t.like((await runs(off))[0], { status: 'error', error_detail: message('connect.run_switched_off') });
  },
);

test.serial('a node may have the name of anything that objects have', async (t) => {
  const { automate, reply, settle, runs, ctx } = await openAutomationDesk(world);
  const id = await automate(
    chain(
      act('constructor', 'wait', { wait_minutes: 1 }),
      act('__proto__', 'wait', { wait_minutes: 1 }),
      act('toString', 'notify', { message: 'x' }),
    ),
  );
  await reply();
  await settle();
  for (let round = 0; round < 2; round += 1) {
    const [run] = await runs(id);
    t.is(run.status, 'running', `before wait ${round}`);
    clock.advance(2 * MINUTE);
    await advanceAutomation(ctx, run.id);
  }
  const [run] = await runs(id);
  t.deepEqual(lines(run), ['trigger success', 'constructor success', '__proto__ success', 'toString success']);
});

test.serial(
  'what a run waits for is gone with its contact or connection: its node fails, and the run ends',
  async (t) => {
    const { automate, ctx, contactId, org, reply, settle, runs } = await openAutomationDesk(world);
    const chat = (connection: string): AutomationNode => ({
      ...act('chat', ''),
      action: 'n8n.send_webhook',
      connection_id: connection,
    });
    const [kept, removed] = [
      await createConnectionRow(world, { organizationId: org }),
      await createConnectionRow(world, { organizationId: org }),
    ];
    const byContact = await automate(chain(chat(kept)));
    const byConnection = await automate(chain(chat(removed)));
    await reply();
    await settle();
    for (const id of [byContact, byConnection]) t.is((await runs(id))[0].status, 'running');
    await deleteConnection(ctx, removed);
    await settle();
    const end = async (id: string) => {
      await advanceAutomation(ctx, (await runs(id))[0].id);
      return (await runs(id))[0];
    };
    t.like(await end(byConnection), { status: 'error' });
    t.is((await end(byContact)).status, 'running');
    await deleteContact(ctx, contactId);
    await settle();
    t.like(await end(byContact), { status: 'error' });
  },
);

test.serial('an automation that is switched off while a run begins leaves none under way', async (t) => {
  const { automate, ctx, contactId, runs } = await openAutomationDesk(world);
  const graph = chain(act('wait', 'wait', { wait_minutes: 5 }));
  const id = await automate(graph);
  const data = sampleData('email.replied');
  let off: Promise<unknown> | undefined;
  await transact(ctx, async (tx) => {
    await startAutomationRuns(tx, { ...ctx, trx: tx.trx }, [
      { kind: 'trigger', eventId: newId(), hops: 0, triggered: [{ trigger: 'email.replied', contactId, data }] },
    ]);
    off = replaceAutomation(ctx, id, {
      name: 'Off',
      enabled: false,
      trigger_event: 'email.replied',
      filter: {},
      graph,
    });
    await awaitLockWaits(world.deps.db);
  });
  await off;
  t.deepEqual(
    (await runs(id)).map(({ status }) => status),
    ['error'],
  );
});

test.serial('whatever is gone by the time that an action names it, the other runs of the batch go on', async (t) => {
  const { automate, label, reply, settle, runs } = await openAutomationDesk(world);
  const gone = newId();
  const category = { category_id: gone };
  const deal = { name: 'Deal', pipeline_id: gone, stage_id: gone };
  const actions: [string, Record<string, unknown>][] = [
    ['add_tag', category],
    ['set_category', category],
    ['label_email', category],
    ['create_task', { title: 'x', assigned_to: gone }],
    ['create_task', { title: 'x', type: 'none of ours' }],
    ['create_deal', deal],
    ['create_deal', { ...deal, assigned_to: gone }],
    ['create_deal', { ...deal, currency: 'ZZZ' }],
    ['move_deal_stage', { stage_id: gone }],
    ['add_to_campaign', { campaign_id: gone }],
    ['run_automation', { automation_id: gone }],
    ['webhook', { app_connection_id: gone, path: '/x' }],
  ];
  const ids: string[] = [];
  for (const [action, config] of actions) ids.push(await automate(chain(act('it', action, config))));
  const good = await automate(chain(act('tag', 'add_tag', { category_id: await label() })));
  await reply({ thread_id: newId() });
  await settle();
  for (const [index, [action]] of actions.entries()) {
    const made = await runs(ids[index]!);
    t.is(made.length, 1, action);
    if (action !== 'webhook') t.is(made[0].status, 'error', action);
  }
  t.like((await runs(good))[0], { status: 'success' });
});
