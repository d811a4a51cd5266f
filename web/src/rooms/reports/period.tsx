import { SegmentedControl } from '@mantine/core';
import { DAY_MS, daysAgo, toDay } from '../../parts/day.ts';
import { useFilter } from '../../parts/filter.ts';
import { toSpan } from '../../parts/time.tsx';
import { useText } from '../../text/index.ts';

const DAYS = ['7', '30', '90'] as const;

/** Whole UTC days, the last one included. */
export interface Period {
  /** YYYY-MM-DD. */
  from: string;
  to: string;
  /** Begin of the first day and end of the last, RFC 3339. */
  begin: string;
  end: string;
  days: number;
  /** The days in words, to be said beside what is shown. */
  note: string;
}

/** The period of a report, which lives in the address: 7, 30 or 90 UTC days up to today. */
export function usePeriod(): Period {
  const t = useText();
  const [given] = useFilter('days');
  const days = Number((DAYS as readonly string[]).includes(given) ? given : 30);
  const [from, to] = [daysAgo(days - 1), daysAgo(0)];
  const [begin, end] = [`${from}T00:00:00Z`, nextDay(to)];
  return { from, to, begin, end, days, note: t('reports.utc', { period: toSpan(begin, end) }) };
}

/** Chooses the period. */
export function PeriodControl() {
  const t = useText();
  const [, set] = useFilter('days');
  const { days } = usePeriod();
  return (
    <SegmentedControl
      value={`${days}`}
      onChange={(value) => set(value === '30' ? '' : value)}
      data={DAYS.map((value) => ({ value, label: t('reports.days', { count: Number(value) }) }))}
      aria-label={t('reports.period')}
    />
  );
}

/** The moment at which the day after this one begins. */
export function nextDay(day: string): string {
  return `${toDay(Date.parse(`${day}T00:00:00Z`) + DAY_MS)}T00:00:00Z`;
}
