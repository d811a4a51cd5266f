import { region } from '../../app/preferences.ts';
import { toDateTime } from '../../parts/time.tsx';

/** What a person decides about, read from the frozen content of an approval. */
export interface Content {
  title: string;
  recipientCount: number;
  recipients: string[];
  senders: string[];
  /** Steps that are emails. */
  letterCount: number;
  /** When it leaves; empty: at once. */
  schedule: string;
  samples: { to: string; subject: string; text: string }[];
}

/** Something that the checks before a launch found. */
export interface CheckFinding {
  severity: 'error' | 'warning' | 'info';
  code: string;
  message: string;
  fix: string;
}

/** Reads the content as far as it has the shape that is shown; the whole is on the approval's own page. */
export function readContent(payload: object): Content {
  const { title, recipients, senders, samples, steps, schedule } = payload as Record<string, unknown>;
  const people = isObject(recipients) ? recipients : {};
  return {
    title: typeof title === 'string' ? title : '',
    recipientCount: typeof people.count === 'number' ? people.count : 0,
    recipients: listOf(people.addresses).flatMap((one) => (typeof one === 'string' ? [one] : [])),
    senders: listOf(senders).map((one) => fieldOf(one, 'email')),
    letterCount: listOf(steps).filter((one) => fieldOf(one, 'type') === 'email').length,
    schedule: isObject(schedule) ? toWords(schedule) : '',
    samples: listOf(samples).map((one) => ({
      to: fieldOf(one, 'to'),
      subject: fieldOf(one, 'subject'),
      text: fieldOf(one, 'text'),
    })),
  };
}

/** A moment in the viewer's zone; or the days of a schedule with their hours, its first day, and its zone. */
function toWords(schedule: Record<string, unknown>): string {
  const at = fieldOf(schedule, 'at');
  if (at) return toDateTime(at);
  const begin = fieldOf(schedule, 'start_date');
  return [
    hoursIn(schedule),
    begin && dateFormat({ dateStyle: 'medium' }).format(new Date(begin)),
    fieldOf(schedule, 'timezone'),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** The hours of each day, Monday first; days after each other with the same hours are said together. */
function hoursIn(schedule: Record<string, unknown>): string {
  const windows = listOf(schedule.schedule_windows).map(listOf);
  const daily = `${fieldOf(schedule, 'start_time') || '00:00'}–${fieldOf(schedule, 'end_time') || '24:00'}`;
  const hoursOf = (day: number) =>
    windows.some((one) => one.length > 0)
      ? (windows[(day + 1) % 7] ?? []).map((one) => `${clockOf(one, 'start')}–${clockOf(one, 'end')}`).join(', ')
      : Number(schedule.days) & (1 << day)
        ? daily
        : '';
  const runs: { from: number; to: number; hours: string }[] = [];
  for (let day = 0; day < 7; day++) {
    const hours = hoursOf(day);
    const before = runs.at(-1);
    if (before?.to === day - 1 && before.hours === hours) before.to = day;
    else if (hours) runs.push({ from: day, to: day, hours });
  }
  return runs.map(({ from, to, hours }) => `${nameOf(from)}${to > from ? `–${nameOf(to)}` : ''} ${hours}`).join('; ');
}

/** Minutes of the day as HH:MM. */
function clockOf(window: unknown, edge: 'start' | 'end'): string {
  const minutes = isObject(window) ? Number(window[edge]) : 0;
  return [Math.floor(minutes / 60), minutes % 60].map((part) => `${part}`.padStart(2, '0')).join(':');
}

const dateFormat = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(region(), { timeZone: 'UTC', ...options });
/** A day of the week, 0 for Monday; the first of January 2024 was one. */
const nameOf = (day: number) => dateFormat({ weekday: 'short' }).format(Date.UTC(2024, 0, 1 + day));

/** What the checks said, worst first; undefined where none were made. */
export function readChecks(preflight: object | null): CheckFinding[] | undefined {
  if (preflight === null) return undefined;
  const { findings } = preflight as Record<string, unknown>;
  const order = { error: 0, warning: 1, info: 2 };
  return listOf(findings)
    .map((one): CheckFinding => {
      const severity = fieldOf(one, 'severity');
      return {
        severity: severity === 'error' || severity === 'warning' ? severity : 'info',
        code: fieldOf(one, 'code'),
        message: fieldOf(one, 'message'),
        fix: fieldOf(one, 'fix'),
      };
    })
    .filter(({ message }) => message !== '')
    .toSorted((a, b) => order[a.severity] - order[b.severity]);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function fieldOf(value: unknown, field: string): string {
  const found = isObject(value) ? value[field] : undefined;
  return typeof found === 'string' ? found : '';
}
