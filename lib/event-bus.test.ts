import { createServer, type AddressInfo } from 'node:net';
import test from 'ava';
import { eventually } from '../test/harness/eventually.ts';
import { openBus, subscribeBus } from './event-bus.ts';
import { silentLogger } from './log.ts';

test('a NATS that cannot be reached is one warning, however often and by how many connections it is tried', async (t) => {
  let tries = 0;
  const server = createServer((socket) => {
    tries += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const warnings: string[] = [];
  const log = Object.assign(Object.create(silentLogger), {
    warn: (_about: object, said: string) => void warnings.push(said),
  });
  const open = await Promise.all([openBus(url, 'a', log), subscribeBus(url, 'a', () => {}, log)]);
  t.teardown(() => Promise.all(open.map((connection) => connection.close())));
  await eventually(async () => tries >= 6);
  t.deepEqual(warnings.length, 1);
});
