import { Text, type TextProps } from '@mantine/core';
import { once } from '../app/once.ts';
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

/** A time as people say it ("3 hours ago"), with the exact one, in the viewer's zone, on hover. */
export function Ago({ at, ...props }: { at: string } & TextProps) {
  return (
    <Text span inherit {...props}>
      <Moment at={at} />
    </Text>
  );
}

/** The same without a look of its own, for lists of hundreds of them. */
export function Moment({ at }: { at: string }) {
  useText();
  return (
    <time dateTime={at} title={toDateTime(at)}>
      {toAgo(at)}
    </time>
  );
}

/** A time in the viewer's zone, with that of another zone beside it where the clocks differ. */
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

/** Formats cost far more to make than to use, and lists use them in every row: one of each kind is kept, by language or region. */
const agoFormat = once((of: string) => new Intl.RelativeTimeFormat(of, { numeric: 'auto' }));
const momentFormat = once(
  (of: string, timeZone?: string) => new Intl.DateTimeFormat(of, { ...MOMENT, ...(timeZone && { timeZone }) }),
);

/** How long ago, or until when, in words. */
function toAgo(at: string): string {
  const difference = Date.parse(at) - Date.now();
  const format = agoFormat(language());
  for (const [unit, ms] of STEPS)
    if (Math.abs(difference) >= ms) return format.format(Math.round(difference / ms), unit);
  return format.format(0, 'minute');
}

/** A date and time, short; in the viewer's zone unless another is named. */
export function toDateTime(at: string, timeZone?: string): string {
  return momentFormat(region(), timeZone).format(new Date(at));
}

/**
 * A span of time in UTC, in words: "25 Oct – 23 Nov 2026".
 * @param end the moment after it; one that is no midnight is said with its time
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
