import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What became of a state file before a server was started on it. */
export type StateFile =
  /** There is none yet, or it was written by a server of the same version. */
  | { replaced: false }
  /** Another version wrote it: it was moved aside, and the server begins with an empty one. */
  | { replaced: true; writtenBy: string | undefined; movedTo: string };

/**
 * Ties the development server's state file to the version of the server: its tables change between versions without a
 * way from one to the other, and a server on the file of another one may fail at any later moment. A file of another (or
 * an unknown) version is moved aside. What ran in it is started again from PostgreSQL, by `reconcile`.
 * @param dbFile the server's file; its version stands beside it
 */
export async function claimStateFile(dbFile: string, serverVersion: string): Promise<StateFile> {
  const versionFile = `${dbFile}.version`;
  const exists = await stat(dbFile).then(
    () => true,
    () => false,
  );
  const writtenBy = exists
    ? await readFile(versionFile, 'utf8').then(
        (text) => text.trim(),
        () => undefined,
      )
    : undefined;
  let outcome: StateFile = { replaced: false };
  if (exists && writtenBy !== serverVersion) {
    const movedTo = `${dbFile}.${writtenBy ?? 'unknown'}-${Date.now()}`;
    // SQLite keeps what is not yet in the file beside it.
    for (const part of ['-wal', '-shm', '']) await rename(`${dbFile}${part}`, `${movedTo}${part}`).catch(ignoreMissing);
    outcome = { replaced: true, writtenBy, movedTo };
  }
  await mkdir(dirname(dbFile), { recursive: true });
  await writeFile(versionFile, `${serverVersion}\n`);
  return outcome;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
