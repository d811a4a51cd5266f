import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { createDnsRecords } from './dns.ts';

/**
 * Starts a name server that answers every query with a TXT record in two parts, with an answer code, or not at all.
 */
async function nameServer(answer: 'text' | 'silence' | number) {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    if (answer === 'silence') return;
    const records = answer === 'text' ? 1 : 0;
    const head = Buffer.from([0x81, answer === 'text' ? 0x80 : 0x80 | answer, 0, 1, 0, records, 0, 0, 0, 0]);
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const data = Buffer.concat(['v=spf1 ', '-all'].map((part) => Buffer.from([part.length, ...Buffer.from(part)])));
    const record = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, data.length, ...data]);
    socket.send(Buffer.concat([query.subarray(0, 2), head, question, ...(records ? [record] : [])]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const servers = [`127.0.0.1:${(socket.address() as AddressInfo).port}`];
  // A server that answers gets the default timeout, because the machine may be busy.
  const dns = createDnsRecords({ servers, ...(answer === 'silence' && { timeoutMs: 50 }) });
  return { dns, close: () => socket.close() };
}

test('an answer, a name without records, and no answer are three things', async (t) => {
  const NXDOMAIN = 3;
  const SERVFAIL = 2;
  for (const [answer, expected] of [
    ['text', ['v=spf1 -all']],
    [NXDOMAIN, []],
    [SERVFAIL, null],
    ['silence', null],
  ] as const) {
    const { dns, close } = await nameServer(answer);
    t.deepEqual(await dns.txt('sender.example'), expected as never, String(answer));
    close();
  }
});

test('mail exchangers come by their preference, whatever the order of the answer', async (t) => {
  const socket = createSocket('udp4');
  const name = (label: string) => [label.length, ...Buffer.from(label), 0];
  socket.on('message', (query, { port, address }) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const records = [
      [20, 'second'],
      [5, 'first'],
      [30, 'third'],
    ].flatMap(([preference, label]) => {
      const data = [0, preference as number, ...name(label as string)];
      return [0xc0, 12, 0, 15, 0, 1, 0, 0, 0, 60, 0, data.length, ...data];
    });
    const head = [0x81, 0x80, 0, 1, 0, 3, 0, 0, 0, 0];
    socket.send(
      Buffer.concat([query.subarray(0, 2), Buffer.from(head), question, Buffer.from(records)]),
      port,
      address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const dns = createDnsRecords({ servers: [`127.0.0.1:${(socket.address() as AddressInfo).port}`] });
  t.deepEqual(await dns.mx('sender.example'), ['first', 'second', 'third']);
  socket.close();
});

test('of a name that is none nothing is known, and nothing throws', async (t) => {
  const { dns, close } = await nameServer(3);
  t.is(await dns.mx('a'.repeat(300)), null);
  t.deepEqual(await dns.cname('sender.example'), []);
  close();
});
