import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BodyOf } from '../client/src/index.ts';
import { ApiRefusal, createCommandApi, type ApiSettings, type CommandApi } from './api-client.ts';
import { OperatorError } from './waiting.ts';
import { faultLines, readRunFile } from './run-file.ts';

/** Arguments of `heron run`. */
interface RunCommand {
  dryRun: boolean;
  wait: boolean;
  key: string | undefined;
}

/** Fields of the API's run that the command reads. */
interface Run {
  id: string;
  state: string;
  approval_url?: string;
  /** States of the run, oldest first. Present only in the answer for a single run. */
  events?: { state: string }[];
  error_details?: { code?: string; message?: string; fix?: string };
}

/** Maximum size (bytes) of a run file, equal to the limit of the API. */
const MAX_BYTES = 4 * 1024 * 1024;
const POLL_MS = 500;
/** Temporary states of a run. */
const PASSING = ['queued', 'preflighting', 'awaiting_approval', 'launching'];
const SUCCESSFUL = ['active', 'paused', 'completed'];

/**
 * Sends a run file to the API as a run. With `dryRun` the run is only a draft: its campaign is built and checked, but
 * not sent. `wait` waits until the run is launched or has ended.
 * @param say prints progress, such as the URL where a person decides
 * @returns the run at the end, in the form of the API
 * @throws OperatorError for faults of the file, each on its own line with its position; when the API refuses; when an
 * awaited run failed, was denied or cancelled
 */
export async function runFile(
  path: string,
  command: RunCommand,
  env: ApiSettings,
  say: (line: string) => void,
): Promise<unknown> {
  const read = readRunFile(await textOf(path));
  if ('faults' in read) throw new OperatorError(`the run file has faults\n${faultLines(path, read.faults).join('\n')}`);
  const api = createCommandApi(env, 'a key with WRITE_RUNS, READ_RUNS and EXECUTE_RUNS');
  // The API checks the content of the file.
  const body = { ...read.file.body, ...(command.dryRun ? { intent: 'draft' } : {}) } as unknown as BodyOf<
    '/v1/runs',
    'post'
  >;
  const header = { 'Idempotency-Key': command.key ?? randomUUID() };
  const run = await api.ask(api.heron.POST('/v1/runs', { body, params: { header } })).catch((error: unknown) => {
    if (!(error instanceof ApiRefusal)) throw error;
    const located = error.refusal.problems.map((problem) => read.file.locate(problem));
    throw new ApiRefusal(error.refusal, faultLines(path, located));
  });
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

/** Polls until the run is launched or has ended. Prints each state, and the URL where a person decides. */
async function waitFor({ heron, ask }: CommandApi, id: string, say: (line: string) => void): Promise<Run> {
  let said = 0;
  for (;;) {
    const { events, ...run } = await ask(heron.GET('/v1/runs/{id}', { params: { path: { id } } }));
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
