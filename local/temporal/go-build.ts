import { spawn } from 'node:child_process';
import { access, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FetchOptions } from '../packages/fetch.ts';
import { showProgress } from '../packages/progress.ts';
import { TEMPORAL, TEMPORAL_FROM_GO } from './pins.ts';

const CLI_PACKAGE = 'github.com/temporalio/cli/cmd/temporal';

/**
 * Builds the pinned Temporal CLI from its official Go module. The first build takes a few minutes. It needs only Go and
 * a module proxy. `local/temporal/go/` contains the Go module that pins the version.
 * @returns the path of the built program, below `cacheDir`
 * @throws Error when Go is not installed, or with the last lines of Go's output
 */
export async function buildCli({ cacheDir, log }: FetchOptions): Promise<string> {
  const moduleDir = await findModule();
  const go = (args: string[], onLine: (line: string) => void): Promise<string[]> => runGo(moduleDir, args, onLine);
  const goVersion = await go(['version'], () => undefined).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error('Go is not installed') : error;
  });
  const { cli: version, server } = TEMPORAL_FROM_GO;
  log(`Temporal: Go builds server ${server} (CLI ${version}), not ${TEMPORAL.server} (CLI ${TEMPORAL.cli})`);
  log(`Temporal: building once with ${goVersion[0] ?? 'Go'}; a few minutes when Go's cache is empty`);

  await mkdir(cacheDir, { recursive: true });
  const path = join(cacheDir, `built-${process.pid}`);
  let stage = 'fetching modules';
  const progress = showProgress(log, (seconds) => `Temporal: ${stage}, ${seconds} s`);
  try {
    let fetched = 0;
    const packages = await go(['list', '-deps', CLI_PACKAGE], (line) => {
      if (line.startsWith('go: downloading')) stage = `fetching modules, ${++fetched} so far`;
    });
    let compiled = 0;
    stage = 'compiling';
    const linkFlags = `-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=${version}`;
    await go(['build', '-v', '-trimpath', '-buildvcs=false', '-ldflags', linkFlags, '-o', path, CLI_PACKAGE], () => {
      stage = `compiling, package ${++compiled} of at most ${packages.length}`;
    });
    return path;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    progress.end();
  }
}

/**
 * Finds the folder of the Go module. Searches the folder of this file and those above it, because the compiled build
 * contains no Go files.
 */
async function findModule(): Promise<string> {
  for (let current = dirname(fileURLToPath(import.meta.url)); ; current = dirname(current)) {
    const candidate = join(current, 'local', 'temporal', 'go');
    const found = await access(join(candidate, 'go.mod')).then(
      () => true,
      () => false,
    );
    if (found) return candidate;
    if (current === dirname(current)) throw new Error('the folder local/temporal/go with its go.mod is missing');
  }
}

/**
 * Runs a command of Go. Returns the lines of its standard output, and calls `onLine` with those of its standard error
 * as they arrive.
 */
async function runGo(cwd: string, args: string[], onLine: (line: string) => void): Promise<string[]> {
  const child = spawn('go', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  let output = '';
  let pending = '';
  const complaints: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const lines = (pending + text).split('\n');
    pending = lines.pop()!;
    for (const line of lines) onLine(line);
    complaints.push(...lines);
    complaints.splice(0, complaints.length - 5);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) {
    const reason = [...complaints, pending].join(' / ').trim();
    throw new Error(`go ${args[0]} failed: ${reason || `code ${code}`}`);
  }
  return output.split('\n').filter((line) => line !== '');
}
