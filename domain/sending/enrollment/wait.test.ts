import test from 'ava';
import fc from 'fast-check';
import { publishEvent } from '../../audience/product-events/publish.ts';
import { TargetLimits } from '../../../lib/target-limits.ts';
import { createAppConnection } from '../../connect/app-connections/connections.ts';
import { callApp } from '../../connect/app-connections/call.ts';
import { createLead, createMondayWorld, type Lead } from '../../../test/harness/lead.ts';
import { startReceiver, type Receiver } from '../../../test/harness/receiver.ts';
import type { StepSpec } from '../../../test/harness/factories.ts';

const stage = await createMondayWorld(test);
const { world, clock } = stage;
let app: Receiver;
test.before(async () => {
  app = await startReceiver();
});
test.after.always(() => app?.stop());

const TIMEOUT_MINUTES = 60;
const WAIT: StepSpec = {
  kind: 'action',
  action: { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: TIMEOUT_MINUTES },
};
const EMAIL: StepSpec = { subject: 'S', body_plain: 'b' };

/** Creates a lead whose campaign first calls the app, then waits for an event. */
async function createCaller(more: readonly StepSpec[] = []): Promise<Lead> {
  const tenant = await world.tenant();
  const ctx = world.system(tenant.organizationId);
  const { connection } = await createAppConnection(ctx, { name: 'Shop', baseUrl: app.url });
  const action: StepSpec['action'] = {
    type: 'app_action',
    app_connection_id: connection.id,
    path: '/offers',
    output_key: 'offer',
    inputs: {},
  };
  return createLead(stage, [{ kind: 'action', action }, WAIT, ...more, EMAIL], { tenant });
}

const limits = new TargetLimits({ total: 20, perTarget: 10 });

/** Makes the app call of a lead. `inside` runs while the app has the request and has not answered. */
async function call(lead: Lead, inside: () => Promise<void> = async () => {}): Promise<void> {
  const decision = await lead.advance();
  if (decision.kind !== 'call') throw new Error(`no call: ${JSON.stringify(decision)}`);
  app.respond(async () => {
    await inside();
    return { status: 200, body: { code: 'A' } };
  });
  await callApp(lead.ctx, decision.stepRunId, limits);
}

const publish = (lead: Lead, data: Record<string, unknown> = {}, occurredAt?: Date) =>
  publishEvent(lead.ctx, {
    name: 'order.paid',
    contactId: lead.contactId,
    data,
    ...(occurredAt ? { occurredAt } : {}),
  });
const readWait = (lead: Lead) => lead.db('waits').where({ enrollment_id: lead.enrollmentId }).first();

/**
 * Times at which an event arrives: before the call, during it, between the response and the wait, and during the wait.
 */
const MOMENTS = ['before', 'during', 'between', 'open'] as const;
type Moment = (typeof MOMENTS)[number];

test.serial('an event resumes a wait when it occurred since the call of the step before began', async (t) => {
  t.timeout(180_000);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ moment: fc.constantFrom(...MOMENTS), afterMs: fc.integer({ min: 1, max: 60_000 }) }), {
        maxLength: 4,
      }),
      async (events) => {
        clock.set(new Date('2026-03-02T08:00:00Z'));
        const lead = await createCaller();
        const published: { id: string; moment: Moment }[] = [];
        const at = async (moment: Moment) => {
          for (const { afterMs } of events.filter((one) => one.moment === moment)) {
            clock.advance(afterMs);
            const { event } = await publish(lead, { n: published.length });
            published.push({ id: event.id, moment });
          }
          clock.advance(1);
        };
        await at('before');
        await call(lead, () => at('during'));
        await at('between');
        await lead.advance();
        await at('open');
        const wait = await readWait(lead);
        const expected = published.find(({ moment }) => moment !== 'before');
        t.is(wait.state, expected ? 'resumed' : 'open');
        t.is(wait.event_id, expected?.id ?? null);
        if (expected) t.not((await lead.advance()).kind, 'waitForEvent', 'the next step follows');
      },
    ),
    { numRuns: 40 },
  );
});

test.serial('the moment of an event decides, and not its arrival; its data is the output of the step', async (t) => {
  const lead = await createCaller();
  await call(lead, async () => clock.advance(5_000));
  const began = (await lead.db('step_runs').where({ enrollment_id: lead.enrollmentId, seq: 1 }).first()).called_at;
  await publish(lead, { n: 1 }, new Date(began.getTime() - 1));
  await publish(lead, { n: 2 }, began);
  await lead.advance();
  const run = await lead.db('step_runs').where({ enrollment_id: lead.enrollmentId, seq: 2 }).first();
  t.like(run, { state: 'completed', outcome: 'event', output: { n: 2 } });
  t.like(await readWait(lead), { entered_at: began, settled_at: clock.now() });
});

test.serial('an event since an email was claimed for sending resumes the wait behind it', async (t) => {
  for (const since of [-1, 0]) {
    clock.set(new Date('2026-03-02T08:00:00Z'));
    const lead = await createLead(stage, [EMAIL, WAIT, EMAIL]);
    const sendId = await lead.reserve();
    await lead.deliver(sendId);
    const { claimed_at: claimed } = await lead.readSend(sendId);
    clock.advance(2_000);
    await publish(lead, {}, new Date(claimed.getTime() + since));
    await lead.advance();
    t.is((await readWait(lead)).state, since < 0 ? 'open' : 'resumed');
  }
});

test.serial('one event resumes one of two waits for it in a row', async (t) => {
  const lead = await createCaller([WAIT]);
  await call(lead, async () => void (await publish(lead)));
  const waits = () => lead.db('waits').where({ enrollment_id: lead.enrollmentId }).orderBy('id');
  t.is((await lead.advance()).kind, 'waitForEvent');
  t.deepEqual(
    (await waits()).map(({ state }) => state),
    ['resumed', 'open'],
  );
  t.is((await publish(lead)).resumed.length, 1, 'the second event is for the second wait');
});

test.serial('an event and the opening of its wait at the same moment never miss each other', async (t) => {
  t.timeout(180_000);
  for (let round = 0; round < 25; round += 1) {
    const lead = await createCaller();
    await call(lead);
    const late = round % 5;
    await Promise.all([
      (async () => {
        await new Promise((resolve) => setTimeout(resolve, late));
        await lead.advance();
      })(),
      publish(lead),
    ]);
    t.is((await readWait(lead)).state, 'resumed', `round ${round}`);
  }
});

test.serial('a wait that a later edit restores begins at that moment', async (t) => {
  const lead = await createCaller();
  await call(lead);
  await lead.advance();
  await lead.db('waits').where({ enrollment_id: lead.enrollmentId }).update({ state: 'cancelled' });
  await publish(lead);
  clock.advance(1_000);
  t.is((await lead.advance()).kind, 'waitForEvent');
  t.like(await readWait(lead), { state: 'open', event_id: null, entered_at: clock.now() });
});
