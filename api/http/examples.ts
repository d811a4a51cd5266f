import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One true call of an operation, as a suite has made it. */
export interface OperationExample {
  request?: unknown;
  response?: unknown;
  path?: Record<string, string>;
  query?: Record<string, string>;
}

/** The examples of the API reference; `npm run record-examples` writes them. */
export interface Examples {
  /** By operationId. */
  operations: Record<string, OperationExample>;
  /** A refusal per error code. */
  errors: Record<string, object>;
}

export const EXAMPLES_FILE = fileURLToPath(new URL('examples.json', import.meta.url));

export const EXAMPLES = JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as Examples;
