import pino, { type DestinationStream, type Logger } from 'pino';
import { withoutRowData } from './error-report.ts';
import { traceIds } from './trace.ts';

export type { Logger } from 'pino';

/** Field paths that are redacted in every log line. */
const REDACTED = [
  'password',
  'secret',
  'token',
  'authorization',
  'credentials',
  'body',
  '*.password',
  '*.secret',
  '*.token',
  '*.authorization',
  '*.credentials',
];

interface LoggerOptions {
  level: string;
  service: string;
  /** Destination of the lines. Defaults to standard output. */
  destination?: DestinationStream;
}

/**
 * Creates a structured JSON logger for one process. Log ids, never addresses or bodies. Database errors are logged
 * without their rows and values.
 */
export function createLogger({ destination = pino.destination(1), ...options }: LoggerOptions): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: { service: options.service, pid: process.pid },
    redact: { paths: REDACTED, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    // Adds the ids of the active trace, if traces are recorded.
    mixin: () => traceIds() ?? {},
    hooks: {
      // Runs before pino copies an error's message into the line's message.
      logMethod(args, method) {
        const [subject, ...rest] = args as unknown[];
        return method.apply(this, [safeSubject(subject), ...rest] as never);
      },
    },
  };
  return pino(settings, destination);
}

/** Returns the logged object with rows and values removed from its errors. */
function safeSubject(subject: unknown): unknown {
  if (subject instanceof Error) return withoutRowData(subject);
  if (typeof subject !== 'object' || subject === null) return subject;
  const errors = Object.entries(subject).filter(([, value]) => value instanceof Error);
  if (errors.length === 0) return subject;
  return { ...subject, ...Object.fromEntries(errors.map(([name, error]) => [name, withoutRowData(error)])) };
}

/** Logger without output, for tests and one-off commands. */
export const silentLogger: Logger = pino({ level: 'silent' });
