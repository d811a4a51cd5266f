import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { newId } from '../../lib/ids.ts';
import { freePort } from '../../local/servers.ts';
import { createTestDatabase } from './database.ts';
import { eventually } from './eventually.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE_MS = 120_000;

/** Starts a long-running command in a terminal, and collects its output. */
export function terminal(t: ExecutionContext, command: string, env: NodeJS.ProcessEnv) {
  const child = spawn('bash', ['-c', `exec ${command.trim()}`], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  t.teardown(() => void child.kill('SIGKILL'));
  return {
    child,
    said: () => said,
    async says(words: string) {
      await eventually(async () => {
        if (said.includes(words)) return true;
        if (child.exitCode) throw new Error(`it ended with ${child.exitCode}:\n${said}`);
        return false;
      }, PATIENCE_MS).catch((error: Error) => {
        throw new Error(`waiting for "${words}": ${error.message}\n${said}`);
      });
    },
  };
}

/**
 * Returns the environment for `npm start` and `npm run mailbox` in a test: free ports, a data folder, and the tests'
 * PostgreSQL (a new database) and Temporal. Everything is removed with the test.
 */
export async function installation(t: ExecutionContext) {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'heron-newcomer-'));
  t.teardown(async () => {
    await rm(dataDir, { recursive: true, force: true });
    await database.drop();
  });
  const ports = {
    API_PORT: await freePort(),
    TRACKING_PORT: await freePort(),
    FORMS_PORT: await freePort(),
    REALTIME_PORT: await freePort(),
    WORKER_PORT: await freePort(),
    MAILBOX_SMTP_PORT: await freePort(),
    MAILBOX_IMAP_PORT: await freePort(),
    MAILBOX_PAGE_PORT: await freePort(),
  };
  const { PRIMARY_DB: _db, AUTH_SECRET: _secret, ...inherited } = process.env;
  const env: NodeJS.ProcessEnv = {
    ...inherited,
    ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
    MAILBOX_URL: `http://127.0.0.1:${ports.MAILBOX_PAGE_PORT}`,
    HERON_DATA_DIR: dataDir,
  };
  const servers = {
    PRIMARY_DB: database.url,
    TEMPORAL_ADDRESS: process.env.HERON_TEST_TEMPORAL!,
    TEMPORAL_TASK_QUEUE: `newcomer-${newId()}`,
  };
  const withPorts = (code: string): string =>
    code
      .replaceAll('8080', String(ports.API_PORT))
      .replaceAll('2525', String(ports.MAILBOX_SMTP_PORT))
      .replaceAll('1143', String(ports.MAILBOX_IMAP_PORT))
      .replaceAll('8025', String(ports.MAILBOX_PAGE_PORT));
  return { env, servers, ports, withPorts, api: { url: `http://127.0.0.1:${ports.API_PORT}` } };
}
