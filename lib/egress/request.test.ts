import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { EgressError, type EgressErrorKind, type EgressPhase } from './errors.ts';
import { closed, httpReceiver, tcpReceiver } from './fixtures/servers.ts';
import { createEgress, type EgressMeasurement, type EgressOptions, type EgressRequest } from './request.ts';

const AMPLE = { method: 'POST', timeoutMs: 60_000, maxResponseBytes: 1024 } as const;

function unsafeEgress(t: ExecutionContext, options: Partial<EgressOptions> = {}) {
  const lookup = () => Promise.resolve(['127.0.0.1']);
  const egress = createEgress({ allowUnsafe: true, lookup, ...options });
  t.teardown(() => egress.close());
  return egress;
}

async function failure(
  t: ExecutionContext,
  sent: Promise<unknown>,
  kind: EgressErrorKind,
  phase: EgressPhase,
): Promise<EgressError> {
  const error = await t.throwsAsync(sent, { instanceOf: EgressError });
  t.is(error.kind, kind);
  t.is(error.phase, phase);
  t.notRegex(error.message, /\d+\.\d+|::/, 'the message names no address');
  t.is(error.cause, undefined);
  return error;
}

async function readBody(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

test('sends the body byte for byte, with the Host of the URL, to the address that was checked', async (t) => {
  const seen: Record<string, string | undefined>[] = [];
  const receiver = await httpReceiver(t, (message, response) => {
    void readBody(message).then((body) => {
      const { host, 'content-type': type } = message.headers;
      seen.push({ host, body, type, path: message.url });
      response.writeHead(202, { 'x-a': 'b', 'set-cookie': ['1', '2'] }).end('done');
    });
  });
  const url = `http://hooks.example.com:${receiver.port}/in?a=%20b`;
  const headers = { 'Content-Type': 'application/json' };
  const response = await unsafeEgress(t).request({ ...AMPLE, url, headers, body: '{"ü": 1}' });
  t.deepEqual(seen, [
    { host: `hooks.example.com:${receiver.port}`, body: '{"ü": 1}', type: 'application/json', path: '/in?a=%20b' },
  ]);
  t.is(response.status, 202);
  t.is(response.headers['x-a'], 'b');
  t.deepEqual(response.headers['set-cookie'], ['1', '2']);
  t.is(response.body.toString(), 'done');
  t.false(response.truncated);
  t.is(response.address, '127.0.0.1');
  t.is(response.timings.tlsMs, undefined);
});

test('refuses a URL, a literal and a name that are not public before any connection is made', async (t) => {
  const receiver = await httpReceiver(t, (_message, response) => response.end());
  const asked: string[] = [];
  const answers: Record<string, string[]> = {
    'private.example.com': ['127.0.0.1'],
    'mixed.example.com': ['8.8.8.8', '127.0.0.1'],
    'mapped.example.com': ['::ffff:127.0.0.1'],
    'nat64.example.com': ['64:ff9b::7f00:1'],
    'sixtofour.example.com': ['2002:7f00:1::'],
    'metadata.example.com': ['169.254.169.254'],
  };
  const egress = createEgress({
    allowUnsafe: false,
    lookup: (hostname) => {
      asked.push(hostname);
      return Promise.resolve(answers[hostname] ?? []);
    },
  });
  for (const url of [
    'http://8.8.8.8/',
    `https://127.0.0.1:${receiver.port}/`,
    'https://127.1/',
    'https://[::1]/',
    'https://localhost/',
    'https://u:p@example.com/',
    'https://example.com:8443/',
    'nonsense',
  ]) {
    await failure(t, egress.request({ ...AMPLE, url }), 'blocked', 'check');
  }
  t.deepEqual(asked, []);
  for (const hostname of Object.keys(answers)) {
    const error = await failure(t, egress.request({ ...AMPLE, url: `https://${hostname}/` }), 'blocked', 'dns');
    t.is(error.message, 'The host resolves to an address that is not publicly routable');
  }
  t.deepEqual(asked, Object.keys(answers));
  t.is(receiver.connections.length, 0);
});

test('rebinding: one lookup per connection, and the connection goes to what that lookup said', async (t) => {
  const checked = await httpReceiver(t, (_message, response) => response.end('checked'));
  let asked = 0;
  // No server listens on 127.0.0.2, so a second lookup would make the request fail.
  const lookup = () => Promise.resolve([++asked === 1 ? '127.0.0.1' : '127.0.0.2']);
  const egress = unsafeEgress(t, { lookup });
  const request = { ...AMPLE, url: `http://rebind.example.com:${checked.port}/` };
  t.is((await egress.request(request)).body.toString(), 'checked');
  t.is(asked, 1);
});

test('rebinding: a name that turns private is refused as soon as a new connection is needed', async (t) => {
  let asked = 0;
  const lookup = () => Promise.resolve(++asked === 1 ? [] : ['10.0.0.1']);
  const egress = createEgress({ allowUnsafe: false, lookup });
  const request = { ...AMPLE, url: 'https://rebind.example.com/' };
  await failure(t, egress.request(request), 'dns', 'dns');
  await failure(t, egress.request(request), 'blocked', 'dns');
});

test('tries the next address when the first refuses', async (t) => {
  const receiver = await httpReceiver(t, (_message, response) => response.end('second'));
  const egress = unsafeEgress(t, { lookup: () => Promise.resolve(['::1', '127.0.0.1']) });
  const response = await egress.request({ ...AMPLE, url: `http://two.example.com:${receiver.port}/` });
  t.is(response.body.toString(), 'second');
  t.is(response.address, '127.0.0.1');
});

test('a redirect is an answer and is not followed', async (t) => {
  let calls = 0;
  const receiver = await httpReceiver(t, (_message, response) => {
    calls += 1;
    response.writeHead(calls % 2 ? 302 : 308, { location: '/elsewhere' }).end('moved');
  });
  const egress = unsafeEgress(t);
  const url = `http://hooks.example.com:${receiver.port}/`;
  for (const status of [302, 308]) {
    const response = await egress.request({ ...AMPLE, url, body: 'x' });
    t.is(response.status, status);
    t.is(response.headers.location, '/elsewhere');
  }
  t.is(calls, 2);
});

test('cuts a body at the limit, and closes on an endless one', async (t) => {
  const receiver = await httpReceiver(t, (message, response) => {
    const size = Number(new URL(message.url ?? '', 'http://x').searchParams.get('size'));
    if (size > 0) return void response.end('a'.repeat(size));
    const more = () => {
      while (!response.destroyed && response.write('b'.repeat(10_000)));
    };
    response.on('drain', more);
    more();
  });
  const egress = unsafeEgress(t);
  const get = (size: number) =>
    egress.request({
      ...AMPLE,
      method: 'GET',
      url: `http://hooks.example.com:${receiver.port}/?size=${size}`,
    });
  const exact = await get(1024);
  t.deepEqual([exact.body.length, exact.truncated], [1024, false]);
  const over = await get(1025);
  t.deepEqual([over.body.length, over.truncated], [1024, true]);
  const endless = await get(0);
  t.deepEqual([endless.body.toString(), endless.truncated], ['b'.repeat(1024), true]);
  await closed(receiver, -1);
});

test('huge headers end the connection', async (t) => {
  const receiver = await tcpReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const more = () => {
      while (!socket.destroyed && socket.write(`x-${'a'.repeat(500)}: ${'b'.repeat(500)}\r\n`));
    };
    socket.on('drain', more);
    more();
  });
  const url = `http://hooks.example.com:${receiver.port}/`;
  await failure(t, unsafeEgress(t).request({ ...AMPLE, url }), 'too_large', 'exchange');
  await closed(receiver);
});

test('reads headers of 10 KiB and refuses those of 20 KiB', async (t) => {
  const receiver = await tcpReceiver(t, (socket) =>
    socket.once('data', (request) => {
      const size = Number(/size=(\d+)/.exec(request.toString())?.[1]);
      socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nX-Long: ${'a'.repeat(size)}\r\nContent-Length: 0\r\n\r\n`);
    }),
  );
  const egress = unsafeEgress(t);
  const url = `http://hooks.example.com:${receiver.port}/?size=`;
  t.is((await egress.request({ ...AMPLE, url: `${url}10240` })).headers['x-long']?.length, 10_240);
  await failure(t, egress.request({ ...AMPLE, url: `${url}20480` }), 'too_large', 'exchange');
});

test('what is not HTTP, or ends too early, is a protocol error', async (t) => {
  const answers = [
    'SSH-2.0-OpenSSH_9.2\r\n',
    '',
    'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort',
    'HTTP/1.1 200 OK\r\nX: y',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  ];
  for (const answer of answers) {
    const receiver = await tcpReceiver(t, (socket) => socket.once('data', () => socket.end(answer)));
    const url = `http://hooks.example.com:${receiver.port}/`;
    await failure(t, unsafeEgress(t).request({ ...AMPLE, url }), 'protocol', 'exchange');
  }
});

test('with acceptPartialBody the status counts, whatever the body does', async (t) => {
  const answers: [answer: string, body: string, end: (socket: Socket) => void][] = [
    ['HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort', 'short', (socket) => socket.end()],
    [
      'HTTP/1.1 202 OK\r\nContent-Length: 10\r\n\r\nreset',
      'reset',
      (socket) => setImmediate(() => socket.resetAndDestroy()),
    ],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n', 'a', (socket) => socket.end()],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nopen\r\n', 'open', () => {}],
    ['HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody', '', (socket) => socket.end()],
    ['HTTP/1.1 204 No Content\r\n\r\nbody', '', (socket) => socket.end()],
  ];
  const egress = unsafeEgress(t);
  for (const [answer, body, end] of answers) {
    const receiver = await tcpReceiver(t, (socket) =>
      socket.once('data', () => socket.write(answer, () => end(socket))),
    );
    const url = `http://hooks.example.com:${receiver.port}/`;
    const response = await egress.request({ ...AMPLE, timeoutMs: 2_000, url, acceptPartialBody: true });
    t.is(String(response.status), answer.slice(9, 12), answer);
    t.true(body.startsWith(response.body.toString()), answer);
  }
});

test('an unasked 100 Continue is skipped, in one piece or several, on a new connection and on a kept one', async (t) => {
  const interim = 'HTTP/1.1 100 Continue\r\nX: y\r\n\r\n';
  const final = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone';
  const receiver = await tcpReceiver(t, (socket) => {
    socket.setNoDelay(true);
    socket.on('data', (request) => {
      if (request.includes('/whole')) return void socket.write(interim + interim + final);
      const pieces = [interim.slice(0, 7), interim.slice(7, 20), interim.slice(20), final.slice(0, 3), final.slice(3)];
      const next = () => {
        const piece = pieces.shift();
        if (piece !== undefined) socket.write(piece, () => setTimeout(next, 5));
      };
      next();
    });
  });
  const egress = unsafeEgress(t);
  for (const path of ['whole', 'pieces', 'whole', 'pieces']) {
    const response = await egress.request({
      ...AMPLE,
      url: `http://hooks.example.com:${receiver.port}/${path}`,
      body: 'x',
    });
    t.deepEqual([response.status, response.body.toString()], [200, 'done'], path);
  }
  t.is(receiver.connections.length, 1);
});

test('a refused connection is a connect error', async (t) => {
  // Uses port 1 (tcpmux), on which no service listens.
  const url = 'http://hooks.example.com:1/';
  const error = await failure(t, unsafeEgress(t).request({ ...AMPLE, url }), 'connect', 'connect');
  t.is(error.code, 'ECONNREFUSED');
  t.is(error.message, 'The host refused the connection');
});

test('the timeout covers a lookup that never answers, slow headers and a slow body', async (t) => {
  const dripping: Record<string, (socket: Socket) => void> = {
    silent: () => {},
    headers: (socket) => socket.write('HTTP/1.1 200 OK\r\nX-A: 1\r\n'),
    informational: (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'),
    body: (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab'),
  };
  for (const begin of Object.values(dripping)) {
    const receiver = await tcpReceiver(t, (socket) => {
      socket.once('data', () => begin(socket));
    });
    const url = `http://hooks.example.com:${receiver.port}/`;
    await failure(t, unsafeEgress(t).request({ ...AMPLE, url, timeoutMs: 150 }), 'timeout', 'exchange');
    await closed(receiver);
  }
  for (const allowUnsafe of [false, true]) {
    const egress = createEgress({ allowUnsafe, lookup: () => new Promise(() => {}) });
    const url = 'https://hooks.example.com/';
    await failure(t, egress.request({ ...AMPLE, url, timeoutMs: 20 }), 'timeout', 'dns');
  }
});

test('a body that drips forever does not outlive the total timeout', async (t) => {
  const receiver = await tcpReceiver(t, (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const timer = setInterval(() => socket.write('1\r\na\r\n'), 5);
      socket.once('close', () => clearInterval(timer));
    });
  });
  const url = `http://hooks.example.com:${receiver.port}/`;
  await failure(t, unsafeEgress(t).request({ ...AMPLE, url, timeoutMs: 200 }), 'timeout', 'exchange');
});

test('the signal aborts before the start, in the lookup, and in the exchange', async (t) => {
  let asked = 0;
  const aborted = unsafeEgress(t, { lookup: () => Promise.resolve([`127.0.0.${++asked}`]) });
  const url = 'http://hooks.example.com/';
  await failure(t, aborted.request({ ...AMPLE, url, signal: AbortSignal.abort() }), 'aborted', 'check');
  t.is(asked, 0);

  const inLookup = new AbortController();
  const waiting = unsafeEgress(t, {
    lookup: () => {
      setImmediate(() => inLookup.abort());
      return new Promise(() => {});
    },
  });
  await failure(t, waiting.request({ ...AMPLE, url, signal: inLookup.signal }), 'aborted', 'dns');

  const inExchange = new AbortController();
  const receiver = await tcpReceiver(t, (socket) => socket.once('data', () => inExchange.abort()));
  const sent = unsafeEgress(t).request({
    ...AMPLE,
    url: `http://hooks.example.com:${receiver.port}/`,
    signal: inExchange.signal,
  });
  await failure(t, sent, 'aborted', 'exchange');
  await closed(receiver);
});

test('an aborted signal does not send on a kept connection either', async (t) => {
  let calls = 0;
  const receiver = await httpReceiver(t, (_message, response) => response.end(String(++calls)));
  const egress = unsafeEgress(t);
  const url = `http://hooks.example.com:${receiver.port}/`;
  await egress.request({ ...AMPLE, url });
  await failure(t, egress.request({ ...AMPLE, url, signal: AbortSignal.abort() }), 'aborted', 'check');
  t.is((await egress.request({ ...AMPLE, url })).body.toString(), '2');
  t.is(receiver.connections.length, 1);
});

test("the headers that frame a request are the egress's own", async (t) => {
  const egress = unsafeEgress(t);
  const url = 'http://hooks.example.com/';
  for (const name of ['Host', 'connection', 'Content-Length', 'Transfer-Encoding', 'Upgrade']) {
    await t.throwsAsync(egress.request({ ...AMPLE, url, headers: { [name]: 'x' } }), { instanceOf: TypeError });
  }
  const receiver = await httpReceiver(t, (_message, response) => response.end());
  const split = egress.request({
    ...AMPLE,
    url: `http://hooks.example.com:${receiver.port}/`,
    headers: { 'x-a': 'b\r\nhost: evil' },
  });
  await failure(t, split, 'protocol', 'exchange');
  await closed(receiver);
});

test.serial('proxy environment variables have no effect', async (t) => {
  const proxy = await tcpReceiver(t, () => {});
  const receiver = await httpReceiver(t, (_message, response) => response.end('direct'));
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  const before = new Map(names.map((name) => [name, process.env[name]]));
  for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy.port}`;
  t.teardown(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  const response = await unsafeEgress(t).request({ ...AMPLE, url: `http://hooks.example.com:${receiver.port}/` });
  t.is(response.body.toString(), 'direct');
  t.is(proxy.connections.length, 0);
});

test('measures every attempt, with its outcome', async (t) => {
  const receiver = await httpReceiver(t, (_message, response) => response.writeHead(500).end());
  const heard: EgressMeasurement[] = [];
  const egress = unsafeEgress(t, { onSettled: (measurement) => heard.push(measurement) });
  const request: EgressRequest = { ...AMPLE, url: `http://hooks.example.com:${receiver.port}/` };
  await egress.request(request);
  await egress.request(request);
  await t.throwsAsync(egress.request({ ...request, url: 'ftp://x/' }));
  t.deepEqual(
    heard.map(({ outcome, status, reused }) => ({ outcome, status, reused })),
    [
      { outcome: 'response', status: 500, reused: false },
      { outcome: 'response', status: 500, reused: true },
      { outcome: 'blocked', status: undefined, reused: false },
    ],
  );
  t.true(heard.every(({ totalMs }) => totalMs >= 0));
});

test.serial('a kept connection that dies before it is written to is replaced; nothing is sent twice', async (t) => {
  const bodies: string[] = [];
  const receiver = await httpReceiver(t, (message, response) => {
    void readBody(message).then((body) => {
      bodies.push(body);
      response.end();
    });
  });
  const sockets: Socket[] = [];
  const onSocket = (event: unknown) => void sockets.push((event as { socket: Socket }).socket);
  subscribe('net.client.socket', onSocket);
  t.teardown(() => void unsubscribe('net.client.socket', onSocket));
  const egress = unsafeEgress(t);
  const url = `http://hooks.example.com:${receiver.port}/`;
  await egress.request({ ...AMPLE, url, body: 'first' });
  const second = egress.request({ ...AMPLE, url, body: 'second' });
  sockets[0]?.destroy();
  t.false((await second).reused);
  t.deepEqual(bodies, ['first', 'second']);
  t.is(receiver.connections.length, 2);
});
