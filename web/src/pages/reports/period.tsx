import { SegmentedControl } from '@mantine/core';
import { DAY_MS, daysAgo, toDay } from '../../components/day.ts';
import { useFilter } from '../../components/filter.ts';
import { toSpan } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';

const DAYS = ['7', '30', '90'] as const;

/** Range of whole UTC days, including the last. */
export interface Period {
  /** First and last day, YYYY-MM-DD. */
  from: string;
  to: string;
  /** Start of the first day and end of the last day, RFC 3339. */
  begin: string;
  end: string;
  days: number;
  /** Text of the period, shown beside the figures. */
  note: string;
}

/** Returns the period of a report from the URL: 7, 30 or 90 UTC days up to today. */
export function usePeriod(): Period {
  const t = useText();
  const [given] = useFilter('days');
  const days = Number((DAYS as readonly string[]).includes(given) ? given : 30);
  const [from, to] = [daysAgo(days - 1), daysAgo(0)];
  const [begin, end] = [`${from}T00:00:00Z`, nextDay(to)];
  return { from, to, begin, end, days, note: t('reports.utc', { period: toSpan(begin, end) }) };
}

/** Select for the period. */
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

/** Returns the start of the following day. */
export function nextDay(day: string): string {
  return `${toDay(Date.parse(`${day}T00:00:00Z`) + DAY_MS)}T00:00:00Z`;
}
