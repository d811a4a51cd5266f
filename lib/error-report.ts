/** Fields of a PostgreSQL error other than its message, which may contain values of rows. */
interface DatabaseFault extends Error {
  code: string;
  severity: string;
  table?: string;
  column?: string;
  constraint?: string;
  routine?: string;
}

/** Maximum length (characters) of an error summary. */
const SUMMARY_LENGTH = 500;

/** Returns PostgreSQL's own error, which may be wrapped in an error of objection. Undefined for any other error. */
export function databaseFault(error: unknown): DatabaseFault | undefined {
  const native = (error as { nativeError?: unknown } | undefined)?.nativeError ?? error;
  const { code, severity } = (native ?? {}) as Partial<DatabaseFault>;
  return typeof severity === 'string' && typeof code === 'string' ? (native as DatabaseFault) : undefined;
}

/**
 * Returns the kind of a failure for histories and lists. For PostgreSQL errors, wrapped ones included: code, table,
 * column and constraint. For other errors: the name of the error. Never contains the message, which may contain values.
 */
export function errorKind(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const fault = databaseFault(at);
    if (fault) return faultKind(fault);
  }
  return (error as Error | undefined)?.name || 'Error';
}

/**
 * Returns an error as one line of text, to be stored or displayed. For PostgreSQL errors it is their {@link errorKind},
 * because their messages contain rows and values. For other errors it is the first line of their message.
 */
export function errorSummary(error: unknown): string {
  const { message, name } = error instanceof Error ? error : { message: String(error), name: 'Error' };
  const text = databaseFault(error) ? errorKind(error) : message.split('\n', 1)[0]!.trim() || name;
  return text.slice(0, SUMMARY_LENGTH);
}

/**
 * Returns an error in a form safe for logs and workflow histories. Messages of PostgreSQL errors contain rows and
 * values ("Failing row contains …"), so only their {@link errorKind} and stack remain. Causes are treated in the same
 * way. All other errors are returned unchanged.
 */
export function withoutRowData(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const fault = databaseFault(error);
  if (fault) return stripped(fault, error);
  const inner = withoutRowData(error.cause);
  return inner === error.cause ? error : copyWithCause(error, inner);
}

/** Returns text such as "PostgreSQL 23505 (table contacts, constraint contacts_email_key)". */
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

/** Copies an error, including its class and own properties, with another cause. */
function copyWithCause(error: Error, cause: unknown): Error {
  const descriptors = Object.getOwnPropertyDescriptors(error);
  const copy = Object.create(Object.getPrototypeOf(error) as object, descriptors) as Error;
  Object.defineProperty(copy, 'cause', { value: cause, configurable: true, writable: true, enumerable: false });
  return copy;
}
