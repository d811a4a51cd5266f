import test from 'ava';
import fc from 'fast-check';
import { createEngineWorld, type EngineWorld, type Operation } from './model.ts';
import { createWorld, type World } from '../harness/world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import type { Attempt } from '../harness/fake-smtp.ts';
import { message } from '../../messages/index.ts';

/** Time shortly before the end of the mailboxes' day, so that slots, retries and counts fall on both days. */
const EVENING = new Date('2026-03-02T23:50:00Z');
const clock = new ManualClock(EVENING);
let world: World;
test.before(async () => {
  world = await createWorld({ clock, env: { LAUNCH_HORIZON_MS: '60000' } });
});
test.after.always(() => world?.close());

/**
 * Index of a lead. Chooses the leads of one contact more often, because operations on different contacts rarely
 * interact.
 */
const lead = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(0, 3) }, { weight: 2, arbitrary: fc.nat(5) });
const which = fc.nat(1);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('run' as const), lead }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('deliverAgain' as const), lead }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('launch' as const), which }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('tick' as const),
      seconds: fc.constantFrom(1, 30, 65, 100, 310, 1800, 7200),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'reply' as const,
        'hold' as const,
        'unhold' as const,
        'bounce' as const,
        'unsubscribe' as const,
        'suppress' as const,
      ),
      lead,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'pause' as const,
        'resume' as const,
        'resume' as const,
        'reschedule' as const,
        'editStep' as const,
      ),
      which,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('mailboxOff' as const, 'mailboxOn' as const, 'mailboxHeld' as const),
      which,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('deleteContact' as const, 'removeLead' as const), lead }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('deleteCampaign' as const, 'removeMailbox' as const, 'deleteStep' as const),
      which: fc.constant(0),
    }),
  },
);

const attempt: fc.Arbitrary<Attempt> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Attempt>('accept') },
  {
    weight: 5,
    arbitrary: fc.constantFrom<Attempt>(
      'take-unknown',
      'die-before',
      'die-after',
      { kind: 'unknown', reason: message('smtp.broke_after_message') },
      { kind: 'unreachable', stage: 'connect', reason: message('mailboxes.unreachable_connect') },
      { kind: 'refused', stage: 'auth', code: 535, response: '535 no', permanent: true },
      { kind: 'refused', stage: 'auth', code: 454, response: '454 later', permanent: false },
      { kind: 'refused', stage: 'recipient', code: 451, response: '451 greylisted', permanent: false },
      { kind: 'refused', stage: 'recipient', code: 550, response: '550 5.1.1 no such user', permanent: true },
      { kind: 'refused', stage: 'data', code: 552, response: '552 5.2.2 mailbox full', permanent: true },
      { kind: 'refused', stage: 'sender', code: 550, response: '550 not you', permanent: true },
    ),
  },
);

/** Arbitrary of several rounds of concurrent operations. */
const rounds = fc.array(fc.array(operation, { minLength: 1, maxLength: 6 }), { minLength: 4, maxLength: 14 });

async function play(plan: Operation[][], attempts: Attempt[]): Promise<EngineWorld> {
  clock.set(EVENING);
  const engine = await createEngineWorld(world, clock, attempts);
  for (const round of plan) {
    // The clock moves only before the round's other operations, so that the times in the rows compare exactly.
    for (const one of round.filter(({ kind }) => kind === 'tick')) await engine.perform(one);
    // Some operations start at once, others while those are in progress.
    await Promise.all(
      round
        .filter(({ kind }) => kind !== 'tick')
        .map(async (one, index) => {
          await new Promise((resolve) => setTimeout(resolve, (index % 3) * 12));
          await engine.perform(one);
        }),
    );
    engine.assertNoneTwice();
  }
  await engine.assertRecordAgrees();
  await engine.assertCountersAgree();
  await engine.settleAll();
  engine.assertNoneTwice();
  await engine.assertRecordAgrees();
  await engine.assertCountersAgree();
  return engine;
}

test('whatever happens at the same time: no email twice, true records and counts, and every lead comes to an end', async (t) => {
  const runs = Number(process.env.HERON_TEST_RUNS ?? 25);
  let mails = 0;
  await fc.assert(
    fc.asyncProperty(rounds, fc.array(attempt, { maxLength: 12 }), async (plan, attempts) => {
      mails += (await play(plan, attempts)).mails();
    }),
    { numRuns: runs, endOnFailure: true, includeErrorInReport: true },
  );
  t.true(mails > runs, 'the model mails too little to show anything');
});
