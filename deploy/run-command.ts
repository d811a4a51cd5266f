import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../lib/ids.ts';
import type { Problem } from '../lib/errors.ts';
import { OperatorError } from './waiting.ts';
import { faultLines, readRunFile, type FileFault } from './run-file.ts';

/** What `heron run` is given. */
export interface RunCommand {
  dryRun: boolean;
  wait: boolean;
  key: string | undefined;
}

/** A run as the API answers, as much of it as is read here. */
interface Run {
  id: string;
  state: string;
  approval_url?: string;
  /** Of one run alone, oldest first. */
  events?: { state: string }[];
  error_details?: { code?: string; message?: string; fix?: string };
}

interface Refusal {
  message?: string;
  error?: string;
  problems?: Problem[];
  fix?: string;
}

/** Bytes of a run file at most; the API takes no more. */
const MAX_BYTES = 4 * 1024 * 1024;
const POLL_MS = 500;
/** Times a request is sent again that had no answer. */
const ATTEMPTS = 3;
/** States in which a run does not stay by itself. */
const PASSING = ['queued', 'preflighting', 'awaiting_approval', 'launching'];
const SUCCESSFUL = ['active', 'paused', 'completed'];

/**
 * Sends a run file to the API as a run. With `dryRun` it is a draft: built and checked, nothing is sent. With `wait` it returns when
 * the run is launched or has ended.
 * @param say for progress, such as the address where a person decides
 * @returns the run as the API shows it at the end
 * @throws OperatorError with every fault, one a line with file, line and column; when the API refuses; when a run that was
 *   waited for has failed, was denied or cancelled
 */
export async function runFile(
  path: string,
  command: RunCommand,
  env: { HERON_API_URL?: string | undefined; HERON_API_KEY?: string | undefined },
  say: (line: string) => void,
): Promise<unknown> {
  const read = readRunFile(await textOf(path));
  if ('faults' in read) throw new OperatorError(`the run file has faults\n${faultLines(path, read.faults).join('\n')}`);
  const api = createClient(env);
  const body = { ...read.file.body, ...(command.dryRun ? { intent: 'draft' } : {}) };
  const answer = await api('POST', '/v1/runs', { body, key: command.key ?? newId() });
  if (answer.status !== 202) throw refused(path, answer.body as Refusal, (problem) => read.file.locate(problem));
  const run = answer.body as Run;
  if (command.wait) return waitFor(api, run.id, say);
  say(`run ${run.id}: ${run.state}`);
  return run;
}

async function textOf(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > MAX_BYTES) throw new OperatorError(`${path} is larger than ${MAX_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`);
  }
}

/** Asks until the run is launched or has ended; says each state it goes through, and where a person decides. */
async function waitFor(api: Client, id: string, say: (line: string) => void): Promise<Run> {
  let said = 0;
  for (;;) {
    const { events = [], ...run } = (await api('GET', `/v1/runs/${id}`)).body as Run;
    for (const { state } of events.slice(said)) {
      say(`run ${id}: ${state}`);
      if (state === 'awaiting_approval' && run.approval_url) say(`a person decides at ${run.approval_url}`);
    }
    said = events.length;
    if (!PASSING.includes(run.state)) return ended(run);
    await sleep(POLL_MS);
  }
}

function ended(run: Run): Run {
  if (SUCCESSFUL.includes(run.state)) return run;
  const { message = '', fix = '' } = run.error_details ?? {};
  throw new OperatorError([`run ${run.id} is ${run.state}: ${message}`, fix].filter(Boolean).join('\n  '));
}

function refused(path: string, refusal: Refusal, locate: (problem: Problem) => FileFault): OperatorError {
  const lines = faultLines(path, (refusal.problems ?? []).map(locate));
  const words = [refusal.message ?? refusal.error ?? 'the API refused the run', ...lines];
  return new OperatorError([...words, ...(refusal.fix ? [refusal.fix] : [])].join('\n'));
}

type Client = (
  method: string,
  path: string,
  options?: { body?: unknown; key?: string },
) => Promise<{ status: number; body: unknown }>;

/** Calls the API as the key of the environment. A request without an answer is sent again under the same Idempotency-Key. */
function createClient({
  HERON_API_URL = 'http://127.0.0.1:8080',
  HERON_API_KEY,
}: Parameters<typeof runFile>[2]): Client {
  if (!HERON_API_KEY) throw new OperatorError('set HERON_API_KEY: a key with WRITE_RUNS, READ_RUNS and EXECUTE_RUNS');
  return async (method, path, { body, key } = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await fetch(new URL(path, HERON_API_URL), {
          method,
          headers: {
            authorization: `Bearer ${HERON_API_KEY}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(key === undefined ? {} : { 'idempotency-key': key }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const answer = { status: response.status, body: (await response.json()) as unknown };
        if (method === 'GET' && response.status !== 200) throw refused(path, answer.body as Refusal, asItIs);
        return answer;
      } catch (error) {
        if (error instanceof OperatorError) throw error;
        if (attempt === ATTEMPTS) throw new OperatorError(`${HERON_API_URL} does not answer: set HERON_API_URL`);
        await sleep(POLL_MS);
      }
    }
  };
}

function asItIs({ path, message }: Problem): FileFault {
  return { line: 1, column: 1, message: `${path}: ${message}` };
}
