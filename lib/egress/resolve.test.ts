import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { EgressError } from './errors.ts';
import { createDnsLookup, resolveChecked } from './resolve.ts';

const TYPE_A = 1;
const TYPE_AAAA = 28;

/**
 * Starts a name server that answers every query from `zone`, with NXDOMAIN for other names. If `zone` is `silent`, it
 * never answers.
 */
async function nameServer(t: ExecutionContext, zone: Record<string, string[]> | 'silent'): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    if (zone === 'silent') return;
    const labels: string[] = [];
    let end = 12;
    for (let size = query[end] ?? 0; size > 0; size = query[end] ?? 0) {
      labels.push(query.toString('latin1', end + 1, end + 1 + size));
      end += size + 1;
    }
    const type = query.readUInt16BE(end + 1);
    const addresses = zone[labels.join('.').toLowerCase()];
    const records = (addresses ?? [])
      .filter((address) => (isIPv4(address) ? TYPE_A : TYPE_AAAA) === type)
      .map((address) => {
        const data = isIPv4(address)
          ? Buffer.from(address.split('.').map(Number))
          : Buffer.from(address.replaceAll(':', ''), 'hex');
        const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
        return Buffer.concat([head, data]);
      });
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (addresses ? 0 : 3), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([header, query.subarray(12, end + 5), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.teardown(() => socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

test('the DNS lookup gives the addresses of both families, IPv4 first', async (t) => {
  const server = await nameServer(t, {
    'both.example.com': ['2606:4700:0000:0000:0000:0000:0000:1111', '8.8.8.8', '8.8.4.4'],
    'six.example.com': ['2606:4700:0000:0000:0000:0000:0000:1111'],
    'four.example.com': ['8.8.8.8'],
  });
  const lookup = createDnsLookup({ servers: [server] });
  t.deepEqual(await lookup('both.example.com'), ['8.8.8.8', '8.8.4.4', '2606:4700::1111']);
  t.deepEqual(await lookup('six.example.com'), ['2606:4700::1111']);
  t.deepEqual(await lookup('four.example.com'), ['8.8.8.8']);
});

test('the DNS lookup does not read the hosts file', async (t) => {
  const lookup = createDnsLookup({ servers: [await nameServer(t, {})] });
  await t.throwsAsync(lookup('localhost'), { code: 'ENOTFOUND' });
});

test('a name without addresses, and a name server that never answers, are dns errors', async (t) => {
  const zone = { 'empty.example.com': [] };
  const answering = createDnsLookup({ servers: [await nameServer(t, zone)] });
  const silent = createDnsLookup({ servers: [await nameServer(t, 'silent')], timeoutMs: 50 });
  for (const [lookup, hostname] of [
    [answering, 'missing.example.com'],
    [answering, 'empty.example.com'],
    [silent, 'slow.example.com'],
  ] as const) {
    const error = await t.throwsAsync(resolveChecked(hostname, lookup, { allowPrivate: false }), {
      instanceOf: EgressError,
    });
    t.is(error.kind, 'dns', hostname);
    t.is(error.message, 'The host name could not be resolved');
  }
});

test('refuses the whole name when any address is not public', async (t) => {
  const server = await nameServer(t, {
    'mixed4.example.com': ['8.8.8.8', '10.0.0.7'],
    'mixed6.example.com': ['8.8.8.8', 'fd00:0000:0000:0000:0000:0000:0000:0001'],
    'good.example.com': ['8.8.8.8', '2606:4700:0000:0000:0000:0000:0000:1111'],
  });
  const lookup = createDnsLookup({ servers: [server] });
  for (const hostname of ['mixed4.example.com', 'mixed6.example.com']) {
    const error = await t.throwsAsync(resolveChecked(hostname, lookup, { allowPrivate: false }), {
      instanceOf: EgressError,
    });
    t.is(error.kind, 'blocked');
    t.notRegex(error.message, /10\.|fd00/);
    t.is((await resolveChecked(hostname, lookup, { allowPrivate: true })).length, 2);
  }
  t.deepEqual(await resolveChecked('good.example.com', lookup, { allowPrivate: false }), [
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]);
});

test('a literal is checked without a lookup, and an answer that is no address is refused in any mode', async (t) => {
  const never = () => Promise.reject(new Error('asked'));
  t.deepEqual(await resolveChecked('8.8.8.8', never, { allowPrivate: false }), [{ address: '8.8.8.8', family: 4 }]);
  for (const literal of ['127.0.0.1', '::1', '64:ff9b::808:808']) {
    const error = await t.throwsAsync(resolveChecked(literal, never, { allowPrivate: false }), {
      instanceOf: EgressError,
    });
    t.is(error.kind, 'blocked');
  }
  const odd = () => Promise.resolve(['0x7f.1']);
  for (const allowPrivate of [false, true]) {
    const resolving = resolveChecked('odd.example.com', odd, { allowPrivate });
    const error = await t.throwsAsync(resolving, { instanceOf: EgressError });
    t.is(error.kind, 'blocked');
  }
});
