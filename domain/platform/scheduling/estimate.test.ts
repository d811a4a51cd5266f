import test from 'ava';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { estimateSending } from './estimate.ts';
import type { EstimateInput } from './estimate.ts';
import type { ProjectedMailbox } from './projected-day.ts';
import { rampLevel } from './ramp.ts';
import { isOpen } from './windows.ts';
import type { Schedule } from './windows.ts';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const whole: Schedule = {
  timezone: 'UTC',
  days: null,
  startTime: null,
  endTime: null,
  windows: null,
  startDate: null,
  endDate: null,
};
const date = (text: string): Date => new Date(text);

interface Box {
  cap: number;
  gapMinutes?: number;
  /** Emails counted on the current UTC day. */
  usedToday?: number;
  taken?: readonly string[];
  restsUntil?: string;
  /** Emails of other senders: days from now until the first day, and emails per day. */
  coming?: { inDays: number; emails: readonly number[] };
}

const box = (
  { cap, gapMinutes = 0, usedToday = 0, taken = [], restsUntil, coming }: Box,
  day: string,
): ProjectedMailbox => ({
  cap,
  gapMs: gapMinutes * MINUTE,
  used: new Map([[day, usedToday]]),
  taken: taken.map((text) => Date.parse(text)),
  restsUntil: restsUntil ? Date.parse(restsUntil) : 0,
  coming: coming && { firstDay: Date.parse(day) / DAY + coming.inDays, emails: coming.emails },
});

type Asked = Omit<Partial<EstimateInput>, 'mailboxes'> & { boxes?: Box[] };

// The default time is noon on a Wednesday.
const input = ({ boxes = [{ cap: 80 }], now = date('2025-06-04T12:00:00Z'), ...fields }: Asked): EstimateInput => ({
  recipients: 100,
  mailboxes: boxes.map((one) => box(one, now.toISOString().slice(0, 10))),
  dailyLimit: 50,
  ramp: null,
  schedule: whole,
  now,
  ...fields,
});

const everyDay = (...windows: { start: number; end: number }[]): Schedule => ({
  ...whole,
  windows: [0, 1, 2, 3, 4, 5, 6].map(() => windows),
});
const sydney = { ...whole, timezone: 'Australia/Sydney', startTime: '09:00', endTime: '17:00' };

// [name, input, daily_capacity, remaining_today, sending_days, estimated_finish_at]
const table: [string, Asked, number, number, number | null, string | null][] = [
  ['each email a gap after the one before', { boxes: [{ cap: 80, gapMinutes: 10 }] }, 50, 50, 2, '2025-06-05T08:10Z'],
  ['one mail goes at once', { recipients: 1 }, 50, 50, 1, '2025-06-04T12:00Z'],
  [
    'what a mailbox has sent counts against its cap',
    { boxes: [{ cap: 80, usedToday: 60 }] },
    50,
    20,
    3,
    '2025-06-06T00:00Z',
  ],
  [
    'what others will send on coming days counts against its cap',
    { recipients: 130, boxes: [{ cap: 60, coming: { inDays: 1, emails: [20, 50] } }] },
    50,
    50,
    6,
    '2025-06-11T00:00Z',
  ],
  ['today is used up', { recipients: 1, boxes: [{ cap: 80, usedToday: 80 }] }, 50, 0, 1, '2025-06-05T00:00Z'],
  ['over the weekend', { recipients: 151 }, 50, 50, 4, '2025-06-09T00:00Z'],
  [
    'the limit is that of the campaign',
    { recipients: 51, boxes: [{ cap: 80 }, { cap: 80 }] },
    50,
    50,
    2,
    '2025-06-05T00:00Z',
  ],
  ['a cap under the limit', { recipients: 11, boxes: [{ cap: 10 }] }, 10, 10, 2, '2025-06-05T00:00Z'],
  [
    'gaps leave room for three in a window',
    { recipients: 4, boxes: [{ cap: 80, gapMinutes: 60 }], schedule: everyDay({ start: 480, end: 660 }) },
    3,
    0,
    2,
    '2025-06-06T08:00Z',
  ],
  [
    'over two windows',
    {
      recipients: 4,
      boxes: [{ cap: 80, gapMinutes: 60 }],
      now: date('2025-06-04T00:00:00Z'),
      schedule: everyDay({ start: 480, end: 600 }, { start: 840, end: 960 }),
    },
    4,
    4,
    1,
    '2025-06-04T15:00Z',
  ],
  ['on a Sunday nothing goes', { recipients: 1, now: date('2025-06-08T12:00:00Z') }, 50, 0, 1, '2025-06-09T00:00Z'],
  [
    'a later start',
    { recipients: 51, schedule: { ...whole, startDate: date('2025-06-10T06:00:00Z') } },
    50,
    0,
    2,
    '2025-06-11T00:00Z',
  ],
  [
    'caps count by UTC day: the evening in New York belongs to the next',
    { recipients: 1, boxes: [{ cap: 80, usedToday: 80 }], schedule: { ...whole, timezone: 'America/New_York' } },
    50,
    50,
    1,
    '2025-06-05T00:00Z',
  ],
  [
    'a day in Sydney begins with what the UTC day has left',
    { recipients: 15, boxes: [{ cap: 8, gapMinutes: 60 }], schedule: sydney, now: date('2025-06-04T00:00:00Z') },
    8,
    7,
    2,
    '2025-06-05T06:00Z',
  ],
  [
    'or with nothing',
    { recipients: 6, boxes: [{ cap: 5, gapMinutes: 60 }], schedule: sydney, now: date('2025-06-04T00:00:00Z') },
    5,
    5,
    2,
    '2025-06-05T00:00Z',
  ],
  [
    'after closing time',
    { recipients: 1, schedule: { ...whole, startTime: '08:00', endTime: '11:00' } },
    50,
    0,
    1,
    '2025-06-05T08:00Z',
  ],
  [
    'a mailbox that rests',
    { recipients: 1, boxes: [{ cap: 5, restsUntil: '2025-06-04T15:00Z' }] },
    5,
    5,
    1,
    '2025-06-04T15:00Z',
  ],
  [
    'the gap to its latest email',
    { recipients: 1, boxes: [{ cap: 5, gapMinutes: 10, taken: ['2025-06-04T11:55Z'] }] },
    5,
    5,
    1,
    '2025-06-04T12:05Z',
  ],
  [
    'the gap to a slot given out',
    { recipients: 2, boxes: [{ cap: 5, gapMinutes: 10, taken: ['2025-06-04T12:15Z'] }] },
    5,
    5,
    1,
    '2025-06-04T12:25Z',
  ],
  ['a ramp', { recipients: 9, ramp: { start: 1, increment: 2, ceiling: 4 } }, 4, 1, 4, '2025-06-09T00:00Z'],
  ['nobody', { recipients: 0 }, 50, 50, null, null],
  ['no mailbox', { boxes: [] }, 0, 0, null, null],
  ['no capacity', { dailyLimit: 0 }, 0, 0, null, null],
  ['no day', { schedule: { ...whole, days: 0 } }, 0, 0, null, null],
  ['an end too soon', { schedule: { ...whole, endDate: date('2025-06-05T00:00:00Z') } }, 0, 50, null, null],
  [
    'just under two years',
    { recipients: 104, dailyLimit: 1, schedule: { ...whole, days: 1 } },
    1,
    0,
    104,
    '2027-05-31T00:00Z',
  ],
  ['over two years', { recipients: 105, dailyLimit: 1, schedule: { ...whole, days: 1 } }, 1, 0, null, null],
  [
    'the two years end at noon',
    { recipients: 2921, boxes: [{ cap: 80, gapMinutes: 360 }], schedule: { ...whole, days: 127 } },
    4,
    2,
    731,
    '2027-06-04T12:00Z',
  ],
  [
    'not at six',
    { recipients: 2922, boxes: [{ cap: 80, gapMinutes: 360 }], schedule: { ...whole, days: 127 } },
    4,
    2,
    null,
    null,
  ],
  ['a million to one mailbox', { recipients: 1_000_000 }, 50, 50, null, null],
];

for (const [name, fields, capacity, remaining, days, finish] of table) {
  test(name, async (t) => {
    const result = await estimateSending(input(fields));
    t.like(result, { daily_capacity: capacity, remaining_today: remaining, sending_days: days });
    t.is(result.estimated_finish_at?.toISOString() ?? null, finish && date(finish).toISOString());
  });
}

test('what cannot be done in two years is said without going through their days; what just can be is not', async (t) => {
  const boxes = Array.from({ length: 100 }, (_, n) => ({ cap: 1 + n, gapMinutes: 1 + n }));
  const ask = (recipients: number) => estimateSending(input({ boxes, recipients, dailyLimit: 7, schedule: whole }));
  const least = 7 * 5 * 104;
  const { estimated_finish_at: finish, ...rest } = await ask(least);
  t.deepEqual([finish !== null, rest.remaining_today], [true, (await ask(1)).remaining_today]);
  for (const recipients of [7 * 734 + 1, 2_000_000_000]) {
    const answer = await ask(recipients);
    t.deepEqual([answer.sending_days, answer.estimated_finish_at], [null, null]);
    t.like(answer, { recipients, remaining_today: rest.remaining_today, daily_capacity: 7 });
  }
});

test('ten thousand mailboxes, no two alike, are projected without going through every day of each, while others get the event loop', async (t) => {
  const boxes = Array.from({ length: 10_000 }, (_, n) => ({ cap: 1 + n, gapMinutes: n % 7, usedToday: n % 5 }));
  const ask = (schedule: Schedule) =>
    estimateSending(input({ boxes, recipients: 2_500_000, dailyLimit: 10_000, schedule }));
  const first = ask(sydney);
  const others = new Promise((resolve) => setImmediate(resolve, 'others'));
  t.is(await Promise.race([first, others]), 'others');
  for (const estimate of [first, ask({ ...whole, timezone: 'America/New_York' })])
    t.is((await estimate).sending_days, 250);
});

/**
 * Reference implementation that tries every minute: the free mailbox with the fewest emails sends, until the daily
 * limit is reached.
 */
function playMinutes({ recipients, mailboxes, dailyLimit, ramp, schedule, now }: EstimateInput): Date[] {
  const sent: Date[] = [];
  const counts = new Map<string, number>();
  const count = (key: string): number => counts.get(key) ?? 0;
  const add = (...keys: string[]): void => keys.forEach((key) => counts.set(key, count(key) + 1));
  const boxes = mailboxes.map((one, index) => ({ ...one, index, taken: [...one.taken], last: -Infinity }));
  for (const { index, used } of boxes) for (const [day, emails] of used) counts.set(`${index} ${day}`, emails);
  for (const { index, coming } of boxes)
    for (let n = 0; coming && n < 20; n += 1) {
      const day = new Date((coming.firstDay + n) * DAY).toISOString().slice(0, 10);
      counts.set(`${index} ${day}`, count(`${index} ${day}`) + (coming.emails[n] ?? coming.emails.at(-1)!));
    }
  const sendingDays = new Set<string>();
  for (let at = now.getTime(); at < now.getTime() + 14 * DAY && sent.length < recipients; at += MINUTE) {
    if (!isOpen(schedule, new Date(at))) continue;
    const day = DateTime.fromMillis(at, { zone: schedule.timezone }).toISODate()!;
    const utcDay = new Date(at).toISOString().slice(0, 10);
    sendingDays.add(day);
    const level = ramp
      ? rampLevel({ enabled: true, ...ramp, level: null, perMailboxCap: dailyLimit }, sendingDays.size - 1)
      : dailyLimit;
    while (sent.length < recipients && count(`campaign ${day}`) < dailyLimit) {
      const [next] = boxes
        .filter(
          ({ index, cap, gapMs, taken, restsUntil }) =>
            restsUntil <= at &&
            count(`${index} ${utcDay}`) < cap &&
            count(`${index} campaign ${day}`) < Math.min(cap, level) &&
            taken.every((other) => Math.abs(at - other) >= gapMs),
        )
        .sort((a, b) => count(`${a.index} ${utcDay}`) - count(`${b.index} ${utcDay}`) || a.last - b.last);
      if (!next) break;
      next.taken.push(at);
      next.last = at;
      add(`campaign ${day}`, `${next.index} ${utcDay}`, `${next.index} campaign ${day}`);
      sent.push(new Date(at));
    }
  }
  return sent;
}

test('property: the projection is what trying every minute gives', async (t) => {
  const minutes = fc.integer({ min: Date.UTC(2025, 0) / MINUTE, max: Date.UTC(2026, 0) / MINUTE });
  const arb = fc.record({
    recipients: fc.integer({ min: 1, max: 40 }),
    boxes: fc.array(
      fc.record({
        cap: fc.nat(8),
        gapMinutes: fc.constantFrom(0, 7, 45, 90, 300),
        usedToday: fc.nat(6),
        takenAgo: fc.array(fc.integer({ min: -200, max: 200 }), { maxLength: 2 }),
        coming: fc.option(
          fc.record({ inDays: fc.nat(2), emails: fc.array(fc.nat(4), { minLength: 1, maxLength: 3 }) }),
          { nil: undefined },
        ),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    dailyLimit: fc.integer({ min: 1, max: 16 }),
    ramp: fc.option(fc.record({ start: fc.integer({ min: 1, max: 3 }), increment: fc.nat(2), ceiling: fc.nat(6) })),
    now: minutes,
    schedule: fc.record({
      timezone: fc.constantFrom('UTC', 'Europe/Budapest', 'America/Los_Angeles', 'Australia/Sydney', 'Asia/Kolkata'),
      days: fc.constantFrom(null, 127, 0b1010101),
      startTime: fc.constantFrom(null, '09:00', '22:00'),
      endTime: fc.constantFrom(null, '02:00', '17:00'),
      windows: fc.constant(null),
      startDate: fc.constant(null),
      endDate: fc.constant(null),
    }),
  });
  await fc.assert(
    fc.asyncProperty(arb, async ({ boxes, now, ...fields }) => {
      const iso = (minute: number): string => new Date(minute * MINUTE).toISOString();
      const asked = input({
        ...fields,
        now: new Date(now * MINUTE),
        boxes: boxes.map(({ takenAgo, ...one }) => ({ ...one, taken: takenAgo.map((ago) => iso(now - ago)) })),
      });
      const played = playMinutes(asked);
      const { sending_days: days, estimated_finish_at: finish } = await estimateSending(asked);
      if (played.length < asked.recipients) {
        // The reference found no end within two weeks, so the estimate must not be earlier than that.
        if (finish !== null && finish.getTime() < asked.now.getTime() + 14 * DAY) throw new Error('too hopeful');
        return;
      }
      const zone = asked.schedule.timezone;
      const used = new Set(played.map((at) => DateTime.fromJSDate(at, { zone }).toISODate()));
      t.deepEqual([days, finish?.toISOString()], [used.size, played.at(-1)!.toISOString()]);
    }),
    { numRuns: 100 },
  );
});
