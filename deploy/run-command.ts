import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../lib/ids.ts';
import { createApiClient, expectStatus, refusedByApi, type ApiClient, type ApiRefusal } from './api-client.ts';
import { OperatorError } from './waiting.ts';
import { faultLines, readRunFile } from './run-file.ts';

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

/** Bytes of a run file at most; the API takes no more. */
const MAX_BYTES = 4 * 1024 * 1024;
const POLL_MS = 500;
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
  const api = createApiClient(env, 'a key with WRITE_RUNS, READ_RUNS and EXECUTE_RUNS');
  const body = { ...read.file.body, ...(command.dryRun ? { intent: 'draft' } : {}) };
  const answer = await api('POST', '/v1/runs', { body, key: command.key ?? newId() });
  if (answer.status !== 202) {
    const refusal = answer.body as ApiRefusal;
    const located = (refusal.problems ?? []).map((problem) => read.file.locate(problem));
    throw refusedByApi(refusal, faultLines(path, located), answer.status);
  }
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
async function waitFor(api: ApiClient, id: string, say: (line: string) => void): Promise<Run> {
  let said = 0;
  for (;;) {
    const { events = [], ...run } = expectStatus<Run>(await api('GET', `/v1/runs/${id}`), 200);
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
