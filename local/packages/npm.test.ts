import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { probePackage } from '../../test/harness/probe-package.ts';
import { forkSource } from '../typescript.ts';
import { cachedProgram } from './cached.ts';
import { fetchProgram, PackageMismatchError } from './fetch.ts';

const run = promisify(execFile);
const FETCHER = fileURLToPath(new URL('../../test/harness/probe-fetcher.ts', import.meta.url));
const KEPT = ['1.0.0', '1.0.0/probe'];
const PATIENCE_MS = 120_000;

/** Starts a registry with one package. `deliver` sends the package's file completely, unless a test overrides it. */
async function registry(t: ExecutionContext, program = '#!/bin/sh\necho "the program"\n') {
  t.timeout(PATIENCE_MS);
  const root = await mkdtemp(join(tmpdir(), 'heron-npm-'));
  t.teardown(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  await mkdir(join(root, 'package', 'bin'), { recursive: true });
  await writeFile(join(root, 'package', 'package.json'), '{ "name": "@heron/probe", "version": "1.0.0" }');
  await writeFile(join(root, 'package', 'bin', 'probe'), program, { mode: 0o755 });
  await run('tar', ['-czf', join(root, 'probe.tgz'), '-C', root, 'package']);
  const file = await readFile(join(root, 'probe.tgz'));
  const sha512 = createHash('sha512').update(file).digest('base64');

  const place = {
    /** Number of requests for the package's file. */
    asked: 0,
    deliver: (response: ServerResponse): void => void response.end(file),
    half: (response: ServerResponse): void => {
      response.writeHead(200, { 'content-length': file.length });
      response.write(file.subarray(0, file.length / 2));
    },
  };
  const server = createServer((request, response) => {
    if (request.url === '/probe.tgz') {
      place.asked += 1;
      place.deliver(response);
      return;
    }
    const dist = { tarball: `${url}/probe.tgz`, integrity: `sha512-${sha512}` };
    const versions = { '1.0.0': { name: '@heron/probe', version: '1.0.0', dist } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name: '@heron/probe', 'dist-tags': { latest: '1.0.0' }, versions }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lines: string[] = [];
  return {
    place,
    sha512,
    lines,
    options: {
      cacheDir: join(root, 'cache'),
      // Ignores the lines about progress, which are logged only on a slow machine.
      log: (line: string) => void (line.includes('downloading') || lines.push(line)),
      env: { ...withoutNpmSettings(process.env), npm_config_registry: url } as NodeJS.ProcessEnv,
    },
    inCache: async () => (await readdir(join(root, 'cache'), { recursive: true })).toSorted(),
  };
}

/** Returns an environment without the settings of npm, which `npm test` passes on to the tests. */
function withoutNpmSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_config_/i.test(name)));
}

test('a pinned package is fetched by npm, and nothing but its program is left', async (t) => {
  const { sha512, options, inCache, lines } = await registry(t);
  const path = await fetchProgram(probePackage(sha512), options);
  t.is(path, join(options.cacheDir, '1.0.0', 'probe'));
  t.is((await run(path)).stdout, 'the program\n');
  t.deepEqual(await inCache(), KEPT);
  t.deepEqual(lines, [
    'Probe: asking `npm` to download @heron/probe 1.0.0',
    `Probe: kept in ${join(options.cacheDir, '1.0.0')}`,
  ]);
});

test('another package than the pinned one is refused with both digests, and not unpacked', async (t) => {
  const { sha512, options, inCache, lines } = await registry(t);
  const expected = Buffer.alloc(64, 1).toString('base64');
  const pinned = { ...probePackage(expected), unpack: () => Promise.reject(t.fail('it was unpacked')) };
  const error = await t.throwsAsync(cachedProgram(pinned, options), { instanceOf: PackageMismatchError });
  for (const part of [expected, sha512, 'SHA-512', 'npm config get registry', pinned.instead])
    t.true(error?.message.includes(part), part);
  t.deepEqual(await inCache(), []);
  t.is(lines.length, 1);
});

test('the second time the program comes from the cache', async (t) => {
  const { place, sha512, options, lines } = await registry(t);
  const path = await cachedProgram(probePackage(sha512), options);
  t.is(place.asked, 1);
  lines.length = 0;
  t.is(await cachedProgram(probePackage(sha512), { ...options, env: { PATH: '' } }), path);
  t.is(place.asked, 1);
  t.deepEqual(lines, []);
});

test('two processes that start together fetch once', async (t) => {
  const { place, sha512, options, inCache } = await registry(t);
  const paths = await Promise.all(
    [1, 2].map(async () => {
      const child = forkSource(FETCHER, [options.cacheDir, sha512], { env: options.env });
      t.teardown(() => child.kill('SIGKILL'));
      const [path] = (await once(child, 'message')) as [string];
      return path;
    }),
  );
  t.deepEqual(new Set(paths), new Set([join(options.cacheDir, '1.0.0', 'probe')]));
  t.is(place.asked, 1);
  t.deepEqual(
    (await inCache()).filter((name) => name !== 'fetch.lock'),
    KEPT,
  );
});

test('a download that breaks off leaves nothing, and the next one starts anew', async (t) => {
  const { place, sha512, options, inCache } = await registry(t);
  const whole = place.deliver;
  place.deliver = (response) => {
    place.half(response);
    setImmediate(() => response.destroy());
  };
  await t.throwsAsync(cachedProgram(probePackage(sha512), options), { message: /^npm: / });
  t.deepEqual(await inCache(), []);
  place.deliver = whole;
  await cachedProgram(probePackage(sha512), options);
  t.deepEqual(await inCache(), KEPT);
});

test('what a process leaves that is killed while it fetches is removed by the next', async (t) => {
  const { place, sha512, options, inCache } = await registry(t);
  const whole = place.deliver;
  const halfWay = new Promise<void>((resolve) => {
    place.deliver = (response) => {
      place.half(response);
      resolve();
    };
  });
  // Starts the process in its own process group, so that the npm process that it starts is killed together with it.
  const child = forkSource(FETCHER, [options.cacheDir, sha512], { env: options.env, detached: true });
  const exited = once(child, 'exit');
  await halfWay.finally(() => process.kill(-child.pid!, 'SIGKILL'));
  await exited;
  t.true((await inCache()).some((name) => name.startsWith(`fetch-${child.pid}-`)));
  t.false((await inCache()).includes('1.0.0'));

  place.deliver = whole;
  // Makes the lock look old, because a lock that was not refreshed for a while belongs to a dead process.
  await utimes(join(options.cacheDir, 'fetch.lock'), 0, 0);
  await cachedProgram(probePackage(sha512), options);
  t.deepEqual(await inCache(), KEPT);
});

test('a program that does not run on this machine is not kept', async (t) => {
  const { sha512, options, inCache } = await registry(t, '#!/bin/sh\necho "no libnss3.so" >&2\nexit 127\n');
  await t.throwsAsync(cachedProgram(probePackage(sha512), options), { message: /no libnss3\.so/ });
  t.deepEqual(await inCache(), []);
});

test('a file that is only read is kept without a trial, and found again', async (t) => {
  const { place, sha512, options } = await registry(t, 'no program');
  const data = { ...probePackage(sha512), isData: true };
  const path = await cachedProgram(data, options);
  await chmod(path, 0o644);
  t.is(await cachedProgram(data, options), path);
  t.is(place.asked, 1);
});

test('a machine without npm, and a platform without a package, are named', async (t) => {
  const { place, sha512, options } = await registry(t);
  const none = { ...options, env: { PATH: '' } };
  await t.throwsAsync(fetchProgram(probePackage(sha512), none), { message: 'npm: not installed' });
  const elsewhere = { ...probePackage(sha512), digest: undefined };
  await t.throwsAsync(fetchProgram(elsewhere, options), {
    message: `@heron/probe has no file for ${process.platform} ${process.arch}`,
  });
  t.is(place.asked, 0);
});
