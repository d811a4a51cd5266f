import type { TLSSocket } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { EgressError } from './errors.ts';
import { closed, fixture, httpReceiver, httpsReceiver, tcpReceiver, type Receiver } from './fixtures/servers.ts';
import { createEgress, type EgressOptions } from './request.ts';

function sender(t: ExecutionContext, options: Partial<EgressOptions> = {}) {
  const egress = createEgress({
    allowUnsafe: true,
    lookup: () => Promise.resolve(['127.0.0.1']),
    extraCa: [fixture('valid.pem')],
    ...options,
  });
  t.teardown(() => egress.close());
  return (receiver: Receiver, host = 'hooks.example.com', timeoutMs = 60_000) =>
    egress.request({
      method: 'POST',
      url: `https://${host}:${receiver.port}/`,
      body: 'x',
      timeoutMs,
      maxResponseBytes: 1024,
    });
}

async function refused(t: ExecutionContext, sent: Promise<unknown>, code: string | undefined, message: string) {
  const error = await t.throwsAsync(sent, { instanceOf: EgressError });
  t.deepEqual([error.kind, error.phase, error.code], ['tls', 'tls', code]);
  t.is(error.message, message);
}

test('verifies and announces the name, not the address, and keeps the connection', async (t) => {
  const names: unknown[] = [];
  const receiver = await httpsReceiver(t, 'valid.pem', (message, response) => {
    names.push((message.socket as TLSSocket & { servername?: unknown }).servername);
    response.end('secret');
  });
  const send = sender(t);
  const first = await send(receiver);
  t.is(first.body.toString(), 'secret');
  t.is(typeof first.timings.tlsMs, 'number');
  const second = await send(receiver);
  t.true(second.reused);
  t.is(second.timings.tlsMs, undefined);
  t.deepEqual(names, ['hooks.example.com', 'hooks.example.com']);
  t.is(receiver.connections.length, 1);
});

test('an address in the URL is verified as an address, without a name announced', async (t) => {
  const names: unknown[] = [];
  const receiver = await httpsReceiver(t, 'valid.pem', (message, response) => {
    names.push((message.socket as TLSSocket & { servername?: unknown }).servername);
    response.end();
  });
  const send = sender(t);
  t.is((await send(receiver, '127.0.0.1')).status, 200);
  t.deepEqual(names, [false]);
  const other = await httpsReceiver(t, 'valid.pem', (_message, response) => response.end());
  await refused(
    t,
    send({ ...other, port: other.port }, '127.0.0.1.nip.example'),
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'The TLS certificate does not cover the host name',
  );
});

test('refuses a certificate that is untrusted, expired or for another name, and sends it nothing', async (t) => {
  let calls = 0;
  const count = () => void (calls += 1);
  const valid = await httpsReceiver(t, 'valid.pem', count);
  const expired = await httpsReceiver(t, 'expired.pem', count);
  const untrusting = sender(t, { extraCa: [] });
  await refused(t, untrusting(valid), 'DEPTH_ZERO_SELF_SIGNED_CERT', 'The TLS certificate is self-signed');
  await refused(
    t,
    sender(t)(valid, 'other.example.com'),
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'The TLS certificate does not cover the host name',
  );
  const trustingBoth = sender(t, { extraCa: [fixture('expired.pem')] });
  await refused(t, trustingBoth(expired), 'CERT_HAS_EXPIRED', 'The TLS certificate has expired');
  t.is(calls, 0);
});

test.serial('NODE_TLS_REJECT_UNAUTHORIZED does not switch verification off', async (t) => {
  const receiver = await httpsReceiver(t, 'valid.pem', (_message, response) => response.end());
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.teardown(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  await refused(
    t,
    sender(t, { extraCa: [] })(receiver),
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'The TLS certificate is self-signed',
  );
});

test('a server that does not speak TLS, or hangs up in the handshake, is a tls error', async (t) => {
  const plain = await httpReceiver(t, (_message, response) => response.end());
  const error = await t.throwsAsync(sender(t)(plain), { instanceOf: EgressError });
  t.deepEqual([error.kind, error.phase, error.message], ['tls', 'tls', 'The TLS handshake failed']);
  const rude = await tcpReceiver(t, (socket) => socket.once('data', () => socket.destroy()));
  await refused(t, sender(t)(rude), 'ECONNRESET', 'The TLS handshake failed');
});

test('the timeout covers a handshake that never ends', async (t) => {
  const receiver = await tcpReceiver(t, () => {});
  const error = await t.throwsAsync(sender(t)(receiver, 'hooks.example.com', 150), { instanceOf: EgressError });
  t.deepEqual([error.kind, error.phase], ['timeout', 'tls']);
  receiver.connections[0]?.resume();
  await closed(receiver);
});
