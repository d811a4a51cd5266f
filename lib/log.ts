import pino, { type DestinationStream, type Logger } from 'pino';
import { withoutRowData } from './error-report.ts';

export type { Logger } from 'pino';

/** Paths that never reach a log line, wherever a caller puts them. */
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

export interface LoggerOptions {
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
    hooks: {
      // Before pino takes an error's message for that of the line.
      logMethod(args, method) {
        const [subject, ...rest] = args as unknown[];
        return method.apply(this, [safeSubject(subject), ...rest] as never);
      },
    },
  };
  return pino(settings, destination);
}

/** What is logged, its errors without the rows and values that they name. */
function safeSubject(subject: unknown): unknown {
  if (subject instanceof Error) return withoutRowData(subject);
  if (typeof subject !== 'object' || subject === null) return subject;
  const errors = Object.entries(subject).filter(([, value]) => value instanceof Error);
  if (errors.length === 0) return subject;
  return { ...subject, ...Object.fromEntries(errors.map(([name, error]) => [name, withoutRowData(error)])) };
}

/** A logger that says nothing; for tests and one-off commands. */
export const silentLogger: Logger = pino({ level: 'silent' });
