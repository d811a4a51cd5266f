import { once } from 'node:events';
import { connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { closed, httpReceiver, tcpReceiver, type Receiver } from './fixtures/servers.ts';
import { ConnectionPool, StaleConnectionError } from './pool.ts';
import { createEgress, type EgressOptions } from './request.ts';

function sender(t: ExecutionContext, options: Partial<EgressOptions> = {}) {
  let asked = 0;
  const lookup = () => {
    asked += 1;
    return Promise.resolve(['127.0.0.1']);
  };
  const egress = createEgress({ allowUnsafe: true, lookup, ...options });
  t.teardown(() => egress.close());
  return {
    egress,
    asked: () => asked,
    send: (receiver: Receiver, host = 'hooks.example.com') =>
      egress.request({
        method: 'POST',
        url: `http://${host}:${receiver.port}/`,
        body: 'x',
        timeoutMs: 60_000,
        maxResponseBytes: 1024,
      }),
  };
}

test('a connection is kept for the next request to the same origin', async (t) => {
  const receiver = await httpReceiver(t, (_message, response) => response.end('ok'));
  const { send, asked } = sender(t);
  const first = await send(receiver);
  const second = await send(receiver);
  t.deepEqual([first.reused, second.reused], [false, true]);
  t.deepEqual([second.timings.dnsMs, second.timings.connectMs], [0, 0]);
  t.is(second.address, '127.0.0.1');
  t.is(receiver.connections.length, 1);
  t.is(asked(), 1);
});

test('another host on the same address has its own lookup and connection', async (t) => {
  const receiver = await httpReceiver(t, (_message, response) => response.end('ok'));
  const { send, asked } = sender(t);
  await send(receiver, 'a.example.com');
  t.false((await send(receiver, 'b.example.com')).reused);
  t.is(receiver.connections.length, 2);
  t.is(asked(), 2);
});

test('requests at the same time use a connection each, and keep them all', async (t) => {
  let waiting: (() => void)[] = [];
  const receiver = await httpReceiver(t, (_message, response) => {
    waiting.push(() => response.end());
    if (waiting.length < 5) return;
    for (const answer of waiting) answer();
    waiting = [];
  });
  const { send } = sender(t);
  for (const reused of [false, true]) {
    const responses = await Promise.all(Array.from({ length: 5 }, () => send(receiver)));
    t.true(responses.every((response) => response.reused === reused));
  }
  t.is(receiver.connections.length, 5);
});

test('a connection past its age is not used again: the name is resolved and checked afresh', async (t) => {
  const receiver = await httpReceiver(t, (_message, response) => response.end('ok'));
  const { send, asked } = sender(t, { maxConnectionAgeMs: 0 });
  await send(receiver);
  t.false((await send(receiver)).reused);
  t.is(asked(), 2);
});

test('keeps no more unused connections than it may', async (t) => {
  const receiver = await httpReceiver(t, (_message, response) => response.end('ok'));
  const { send } = sender(t, { maxIdleConnections: 1 });
  await send(receiver, 'a.example.com');
  await send(receiver, 'b.example.com');
  t.true((await send(receiver, 'b.example.com')).reused);
  t.false((await send(receiver, 'a.example.com')).reused);
});

test('an unused connection closes after its idle time, and close() closes all at once', async (t) => {
  // Uses a plain TCP receiver, because Node's HTTP server would state a keep-alive time, which takes precedence over
  // the pool's own.
  const receiver = await tcpReceiver(t, (socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
  });
  for (const idleConnectionMs of [10, 600_000]) {
    const { send, egress } = sender(t, { idleConnectionMs });
    await send(receiver);
    if (idleConnectionMs > 10) await egress.close();
    await closed(receiver, -1);
  }
  t.is(receiver.connections.length, 2);
});

test('after close() a request still works, and its connection closes with it', async (t) => {
  const receiver = await httpReceiver(t, (_message, response) => response.end('ok'));
  const { send, egress } = sender(t);
  await egress.close();
  await send(receiver);
  t.false((await send(receiver)).reused);
});

test('a connection the server ends, with or without saying so, is not used again', async (t) => {
  const answers = [
    'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    'HTTP/1.1 200 OK\r\n\r\nok',
  ];
  for (const answer of answers) {
    const receiver = await tcpReceiver(t, (socket) => socket.once('data', () => socket.end(answer)));
    const { send } = sender(t);
    t.is((await send(receiver)).body.toString(), 'ok');
    await closed(receiver);
    const again = await send(receiver);
    t.deepEqual([again.body.toString(), again.reused], ['ok', false]);
  }
});

test("an answer after the answer is not taken for the next request's", async (t) => {
  const twice = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'.repeat(2);
  const receiver = await tcpReceiver(t, (socket) => socket.on('data', () => socket.write(twice)));
  const { send } = sender(t);
  await send(receiver);
  await closed(receiver);
  t.false((await send(receiver)).reused);
});

test('the client of a connection never opens another one', async (t) => {
  const receiver = await httpReceiver(t, (_message, response) => response.end('ok'));
  const socket = connect(receiver.port, '127.0.0.1');
  await once(socket, 'connect');
  const pool = new ConnectionPool({ maxAgeMs: 60_000, idleMs: 4000, maxIdle: 1 });
  const connection = pool.open(`http://127.0.0.1:${receiver.port}`, {
    socket,
    address: '127.0.0.1',
    timings: { dnsMs: 0, connectMs: 0 },
  });
  const response = await connection.client.request({ method: 'GET', path: '/' });
  t.is(await response.body.text(), 'ok');
  socket.destroy();
  await t.throwsAsync(connection.client.request({ method: 'GET', path: '/' }), { instanceOf: StaleConnectionError });
  t.is(receiver.connections.length, 1);
  pool.discard(connection);
});
