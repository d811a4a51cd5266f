import { region } from '../../app/preferences.ts';
import { toDateTime } from '../../parts/time.tsx';
import { hoursOfWeek } from '../../../../messages/hours.ts';

/** What a person decides about, read from the frozen content of an approval. */
interface Content {
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
interface CheckFinding {
  severity: 'error' | 'warning' | 'info';
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
    hoursOfWeek(schedule, dateFormat({ weekday: 'short' })).join('; '),
    begin && dateFormat({ dateStyle: 'medium' }).format(new Date(begin)),
    fieldOf(schedule, 'timezone'),
  ]
    .filter(Boolean)
    .join(' · ');
}

const dateFormat = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(region(), { timeZone: 'UTC', ...options });

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
