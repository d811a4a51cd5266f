import test from 'ava';
import { createWorld, type World } from '../harness/world.ts';
import { roomOf } from './oracle.ts';
import { playWorld } from './run.ts';
import { plainWorld } from './spec.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const FROM = Date.parse('2026-06-10T08:00:00Z');

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Returns the minutes after the start of the world at which emails of a step were sent. */
const minutes = (emails: readonly { at: number; step: number }[], step: number): number[] =>
  emails.filter((email) => email.step === step).map(({ at }) => Math.round((at - FROM) / MINUTE));

test('who waits to see whether an email is opened keeps no room from new leads before that is over', async (t) => {
  // The capacity is one email per UTC day. The first lead's branch is decided at noon of the second day, and the second
  // lead is added at eight.
  const { emails, faults } = await playWorld(
    world.deps,
    plainWorld({
      seed: 9_101,
      from: FROM,
      days: 2,
      mailboxes: [{ cap: 1 }],
      campaigns: [{ steps: [{ kind: 'email', waitDays: 1, thread: true, onlyIf: 'opened' }] }],
      leads: [{ at: FROM + 4 * HOUR }, { at: FROM + 5 * HOUR }],
    }),
  );
  t.deepEqual(faults, []);
  t.deepEqual(minutes(emails, 0), [4 * 60, 16 * 60], 'the second leaves when the next UTC day begins');
});

test('an opened email is followed by the next one, an unopened one by none', async (t) => {
  const { emails, faults } = await playWorld(
    world.deps,
    plainWorld({
      seed: 9_102,
      from: FROM,
      days: 2,
      mailboxes: [{}],
      campaigns: [{ steps: [{ kind: 'email', waitDays: 1, thread: true, onlyIf: 'opened' }] }],
      leads: [{}, {}, {}],
      happenings: [
        { at: FROM + 6 * HOUR, kind: 'open', lead: 1 },
        { at: FROM + 30 * HOUR, kind: 'open', lead: 2 },
      ],
    }),
  );
  t.deepEqual(faults, []);
  t.is(minutes(emails, 0).length, 3);
  t.deepEqual(
    emails.filter(({ step }) => step === 1).map(({ lead }) => lead),
    [1],
    'who opens it a day late has come to the end',
  );
});

test('an app that answers, fails for a while, hangs, answers late or refuses moves its lead on, or blocks it with the reason', async (t) => {
  const outcome = async (seed: number, onError: 'continue' | 'block') => {
    const { emails, faults, built } = await playWorld(
      world.deps,
      plainWorld({
        seed,
        from: FROM,
        days: 1,
        mailboxes: [{}],
        campaigns: [
          {
            steps: [
              { kind: 'app', onError },
              { kind: 'email', waitDays: 0, thread: true, onlyIf: null },
            ],
          },
        ],
        leads: [
          { app: { kind: 'ok' } },
          { app: { kind: 'fails', times: 2 } },
          { app: { kind: 'hangs', times: 4 } },
          { app: { kind: 'late', ms: 15_000 } },
          { app: { kind: 'refuses' } },
          { app: { kind: 'fails', times: 5 } },
        ],
        // Causes a second check of the lead while the app still works; the check must not call the app again.
        happenings: [{ at: FROM + 5_000, kind: 'limit', campaign: 0, dailyLimit: 99 }],
      }),
    );
    t.deepEqual(faults, []);
    const rows = await world.deps
      .db('enrollments')
      .where({ organization_id: built.organizationId, blocked: true })
      .select('id');
    return {
      seconds: Array.from({ length: 6 }, (_, lead) => {
        const second = emails.find((email) => email.lead === lead && email.step > 0);
        return second && Math.round((second.at - FROM) / 1000);
      }),
      blocked: rows.map(({ id }) => built.leads.findIndex(({ enrollment }) => enrollment === id)).sort(),
    };
  };
  t.deepEqual(await outcome(9_104, 'continue'), { seconds: [0, 6, 30, 15, 0, 30], blocked: [] });
  t.deepEqual(await outcome(9_105, 'block'), { seconds: [0, 6, 30, 15, undefined, undefined], blocked: [4, 5] });
});

test('who has clicked goes on where the way asks for it, and who has replied likewise', async (t) => {
  for (const [onlyIf, seed] of [
    ['clicked', 9_106],
    ['replied', 9_107],
  ] as const) {
    const { emails, faults } = await playWorld(
      world.deps,
      plainWorld({
        seed,
        from: FROM,
        days: 2,
        mailboxes: [{}],
        campaigns: [{ steps: [{ kind: 'email', waitDays: 1, thread: true, onlyIf }] }],
        leads: [{}, {}, {}],
        happenings: [
          { at: FROM + 3 * HOUR, kind: 'click', lead: 0 },
          { at: FROM + 4 * HOUR, kind: 'reply', lead: 1 },
        ],
      }),
    );
    t.deepEqual(faults, []);
    t.deepEqual(
      emails.filter(({ step }) => step === 1).map(({ lead }) => lead),
      onlyIf === 'clicked' ? [0] : [1],
    );
  }
});

test('a mailbox whose password was changed sends again when a person has entered the new one', async (t) => {
  const { emails, faults, built } = await playWorld(
    world.deps,
    plainWorld({
      seed: 9_108,
      from: FROM,
      days: 1,
      mailboxes: [{}],
      campaigns: [{}],
      leads: [{}, { at: FROM + 2 * HOUR }],
      happenings: [{ at: FROM + HOUR, kind: 'password', mailbox: 0, until: FROM + 5 * HOUR + 20 * MINUTE }],
    }),
  );
  t.deepEqual(faults, []);
  t.deepEqual(minutes(emails, 0), [0, 320], 'at once, and not when the hold would have ended');
  const logs = await world.deps.db('campaign_logs').where({ campaign_id: built.campaigns[0]!.id }).select('event_type');
  const types = logs.map((row) => row.event_type as string);
  t.true(types.includes('sender_held') && types.includes('sender_back'), types.join());
});

test('a hold that is shorter than the one in force does not end it', async (t) => {
  const { emails, faults } = await playWorld(
    world.deps,
    plainWorld({
      seed: 9_109,
      from: FROM,
      days: 1,
      mailboxes: [{ restsUntil: FROM + 6 * HOUR }],
      campaigns: [{}],
      leads: [{}],
      happenings: [{ at: FROM + HOUR, kind: 'hold', mailbox: 0, until: FROM + 2 * HOUR }],
    }),
  );
  t.deepEqual(faults, []);
  t.deepEqual(minutes(emails, 0), [6 * 60]);
});

test('emails of a mailbox that was removed count for the limit of their campaign', async (t) => {
  const { emails, faults } = await playWorld(
    world.deps,
    plainWorld({
      seed: 9_110,
      from: FROM,
      days: 1,
      mailboxes: [{ cap: 1 }, {}],
      campaigns: [{ dailyLimit: 2 }],
      leads: [{}, {}, {}],
      happenings: [{ at: FROM + HOUR, kind: 'removeMailbox', mailbox: 0 }],
    }),
  );
  t.deepEqual(faults, []);
  t.deepEqual(minutes(emails, 0), [0, 0, 16 * 60], 'the third leaves on the next day');
});

test('a ramp does not rise on a day on which every mailbox is at its cap', async (t) => {
  const outcome = await playWorld(
    world.deps,
    plainWorld({
      seed: 9_111,
      from: FROM,
      days: 2,
      mailboxes: [{ cap: 2, before: [FROM - 2 * HOUR, FROM - HOUR] }],
      campaigns: [{ ramp: { start: 1, increment: 1, ceiling: 0 } }],
      leads: [{}, {}, {}, {}, {}],
    }),
  );
  t.deepEqual(outcome.faults, []);
  t.deepEqual(minutes(outcome.emails, 0), [16 * 60, 40 * 60, 40 * 60]);
  t.is(roomOf(outcome, 1), 3, 'the oracle counts the days likewise');
});

test('leads whose hours are far away do not keep those behind them waiting', async (t) => {
  // More leads than a launcher checks in one iteration. It is evening in their time zone.
  const far = Array.from({ length: 130 }, () => ({ timezone: 'Pacific/Auckland' }));
  const { emails, faults } = await playWorld(
    world.deps,
    plainWorld({
      seed: 9_112,
      from: FROM,
      days: 0.1,
      mailboxes: [{}],
      campaigns: [{ hours: [8, 9, 10] }],
      leads: [...far, {}, {}, {}],
    }),
  );
  t.deepEqual(faults, []);
  t.deepEqual(emails.map(({ lead }) => lead).sort(), [130, 131, 132]);
});

test('a worker that was away for four minutes sends the missed emails with the gaps and windows of that moment', async (t) => {
  const { emails, faults } = await playWorld(
    world.deps,
    plainWorld({
      seed: 9_113,
      from: FROM,
      days: 0.1,
      mailboxes: [{ gapSeconds: 30 }],
      campaigns: [{ windows: [['08:00', '08:12']] }],
      leads: Array.from({ length: 24 }, () => ({})),
      happenings: [{ at: FROM + 2 * MINUTE, kind: 'absence', until: FROM + 6 * MINUTE }],
    }),
  );
  t.deepEqual(faults, []);
  const times = emails.map(({ at }) => at - FROM).sort((a, b) => a - b);
  t.false(times.some((at) => at >= 2 * MINUTE && at < 6 * MINUTE));
  t.true(
    times.slice(1).every((at, n) => at - times[n]! >= 25_000),
    times.join(),
  );
  t.true(times.at(-1)! < 12 * MINUTE, 'who finds no room before the window closes waits for the next day');
  t.true(times.filter((at) => at >= 6 * MINUTE).length >= 8);
});
