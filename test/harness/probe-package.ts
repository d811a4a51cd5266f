import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromNpm } from '../../local/packages/npm.ts';
import type { PinnedProgram } from '../../local/packages/fetch.ts';

/** Returns a package of a test's registry, with a shell script as its program. */
export function probePackage(sha512: string): PinnedProgram {
  return fromNpm({
    label: 'Probe',
    name: '@heron/probe',
    version: '1.0.0',
    program: 'probe',
    instead: 'Set PROBE to another one.',
    sha512,
    make: (source, folder) => copyFile(join(source, 'bin', 'probe'), join(folder, 'probe')),
  });
}
