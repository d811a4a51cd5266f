import { Text, type TextProps } from '@mantine/core';
import { memoize } from '../app/memoize.ts';
import { language, region } from '../app/preferences.ts';
import { useText } from '../text/index.ts';
import { DAY_MS } from './day.ts';

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

const MOMENT = { dateStyle: 'medium', timeStyle: 'short' } as const;

/** Shows a relative time ("3 hours ago"), with the exact time in the viewer's zone on hover. */
export function Ago({ at, ...props }: { at: string } & TextProps) {
  return (
    <Text span inherit {...props}>
      <Moment at={at} />
    </Text>
  );
}

/** Unstyled variant of `Ago`, for lists with hundreds of times. */
export function Moment({ at }: { at: string }) {
  useText();
  return (
    <time dateTime={at} title={toDateTime(at)}>
      {toAgo(at)}
    </time>
  );
}

/** Shows a time in the viewer's zone, and also in another zone if the clocks differ. */
export function At({ at, zone }: { at: string; zone: string }) {
  useText();
  const here = toDateTime(at);
  const there = toDateTime(at, zone);
  return (
    <time dateTime={at}>
      {here}
      {there === here ? null : ` (${there} ${zone})`}
    </time>
  );
}

/**
 * Cached formatters, one per kind and language or region. Creating one takes far longer than using it, and lists use
 * them in every row.
 */
const agoFormat = memoize((of: string) => new Intl.RelativeTimeFormat(of, { numeric: 'auto' }));
const momentFormat = memoize(
  (of: string, timeZone?: string) => new Intl.DateTimeFormat(of, { ...MOMENT, ...(timeZone && { timeZone }) }),
);

/** Formats the time since or until `at` as text. */
function toAgo(at: string): string {
  const difference = Date.parse(at) - Date.now();
  const format = agoFormat(language());
  for (const [unit, ms] of STEPS)
    if (Math.abs(difference) >= ms) return format.format(Math.round(difference / ms), unit);
  return format.format(0, 'minute');
}

/** Formats a short date and time, in the viewer's zone unless another is given. */
export function toDateTime(at: string, timeZone?: string): string {
  return momentFormat(region(), timeZone).format(new Date(at));
}

/**
 * Formats a UTC period as text: "25 Oct – 23 Nov 2026".
 * @param end end of the period, excluded; shown with its time unless it is midnight
 */
export function toSpan(begin: string, end: string): string {
  const [from, to] = [Date.parse(begin), Date.parse(end)];
  const isOfDays = from % DAY_MS === 0 && to % DAY_MS === 0;
  return new Intl.DateTimeFormat(region(), {
    timeZone: 'UTC',
    dateStyle: 'medium',
    ...(isOfDays ? {} : { timeStyle: 'short' }),
  }).formatRange(from, isOfDays ? Math.max(from, to - 1) : to);
}
