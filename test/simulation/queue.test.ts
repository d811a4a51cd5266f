import test from 'ava';
import { createWorld, type World } from '../harness/world.ts';
import type { CampaignSpec, Happening, WorldSpec } from './draw.ts';
import { playWorld } from './run.ts';
import { plainWorld } from './spec.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FROM = Date.parse('2026-06-10T00:00:00Z');
const LEADS = 60;
const LIMIT = 5;

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/**
 * Returns a campaign that emails everybody on its first day. After that its daily limit is a twelfth of the due leads.
 */
function campaignWithQueue(seed: number, more: Happening[] = []): WorldSpec {
  return world14(seed, {
    happenings: [{ at: FROM + 20 * HOUR, kind: 'limit', campaign: 0, dailyLimit: LIMIT }, ...more],
  });
}

interface Particulars {
  happenings: Happening[];
  mailboxes?: number;
  campaign?: Partial<CampaignSpec>;
}

/** Returns a world of two weeks: a campaign of two emails, one day apart. */
function world14(seed: number, { happenings, mailboxes = 3, campaign = {} }: Particulars): WorldSpec {
  return plainWorld({
    seed,
    from: FROM,
    days: 14,
    mailboxes: Array.from({ length: mailboxes }, () => ({ cap: LEADS, gapSeconds: 60 })),
    campaigns: [
      {
        windows: [['09:00', '17:00']],
        dailyLimit: LEADS,
        steps: [{ kind: 'email', waitDays: 1, thread: true, onlyIf: null }],
        ...campaign,
      },
    ],
    leads: Array.from({ length: LEADS }, () => ({})),
    happenings,
  });
}

/** Returns the number of emails on each day after the first. */
const byDay = (emails: readonly { at: number }[]): number[] =>
  Array.from({ length: 13 }, (_, day) => emails.filter(({ at }) => Math.floor((at - FROM) / DAY) === day + 1).length);

test('those who wait for a daily limit ask when it may be their turn, and not all of them every day', async (t) => {
  const { emails, faults, turns } = await playWorld(world.deps, campaignWithQueue(9_001));
  t.deepEqual(faults, []);
  t.deepEqual(byDay(emails), [...Array.from({ length: 12 }, () => LIMIT), 0]);
  // Each lead takes seven iterations. In addition, on each of the twelve days, at most as many leads as the daily limit
  // may be refused.
  t.true(turns.run <= LEADS * 7 + 12 * LIMIT, `${turns.run} turns of runs`);
});

test('where many who waited leave, the others are called before their turn', async (t) => {
  const leaving = Array.from({ length: 30 }, (_, n) => ({
    at: FROM + 3 * DAY + n,
    kind: 'remove' as const,
    lead: n * 2,
  }));
  const { emails, faults } = await playWorld(world.deps, campaignWithQueue(9_002, leaving));
  t.deepEqual(faults, []);
  const days = byDay(emails);
  const last = days.findLastIndex((emails) => emails > 0);
  t.deepEqual(
    days.slice(0, last),
    Array.from({ length: last }, () => LIMIT),
    'no day before the last is short',
  );
});

test('those who wait for the mailbox of their conversation ask when it may be their turn', async (t) => {
  const happenings: Happening[] = [{ at: FROM + 20 * HOUR, kind: 'cap', mailbox: 0, cap: LIMIT }];
  const { emails, faults, turns } = await playWorld(world.deps, world14(9_003, { happenings, mailboxes: 1 }));
  t.deepEqual(faults, []);
  t.deepEqual(byDay(emails), [...Array.from({ length: 12 }, () => LIMIT), 0]);
  t.true(turns.run <= LEADS * 7 + 12 * LIMIT, `${turns.run} turns of runs`);
});

test('where many who waited for a mailbox leave, the others are called before their turn', async (t) => {
  const happenings: Happening[] = [
    { at: FROM + 20 * HOUR, kind: 'cap', mailbox: 0, cap: LIMIT },
    ...Array.from({ length: 30 }, (_, n): Happening => ({ at: FROM + 3 * DAY + n, kind: 'remove', lead: n * 2 })),
  ];
  const { emails, faults } = await playWorld(world.deps, world14(9_004, { happenings, mailboxes: 1 }));
  t.deepEqual(faults, []);
  const days = byDay(emails);
  const last = days.findLastIndex((emails) => emails > 0);
  t.deepEqual(
    days.slice(0, last),
    Array.from({ length: last }, () => LIMIT),
    'no day before the last is short',
  );
});

test('so do those who wait for the limit of new leads after an event', async (t) => {
  // All leads wait for an event until the same hour of the first morning.
  const campaign: Partial<CampaignSpec> = {
    begin: { kind: 'event', name: 'signed-up', timeoutMinutes: 8 * 60 },
    maxNewPerDay: LIMIT,
    steps: [],
  };
  const { emails, faults, turns } = await playWorld(world.deps, world14(9_005, { happenings: [], campaign }));
  t.deepEqual(faults, []);
  t.deepEqual(byDay(emails), [...Array.from({ length: 11 }, () => LIMIT), 0, 0]);
  t.true(turns.run <= LEADS * 5 + 12 * LIMIT, `${turns.run} turns of runs`);
});
