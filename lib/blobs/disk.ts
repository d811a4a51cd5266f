import { createReadStream } from 'node:fs';
import { access, constants, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newId } from '../ids.ts';
import { BlobMissing, type BlobStore } from './store.ts';

/** Marker file in the root. Processes compare its id to check that they use the same folder. */
const MARK = '.heron-files';
const CHUNK_BYTES = 256 * 1024;
/** Pattern of a key: folders and a file name. No key can point outside the root. */
const KEY = /^[a-z0-9-]+(?:\/[a-z0-9-]+)*$/;

/**
 * Opens a store of files in a folder that every process can access: a local volume, or a volume shared by several
 * machines.
 */
export function diskStore(root: string): BlobStore {
  const pathOf = (key: string): string => {
    if (!KEY.test(key)) throw new Error(`${key} is no key of a file`);
    return join(root, key);
  };
  return {
    async put(key, bytes) {
      const path = pathOf(key);
      // Never creates the root. If its volume is not mounted, this must be reported as an error.
      await assertFolder(root);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const draft = `${path}.${newId()}`;
      try {
        const file = await open(draft, 'wx', 0o600);
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      await syncFolder(dirname(path));
    },
    async *read(key, fromByte = 0) {
      try {
        for await (const chunk of createReadStream(pathOf(key), { start: fromByte, highWaterMark: CHUNK_BYTES }))
          yield chunk as Buffer;
      } catch (error) {
        throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new BlobMissing(key) : error;
      }
    },
    async remove(key) {
      const path = pathOf(key);
      // If the volume is not mounted, the deletion must fail.
      await assertFolder(root);
      await rm(path, { force: true });
    },
    async place(mark) {
      const path = join(root, MARK);
      if (mark)
        await writeFile(path, newId(), { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') throw error;
        });
      return readFile(path, 'utf8').then(
        (id) => `disk:${id.trim()}`,
        () => null,
      );
    },
    async check() {
      await assertFolder(root);
      await access(root, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
        throw new Error(`${root} (BLOB_ROOT) may not be written by this process`);
      });
    },
    close() {},
  };
}

async function assertFolder(root: string): Promise<void> {
  const found = await stat(root).catch(() => undefined);
  if (!found?.isDirectory()) throw new Error(`${root} (BLOB_ROOT) is not there, or is no folder`);
}

/** Syncs the folder to disk. Without this, a renamed file may be lost after a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
