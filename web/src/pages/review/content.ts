import { region } from '../../app/preferences.ts';
import { toDateTime } from '../../components/time.tsx';
import { hoursOfWeek } from '../../../../messages/hours.ts';

/** Content that a person approves or denies, parsed from the stored payload of an approval. */
interface Content {
  title: string;
  recipientCount: number;
  recipients: string[];
  /** Senders with their reply address and the host of their mail server. Either may be empty if it is unknown. */
  senders: { email: string; name: string; replyTo: string; server: string }[];
  /** Number of steps that are emails. */
  emailCount: number;
  /** Sending time as text; empty if the emails are sent immediately. */
  schedule: string;
  samples: { to: string; subject: string; text: string }[];
}

/** Finding of the checks before a launch. */
interface CheckFinding {
  severity: 'error' | 'warning' | 'info';
  message: string;
  fix: string;
}

/** Reads the known parts of a payload. The approval's own page shows the full content. */
export function readContent(payload: object): Content {
  const { title, recipients, senders, samples, steps, schedule } = payload as Record<string, unknown>;
  const people = isObject(recipients) ? recipients : {};
  return {
    title: typeof title === 'string' ? title : '',
    recipientCount: typeof people.count === 'number' ? people.count : 0,
    recipients: listOf(people.addresses).flatMap((one) => (typeof one === 'string' ? [one] : [])),
    senders: listOf(senders).map((one) => ({
      email: fieldOf(one, 'email'),
      name: fieldOf(one, 'name'),
      replyTo: fieldOf(one, 'reply_to'),
      server: fieldOf(one, 'smtp'),
    })),
    emailCount: listOf(steps).filter((one) => fieldOf(one, 'type') === 'email').length,
    schedule: isObject(schedule) ? toWords(schedule) : '',
    samples: listOf(samples).map((one) => ({
      to: fieldOf(one, 'to'),
      subject: fieldOf(one, 'subject'),
      text: fieldOf(one, 'text'),
    })),
  };
}

/** Formats a time in the viewer's zone, or the days and hours of a schedule with its first day and zone. */
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

/** Returns the findings of the checks, worst first; undefined without checks. */
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
