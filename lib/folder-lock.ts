import { once } from 'node:events';
import { rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sha256 } from './crypto.ts';

/**
 * Locks a data folder for this process, until `release` is called or the process ends in any way. Two Temporal servers
 * must never use the same database file. The lock is a socket on which the process listens, so it ends with the
 * process.
 * @returns a function that releases the lock
 * @throws Error when another process holds the lock
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = lockPath(folder);
  let server = await listenOn(path);
  if (!server) {
    const holder = await holderAt(path);
    if (holder !== undefined)
      throw new Error(
        `Heron already runs on ${folder}${holder ? ` (pid ${holder})` : ''}. Stop it, or choose another folder with HERON_DATA_DIR.`,
      );
    await rm(path, { force: true });
    server = await listenOn(path);
  }
  if (!server) throw new Error(`Another Heron is just starting on ${folder}.`);
  const held = server.unref();
  return () => new Promise((done) => held.close(() => done()));
}

export interface LockHolder {
  /** Process id of the holder of the lock. Empty if the holder did not answer. */
  pid: string;
  since: Date;
}

/**
 * Returns the process that holds the lock of a folder, and the time since which it holds the lock. Undefined if no
 * process holds it.
 */
export async function lockHolder(folder: string): Promise<LockHolder | undefined> {
  const path = lockPath(folder);
  const pid = await holderAt(path);
  const found = await stat(path).catch(() => undefined);
  return pid === undefined ? undefined : { pid, since: found?.mtime ?? new Date(0) };
}

function lockPath(folder: string): string {
  const name = `heron-${sha256(resolve(folder)).slice(0, 16)}`;
  return process.platform === 'win32' ? join('\\\\.\\pipe', name) : join(tmpdir(), `${name}.sock`);
}

async function listenOn(path: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.on('error', () => undefined).end(String(process.pid)));
  try {
    await once(server.listen(path), 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

/**
 * Asks the holder of the lock for its process id. Returns an empty text if the holder does not answer. Undefined if no
 * process holds the lock.
 */
function holderAt(path: string): Promise<string | undefined> {
  return new Promise((answer) => {
    let pid = '';
    let isConnected = false;
    connect(path)
      .setEncoding('utf8')
      .once('connect', () => (isConnected = true))
      .on('data', (text: string) => (pid += text))
      .on('error', () => undefined)
      .once('close', () => answer(isConnected ? pid : undefined));
  });
}
