import { setTimeout as sleep } from 'node:timers/promises';
import type { Problem } from '../lib/errors.ts';
import { OperatorError } from './waiting.ts';

/** Where the API is and as whom it is called. */
export interface ApiSettings {
  HERON_API_URL?: string | undefined;
  HERON_API_KEY?: string | undefined;
}

/** An error of the API, as much of it as commands show. */
export interface ApiRefusal {
  error?: string;
  message?: string;
  problems?: Problem[];
  fix?: string;
}

export interface ApiAnswer {
  status: number;
  /** Parsed JSON; an empty object where the answer is none. */
  body: unknown;
}

/** Calls the API with the key of the environment. Any status is an answer. */
export type ApiClient = (
  method: string,
  path: string,
  options?: { body?: unknown; key?: string | undefined },
) => Promise<ApiAnswer>;

const ATTEMPTS = 3;
const PAUSE_MS = 500;

/**
 * The API as the commands of a workspace call it. A read, and a request with an Idempotency-Key, is sent again when it had no answer.
 * @param needs what the key must be able to do, said when there is none
 * @throws OperatorError without a key; each call, when the API does not answer
 */
export function createApiClient(env: ApiSettings, needs: string): ApiClient {
  const { HERON_API_URL: url = 'http://127.0.0.1:8080', HERON_API_KEY: secret } = env;
  if (!secret) throw new OperatorError(`set HERON_API_KEY: ${needs}`);
  return async (method, path, { body, key } = {}) => {
    const attempts = method === 'GET' || key !== undefined ? ATTEMPTS : 1;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await fetch(new URL(path, url), {
          method,
          headers: {
            authorization: `Bearer ${secret}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(key === undefined ? {} : { 'idempotency-key': key }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return { status: response.status, body: parsed(text) };
      } catch {
        if (attempt === attempts) throw new OperatorError(`${url} does not answer: set HERON_API_URL`);
        await sleep(PAUSE_MS);
      }
    }
  };
}

/**
 * The body of an answer with the status that was expected.
 * @throws OperatorError with what the API said instead, its problems and its fix
 */
export function expectStatus<T>({ status, body }: ApiAnswer, expected: number): T {
  if (status === expected) return body as T;
  throw refusedByApi(body as ApiRefusal, [], status);
}

/** What the API said instead, as the error of a command; `problemLines` replace the plain form of its problems. */
export function refusedByApi(refusal: ApiRefusal, problemLines: readonly string[], status: number): OperatorError {
  const { message, error, problems = [], fix } = refusal;
  const lines = problemLines.length > 0 ? problemLines : problems.map((one) => `  - ${one.path}: ${one.message}`);
  return new OperatorError(
    [message ?? error ?? `the API answered ${status}`, ...lines, ...(fix ? [fix] : [])].join('\n'),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
