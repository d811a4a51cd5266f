/** What PostgreSQL's errors say beside their message, which may quote values. */
interface DatabaseFault extends Error {
  code: string;
  severity: string;
  table?: string;
  column?: string;
  constraint?: string;
  routine?: string;
}

/** Characters of a summary that are kept. */
const SUMMARY_LENGTH = 500;

/** PostgreSQL's own error: the one given, or the one that objection has wrapped; undefined for any other error. */
export function databaseFault(error: unknown): DatabaseFault | undefined {
  const native = (error as { nativeError?: unknown } | undefined)?.nativeError ?? error;
  const { code, severity } = (native ?? {}) as Partial<DatabaseFault>;
  return typeof severity === 'string' && typeof code === 'string' ? (native as DatabaseFault) : undefined;
}

/**
 * What kind of failure it was, for histories and lists: code, table, column and constraint of PostgreSQL, also when another
 * error was made of its refusal; else the name of the error. Never a message, which may hold values.
 */
export function errorKind(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const fault = databaseFault(at);
    if (fault) return faultKind(fault);
  }
  return (error as Error | undefined)?.name || 'Error';
}

/**
 * An error on one line, for a row or a screen: the {@link errorKind} of PostgreSQL's errors, whose messages name rows and
 * values; of all others the first line of the message.
 */
export function errorSummary(error: unknown): string {
  const { message, name } = error instanceof Error ? error : { message: String(error), name: 'Error' };
  const text = databaseFault(error) ? errorKind(error) : message.split('\n', 1)[0]!.trim() || name;
  return text.slice(0, SUMMARY_LENGTH);
}

/**
 * An error as it may be logged or kept in a workflow history. Those of PostgreSQL name rows and values ("Failing row
 * contains …"): of these only the {@link errorKind} and the stack remain. Causes are treated alike. Everything else comes
 * back as it is.
 */
export function withoutRowData(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const fault = databaseFault(error);
  if (fault) return stripped(fault, error);
  const inner = withoutRowData(error.cause);
  return inner === error.cause ? error : copyWithCause(error, inner);
}

/** "PostgreSQL 23505 (table contacts, constraint contacts_email_key)" */
function faultKind(fault: DatabaseFault): string {
  const where = Object.entries(namesIn(fault)).map((pair) => pair.join(' '));
  return `PostgreSQL ${fault.code}${where.length > 0 ? ` (${where.join(', ')})` : ''}`;
}

function namesIn({ table, column, constraint }: DatabaseFault): Record<string, string> {
  return Object.fromEntries(Object.entries({ table, column, constraint }).filter(([, name]) => name)) as Record<
    string,
    string
  >;
}

function stripped(fault: DatabaseFault, thrown: Error): Error {
  const { code, routine } = fault;
  const report = new Error(faultKind(fault));
  report.name = 'DatabaseError';
  const frames = (thrown.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  report.stack = [`${report.name}: ${report.message}`, ...frames].join('\n');
  return Object.assign(report, { code, ...namesIn(fault), ...(routine ? { routine } : {}) });
}

/** The same error, class and own properties included, with another cause. */
function copyWithCause(error: Error, cause: unknown): Error {
  const descriptors = Object.getOwnPropertyDescriptors(error);
  const copy = Object.create(Object.getPrototypeOf(error) as object, descriptors) as Error;
  Object.defineProperty(copy, 'cause', { value: cause, configurable: true, writable: true, enumerable: false });
  return copy;
}
