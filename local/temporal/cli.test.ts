import { access, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { resolveTemporalCli, TEMPORAL_CLI_VERSION, type CliEnvironment } from './cli.ts';
import type { FetchOptions } from './download.ts';

interface Machine {
  environment: CliEnvironment;
  lines: string[];
  log: (line: string) => void;
  root: string;
}

/** A machine where nothing is to be had. */
async function bareMachine(t: { teardown: (undo: () => Promise<void>) => void }): Promise<Machine> {
  const root = await mkdtemp(join(tmpdir(), 'heron-cli-'));
  t.teardown(() => rm(root, { recursive: true }));
  const lines: string[] = [];
  return {
    root,
    lines,
    log: (line) => void lines.push(line),
    environment: {
      searchPath: [join(root, 'bin')],
      cacheDir: join(root, 'cache'),
      download: () => Promise.reject(new Error('no way out')),
      build: () => Promise.reject(new Error('Go is not installed')),
    },
  };
}

async function plant(directory: string, name: string, version = '1.8.2', server = '1.31.2'): Promise<string> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, name);
  const answer = `temporal version ${version} (Server ${server}, UI 2.50.1)`;
  await writeFile(path, `#!/bin/sh\necho "${answer}"\n`, { mode: 0o755 });
  return path;
}

test('the version in the code is the one the Go module pins', async (t) => {
  const pinned = await readFile(new URL('./go/go.mod', import.meta.url), 'utf8');
  t.true(pinned.includes(`github.com/temporalio/cli v${TEMPORAL_CLI_VERSION}`));
});

test('a program on PATH comes first', async (t) => {
  const { environment, log, root } = await bareMachine(t);
  const path = await plant(join(root, 'bin'), 'temporal');
  await plant(join(root, 'cache', TEMPORAL_CLI_VERSION), 'temporal');
  t.deepEqual(await resolveTemporalCli(log, environment), { path, source: 'path' });
});

test('one on PATH that is too old is passed over, with the reason, for the cache', async (t) => {
  const { environment, log, lines, root } = await bareMachine(t);
  await plant(join(root, 'bin'), 'temporal', '0.10.7', '1.22.0');
  const path = await plant(join(root, 'cache', TEMPORAL_CLI_VERSION), 'temporal');
  await plant(join(root, 'cache', '9.0.0'), 'temporal', '9.0.0');
  t.deepEqual(await resolveTemporalCli(log, environment), { path, source: 'cache' });
  t.true(lines.some((line) => line.includes('server 1.22.0 is older than')));
});

test('another version that an earlier download left is used', async (t) => {
  const { environment, log, root } = await bareMachine(t);
  await plant(join(root, 'cache', '1.9.0'), 'temporal', '1.9.0');
  const path = await plant(join(root, 'cache', '1.10.0'), 'temporal', '1.10.0');
  t.deepEqual(await resolveTemporalCli(log, environment), { path, source: 'cache' });
});

test('a broken program in the cache is passed over', async (t) => {
  const { environment, log, root } = await bareMachine(t);
  const directory = join(root, 'cache', TEMPORAL_CLI_VERSION);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'temporal'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  environment.build = ({ scratchDir }) => plant(scratchDir, 'built');
  t.is((await resolveTemporalCli(log, environment)).source, 'go-build');
});

test('a download is kept under its own version, and found the next time', async (t) => {
  const { environment, log, root } = await bareMachine(t);
  environment.download = ({ scratchDir }) => plant(scratchDir, 'downloaded', '1.7.0');
  const path = join(root, 'cache', '1.7.0', 'temporal');
  t.deepEqual(await resolveTemporalCli(log, environment), { path, source: 'sdk-download' });
  t.deepEqual(await resolveTemporalCli(log, environment), { path, source: 'cache' });
});

test('when the download fails its reason is logged and the build has its turn', async (t) => {
  const { environment, log, lines } = await bareMachine(t);
  environment.build = ({ scratchDir }) => plant(scratchDir, 'built');
  t.is((await resolveTemporalCli(log, environment)).source, 'go-build');
  t.true(lines.some((line) => line.includes('sdk-download: no way out')));
});

test('when nothing works the error names the four ways and the reasons, and holds no lock', async (t) => {
  const { environment, log } = await bareMachine(t);
  const error = await t.throwsAsync(resolveTemporalCli(log, environment));
  for (const part of ['TEMPORAL_ADDRESS', 'on PATH', 'download', 'install Go', 'no way out', 'Go is not installed']) {
    t.true(error?.message.includes(part), part);
  }
  t.deepEqual(await readdir(environment.cacheDir), []);
});

test('two that start together build once', async (t) => {
  const { environment, log, lines } = await bareMachine(t);
  let builds = 0;
  environment.build = async ({ scratchDir }: FetchOptions) => {
    builds += 1;
    await sleep(300);
    return plant(scratchDir, 'built');
  };
  const both = await Promise.all([resolveTemporalCli(log, environment), resolveTemporalCli(log, environment)]);
  t.is(builds, 1);
  t.deepEqual(both.map(({ source }) => source).toSorted(), ['cache', 'go-build']);
  t.true(lines.some((line) => line.includes(`process ${process.pid} is fetching the server already`)));
});

test('a lock left by a process that died is taken over', async (t) => {
  const { environment, log } = await bareMachine(t);
  const lock = join(environment.cacheDir, 'fetch.lock');
  await mkdir(environment.cacheDir, { recursive: true });
  await writeFile(lock, '999999');
  await utimes(lock, 0, 0);
  environment.build = ({ scratchDir }) => plant(scratchDir, 'built');
  t.is((await resolveTemporalCli(log, environment)).source, 'go-build');
  await t.throwsAsync(access(lock));
});
