import test from 'ava';
import type { StepSpec } from '../harness/factories.ts';
import { updateStep } from '../../domain/campaigns/steps.ts';
import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import { createLead, createMondayWorld, MONDAY } from '../harness/lead.ts';
import { publishEvent } from '../../domain/audience/product-events/publish.ts';

const MINUTE = 60_000;
const stage = await createMondayWorld(test);
const { clock } = stage;

/** Creates a contact that waits at a step. */
async function waiting(steps: StepSpec[]) {
  const lead = await createLead(stage, steps);
  const { db, ctx, campaignId, contactId, enrollmentId } = lead;
  const first = await lead.advance();
  await db('enrollments').where({ id: enrollmentId }).update({ signalled_epoch: 1 });
  await db('outbox').delete();
  return {
    ...lead,
    first,
    /** Returns true if the lead's workflow was signalled after an iteration of the launcher. */
    async isSignalled(): Promise<boolean> {
      await launchDueLeads(ctx, campaignId);
      return (await db('outbox').where({ workflow_id: `enrollment/${campaignId}/${contactId}` })).length > 0;
    },
  };
}

const wait: StepSpec = { kind: 'wait', action: { type: 'wait', wait_minutes: 600 } };
const event = (name: string, timeout: number | null = 600): StepSpec => ({
  kind: 'wait',
  action: { type: 'wait_for_event', wait_event_name: name, timeout_minutes: timeout, on_timeout: 'continue' },
});
const action = (spec: StepSpec) => ({ action: spec.action as never });

test.serial('a wait that is shortened has the runs in it signalled, and ends sooner', async (t) => {
  const g = await waiting([wait, wait]);
  t.like(g.first, { kind: 'wait', until: MONDAY.getTime() + 600 * MINUTE });
  await updateStep(g.ctx, g.campaignId, g.stepIds[0]!, { action: { type: 'wait', wait_minutes: 30 } });
  t.true(await g.isSignalled());
  t.like(await g.advance(), { kind: 'wait', until: MONDAY.getTime() + 30 * MINUTE });
});

test.serial('a shortened wait before an email has the runs in it signalled', async (t) => {
  const g = await waiting([
    { subject: 'S', body_plain: 'b' },
    { body_plain: 'c', wait_after: 3 },
  ]);
  await g.db('sends').where({ enrollment_id: g.enrollmentId }).update({ state: 'sent', sent_at: clock.now() });
  t.like(await g.advance(), { kind: 'wait', until: MONDAY.getTime() + 3 * 1440 * MINUTE });
  await updateStep(g.ctx, g.campaignId, g.stepIds[1]!, { wait_after: 1 });
  t.true(await g.isSignalled());
  t.like(await g.advance(), { kind: 'wait', until: MONDAY.getTime() + 1440 * MINUTE });
});

test.serial('new words of an email signal no run', async (t) => {
  const g = await waiting([wait, { subject: 'S', body_plain: 'b' }]);
  await updateStep(g.ctx, g.campaignId, g.stepIds[1]!, { body_plain: 'other' });
  t.false(await g.isSignalled());
});

test.serial('a renamed event is what runs wait for from then on; the old name resumes none', async (t) => {
  const g = await waiting([event('order.paid'), wait]);
  await updateStep(g.ctx, g.campaignId, g.stepIds[0]!, action(event('order.shipped', 60)));
  t.true(await g.isSignalled());
  const publish = (name: string) => publishEvent(g.ctx, { name, contactId: g.contactId, data: {} });
  t.is((await publish('order.paid')).resumed.length, 0);
  t.like(await g.advance(), {
    kind: 'waitForEvent',
    eventName: 'order.shipped',
    until: MONDAY.getTime() + 60 * MINUTE,
  });
  t.is((await publish('order.shipped')).resumed.length, 1);
  t.like(await g.advance(), { kind: 'wait', where: 'step 2 of 2, waiting' });
});

test.serial('a wait that was opened by the step as it was moves when its contact looks', async (t) => {
  const g = await waiting([event('order.paid', null), wait]);
  await updateStep(g.ctx, g.campaignId, g.stepIds[0]!, action(event('order.shipped')));
  // Simulates a workflow that wrote its wait at the same time from the old step.
  await g.db('waits').where({ enrollment_id: g.enrollmentId }).update({ event_name: 'order.paid', deadline: null });
  t.true(await g.isSignalled());
  t.like(await g.advance(), { kind: 'waitForEvent', eventName: 'order.shipped' });
  t.is((await publishEvent(g.ctx, { name: 'order.shipped', contactId: g.contactId, data: {} })).resumed.length, 1);
});

test.serial(
  'a step that waits for no event any more moves on who waited there, and the event resumes no run',
  async (t) => {
    const g = await waiting([event('order.paid', null), wait]);
    const states = async () => [
      (await g.db('waits').where({ enrollment_id: g.enrollmentId }).first()).state,
      (await g.db('step_runs').where({ enrollment_id: g.enrollmentId, seq: 1 }).first()).state,
    ];
    const publish = async () =>
      (await publishEvent(g.ctx, { name: 'order.paid', contactId: g.contactId, data: {} })).resumed.length;
    await updateStep(g.ctx, g.campaignId, g.stepIds[0]!, action(wait));
    t.is(await publish(), 0);
    t.true(await g.isSignalled());
    t.like(await g.advance(), { kind: 'wait', where: 'step 1 of 2, waiting', until: MONDAY.getTime() + 600 * MINUTE });
    t.deepEqual(await states(), ['cancelled', 'running']);
    // After the change is undone, the wait begins again from now on.
    clock.set(new Date(MONDAY.getTime() + 5 * MINUTE));
    await updateStep(g.ctx, g.campaignId, g.stepIds[0]!, action(event('order.paid', 60)));
    t.like(await g.advance(), {
      kind: 'waitForEvent',
      eventName: 'order.paid',
      until: clock.now().getTime() + 60 * MINUTE,
    });
    t.deepEqual(await states(), ['open', 'waiting']);
    t.is(await publish(), 1);
    t.like(await g.advance(), { kind: 'wait', where: 'step 2 of 2, waiting' });
  },
);

test.serial('a wait that was opened by the step before its edit ends when its contact looks', async (t) => {
  const g = await waiting([event('order.paid', null), wait]);
  await updateStep(g.ctx, g.campaignId, g.stepIds[0]!, { kind: 'email', subject: 'S', body_plain: 'b' });
  // Simulates a workflow that wrote its wait at the same time from the old step.
  await g.db('waits').where({ enrollment_id: g.enrollmentId }).update({ state: 'open', settled_at: null });
  t.true(await g.isSignalled());
  t.is((await g.advance()).kind, 'send');
  t.is((await g.db('waits').where({ enrollment_id: g.enrollmentId }).first()).state, 'cancelled');
});
