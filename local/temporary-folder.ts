import { chmod, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { availableMemory } from 'node:process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '../lib/folder-lock.ts';

const PREFIX = 'heron-stack-';
/** The file system in memory of Linux. */
const MEMORY = '/dev/shm';
/** What the databases of a run of all tests take, and what must be left of the machine's memory (bytes). */
const NEEDED = 4 * 2 ** 30;
const LEFT_FREE = 4 * 2 ** 30;
/** A younger folder (ms) may be one whose process has not locked it yet. */
const SETTLED_MS = 60_000;

/**
 * Makes a folder for the data of a stack that does not outlive its process. `inMemory` asks for one in memory, which is given
 * where there is plenty: every test file has a database of its own, of more than a thousand files, and making and deleting them
 * on a disk takes longer than many a test. Everyone may enter it, its owner alone may list it: PostgreSQL runs under an
 * account of its own when this process is root.
 */
export async function temporaryFolder({ inMemory }: { inMemory: boolean }): Promise<string> {
  const parent = inMemory && (await hasRoom(MEMORY)) ? MEMORY : tmpdir();
  if (parent === MEMORY) await removeAbandoned(MEMORY);
  const folder = await mkdtemp(join(parent, PREFIX));
  await chmod(folder, 0o711);
  return folder;
}

async function hasRoom(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize >= NEEDED && availableMemory() >= NEEDED + LEFT_FREE;
  } catch {
    return false;
  }
}

/** Removes what processes left that were killed: in memory it would stay until the machine starts again. */
export async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(parent, name);
    try {
      if (Date.now() - (await stat(folder)).mtimeMs < SETTLED_MS) continue;
      const unlock = await lockFolder(folder);
      await rm(folder, { recursive: true, force: true });
      await unlock();
    } catch {
      // In use, removed by another process meanwhile, or of another user.
    }
  }
}
