import test from 'ava';
import { createContact, enroll } from '../harness/factories.ts';
import { createLead, createMondayWorld, MONDAY, type Lead } from '../harness/lead.ts';
import { deleteStep } from '../../domain/campaigns/steps.ts';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import { finishEnrollment } from '../../domain/sending/control/finish.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { newId } from '../../lib/ids.ts';
import { assertStatus, call } from '../harness/world.ts';

const stage = await createMondayWorld(test, { ROW_SECURITY: 'true' });
const { world, clock } = stage;

const row = (table: string, where: Record<string, unknown>) => world.deps.db(table).where(where).first();
const minutes = (n: number) => clock.advance(n * 60_000);

test.serial('a wait takes its minutes, and asking early changes nothing', async (t) => {
  const given = await createLead(stage, [{ kind: 'wait', action: { type: 'wait', wait_minutes: 90 } }]);
  const first = await given.advance();
  t.like(first, { kind: 'wait', until: MONDAY.getTime() + 90 * 60_000 });
  minutes(89);
  t.deepEqual(await given.advance(), first);
  minutes(1);
  t.deepEqual(await given.advance(), { kind: 'done', outcome: 'completed' });
  t.like(await row('step_runs', { enrollment_id: given.enrollmentId }), { state: 'completed', outcome: 'elapsed' });
});

test.serial('who is suppressed by hand did not unsubscribe, and the lead does not say so', async (t) => {
  const given = await createLead(stage, [{ subject: 'Hello', body_plain: 'Hello' }], {
    contact: { email: 'by-hand@example.com' },
  });
  const { tenant } = given;
  const answer = await call(world, 'POST', '/v1/suppressions', {
    token: tenant.apiKey,
    body: { entries: [{ value: 'by-hand@example.com' }], reason: 'a customer of ours' },
  });
  assertStatus(t, answer, 200);
  t.like(await row('contacts', { id: given.contactId }), { subscribed: false });
  t.deepEqual(await given.advance(), { kind: 'done', outcome: 'undeliverable' });

  const other = await createLead(stage, [{ subject: 'Hello', body_plain: 'Hello' }]);
  await world.deps.db('contacts').where('id', other.contactId).update({ subscribed: false });
  t.deepEqual(await other.advance(), { kind: 'done', outcome: 'unsubscribed' });
});

const waitStep = (extra: Record<string, unknown> = {}) => ({
  kind: 'action' as const,
  action: {
    type: 'wait_for_event',
    wait_event_name: 'order.paid',
    timeout_minutes: 60,
    on_timeout: 'continue',
    output_key: 'order',
    ...extra,
  },
});

async function settle({ tenant, contactId }: Lead, data: Record<string, unknown>): Promise<number> {
  const id = newId();
  await world.deps.db('product_events').insert({
    id,
    organization_id: tenant.organizationId,
    contact_id: contactId,
    name: 'order.paid',
    data: JSON.stringify(data),
    occurred_at: clock.now(),
    received_at: clock.now(),
  });
  return world.deps
    .db('waits')
    .where({ contact_id: contactId, state: 'open' })
    .update({ state: 'resumed', event_id: id, settled_at: clock.now() });
}

test.serial('an event resumes the wait and its data is there for later steps', async (t) => {
  const given = await createLead(stage, [waitStep(), { kind: 'wait', action: { type: 'wait', wait_minutes: 5 } }]);
  t.like(await given.advance(), { kind: 'waitForEvent', where: 'step 1 of 2, waiting for order.paid' });
  t.is(await settle(given, { total: 42 }), 1);
  t.like(await given.advance(), { kind: 'wait', where: 'step 2 of 2, waiting' });
  t.deepEqual((await row('enrollments', { id: given.enrollmentId })).app_values, { order: { total: 42 } });
});

test.serial('a timeout closes the wait; an event after it matches nothing', async (t) => {
  const given = await createLead(stage, [waitStep({ on_timeout: 'stop' })]);
  await given.advance();
  minutes(60);
  t.deepEqual(await given.advance(), { kind: 'done', outcome: 'completed' });
  t.like(await row('waits', { enrollment_id: given.enrollmentId }), { state: 'timed_out' });
  t.is(await settle(given, {}), 0);
});

test.serial('a timeout may be a fraction of a minute', async (t) => {
  const given = await createLead(stage, [waitStep({ timeout_minutes: 0.5 })]);
  await given.advance();
  const { opened_at: opened, deadline } = await row('waits', { enrollment_id: given.enrollmentId });
  t.is(deadline.getTime() - opened.getTime(), 30_000);
});

test.serial('an event that came first wins, even when the run looks after the deadline', async (t) => {
  const given = await createLead(stage, [waitStep(), { kind: 'wait', action: { type: 'wait', wait_minutes: 5 } }]);
  await given.advance();
  minutes(59);
  await settle(given, { n: 1 });
  minutes(10);
  await given.advance();
  const run = await world.deps.db('step_runs').where({ enrollment_id: given.enrollmentId, seq: 1 }).first();
  t.is(run.outcome, 'event');
});

test.serial('a step that is edited is read afresh by contacts who have not passed it', async (t) => {
  const given = await createLead(stage, [
    { kind: 'wait', action: { type: 'wait', wait_minutes: 10 } },
    { kind: 'wait', action: { type: 'wait', wait_minutes: 10 } },
  ]);
  await given.advance();
  await world.deps
    .db('campaign_steps')
    .where({ id: given.stepIds[1] })
    .update({ action: JSON.stringify({ type: 'wait', wait_minutes: 30 }) });
  await world.deps.db('campaigns').where({ id: given.campaignId }).update({ graph_version: 2 });
  minutes(10);
  t.like(await given.advance(), { kind: 'wait', until: MONDAY.getTime() + 40 * 60_000 });
});

test.serial('an email step reserves a slot once, however often it is asked', async (t) => {
  const given = await createLead(stage, [{ subject: 'S', body_plain: 'b' }]);
  const first = await given.advance();
  t.is(first.kind, 'send');
  t.deepEqual(await given.advance(), first);
  t.is((await world.deps.db('sends').where({ enrollment_id: given.enrollmentId })).length, 1);
});

test.serial('follow-ups wait their days after the step before', async (t) => {
  const given = await createLead(stage, [
    { kind: 'wait', action: { type: 'wait', wait_minutes: 1 } },
    { subject: 'S', body_plain: 'b', wait_after: 3 },
  ]);
  await given.advance();
  minutes(1);
  t.like(await given.advance(), { kind: 'wait', until: MONDAY.getTime() + 60_000 + 3 * 86_400_000 });
});

test.serial('the entry delay holds the first email', async (t) => {
  const given = await createLead(stage, [{ subject: 'S', body_plain: 'b' }], { campaign: { entry_delay_minutes: 30 } });
  t.like(await given.advance(), { kind: 'wait', until: MONDAY.getTime() + 30 * 60_000 });
});

test.serial('a suppressed contact is never given a slot', async (t) => {
  const given = await createLead(stage, [{ subject: 'S', body_plain: 'b' }], {
    contact: { email: 'no@blocked.example.org' },
  });
  await world.deps.db('suppressions').insert({
    id: newId(),
    organization_id: given.tenant.organizationId,
    email: 'blocked.example.org',
    kind: 'domain',
    source: 'manual',
    created_at: MONDAY,
    updated_at: MONDAY,
  });
  t.deepEqual(await given.advance(), { kind: 'done', outcome: 'undeliverable' });
  t.is((await world.deps.db('sends').where({ enrollment_id: given.enrollmentId })).length, 0);
});

test.serial('a hold stops a contact and its end lets it go on', async (t) => {
  const given = await createLead(stage, [{ subject: 'S', body_plain: 'b' }]);
  await given.advance();
  const until = new Date(MONDAY.getTime() + 3_600_000);
  await world.deps
    .db('enrollments')
    .where({ id: given.enrollmentId })
    .update({ hold_since: MONDAY, hold_until: until, hold_source: 'manual' });
  t.like(await given.advance(), { kind: 'hold', state: 'held', until: until.getTime() });
  t.is((await world.deps.db('sends').where({ enrollment_id: given.enrollmentId })).length, 0, 'the slot went back');
  minutes(60);
  t.is((await given.advance()).kind, 'send');
});

test.serial('whoever ends an enrollment first decides', async (t) => {
  const given = await createLead(stage, [waitStep()]);
  await given.advance();
  const ctx = world.system(given.tenant.organizationId);
  const results = await Promise.all(
    (['replied', 'bounced', 'unsubscribed'] as const).map((state) =>
      transact(ctx, (tx) => finishEnrollment(tx, given.enrollmentId, state)),
    ),
  );
  t.is(results.filter(Boolean).length, 1);
  t.is((await row('waits', { enrollment_id: given.enrollmentId })).state, 'cancelled');
  t.is((await given.advance()).kind, 'done');
});

test.serial('a contact at a step that is removed moves on to where it led, whatever the step was', async (t) => {
  const remove = (given: Lead, index: number) =>
    deleteStep(world.system(given.tenant.organizationId), given.campaignId, given.stepIds[index]!);
  const send = (given: Lead, index: number) =>
    row('sends', { enrollment_id: given.enrollmentId, step_id: given.stepIds[index] });

  const waiting = await createLead(stage, [waitStep(), { subject: 'next', body_plain: 'b' }]);
  await waiting.advance();
  await remove(waiting, 0);
  const { organizationId } = waiting.tenant;
  await launchDueLeads(world.system(organizationId), waiting.campaignId);
  t.truthy(
    await row('outbox', { workflow_id: `enrollment/${waiting.campaignId}/${waiting.contactId}`, kind: 'signal' }),
    'its run is signalled',
  );
  t.is((await waiting.advance()).kind, 'send');
  t.truthy(await send(waiting, 1));
  t.like(await row('waits', { enrollment_id: waiting.enrollmentId }), { state: 'cancelled' });
  t.like(await row('step_runs', { enrollment_id: waiting.enrollmentId, seq: 1 }), { state: 'skipped' });

  const reserved = await createLead(stage, [
    { subject: 'S', body_plain: 'b' },
    { kind: 'wait', action: { type: 'wait', wait_minutes: 5 } },
    { subject: 'third', body_plain: 'b' },
  ]);
  await reserved.advance();
  await remove(reserved, 0);
  await remove(reserved, 1);
  t.is((await reserved.advance()).kind, 'send', 'through two removed steps');
  t.is(await send(reserved, 0), undefined, 'the slot of the removed email went back');
  t.truthy(await send(reserved, 2));
  await remove(reserved, 2);
  t.deepEqual(await reserved.advance(), { kind: 'done', outcome: 'completed' });
  const counts = await world.deps
    .db('daily_counters')
    .where({ organization_id: reserved.tenant.organizationId })
    .whereNot({ count: 0 });
  t.deepEqual(counts, []);

  const sent = await createLead(stage, [
    { subject: 'S', body_plain: 'b' },
    { subject: 'S', body_plain: 'second' },
  ]);
  const decision = await sent.advance();
  t.is(decision.kind, 'send');
  await world.deps.db('sends').where({ enrollment_id: sent.enrollmentId }).update({ state: 'sent', sent_at: MONDAY });
  await world.deps
    .db('step_runs')
    .where({ enrollment_id: sent.enrollmentId })
    .update({ state: 'completed', outcome: 'sent' });
  await remove(sent, 0);
  t.is((await sent.advance()).kind, 'send');
  t.truthy(await send(sent, 1));
});

test.serial("an email in a worker's hands is waited for when its step is removed", async (t) => {
  const given = await createLead(stage, [
    { subject: 'S', body_plain: 'b' },
    { subject: 'S', body_plain: 'second' },
  ]);
  const { id } = (await given.advance().then(() => row('sends', { enrollment_id: given.enrollmentId })))!;
  await world.deps.db('sends').where({ id }).update({ state: 'sending', claim_token: newId(), claimed_at: MONDAY });
  await deleteStep(world.system(given.tenant.organizationId), given.campaignId, given.stepIds[0]!);
  t.like(await given.advance(), { kind: 'send', sendId: id });
  await world.deps.db('sends').where({ id }).update({ state: 'sent', sent_at: MONDAY });
  await world.deps
    .db('step_runs')
    .where({ enrollment_id: given.enrollmentId })
    .update({ state: 'completed', outcome: 'sent' });
  t.is((await given.advance()).kind, 'send');
  t.truthy(await row('sends', { enrollment_id: given.enrollmentId, step_id: given.stepIds[1] }));
});

test.serial('of two last leads that finish at once, one tells the launcher; one of many does not', async (t) => {
  for (let round = 0; round < 6; round += 1) {
    const given = await createLead(stage, [waitStep()]);
    const ctx = world.system(given.tenant.organizationId);
    const others = await Promise.all(
      [1, 2, 3].map(() => createContact(world.deps.db, clock.now(), given.tenant.organizationId)),
    );
    const leads = [
      given.enrollmentId,
      ...(await enroll(world.deps, given.tenant.organizationId, given.campaignId, others)),
    ];
    for (const id of leads) await advanceEnrollment(ctx, id);
    const told = () => world.deps.db('outbox').where({ workflow_id: `campaign/${given.campaignId}` });
    const finish = (id: string, wait = 0) =>
      transact(ctx, async (tx) => {
        await finishEnrollment(tx, id, 'replied');
        // Both transactions lock their own lead before either searches for another one.
        await new Promise((resolve) => setTimeout(resolve, wait));
      });
    await world.deps
      .db('outbox')
      .where({ workflow_id: `campaign/${given.campaignId}` })
      .delete();
    await finish(leads[0]!);
    await finish(leads[1]!);
    t.deepEqual(await told(), [], 'others are left');
    await Promise.all([finish(leads[2]!, round * 10), finish(leads[3]!, 50 - round * 10)]);
    t.true((await told()).length >= 1, `round ${round}`);
  }
});

test.serial('app_action asks the app; tags, notify and end act at once', async (t) => {
  const call = await createLead(stage, [{ kind: 'action', action: { type: 'notify', message: '' } }]);
  const connectionId = newId();
  await world.deps.db('app_connections').insert({
    id: connectionId,
    organization_id: call.tenant.organizationId,
    name: 'app',
    base_url: 'https://app.example.com',
    secret: Buffer.from('x'),
    created_at: MONDAY,
    updated_at: MONDAY,
  });
  await world.deps
    .db('campaign_steps')
    .where({ id: call.stepIds[0] })
    .update({
      action: JSON.stringify({
        type: 'app_action',
        app_connection_id: connectionId,
        path: '/x',
        output_key: 'o',
        inputs: {},
      }),
    });
  t.is((await call.advance()).kind, 'call');
  const tenantLead = await createLead(stage, [
    { kind: 'action', action: { type: 'notify', message: 'hot' } },
    { kind: 'action', action: { type: 'end' } },
    { subject: 'never', body_plain: 'never' },
  ]);
  t.deepEqual(await tenantLead.advance(), { kind: 'done', outcome: 'completed' });
  t.like(await row('domain_events', { organization_id: tenantLead.tenant.organizationId, type: 'campaign.action' }), {
    data: { message: 'hot', contact_id: tenantLead.contactId },
  });
});
