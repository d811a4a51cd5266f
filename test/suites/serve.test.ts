import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startChild } from '../../local/child.ts';
import { freePort } from '../../local/servers.ts';
import { eventually } from '../harness/eventually.ts';
import { createWorld, type World } from '../harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const SETTINGS = ['API_PORT', 'TRACKING_PORT', 'FORMS_PORT', 'REALTIME_PORT'] as const;
type Ports = Record<(typeof SETTINGS)[number], number>;

async function serve(t: ExecutionContext, given: Partial<Ports> = {}) {
  const ports = Object.fromEntries(
    await Promise.all(SETTINGS.map(async (setting) => [setting, given[setting] ?? (await freePort())])),
  ) as Ports;
  const folder = await mkdtemp(join(tmpdir(), 'heron-serve-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const logFile = join(folder, 'serve.log');
  const env = Object.fromEntries(Object.entries(ports).map(([setting, port]) => [setting, String(port)]));
  const child = await startChild('serve', {
    env: { ...process.env, PRIMARY_DB: world.databaseUrl, ...env },
    logFile,
    graceMs: 20_000,
  });
  t.teardown(() => child.stop());
  return { child, ports, log: () => readFile(logFile, 'utf8') };
}

const isClosed = (port: number) =>
  fetch(`http://127.0.0.1:${port}/health`).then(
    () => false,
    () => true,
  );

test('one process serves all four ports, finishes an open request when it is told to stop, and says that it has stopped', async (t) => {
  const { child, ports, log } = await serve(t);
  for (const port of Object.values(ports))
    t.is((await fetch(`http://127.0.0.1:${port}/health`)).status, 200, String(port));
  t.is(child.ready.url, `http://127.0.0.1:${ports.API_PORT}`, 'the address of the process is that of the API');

  // The body of this request arrives after the process has begun to stop.
  const open = request({ port: ports.API_PORT, method: 'POST', path: '/v1/auth/login', agent: false });
  open.setHeader('Content-Type', 'application/json');
  const answered = once(open, 'response');
  // The answer confirms that the server has the request, because a connection without a request is closed at once.
  open.setHeader('Expect', '100-continue');
  open.flushHeaders();
  await once(open, 'continue');
  open.write('{"email": "nobody@example.com", ');
  t.is((await fetch(`http://127.0.0.1:${ports.API_PORT}/health`)).status, 200);
  const stopped = child.stop();
  await eventually(async () => (await log()).includes('"stopping"'));
  for (const setting of ['TRACKING_PORT', 'FORMS_PORT', 'API_PORT'] as const)
    await eventually(() => isClosed(ports[setting]));
  open.end('"password": "wrong password"}');
  const [answer] = (await answered) as [{ statusCode: number }];
  t.true(answer.statusCode >= 400 && answer.statusCode < 500, 'the open request has its answer');
  await stopped;
  t.like(await child.exited, { code: 0 });
  t.true((await log()).includes('"stopped"'));
});

test('a port that is taken ends the process, with the setting that names it', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => void other.close());
  const { port } = other.address() as AddressInfo;
  for (const setting of SETTINGS)
    await t.throwsAsync(serve(t, { [setting]: port }), {
      message: `serve did not start: port ${port} is taken by another program (${setting})`,
    });
});
