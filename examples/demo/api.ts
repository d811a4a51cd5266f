import { randomUUID } from 'node:crypto';

/** Heron's REST API as any client sees it: fetch, a key, JSON. Paths are relative to /v1. */
export interface Api {
  get<T>(path: string): Promise<T>;
  /** `body` is sent as JSON, unless it is a FormData. */
  send<T>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<T>;
  /** Every row of a paged list, page after page. */
  all<T>(path: string): Promise<T[]>;
}

interface Page<T> {
  data: T[];
  pagination: { next_cursor: string | null };
}

interface Failure {
  code: string;
  message: string;
  fix?: string;
  problems?: { path: string; message: string }[];
}

/** A client for `baseUrl` (an origin) that signs in with `key`. */
export function createApi(baseUrl: string, key: string): Api {
  const call = async <T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<T> => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        // Every write may be repeated with its key without being done twice.
        ...(method === 'GET' ? {} : { 'Idempotency-Key': randomUUID() }),
        ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} /v1${path} answered ${response.status}: ${explain(text)}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
  return {
    get: (path) => call('GET', path),
    send: call,
    async all<T>(path: string) {
      const rows: T[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const at: string = cursor === '' ? '' : `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
        const page: Page<T> = await call('GET', path + at);
        rows.push(...page.data);
        cursor = page.pagination.next_cursor;
      }
      return rows;
    },
  };
}

/** The message of an error envelope with every problem it lists, or the bare text. */
function explain(text: string): string {
  try {
    const { code, message, problems = [], fix = '' } = JSON.parse(text) as Failure;
    return [`${message} (${code})`, ...problems.map((problem) => `${problem.path} ${problem.message}`), fix]
      .filter(Boolean)
      .join('; ');
  } catch {
    return text.slice(0, 300);
  }
}
