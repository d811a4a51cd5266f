/** What PostgreSQL's errors say beside their message; knex puts the statement with its values into that. */
interface DatabaseFault extends Error {
  code: string;
  severity: string;
  table?: string;
  column?: string;
  constraint?: string;
  routine?: string;
}

/**
 * An error as it may be logged or kept in a workflow history. Those of PostgreSQL name rows and values ("Failing row
 * contains …"), and knex puts the whole statement before them: of these only the code, the names of schema objects and
 * the stack remain. Causes are treated alike. Everything else comes back as it is.
 */
export function withoutRowData(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const fault = databaseFault(error);
  if (fault) return stripped(fault, error);
  const inner = withoutRowData(error.cause);
  return inner === error.cause ? error : copyWithCause(error, inner);
}

/** PostgreSQL's own error: itself, or wrapped by objection. */
function databaseFault(error: Error): DatabaseFault | undefined {
  const { nativeError = error } = error as { nativeError?: unknown };
  const { code, severity } = nativeError as Partial<DatabaseFault>;
  return typeof severity === 'string' && typeof code === 'string' ? (nativeError as DatabaseFault) : undefined;
}

function stripped(fault: DatabaseFault, thrown: Error): Error {
  const { code, table, column, constraint, routine } = fault;
  const where = Object.entries({ table, column, constraint }).filter(([, name]) => name);
  const report = new Error(
    `PostgreSQL refused a statement: ${[code, ...where.map((pair) => pair.join(' '))].join(', ')}`,
  );
  report.name = 'DatabaseError';
  const frames = (thrown.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  report.stack = [`${report.name}: ${report.message}`, ...frames].join('\n');
  return Object.assign(report, { code, ...Object.fromEntries(where), ...(routine ? { routine } : {}) });
}

/** The same error, class and own properties included, with another cause. */
function copyWithCause(error: Error, cause: unknown): Error {
  const descriptors = Object.getOwnPropertyDescriptors(error);
  const copy = Object.create(Object.getPrototypeOf(error) as object, descriptors) as Error;
  Object.defineProperty(copy, 'cause', { value: cause, configurable: true, writable: true, enumerable: false });
  return copy;
}
