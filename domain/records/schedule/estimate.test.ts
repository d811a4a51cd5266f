import test from 'ava';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { estimateSending } from './estimate.ts';
import type { EstimateInput } from './estimate.ts';
import { isOpen } from './windows.ts';
import type { Schedule } from './windows.ts';

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
// A Wednesday noon.
const input = (fields: Partial<EstimateInput>): EstimateInput => ({
  recipients: 100,
  mailboxes: [{ cap: 80, sentToday: 0 }],
  dailyLimit: 50,
  schedule: whole,
  now: date('2025-06-04T12:00:00Z'),
  ...fields,
});

// [name, input, remaining_today, sending_days, estimated_finish_at]
const table: [string, Partial<EstimateInput>, number, number | null, string | null][] = [
  ['the last mail of an even spread', {}, 50, 2, '2025-06-05T23:31:12.000Z'],
  ['one mail goes at once', { recipients: 1 }, 50, 1, '2025-06-04T12:00:00.000Z'],
  ['half of today', { recipients: 26 }, 50, 1, '2025-06-04T18:00:00.000Z'],
  ['today is used up', { recipients: 1, mailboxes: [{ cap: 80, sentToday: 60 }] }, 0, 1, '2025-06-05T00:00:00.000Z'],
  ['over the weekend', { recipients: 151 }, 50, 4, '2025-06-09T00:00:00.000Z'],
  [
    'a cap under the limit',
    { recipients: 11, mailboxes: [{ cap: 10, sentToday: 0 }] },
    10,
    2,
    '2025-06-05T00:00:00.000Z',
  ],
  [
    'on a Sunday nothing goes, though the pool has room',
    { recipients: 1, now: date('2025-06-08T12:00:00Z') },
    50,
    1,
    '2025-06-09T00:00:00.000Z',
  ],
  [
    'a later start',
    {
      recipients: 51,
      mailboxes: [{ cap: 80, sentToday: 49 }],
      schedule: { ...whole, startDate: date('2025-06-10T06:00:00Z') },
    },
    1,
    2,
    '2025-06-11T00:00:00.000Z',
  ],
  [
    'the day of the zone',
    { recipients: 1, mailboxes: [{ cap: 80, sentToday: 50 }], schedule: { ...whole, timezone: 'America/New_York' } },
    0,
    1,
    '2025-06-05T04:00:00.000Z',
  ],
  [
    'over two windows',
    {
      recipients: 4,
      dailyLimit: 4,
      now: date('2025-06-04T00:00:00Z'),
      schedule: {
        ...whole,
        windows: [0, 1, 2, 3, 4, 5, 6].map(() => [
          { start: 480, end: 600 },
          { start: 840, end: 960 },
        ]),
      },
    },
    4,
    1,
    '2025-06-04T15:00:00.000Z',
  ],
  [
    'after closing time',
    { recipients: 1, schedule: { ...whole, startTime: '08:00', endTime: '11:00' } },
    50,
    1,
    '2025-06-05T08:00:00.000Z',
  ],
  ['nobody', { recipients: 0 }, 50, null, null],
  ['no mailbox', { mailboxes: [] }, 0, null, null],
  ['no capacity', { dailyLimit: 0 }, 0, null, null],
  ['no day', { schedule: { ...whole, days: 0 } }, 50, null, null],
  ['an end too soon', { schedule: { ...whole, endDate: date('2025-06-05T00:00:00Z') } }, 50, null, null],
  [
    'just under two years',
    { recipients: 104, dailyLimit: 1, schedule: { ...whole, days: 1 } },
    1,
    104,
    '2027-05-31T00:00:00.000Z',
  ],
  ['over two years', { recipients: 105, dailyLimit: 1, schedule: { ...whole, days: 1 } }, 1, null, null],
  [
    'the two years end at noon',
    { recipients: 2923, dailyLimit: 4, schedule: { ...whole, days: 127 } },
    4,
    731,
    '2027-06-04T12:00:00.000Z',
  ],
  ['not at six', { recipients: 2924, dailyLimit: 4, schedule: { ...whole, days: 127 } }, 4, null, null],
  ['a million to one mailbox', { recipients: 1_000_000 }, 50, null, null],
];

for (const [name, fields, remaining, days, finish] of table) {
  test(name, (t) => {
    const result = estimateSending(input(fields));
    t.is(result.remaining_today, remaining);
    t.is(result.sending_days, days);
    t.is(result.estimated_finish_at?.toISOString() ?? null, finish);
  });
}

test('capacity counts the smaller of limit and cap of each mailbox', (t) => {
  const mailboxes = [
    { cap: 80, sentToday: 10 },
    { cap: 20, sentToday: 30 },
    { cap: 0, sentToday: 0 },
  ];
  const result = estimateSending(input({ mailboxes, recipients: 7 }));
  t.like(result, { recipients: 7, mailboxes: 3, daily_capacity: 70, remaining_today: 40 });
});

test('property: the days given suffice, one fewer would not, and the finish is a sending moment', (t) => {
  const arb = fc.record({
    recipients: fc.integer({ min: 1, max: 3000 }),
    mailboxes: fc.array(fc.record({ cap: fc.nat(60), sentToday: fc.nat(60) }), { maxLength: 4 }),
    dailyLimit: fc.nat(60),
    now: fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2026, 0) }).map((ms) => new Date(ms)),
    schedule: fc.record({
      timezone: fc.constantFrom('UTC', 'Europe/Budapest', 'America/New_York', 'Australia/Lord_Howe'),
      days: fc.option(fc.integer({ min: 1, max: 127 })),
      startTime: fc.constantFrom(null, '09:00', '22:00'),
      endTime: fc.constantFrom(null, '02:00', '17:00'),
      windows: fc.constant(null),
      startDate: fc.option(fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2026, 0) }).map((ms) => new Date(ms))),
      endDate: fc.constant(null),
    }),
  });
  fc.assert(
    fc.property(arb, (asked) => {
      const { daily_capacity, remaining_today, sending_days, estimated_finish_at } = estimateSending(asked);
      if (remaining_today > daily_capacity) return false;
      if (sending_days === null || estimated_finish_at === null) {
        return daily_capacity === 0 || asked.recipients > daily_capacity * 100;
      }
      const { schedule, now, recipients } = asked;
      // Counts the days on luxon's calendar, hour by hour.
      const begin = Math.max(now.getTime(), schedule.startDate?.getTime() ?? 0);
      const day = (at: number): string => DateTime.fromMillis(at, { zone: schedule.timezone }).toISODate()!;
      const today = day(now.getTime());
      const used = new Set<string>();
      const finish = estimated_finish_at.getTime();
      for (let at = begin; at <= finish; at += 3_600_000) if (isOpen(schedule, new Date(at))) used.add(day(at));
      used.add(day(finish));
      if (remaining_today === 0) used.delete(today);
      const room = (days: number): number =>
        days * daily_capacity - (used.has(today) ? daily_capacity - remaining_today : 0);
      return (
        used.size === sending_days &&
        isOpen(schedule, estimated_finish_at) &&
        finish >= begin &&
        recipients <= room(sending_days) &&
        (sending_days === 1 || recipients > room(sending_days - 1))
      );
    }),
    { numRuns: 150 },
  );
  t.pass();
});
