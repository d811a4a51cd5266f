import pino, { type Logger } from 'pino';

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

/** A structured JSON logger for one process. Addresses and bodies stay out of it: log ids. */
export function createLogger(options: { level: string; service: string }): Logger {
  return pino({
    level: options.level,
    base: { service: options.service, pid: process.pid },
    redact: { paths: REDACTED, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
  });
}

/** A logger that says nothing; for tests and one-off commands. */
export const silentLogger: Logger = pino({ level: 'silent' });
