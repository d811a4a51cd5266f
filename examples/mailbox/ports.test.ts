import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { freePort } from '../../local/servers.ts';
import { TYPESCRIPT } from '../../local/typescript.ts';
import { eventually } from '../../test/harness/eventually.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

function mailbox(env: Record<string, string>) {
  const child = spawn(process.execPath, [...TYPESCRIPT, MAIN], {
    env: { ...process.env, npm_lifecycle_event: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  return { child, said, ended: once(child, 'close') };
}

test('a usual port that is taken is replaced by a free one, and the setting is named', async (t) => {
  const taken = createServer();
  // Ignores an error: if another program already uses the port, the test works too.
  await new Promise<void>((done) => taken.once('error', () => done()).listen(2525, '127.0.0.1', done));
  t.teardown(() => taken.close());
  const { child, said, ended } = mailbox({
    MAILBOX_SMTP_PORT: '',
    MAILBOX_IMAP_PORT: String(await freePort()),
    MAILBOX_PAGE_PORT: String(await freePort()),
  });
  t.teardown(() => child.kill('SIGKILL'));
  await eventually(async () => said.out.includes('The mailbox is up.'));
  const [, port] =
    /Port 2525 is taken by another program: using (\d+) instead \(MAILBOX_SMTP_PORT chooses one\)/.exec(said.out) ?? [];
  t.truthy(port);
  t.true(said.out.includes(`SMTP      127.0.0.1:${port}, without TLS`));
  child.kill('SIGTERM');
  t.deepEqual(await ended, [0, null]);
});

test('a port that a setting asked for is refused when it is taken, in one line', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const { said, ended } = mailbox({ MAILBOX_IMAP_PORT: String(port) });
  t.deepEqual(await ended, [1, null]);
  t.is(said.err, `The mailbox did not start: port ${port} is taken by another program (MAILBOX_IMAP_PORT)\n`);
});
