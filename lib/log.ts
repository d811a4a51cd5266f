import pino, { type DestinationStream, type Logger } from 'pino';
import { withoutRowData } from './error-report.ts';
import { traceIds } from './trace.ts';

export type { Logger } from 'pino';

/** Paths that are never logged, in whatever part of a line they occur. */
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
  /** Receives the lines; standard output without it. */
  destination?: DestinationStream;
}

/**
 * A structured JSON logger for one process. Addresses and bodies stay out of it: log ids. Errors of the database are
 * logged without the rows and values that they name.
 */
export function createLogger({ destination = pino.destination(1), ...options }: LoggerOptions): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: { service: options.service, pid: process.pid },
    redact: { paths: REDACTED, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    // The trace that a line belongs to, where traces are recorded.
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

/** What is logged, with errors stripped of the rows and values that they name. */
function safeSubject(subject: unknown): unknown {
  if (subject instanceof Error) return withoutRowData(subject);
  if (typeof subject !== 'object' || subject === null) return subject;
  const errors = Object.entries(subject).filter(([, value]) => value instanceof Error);
  if (errors.length === 0) return subject;
  return { ...subject, ...Object.fromEntries(errors.map(([name, error]) => [name, withoutRowData(error)])) };
}

/** A logger without output; for tests and one-off commands. */
export const silentLogger: Logger = pino({ level: 'silent' });
