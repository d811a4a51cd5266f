import test from 'ava';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { scheduleProblems } from './problems.ts';
import { dayKey, isOpen, nextOpening, startOfNextDay } from './windows.ts';
import type { MinuteWindow, Schedule } from './windows.ts';
import { MINUTE, isIanaZone, zoneClock } from './zone.ts';

const base: Schedule = {
  timezone: 'UTC',
  days: 127,
  startTime: null,
  endTime: null,
  windows: null,
  startDate: null,
  endDate: null,
};
const daily = (timezone: string, startTime: string, endTime: string): Schedule => ({
  ...base,
  timezone,
  startTime,
  endTime,
});
const on = (days: Record<number, MinuteWindow[]>): MinuteWindow[][] =>
  Array.from({ length: 7 }, (_, weekday) => days[weekday] ?? []);
const iso = (date: Date | null): string | null => date?.toISOString().replace('.000Z', 'Z') ?? null;

/**
 * Reference implementation of `Schedule`, minute by minute from luxon's calendar. Returns for each minute from `start`
 * on whether it is open, ignoring the schedule's dates.
 */
function naiveMinutes(schedule: Schedule, start: number, minutes: number): boolean[] {
  const wanted = (wall: DateTime): boolean => {
    const minute = wall.hour * 60 + wall.minute;
    const weekday = wall.weekday % 7;
    if (schedule.windows?.some((day) => day.length > 0)) {
      return schedule.windows[weekday]!.some((window) => window.start <= minute && minute < window.end);
    }
    const days = schedule.days ?? 31;
    const sends = (day: number): boolean => (days & (1 << ((day + 6) % 7))) !== 0;
    const clock = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
    const from = schedule.startTime === null ? 0 : clock(schedule.startTime);
    const to = schedule.endTime === null ? 1440 : clock(schedule.endTime);
    if (from === to) return sends(weekday);
    if (from < to) return sends(weekday) && from <= minute && minute < to;
    return (sends(weekday) && minute >= from) || (sends((weekday + 6) % 7) && minute < to);
  };
  const open: boolean[] = Array.from({ length: minutes }, () => false);
  // Starts a day early, because a clock change on the day before may have moved a window into the range.
  const lead = 24 * 60;
  let before = DateTime.fromMillis(start - (lead + 1) * MINUTE, { zone: schedule.timezone });
  for (let index = -lead; index < minutes; index += 1) {
    const wall = DateTime.fromMillis(start + index * MINUTE, { zone: schedule.timezone });
    if (index >= 0 && wanted(wall)) open[index] = true;
    const skipped = wall.offset - before.offset;
    if (skipped > 0 && skipped < 1440) {
      // Maps the skipped minutes to a calendar without clock changes, plus one minute on each side.
      const calendar = before.setZone('UTC', { keepLocalTime: true });
      const flags = Array.from({ length: skipped + 2 }, (_, minute) => wanted(calendar.plus({ minutes: minute })));
      let longest = 0;
      for (let at = 1; at <= skipped; at += 1) {
        if (!flags[at] || flags[at - 1]) continue;
        let length = 0;
        while (flags[at + length]) length += 1;
        if (at + length <= skipped + 1) longest = Math.max(longest, length);
      }
      for (let at = index; at < index + longest; at += 1) if (at >= 0 && at < minutes) open[at] = true;
    }
    before = wall;
  }
  return open;
}

// [name, schedule, at, expected opening]
const openings: [string, Schedule, string, string | null][] = [
  ['open: the moment itself', daily('UTC', '09:00', '17:00'), '2025-06-02T12:00:00Z', '2025-06-02T12:00:00Z'],
  ['the first moment counts', daily('UTC', '09:00', '17:00'), '2025-06-02T09:00:00Z', '2025-06-02T09:00:00Z'],
  ['the last does not', daily('UTC', '09:00', '17:00'), '2025-06-02T17:00:00Z', '2025-06-03T09:00:00Z'],
  ['unset days are weekdays', { ...base, days: null }, '2025-06-07T12:00:00Z', '2025-06-09T00:00:00Z'],
  ['bit 0 is Monday', { ...base, days: 1 }, '2025-06-03T12:00:00Z', '2025-06-09T00:00:00Z'],
  ['bit 6 is Sunday', { ...base, days: 64 }, '2025-06-03T12:00:00Z', '2025-06-08T00:00:00Z'],
  ['no day is never', { ...base, days: 0 }, '2025-06-03T12:00:00Z', null],
  ['equal times are the whole day', daily('UTC', '09:00', '09:00'), '2025-06-03T03:00:00Z', '2025-06-03T03:00:00Z'],
  ['no end: until midnight', { ...base, startTime: '22:00' }, '2025-06-03T23:59:00Z', '2025-06-03T23:59:00Z'],
  ['no start: from midnight', { ...base, endTime: '02:00' }, '2025-06-03T03:00:00Z', '2025-06-04T00:00:00Z'],
  [
    'small hours belong to the day before',
    { ...daily('UTC', '22:00', '02:00'), days: 16 },
    '2025-06-07T01:00:00Z',
    '2025-06-07T01:00:00Z',
  ],
  [
    'and not to their own',
    { ...daily('UTC', '22:00', '02:00'), days: 16 },
    '2025-06-06T01:00:00Z',
    '2025-06-06T22:00:00Z',
  ],
  [
    'Sunday night runs into Monday',
    { ...daily('UTC', '22:00', '02:00'), days: 64 },
    '2025-06-09T01:00:00Z',
    '2025-06-09T01:00:00Z',
  ],
  [
    'Saturday night runs over the end of the week',
    { ...daily('UTC', '22:00', '02:00'), days: 32 },
    '2025-06-08T01:59:00Z',
    '2025-06-08T01:59:00Z',
  ],
  [
    'windows supersede days',
    { ...base, windows: on({ 0: [{ start: 60, end: 120 }] }) },
    '2025-06-02T00:00:00Z',
    '2025-06-08T01:00:00Z',
  ],
  ['seven empty days do not', { ...base, windows: on({}) }, '2025-06-02T00:00:00Z', '2025-06-02T00:00:00Z'],
  [
    'before the start date',
    { ...daily('UTC', '09:00', '17:00'), startDate: new Date('2025-06-10T10:30:00Z') },
    '2025-06-02T00:00:00Z',
    '2025-06-10T10:30:00Z',
  ],
  ['the end date is out', { ...base, endDate: new Date('2025-06-10T00:00:00Z') }, '2025-06-10T00:00:00Z', null],
  [
    'an opening past the end date is none',
    { ...daily('UTC', '09:00', '17:00'), endDate: new Date('2025-06-10T09:00:00Z') },
    '2025-06-09T18:00:00Z',
    null,
  ],
  [
    'Kathmandu is 5:45 ahead',
    daily('Asia/Kathmandu', '09:00', '17:00'),
    '2025-06-02T00:00:00Z',
    '2025-06-02T03:15:00Z',
  ],
  [
    'Budapest: the same hour, an hour earlier in UTC after spring',
    daily('Europe/Budapest', '09:00', '17:00'),
    '2025-03-29T17:00:00Z',
    '2025-03-30T07:00:00Z',
  ],
  [
    'Budapest: a start in the gap opens at its end',
    daily('Europe/Budapest', '02:30', '05:00'),
    '2025-03-30T00:00:00Z',
    '2025-03-30T01:00:00Z',
  ],
  [
    'Budapest: a window all in the gap opens at its end',
    daily('Europe/Budapest', '02:15', '02:45'),
    '2025-03-30T00:00:00Z',
    '2025-03-30T01:00:00Z',
  ],
  [
    'Budapest: for its own length',
    daily('Europe/Budapest', '02:15', '02:45'),
    '2025-03-30T01:30:00Z',
    '2025-03-31T00:15:00Z',
  ],
  [
    'Budapest: 02:10 in the repeated hour is before 02:30 again',
    daily('Europe/Budapest', '02:30', '05:00'),
    '2025-10-26T01:10:00Z',
    '2025-10-26T01:30:00Z',
  ],
  ['New York: spring', daily('America/New_York', '02:30', '04:00'), '2025-03-09T06:00:00Z', '2025-03-09T07:00:00Z'],
  ['New York: autumn', daily('America/New_York', '09:00', '17:00'), '2025-11-02T05:00:00Z', '2025-11-02T14:00:00Z'],
  [
    'Lord Howe: half an hour is skipped',
    daily('Australia/Lord_Howe', '02:00', '02:30'),
    '2025-10-04T15:00:00Z',
    '2025-10-04T15:30:00Z',
  ],
  [
    'Lord Howe: half an hour is repeated',
    daily('Australia/Lord_Howe', '01:45', '03:00'),
    '2025-04-05T15:05:00Z',
    '2025-04-05T15:15:00Z',
  ],
  [
    'Apia: Friday 30 December 2011 did not exist',
    { ...daily('Pacific/Apia', '09:00', '17:00'), days: 16 },
    '2011-12-29T00:00:00Z',
    '2012-01-05T19:00:00Z',
  ],
  [
    'Apia: Saturday follows Thursday',
    daily('Pacific/Apia', '09:00', '17:00'),
    '2011-12-30T04:00:00Z',
    '2011-12-30T19:00:00Z',
  ],
  [
    'Santiago: midnight is skipped',
    { ...daily('America/Santiago', '00:00', '00:30'), days: 64 },
    '2025-09-07T03:30:00Z',
    '2025-09-07T04:00:00Z',
  ],
  [
    'Santiago: the tail of Saturday night is not made up for',
    { ...daily('America/Santiago', '22:00', '00:30'), days: 32 },
    '2025-09-07T04:00:00Z',
    '2025-09-14T01:00:00Z',
  ],
  [
    'Scoresbysund: nor the half of a window that the skipped last hour of Saturday took',
    { ...daily('America/Scoresbysund', '23:00', '00:30'), days: 32 },
    '2025-03-30T01:30:00Z',
    '2025-04-06T00:00:00Z',
  ],
];

for (const [name, schedule, at, expected] of openings) {
  test(`nextOpening: ${name}`, (t) => {
    t.is(iso(nextOpening(schedule, new Date(at))), expected);
    t.is(isOpen(schedule, new Date(at)), expected === at);
  });
}

// [zone, at, local day, start of the next]
const localDays: [string, string, string, string][] = [
  ['UTC', '2025-06-02T23:59:59Z', '2025-06-02', '2025-06-03T00:00:00Z'],
  ['Asia/Kathmandu', '2025-06-02T18:15:00Z', '2025-06-03', '2025-06-03T18:15:00Z'],
  ['Europe/Budapest', '2025-03-29T23:00:00Z', '2025-03-30', '2025-03-30T22:00:00Z'],
  ['Europe/Budapest', '2025-10-25T22:00:00Z', '2025-10-26', '2025-10-26T23:00:00Z'],
  ['America/New_York', '2025-11-02T04:00:00Z', '2025-11-02', '2025-11-03T05:00:00Z'],
  ['America/Santiago', '2025-09-07T03:59:00Z', '2025-09-06', '2025-09-07T04:00:00Z'],
  ['Pacific/Apia', '2011-12-30T09:59:00Z', '2011-12-29', '2011-12-30T10:00:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31', '2011-12-31T10:00:00Z'],
];

test('local days and where the next one begins', (t) => {
  for (const [zone, at, key, next] of localDays) {
    t.is(dayKey(zone, new Date(at)), key, `${zone} ${at}`);
    t.is(iso(startOfNextDay(zone, new Date(at))), next, `${zone} ${at}`);
  }
});

test('a schedule that cannot be read is refused, not guessed', (t) => {
  const at = new Date('2025-06-06T12:00:00Z');
  t.throws(() => isOpen({ ...base, timezone: 'Mars/Olympus' }, at), { instanceOf: RangeError });
  t.throws(() => isOpen({ ...base, startTime: '9:00' }, at), { instanceOf: RangeError });
  t.throws(() => isOpen({ ...base, windows: [[{ start: 0, end: 9 }]] }, at), { instanceOf: RangeError });
  t.throws(() => isOpen({ ...base, windows: on({ 1: [{ start: 90, end: 60 }] }) }, at), { instanceOf: RangeError });
  t.throws(() => isOpen(base, new Date(NaN)), { instanceOf: RangeError });
});

test('ICU abbreviations are not IANA names', (t) => {
  for (const name of ['BST', 'IST', 'CST', 'PST', 'AST', '+02:00', 'UTC+2', '', 'Mars/Olympus']) {
    t.false(isIanaZone(name), name);
  }
  for (const name of ['UTC', 'GMT', 'EST', 'Japan', 'europe/budapest', 'America/Argentina/Buenos_Aires', 'Etc/GMT-2']) {
    t.true(isIanaZone(name), name);
  }
});

const paths = (...args: Parameters<typeof scheduleProblems>): string[] =>
  scheduleProblems(...args).map(({ path }) => path);

test('scheduleProblems lists every fault with its path', (t) => {
  t.deepEqual(scheduleProblems({}), []);
  t.deepEqual(paths({ timezone: 'BST', days: 128, start_time: '24:00', end_time: '9:00' }), [
    'timezone',
    'days',
    'start_time',
    'end_time',
  ]);
  t.deepEqual(paths({ days: 1.5 }), ['days']);
  t.deepEqual(paths({ start_time: '22:00', end_time: '02:00', schedule_windows: [] }), []);
  t.deepEqual(paths({ schedule_windows: [[], []] }), ['schedule_windows']);
  const windows: unknown[][] = [
    [{ start: 0, end: 1440 }],
    [
      { start: -1, end: 1441 },
      { start: 9, end: 9 },
    ],
    [3],
    [],
    [],
    [],
    [],
  ];
  t.deepEqual(paths({ schedule_windows: windows }), [
    'schedule_windows.1.0.start',
    'schedule_windows.1.0.end',
    'schedule_windows.1.1',
    'schedule_windows.2.0',
  ]);
  t.deepEqual(paths({ schedule_windows: [[], 1, [], [], [], [], []] }), ['schedule_windows.1']);
  const halfHours = Array.from({ length: 48 }, (_, n) => ({ start: n * 30, end: n * 30 + 30 }));
  t.deepEqual(paths({ schedule_windows: [halfHours, [], [], [], [], [], halfHours] }), []);
  t.deepEqual(paths({ schedule_windows: [[], [], [...halfHours, { start: 0, end: 1 }], [], [], [], []] }), [
    'schedule_windows.2',
  ]);
  t.deepEqual(paths({ start_date: 'tomorrow', end_date: '2025-02-30T00:00:00Z' }), ['start_date', 'end_date']);
  t.deepEqual(
    paths({ end_date: '9999-12-31T23:59:59-12:00' }),
    ['end_date'],
    'the year 10000 of UTC cannot be written',
  );
  const day = '2025-06-02T10:00:00+02:00';
  t.deepEqual(paths({ start_date: day, end_date: day }), ['end_date']);
  const now = new Date('2025-06-02T22:30:00Z');
  t.deepEqual(paths({ start_date: '2025-06-02T00:00:00Z' }, now), []);
  t.deepEqual(paths({ timezone: 'Europe/Budapest', start_date: '2025-06-02T00:00:00Z' }, now), ['start_date']);
  t.deepEqual(paths({ end_date: '2025-06-02T22:30:00Z' }, now), ['end_date']);
});

const anyInstant = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2027, 0) });
const near = (...changes: string[]): fc.Arbitrary<number> =>
  fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -2 * 1440, max: 600 }))
    .map(([at, minutes]) => Date.parse(at) + minutes * MINUTE);
// Most times are near a clock change of their zone.
const placeArb: fc.Arbitrary<{ timezone: string; start: number }> = fc
  .oneof(
    fc.tuple(fc.constantFrom('UTC', 'Asia/Kathmandu', 'Europe/Budapest'), anyInstant),
    fc.tuple(fc.constant('Europe/Budapest'), near('2025-03-30T01:00:00Z', '2025-10-26T01:00:00Z')),
    fc.tuple(fc.constant('America/New_York'), near('2025-03-09T07:00:00Z', '2025-11-02T06:00:00Z')),
    fc.tuple(fc.constant('Australia/Lord_Howe'), near('2025-04-05T15:00:00Z', '2025-10-04T15:30:00Z')),
    fc.tuple(fc.constant('America/Santiago'), near('2025-09-07T04:00:00Z', '2025-04-06T03:00:00Z')),
    fc.tuple(fc.constant('Pacific/Apia'), near('2011-12-30T10:00:00Z')),
  )
  .map(([timezone, at]) => ({ timezone, start: Math.floor(at / MINUTE) * MINUTE }));
const timeArb = fc.option(
  fc
    .oneof(fc.integer({ min: 0, max: 1439 }), fc.integer({ min: 0, max: 240 }))
    .map((minute) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`),
);
const windowArb = fc
  .oneof(
    fc.tuple(fc.integer({ min: 0, max: 1439 }), fc.integer({ min: 1, max: 700 })),
    fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 60 })),
  )
  .map(([start, length]) => ({ start, end: Math.min(1440, start + length) }));
const caseArb = fc
  .tuple(
    placeArb,
    fc.record({
      days: fc.option(fc.integer({ min: 0, max: 127 })),
      startTime: timeArb,
      endTime: timeArb,
      windows: fc.option(fc.array(fc.array(windowArb, { maxLength: 3 }), { minLength: 7, maxLength: 7 })),
    }),
  )
  .map(([{ timezone, start }, fields]): { schedule: Schedule; start: number } => ({
    schedule: { ...base, ...fields, timezone },
    start,
  }));

test('property: openings agree with the calendar minute by minute', (t) => {
  const span = 2 * 1440;
  fc.assert(
    fc.property(caseArb, fc.integer({ min: 0, max: 1440 }), ({ schedule: plain, start }, startsIn) => {
      const model = naiveMinutes(plain, start, span);
      // Checks the schedule's dates at the same minutes.
      const schedule = {
        ...plain,
        startDate: new Date(start + startsIn * MINUTE),
        endDate: new Date(start + (span - 200) * MINUTE),
      };
      const open = model.map((flag, index) => flag && index >= startsIn && index < span - 200);
      for (const [index, flag] of open.entries()) {
        const at = new Date(start + index * MINUTE);
        if (isOpen(schedule, at) !== flag) return false;
      }
      let opening = -1;
      for (let index = span - 1; index >= 0; index -= 1) {
        if (open[index]) opening = index;
        if (index % 7 !== 0) continue;
        const at = new Date(start + index * MINUTE);
        const found = nextOpening(schedule, at);
        if ((found === null ? -1 : (found.getTime() - start) / MINUTE) !== opening) return false;
      }
      return true;
    }),
    { numRuns: 120 },
  );
  t.pass();
});

test('property: an opening is open, and a moment before it is not', (t) => {
  fc.assert(
    fc.property(caseArb, ({ schedule, start }) => {
      const at = new Date(start);
      const found = nextOpening(schedule, at);
      if (found === null) return schedule.days === 0;
      if (!isOpen(schedule, found)) return false;
      return found.getTime() === start || (found > at && !isOpen(schedule, new Date(found.getTime() - 1)));
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

test('zones that change their clocks twice in one month', (t) => {
  for (const [zone, year] of [
    ['Africa/Cairo', 2010],
    ['Africa/Cairo', 2014],
    ['Africa/Casablanca', 2012],
  ] as const) {
    for (let at = Date.UTC(year, 0); at < Date.UTC(year + 1, 0); at += 12 * 60 * MINUTE) {
      const { offset } = DateTime.fromMillis(at, { zone });
      if (zoneClock(zone).segmentAt(at).offset !== offset * MINUTE) t.fail(`${zone} ${new Date(at).toISOString()}`);
    }
  }
  t.pass();
});

test('property: offsets, days and their starts agree with luxon in every zone', (t) => {
  const zones = Intl.supportedValuesOf('timeZone');
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: Date.UTC(2012, 0), max: Date.UTC(2036, 0) }),
      (zone, at) => {
        const wall = DateTime.fromMillis(at, { zone });
        if (zoneClock(zone).segmentAt(at).offset !== wall.offset * MINUTE) return false;
        if (dayKey(zone, new Date(at)) !== wall.toISODate()) return false;
        const next = startOfNextDay(zone, new Date(at));
        return (
          next.getTime() > at &&
          dayKey(zone, next) > wall.toISODate()! &&
          dayKey(zone, new Date(next.getTime() - 1)) === wall.toISODate()
        );
      },
    ),
    { numRuns: 1500 },
  );
  t.pass();
});
