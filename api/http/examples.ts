import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One real call of an operation, recorded from a test suite. */
export interface OperationExample {
  request?: unknown;
  response?: unknown;
  path?: Record<string, string>;
  query?: Record<string, string>;
}

/** Examples of the API reference, written by `npm run record-examples`. */
export interface Examples {
  /** Example calls by operationId. */
  operations: Record<string, OperationExample>;
  /** One recorded error answer per error code. */
  errors: Record<string, object>;
}

export const EXAMPLES_FILE = fileURLToPath(new URL('examples.json', import.meta.url));

export const EXAMPLES = JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as Examples;
