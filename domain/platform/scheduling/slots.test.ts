import test from 'ava';
import fc from 'fast-check';
import { entryDelayEnd, nextSlot } from './slots.ts';
import type { Slot, SlotRequest } from './slots.ts';
import { isOpen } from './windows.ts';
import type { Schedule } from './windows.ts';
import { DAY, HOUR, MINUTE } from './zone.ts';

const office: Schedule = {
  timezone: 'Europe/Budapest',
  days: 31,
  startTime: '09:00',
  endTime: '17:00',
  windows: null,
  startDate: null,
  endDate: null,
};
const request = (fields: Partial<SlotRequest>): SlotRequest => ({
  now: new Date('2025-06-02T10:00:00Z'),
  lastSentAt: null,
  minGapSeconds: 600,
  schedule: office,
  horizonMs: HOUR,
  notBefore: null,
  jitter: () => 0,
  ...fields,
});
const date = (text: string): Date => new Date(text);
const show = (slot: Slot): string =>
  'at' in slot ? `at ${slot.at.toISOString()}` : 'later' in slot ? `later ${slot.later.toISOString()}` : slot.never;
const prefer = (timezone: string, hours: number[], weekendWeight = 1) => ({
  optimize: { timezone, hours, weekendWeight },
});
/** Returns a function that returns the given draws in order, then 0. */
const draws =
  (...values: number[]): (() => number) =>
  () =>
    values.shift() ?? 0;

// 2025-06-02 is a Monday. Budapest is two hours ahead of UTC, so its office hours are 07:00 to 15:00 UTC.
const table: [string, Partial<SlotRequest>, string][] = [
  ['open and nothing sent: now', {}, 'at 2025-06-02T10:00:00.000Z'],
  ['a gap that has passed', { lastSentAt: date('2025-06-02T09:50:00Z') }, 'at 2025-06-02T10:00:00.000Z'],
  ['a gap still running', { lastSentAt: date('2025-06-02T09:55:00Z') }, 'at 2025-06-02T10:05:00.000Z'],
  [
    'the gap grows by a fifth at most',
    { lastSentAt: date('2025-06-02T09:55:00Z'), jitter: () => 1 },
    'at 2025-06-02T10:07:00.000Z',
  ],
  ['a last slot reserved ahead', { lastSentAt: date('2025-06-02T10:30:00Z') }, 'at 2025-06-02T10:40:00.000Z'],
  [
    'a gap over the end of the window',
    { now: date('2025-06-02T14:58:00Z'), lastSentAt: date('2025-06-02T14:55:00Z') },
    'later 2025-06-03T07:00:00.000Z',
  ],
  ['a hold', { notBefore: date('2025-06-02T10:20:00Z') }, 'at 2025-06-02T10:20:00.000Z'],
  ['a hold that is over', { notBefore: date('2025-06-01T00:00:00Z') }, 'at 2025-06-02T10:00:00.000Z'],
  ['exactly at the horizon', { notBefore: date('2025-06-02T11:00:00Z') }, 'at 2025-06-02T11:00:00.000Z'],
  ['beyond the horizon', { notBefore: date('2025-06-02T11:00:01Z') }, 'later 2025-06-02T11:00:01.000Z'],
  [
    'the opening is not on the dot',
    { now: date('2025-06-02T06:30:00Z'), jitter: () => 0.5 },
    'at 2025-06-02T07:01:00.000Z',
  ],
  [
    'nor for who comes just after it',
    { now: date('2025-06-02T07:00:10Z'), jitter: () => 0.5 },
    'at 2025-06-02T07:01:00.000Z',
  ],
  [
    'a full week has no openings to shift',
    {
      schedule: { ...office, days: 127, startTime: null, endTime: null },
      now: date('2025-06-01T22:00:05Z'),
      jitter: () => 1,
    },
    'at 2025-06-01T22:00:05.000Z',
  ],
  [
    'a window shorter than the shift',
    { schedule: { ...office, endTime: '09:01' }, now: date('2025-06-02T06:30:00Z'), jitter: () => 1 },
    'at 2025-06-02T07:00:59.999Z',
  ],
  ['weekend', { now: date('2025-06-07T10:00:00Z') }, 'later 2025-06-09T07:00:00.000Z'],
  ['no day', { schedule: { ...office, days: 0 } }, 'no_window'],
  ['ended', { schedule: { ...office, endDate: date('2025-06-02T10:00:00Z') } }, 'ended'],
  [
    'ends before the hold',
    { schedule: { ...office, endDate: date('2025-06-03T00:00:00Z') }, notBefore: date('2025-06-02T15:00:00Z') },
    'ended',
  ],
  [
    'waits for its start',
    { schedule: { ...office, startDate: date('2025-06-02T10:30:00Z') } },
    'at 2025-06-02T10:30:00.000Z',
  ],
  // New York is six hours behind Budapest, so 9:00 there is 13:00 UTC.
  ['the recipient sleeps', prefer('America/New_York', [9, 10]), 'later 2025-06-02T13:00:00.000Z'],
  ['a preferred hour now', { ...prefer('America/New_York', [6]) }, 'at 2025-06-02T10:00:00.000Z'],
  [
    'the window closes before the preferred hours do',
    { ...prefer('America/New_York', [10, 11]), now: date('2025-06-02T15:30:00Z') },
    'later 2025-06-03T14:00:00.000Z',
  ],
  [
    'hours that never meet the window hold nothing',
    prefer('America/Los_Angeles', [9, 10]),
    'at 2025-06-02T10:00:00.000Z',
  ],
  // 9:00 in Budapest is noon in Kathmandu only after summer time begins, a week after the next window.
  [
    'a change of the clocks makes them meet',
    { ...prefer('Asia/Kathmandu', [12]), schedule: { ...office, endTime: '09:01' }, now: date('2025-03-21T08:01:00Z') },
    'later 2025-03-31T07:00:00.000Z',
  ],
  [
    'a hold over the end of the campaign',
    { ...prefer('America/New_York', [9]), schedule: { ...office, endDate: date('2025-06-02T13:00:00Z') } },
    'ended',
  ],
  ['no hours: any', prefer('America/New_York', []), 'at 2025-06-02T10:00:00.000Z'],
  [
    'weekend of weight 0',
    { ...prefer('UTC', [], 0), schedule: { ...office, days: 127 }, now: date('2025-06-07T10:00:00Z') },
    'later 2025-06-09T07:00:00.000Z',
  ],
  [
    'weekend of weight 0.4, drawn under',
    {
      ...prefer('UTC', [], 0.4),
      schedule: { ...office, days: 127 },
      now: date('2025-06-07T10:00:00Z'),
      jitter: draws(0, 0.39),
    },
    'at 2025-06-07T10:00:00.000Z',
  ],
  [
    'and over',
    {
      ...prefer('UTC', [], 0.4),
      schedule: { ...office, days: 127 },
      now: date('2025-06-07T10:00:00Z'),
      jitter: draws(0, 0.4),
    },
    'later 2025-06-09T07:00:00.000Z',
  ],
  [
    'weight 1 lets every draw through',
    {
      ...prefer('UTC', [], 1),
      schedule: { ...office, days: 127, startTime: null, endTime: null },
      now: date('2025-06-07T10:00:00Z'),
      jitter: () => 1,
    },
    'at 2025-06-07T10:00:00.000Z',
  ],
  [
    'a preferred hour is not met on the dot',
    { ...prefer('America/New_York', [9]), horizonMs: DAY, jitter: () => 0.5 },
    'at 2025-06-02T13:01:00.000Z',
  ],
  [
    'nor is a start date',
    { schedule: { ...office, startDate: date('2025-06-02T10:30:00Z') }, jitter: () => 0.5 },
    'at 2025-06-02T10:31:00.000Z',
  ],
  [
    'a weekend campaign outweighs weight 0 but keeps the hour',
    {
      ...prefer('UTC', [12], 0),
      schedule: { ...office, days: 96 },
      now: date('2025-06-07T10:00:00Z'),
      horizonMs: 9 * HOUR,
    },
    'at 2025-06-07T12:00:00.000Z',
  ],
];

for (const [name, fields, expected] of table) test(name, (t) => t.is(show(nextSlot(request(fields))), expected));

test('an unknown recipient zone is refused', (t) => {
  t.throws(() => nextSlot(request(prefer('BST', [9]))), { instanceOf: RangeError });
});

test('the entry delay counts from the entry, or from the campaign where none is recorded', (t) => {
  const created = date('2025-06-01T00:00:00Z');
  t.is(entryDelayEnd(date('2025-06-02T00:00:00Z'), created, 90).toISOString(), '2025-06-02T01:30:00.000Z');
  t.is(entryDelayEnd(null, created, 129600).toISOString(), '2025-08-30T00:00:00.000Z');
});

const zoneArb = fc.constantFrom('UTC', 'Europe/Budapest', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu');
const start = Date.UTC(2025, 2, 20);
const whenArb = fc.integer({ min: start, max: start + 20 * DAY });
const aheadArb = fc.option(fc.integer({ min: start - DAY, max: start + 25 * DAY }).map((ms) => new Date(ms)));
const windowArb = fc
  .tuple(fc.integer({ min: 0, max: 1439 }), fc.integer({ min: 1, max: 600 }))
  .map(([from, length]) => ({ start: from, end: Math.min(1440, from + length) }));
const requestArb: fc.Arbitrary<SlotRequest> = fc.record({
  now: whenArb.map((ms) => new Date(ms)),
  lastSentAt: aheadArb,
  minGapSeconds: fc.integer({ min: 0, max: 7200 }),
  schedule: fc.record({
    timezone: zoneArb,
    days: fc.option(fc.integer({ min: 0, max: 127 })),
    startTime: fc.constantFrom(null, '00:00', '09:00', '22:00'),
    endTime: fc.constantFrom(null, '02:30', '09:01', '17:00'),
    windows: fc.option(fc.array(fc.array(windowArb, { maxLength: 2 }), { minLength: 7, maxLength: 7 })),
    startDate: aheadArb,
    endDate: aheadArb,
  }),
  horizonMs: fc.integer({ min: 0, max: 3 * DAY }),
  notBefore: aheadArb,
  optimize: fc.option(
    fc.record({
      hours: fc.array(fc.integer({ min: 0, max: 23 }), { maxLength: 4 }),
      timezone: zoneArb,
      weekendWeight: fc.constantFrom(0, 0.5, 1, 2),
    }),
    { nil: undefined },
  ),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => () => value),
});
const timeOf = (slot: Slot): number =>
  ('at' in slot ? slot.at : 'later' in slot ? slot.later : null)?.getTime() ?? Infinity;

test('property: every slot keeps every bound', (t) => {
  let slots = 0;
  fc.assert(
    fc.property(requestArb, (asked) => {
      const slot = nextSlot(asked);
      if ('never' in slot) return slot.never === 'ended' ? asked.schedule.endDate !== null : asked.schedule.days === 0;
      slots += 1;
      const time = timeOf(slot);
      const { now, lastSentAt, minGapSeconds, schedule, notBefore } = asked;
      return (
        isOpen(schedule, new Date(time)) &&
        time >= now.getTime() &&
        (notBefore === null || time >= notBefore.getTime()) &&
        (lastSentAt === null || time >= lastSentAt.getTime() + minGapSeconds * 1000) &&
        (schedule.startDate === null || time >= schedule.startDate.getTime()) &&
        (schedule.endDate === null || time < schedule.endDate.getTime()) &&
        'at' in slot === time <= now.getTime() + asked.horizonMs
      );
    }),
    { numRuns: 4000 },
  );
  t.true(slots > 500);
});

test('property: a later question never gets an earlier answer', (t) => {
  fc.assert(
    fc.property(
      requestArb,
      fc.oneof(fc.integer({ min: 0, max: 10 * MINUTE }), fc.integer({ min: 0, max: 9 * DAY })),
      (asked, wait) =>
        timeOf(nextSlot({ ...asked, now: new Date(asked.now.getTime() + wait) })) >= timeOf(nextSlot(asked)),
    ),
    { numRuns: 4000 },
  );
  t.pass();
});

test('property: asking again at the time given, with the same draws, gets that very time', (t) => {
  fc.assert(
    fc.property(requestArb, (asked) => {
      const again = (time: number): number =>
        time === Infinity ? time : timeOf(nextSlot({ ...asked, now: new Date(time) }));
      const first = again(asked.now.getTime());
      const second = again(first);
      // A weekend slot that was chosen because no weekday was possible may move once, if a clock change makes a weekday
      // possible.
      const gaveIn = asked.optimize !== undefined && asked.jitter() >= asked.optimize.weekendWeight;
      return gaveIn ? second >= first && again(second) === second : second === first;
    }),
    { numRuns: 4000 },
  );
  t.pass();
});

test('property: optimization waits for the first minute when both clocks agree, and never hurries', (t) => {
  fc.assert(
    fc.property(requestArb, (drawn) => {
      if (drawn.optimize === undefined || drawn.optimize.hours.length === 0) return true;
      const asked = { ...drawn, jitter: () => 0, optimize: { ...drawn.optimize, weekendWeight: 1 } };
      asked.schedule = { ...asked.schedule, endDate: null };
      const plain = timeOf(nextSlot({ ...asked, optimize: undefined }));
      if (plain === Infinity) return true;
      const time = timeOf(nextSlot(asked));
      // The recipient's hours as a separate schedule, whose openings other tests compare with the calendar.
      const { timezone, hours } = asked.optimize;
      const day = hours.map((hour) => ({ start: hour * 60, end: hour * 60 + 60 }));
      const recipient: Schedule = { ...office, timezone, windows: [day, day, day, day, day, day, day] };
      const agrees = (at: number): boolean => isOpen(recipient, new Date(at)) && isOpen(asked.schedule, new Date(at));
      // Windows and hours begin on whole minutes.
      const from = Math.ceil(plain / MINUTE) * MINUTE;
      const until = time > plain ? time : plain + 7 * DAY;
      if (agrees(plain)) return time === plain;
      for (let at = from; at < until; at += MINUTE) if (agrees(at)) return false;
      return time === plain || agrees(time);
    }),
    { numRuns: 150 },
  );
  t.pass();
});
