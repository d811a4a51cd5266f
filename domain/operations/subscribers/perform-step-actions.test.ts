import test from 'ava';
import { createContact, createCampaign, enroll } from '../../../test/harness/factories.ts';
import { createPipeline } from '../../../test/harness/crm.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { react } from '../../../test/harness/reactions.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { advanceEnrollment } from '../../sending/enrollment/advance.ts';
import type { EventData } from '../../platform/kernel/event-payloads.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { SUBSCRIBERS } from './index.ts';
import { assertNowhere, randomSecret } from '../../../test/harness/secrets.ts';
import { externalText } from '../../platform/external-text.ts';
import type { Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

// The clock is fixed, so that a failed reaction is not retried and the test sees the failure.
const clock = new ManualClock(new Date('2026-05-04T10:00:00Z'));
const FIRST_NAME = randomSecret('Lea');
let world: World;
test.before(async () => {
  world = await createWorld({ clock, env: { ROW_SECURITY: 'true' } });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

async function scene(...actions: Record<string, unknown>[]) {
  const tenant = await world.tenant();
  const { organizationId: org } = tenant;
  const { db } = world.deps;
  const pipeline = await createPipeline(world, tenant);
  const [first, second] = pipeline.stageIds;
  const place = { pipeline_id: pipeline.id, stage_id: first! };
  const filledIn = actions.map((action) => ({
    ...(action.type === 'create_deal' ? place : {}),
    ...(action.type === 'move_deal_stage' ? { stage_id: second! } : {}),
    ...action,
  }));
  const { campaignId } = await createCampaign(
    world.deps,
    org,
    filledIn.map((action) => ({ kind: 'action' as const, action })),
  );
  const contactId = await createContact(db, clock.now(), org);
  await db('contacts').where({ id: contactId }).update({ first_name: FIRST_NAME, company: 'Heron Ltd' });
  const ctx = world.system(org);
  const rows = (table: string) => db(table).where({ organization_id: org }).orderBy('id');
  return {
    tenant,
    ctx,
    campaignId,
    contactId,
    first,
    second,
    rows,
    /** Enrolls the contact, passes all steps and applies their actions. */
    async pass() {
      const [enrollmentId] = await enroll(world.deps, org, campaignId, [contactId]);
      const decision = await advanceEnrollment(ctx, enrollmentId!);
      await react(world.deps, SUBSCRIBERS);
      return decision;
    },
    log: () =>
      db('campaign_logs')
        .where({ campaign_id: campaignId, event_type: 'step_without_effect' })
        .orderBy('id')
        .pluck('message')
        .then((lines: Message[]) => lines.map((line) => render(line))),
    requests: () => db('domain_events').where({ organization_id: org, type: 'step.crm_requested' }).pluck('data'),
  };
}

test.serial(
  'a step makes a task with its texts filled in, another a deal, and a third moves it, each once',
  async (t) => {
    const s = await scene(
      {
        type: 'create_task',
        title: 'Call {{.FirstName}} of {{.Company}}',
        priority: 'high',
        due_in_days: 3,
        task_type: 'follow-up',
      },
      { type: 'create_deal', name: '{{.Company}}', value: 19.99, currency: 'EUR' },
      { type: 'move_deal_stage' },
    );
    t.deepEqual(await s.pass(), { kind: 'done', outcome: 'completed' });
    const [task, ...tasks] = await s.rows('crm_tasks');
    t.like(task, {
      title: `Call ${FIRST_NAME} of Heron Ltd`,
      priority: 'high',
      type: 'Follow-up',
      contact_id: s.contactId,
    });
    t.is(task.due_date.getTime(), clock.now().getTime() + 3 * DAY_MS);
    const [deal, ...deals] = await s.rows('crm_deals');
    t.like(deal, { name: 'Heron Ltd', currency: 'EUR', stage_id: s.second, contact_id: s.contactId });
    t.like(deal, { campaign_id: s.campaignId, status: 'open' });
    t.is(Number(deal.value_minor), 1999);
    t.deepEqual([tasks, deals], [[], []]);
    t.deepEqual(
      (await s.rows('step_runs')).map(({ state, output }) => [state, output]),
      [
        ['completed', { task_id: task.id }],
        ['completed', { deal_id: deal.id }],
        ['completed', { deal_id: deal.id }],
      ],
    );
    const activities = await s.rows('crm_activities');
    t.deepEqual(
      activities.map(({ activity_type: type }) => type),
      ['task_created', 'deal_created', 'deal_stage_changed'],
    );
    t.like(activities[2].metadata, { from_stage_id: s.first, to_stage_id: s.second });

    const requests = (await s.requests()) as EventData<'step.crm_requested'>[];
    t.is(requests.length, 3);
    assertNowhere(t, requests, [FIRST_NAME]);
    await transact(s.ctx, async (tx) => {
      for (const request of requests) tx.emit('step.crm_requested', request);
    });
    await react(world.deps, SUBSCRIBERS);
    t.is((await s.rows('crm_tasks')).length, 1);
    t.is((await s.rows('crm_deals')).length, 1);
    t.is((await s.rows('crm_activities')).length, 3);
    t.deepEqual(await s.log(), []);
  },
);

test.serial('what cannot be made is said by the run and the log, and the contact goes on', async (t) => {
  const s = await scene(
    { type: 'move_deal_stage' },
    { type: 'create_deal', name: 'x', stage_id: newId() },
    { type: 'create_task', title: '{{.Nothing}}', priority: 'low' },
    { type: 'create_task', title: 'y', priority: 'low', assigned_to: newId() },
    { type: 'create_task', title: 'The last', priority: 'low' },
  );
  t.deepEqual(await s.pass(), { kind: 'done', outcome: 'completed' });
  t.deepEqual(await s.rows('crm_deals'), []);
  t.is((await s.rows('crm_tasks')).at(-1).title, 'The last');
  const log = await s.log();
  t.regex(log[0]!, /had no effect: The contact has no open deal$/);
  t.regex(log[1]!, /stage_id is not a stage of this workspace$/);
  t.regex(log[2]!, /is empty once its fields are filled in$/);
  t.regex(log[3]!, /assigned_to is not a member of this workspace$/);
  const runs = await s.rows('step_runs');
  t.true(runs.every(({ state }) => state === 'completed'));
  t.is(render(runs[0].detail), 'The contact has no open deal');
  await transact(s.ctx, async (tx) => {
    for (const request of await s.requests()) tx.emit('step.crm_requested', request);
  });
  await react(world.deps, SUBSCRIBERS);
  t.deepEqual(await s.log(), log, 'it is said once');
});

test.serial('what was asked for before the first process that does it had started is done', async (t) => {
  const s = await scene({ type: 'create_task', title: 'x', priority: 'low' });
  await world.deps.db('reaction_subscribers').where({ name: 'perform_step_actions' }).delete();
  const [enrollmentId] = await enroll(world.deps, s.tenant.organizationId, s.campaignId, [s.contactId]);
  await advanceEnrollment(s.ctx, enrollmentId!);
  await registerSubscribers(world.deps, SUBSCRIBERS);
  await react(world.deps, SUBSCRIBERS);
  t.is((await s.rows('crm_tasks')).length, 1);
});

test.serial('a contact waits at a step of a kind that only a newer build knows', async (t) => {
  const s = await scene({ type: 'teleport' });
  t.like(await s.pass(), { kind: 'hold', state: 'held', until: clock.now().getTime() + 60_000 });
  const [enrollment] = await s.rows('enrollments');
  t.regex(render(enrollment.waiting_for), /waiting for a worker that knows steps of kind teleport$/);
});

test.serial('a step that an app had not answered makes its task once it is edited to', async (t) => {
  const s = await scene({ type: 'app_action', app_connection_id: null, path: '/x', output_key: 'x', inputs: {} });
  const { db } = world.deps;
  const [enrollmentId] = await enroll(world.deps, s.tenant.organizationId, s.campaignId, [s.contactId]);
  t.like(await advanceEnrollment(s.ctx, enrollmentId!), { kind: 'call' });
  await db('step_runs')
    .where({ enrollment_id: enrollmentId })
    .update({ attempts: 1, detail: externalText('The app did not answer') });
  await db('campaign_steps')
    .where({ campaign_id: s.campaignId })
    .update({ action: { type: 'create_task', title: 'Call', priority: 'low' } });
  await db('campaigns').where({ id: s.campaignId }).increment('graph_version', 1);
  t.like(await advanceEnrollment(s.ctx, enrollmentId!), { kind: 'done' });
  await react(world.deps, SUBSCRIBERS);
  t.is((await s.rows('crm_tasks')).length, 1);
  t.like(await db('step_runs').where({ enrollment_id: enrollmentId }).first(), { state: 'completed', detail: null });
});

test.serial('a contact that is deleted before its turn leaves nothing to make', async (t) => {
  const s = await scene({ type: 'create_task', title: 'x', priority: 'low' });
  const [enrollmentId] = await enroll(world.deps, s.tenant.organizationId, s.campaignId, [s.contactId]);
  await advanceEnrollment(s.ctx, enrollmentId!);
  await world.deps.db('contacts').where({ id: s.contactId }).delete();
  await react(world.deps, SUBSCRIBERS);
  t.deepEqual([await s.rows('crm_tasks'), await s.log()], [[], []]);
});
