import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sha256 } from '../lib/crypto.ts';

/**
 * Takes a data folder for this process, until `release` or its end, however that comes: two Temporal servers on one
 * file would each believe it theirs. The lock is a socket that its process listens on; one left by a dead process does not answer.
 * @returns release
 * @throws Error when another process has it
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const name = `heron-${sha256(resolve(folder)).slice(0, 16)}`;
  const path = process.platform === 'win32' ? join('\\\\.\\pipe', name) : join(tmpdir(), `${name}.sock`);
  let server = await listenOn(path);
  if (!server) {
    if (await isAnswered(path))
      throw new Error(`Heron already runs on ${folder}. Stop it, or choose another folder with HERON_DATA_DIR.`);
    await rm(path, { force: true });
    server = await listenOn(path);
  }
  if (!server) throw new Error(`Another Heron is just starting on ${folder}.`);
  const held = server.unref();
  return () => new Promise((done) => held.close(() => done()));
}

async function listenOn(path: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  try {
    await once(server.listen(path), 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(path);
    socket
      .once('connect', () => {
        socket.destroy();
        answer(true);
      })
      .once('error', () => answer(false));
  });
}
