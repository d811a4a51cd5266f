import { chmod, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { availableMemory } from 'node:process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '../lib/folder-lock.ts';

const PREFIX = 'heron-stack-';
/** Path of the in-memory file system of Linux. */
const MEMORY = '/dev/shm';
/** Memory (bytes) that must be free. It is enough for the databases of a full test run, with a reserve. */
const NEEDED = 4 * 2 ** 30;
const LEFT_FREE = 4 * 2 ** 30;
/** Age (ms) up to which a folder may belong to a process that has not locked it yet. */
const SETTLED_MS = 60_000;

/**
 * Creates a folder for the data of a temporary stack. `inMemory` requests a folder in memory, which is used if enough
 * memory is free. Each test file's database has over a thousand files, which are slow to create and delete on disk.
 * Everyone may enter the folder, but only its owner may list it, because PostgreSQL runs under its own account if this
 * process is root.
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

/** Removes folders left by killed processes, which would otherwise occupy memory until a reboot. */
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
      // The folder is in use, was removed by another process, or belongs to another user.
    }
  }
}
