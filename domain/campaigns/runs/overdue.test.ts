import { advanceRun } from './preflight.ts';
import test from 'ava';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openRunDesk, type RunDesk } from '../../../test/harness/run-desk.ts';
import { createWorld, noRecords, type World } from '../../../test/harness/world.ts';

const clock = new ManualClock();
let world: World;
let desk: RunDesk;
let questions = 0;
test.before(async () => {
  const counted = { ...noRecords, txt: async () => ((questions += 1), []) };
  world = await createWorld({ clock, dns: counted });
  desk = await openRunDesk(world);
});
test.after.always(() => world?.close());

const waiting = async (at: RunDesk = desk) => at.step(await at.create());
const stateOf = async (at: RunDesk, id: string) => (await at.row(id)).state;
const runOut = () => clock.advance(world.deps.config.APPROVAL_EXPIRES_MS);

test.serial(
  'a run that nobody has decided on in time takes the others of its workspace along, each once',
  async (t) => {
    const other = await openRunDesk(world);
    const elsewhere = await waiting(other);
    const due = [await waiting(), await waiting(), await waiting()];
    const approved = await waiting();
    await desk.decide(approved.id, 'approved');
    runOut();
    const inTime = await waiting();
    t.is((await desk.step(due[0]!)).state, 'denied');
    for (const { id } of due) {
      t.like(await desk.row(id), { state: 'denied', error_details: { code: 'approval_expired' }, event_count: 4 });
      t.deepEqual((await desk.story(id)).slice(-1), ['denied: approval_expired']);
    }
    const approvals = await world.deps.db('approvals').whereIn(
      'subject_id',
      due.map(({ id }) => id),
    );
    t.deepEqual(
      approvals.map(({ status, reason }) => [status, reason]),
      Array(3).fill(['expired', null]),
    );
    t.is(await stateOf(desk, approved.id), 'launching', 'decided in time');
    t.is(await stateOf(desk, inTime.id), 'awaiting_approval', 'has time left');
    t.is(await stateOf(other, elsewhere.id), 'awaiting_approval', 'of another workspace');
  },
);

test.serial('many that run out of time and are settled side by side end once each', async (t) => {
  const due = [];
  for (let n = 0; n < 12; n += 1) due.push(await waiting());
  runOut();
  const ctx = world.system(desk.tenant.organizationId);
  const settled = await Promise.all(due.map(({ id }) => advanceRun(ctx, id)));
  t.deepEqual([...new Set(settled.map(({ state }) => state))], ['denied']);
  for (const { id } of due) {
    t.is((await desk.story(id)).filter((line) => line.startsWith('denied')).length, 1);
    const told = await world.deps
      .db('domain_events')
      .where({ type: 'run.state_changed' })
      .whereRaw(`data ->> 'run_id' = ?`, [id]);
    t.is(told.filter(({ data }) => data.state === 'denied').length, 1);
    t.is(
      (
        await world.deps
          .db('domain_events')
          .where({ type: 'approval.expired' })
          .whereRaw(`data ->> 'subject_id' = ?`, [id])
      ).length,
      1,
    );
  }
});

test.serial('runs from one domain ask DNS about it once, not once each', async (t) => {
  await waiting();
  const before = questions;
  for (let n = 0; n < 3; n += 1) await waiting();
  t.is(questions, before);
});
