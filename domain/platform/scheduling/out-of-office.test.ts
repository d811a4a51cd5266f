import test from 'ava';
import { awayHoldEnd, nextWorkingDay } from './out-of-office.ts';

test('the working day after a day', (t) => {
  // 2025-06-02 is a Monday.
  const days = ['2025-06-02', '2025-06-05', '2025-06-06', '2025-06-07', '2025-06-08', '2025-12-31'];
  t.deepEqual(days.map(nextWorkingDay), [
    '2025-06-03',
    '2025-06-06',
    '2025-06-09',
    '2025-06-09',
    '2025-06-09',
    '2026-01-01',
  ]);
  t.throws(() => nextWorkingDay('soon'), { instanceOf: RangeError });
});

// [return date, zone, hold ends]
const holds: [string | null, string, string][] = [
  ['2025-06-10', 'Europe/Budapest', '2025-06-10T22:00:00.000Z'],
  ['2025-06-13', 'America/New_York', '2025-06-16T04:00:00.000Z'],
  ['2025-09-05', 'America/Santiago', '2025-09-08T03:00:00.000Z'],
  ['2025-06-02', 'UTC', '2025-06-03T00:00:00.000Z'],
  [null, 'UTC', '2025-06-09T12:00:00.000Z'],
  // A date in the distant past is ignored, because it was misread.
  ['2024-06-10', 'UTC', '2025-06-09T12:00:00.000Z'],
];

test('an away message holds until the return date plus a working day', (t) => {
  for (const [returnDate, timezone, ends] of holds) {
    const away = { receivedAt: new Date('2025-06-02T12:00:00Z'), returnDate, holdDays: 7, timezone };
    t.is(awayHoldEnd(away).toISOString(), ends, `${returnDate} ${timezone}`);
  }
});
