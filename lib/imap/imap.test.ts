import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import test from 'ava';
import { startMailWorld, type MailWorld, type MailWorldMailbox } from '../../test/harness/mail.ts';
import { findInSent, ImapError, openImap, saveToSent, verifyImap, type ImapTarget } from './index.ts';
import { assertNowhere } from '../../test/harness/secrets.ts';

const OPTIONS = { allowPrivate: true, connectTimeoutMs: 10_000 };
const RAW = Buffer.from(
  'From: sam@ours.test\r\nTo: lea@lead.test\r\nMessage-ID: <one@ours.test>\r\nSubject: Hi\r\n\r\nHello\r\n',
);
let mail: MailWorld;
let count = 0;

test.before(async () => {
  mail = await startMailWorld();
});
test.after.always(() => mail.stop());

async function user(): Promise<{ box: MailWorldMailbox; target: ImapTarget }> {
  const email = `sam${(count += 1)}@ours.test`;
  const box = await mail.addMailbox({ email, password: 'secret' });
  return { box, target: { ...box.imap, security: 'none', username: email, password: 'secret' } };
}

async function listenWith(t: { teardown(fn: () => void): void }, greeting: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (greeting) socket.write(greeting);
  }).listen(0, '127.0.0.1');
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('a copy is kept in Sent once, seen, and found there by its Message-ID', async (t) => {
  const { box, target } = await user();
  t.is(await findInSent(target, '<one@ours.test>', OPTIONS), 'absent');
  await saveToSent(target, RAW, OPTIONS);
  await saveToSent(target, RAW, OPTIONS);
  t.is(await findInSent(target, '<one@ours.test>', OPTIONS), 'found');
  t.is(await findInSent(target, '<two@ours.test>', OPTIONS), 'absent');
  const [copy, ...others] = box.messages('Sent');
  t.true(copy?.raw.equals(RAW));
  t.deepEqual(copy?.flags, ['\\Seen']);
  t.is(others.length, 0);
});

test('what cannot be asked is unknown, not absent', async (t) => {
  const { target } = await user();
  t.is(await findInSent({ ...target, password: 'wrong' }, '<one@ours.test>', OPTIONS), 'unknown');
  t.is(await findInSent({ ...target, port: 1 }, '<one@ours.test>', OPTIONS), 'unknown');
});

test('failures say what kind they are and how far it came', async (t) => {
  const { target } = await user();
  const failure = async (changed: Partial<ImapTarget>, options = OPTIONS) => {
    const error = await t.throwsAsync(verifyImap({ ...target, ...changed }, options), { instanceOf: ImapError });
    return [error.kind, error.stage];
  };
  t.deepEqual(await failure({ password: 'wrong' }), ['auth', 'auth']);
  t.deepEqual(await failure({ port: 1 }), ['unreachable', 'connect']);
  t.deepEqual(await failure({ security: 'starttls' }), ['unreachable', 'tls']);
  t.deepEqual(await failure({ security: 'tls' }), ['unreachable', 'tls']);
  t.deepEqual(await failure({ host: 'no-such-host.invalid' }), ['unreachable', 'dns']);
  t.deepEqual(await failure({ host: '127.0.0.1' }, { ...OPTIONS, allowPrivate: false }), ['unreachable', 'connect']);
  t.deepEqual(
    await failure({ port: await listenWith(t, '220 smtp ready\r\n') }, { ...OPTIONS, connectTimeoutMs: 300 }),
    ['unreachable', 'greeting'],
  );
  t.deepEqual(await failure({ port: await listenWith(t, '') }, { ...OPTIONS, connectTimeoutMs: 300 }), [
    'unreachable',
    'greeting',
  ]);
  t.deepEqual(await failure({ port: await listenWith(t, '* BYE closed for today\r\n') }), ['unreachable', 'connect']);
});

test('a connection that breaks later does not end the process', async (t) => {
  const { box, target } = await user();
  const client = await openImap(target, OPTIONS);
  await client.mailboxOpen('INBOX');
  const closed = once(client, 'close');
  box.renumber();
  await closed;
  t.false(client.usable);
});

test('a server that repeats what it was given tells nobody the password', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN] ready\r\n');
    socket.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().split('\r\n').filter(Boolean)) {
        const [tag, command] = line.split(' ');
        const isSignIn = command === 'LOGIN' || command === 'AUTHENTICATE';
        socket.write(isSignIn ? `${tag} NO you said: ${line} s3cret-of-sam\r\n` : `${tag} OK done\r\n`);
      }
    });
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const target = { host: '127.0.0.1', port, security: 'none', username: 'sam@ours.test', password: 's3cret-of-sam' };
  const error = await t.throwsAsync(openImap(target as ImapTarget, OPTIONS), { instanceOf: ImapError });
  t.regex(error.message, /you said: .*\[redacted\]/);
  assertNowhere(t, error.message, ['s3cret-of-sam', '\0sam@ours.test\0']);
});

test('the check names what a server lacks and reading can do without', async (t) => {
  const { box, target } = await user();
  box.deliver(RAW);
  t.deepEqual(await verifyImap(target, OPTIONS), []);
  for (const lack of ['UIDNEXT', 'SINCE', 'INTERNALDATE'] as const) box.lacks.add(lack);
  t.deepEqual(await verifyImap(target, OPTIONS), ['UIDNEXT', 'SEARCH SINCE', 'INTERNALDATE']);
  box.lacks.add('SEARCH');
  t.true((await verifyImap(target, OPTIONS)).includes('SEARCH'));
});

for (const [lack, needs] of [
  ['UIDVALIDITY', 'uidvalidity'],
  ['FETCH', 'fetch'],
] as const)
  test(`the check refuses a server without ${lack}`, async (t) => {
    const { box, target } = await user();
    box.deliver(RAW);
    box.lacks.add(lack);
    const error = await t.throwsAsync(verifyImap(target, OPTIONS), { instanceOf: ImapError });
    t.is(error.needs, needs);
  });

test('a message whose source is not handed over is no failure of the check', async (t) => {
  const { box, target } = await user();
  box.deliver(RAW);
  box.lacks.add('BODY value');
  t.deepEqual(await verifyImap(target, OPTIONS), []);
});
