import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { ImapFlow, type ImapFlowOptions } from 'imapflow';
import nodemailer from 'nodemailer';
import { startMailWorld, type MailWorld, type MailWorldMailbox } from './mail.ts';
import { TYPESCRIPT } from '../../local/typescript.ts';

const RAW = Buffer.from(
  'From: Zoë <zoe@lead.test>\r\nTo: ann@ours.test\r\nSubject: Re: héllo {3}\r\n' +
    'Message-ID:\r\n <one@lead.test>\r\n\r\nBödy {3}\r\nline\r\n',
);

let world: MailWorld;
let mailboxes = 0;

test.before(async () => {
  world = await startMailWorld();
});
test.after.always(async () => {
  await world.stop();
});

function addMailbox(): Promise<MailWorldMailbox> {
  mailboxes += 1;
  return world.addMailbox({ email: `ann${mailboxes}@ours.test`, password: 'pä"ss\\wörd' });
}

async function withImap<T>(
  mailbox: MailWorldMailbox,
  work: (client: ImapFlow) => Promise<T>,
  pass = mailbox.password,
): Promise<T> {
  const auth = { user: mailbox.email, pass };
  const options: ImapFlowOptions = { ...mailbox.imap, secure: false, logger: false, auth };
  const client = new ImapFlow(options);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.logout().catch(() => undefined);
  }
}

function send(mailbox: MailWorldMailbox, to: string, pass = mailbox.password): Promise<unknown> {
  const transport = nodemailer.createTransport({ ...mailbox.smtp, secure: false, auth: { user: mailbox.email, pass } });
  return transport
    .sendMail({ from: mailbox.email, to, subject: `To ${to}`, text: 'Hello.\n.\nA dot alone above.' })
    .finally(() => transport.close());
}

test('SMTP: a login sends, and the record has the envelope, the bytes and the parsed message', async (t) => {
  const mailbox = await addMailbox();
  await send(mailbox, 'lead@there.test');
  const message = await world.waitFor((one) => one.envelope.to.includes('lead@there.test'), 5000);
  t.deepEqual(message.envelope, { from: mailbox.email, to: ['lead@there.test'] });
  t.is(message.user, mailbox.email);
  t.true(message.answered);
  const parsed = await message.parsed();
  t.is(parsed.subject, 'To lead@there.test');
  t.is(parsed.text?.trim(), 'Hello.\n.\nA dot alone above.');
  t.true(message.raw.includes(parsed.messageId!));
});

test('SMTP: a wrong password, a foreign login and no login are refused', async (t) => {
  const mailbox = await addMailbox();
  await t.throwsAsync(send(mailbox, 'x@there.test', 'wrong'), { code: 'EAUTH' });
  await t.throwsAsync(send({ ...mailbox, email: 'nobody@ours.test' }, 'x@there.test'), { code: 'EAUTH' });
  const anonymous = nodemailer.createTransport({ ...mailbox.smtp, secure: false });
  await t.throwsAsync(anonymous.sendMail({ from: mailbox.email, to: 'x@there.test', text: '' }), { code: 'EENVELOPE' });
  t.false(world.messages.some((message) => message.envelope.to.includes('x@there.test')));
});

test('SMTP: an address rejects for good, another defers twice and then accepts', async (t) => {
  const mailbox = await addMailbox();
  world.script('Gone@there.test', { kind: 'reject' });
  world.script('grey@there.test', { kind: 'defer', times: 2 });
  const gone = await t.throwsAsync(send(mailbox, 'gone@there.test'));
  t.like(gone, { responseCode: 550 });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    t.like(await t.throwsAsync(send(mailbox, 'grey@there.test')), { responseCode: 451 });
  }
  await send(mailbox, 'grey@there.test');
  const to = world.messages.flatMap((message) => message.envelope.to);
  t.is(to.filter((address) => address === 'grey@there.test').length, 1);
  t.false(to.includes('gone@there.test'));
});

test('SMTP: a connection cut after DATA leaves the message taken but the sender without an answer', async (t) => {
  const mailbox = await addMailbox();
  world.script('cut@there.test', { kind: 'drop' });
  world.script('lost@there.test', { kind: 'drop', lose: true });
  t.like(await t.throwsAsync(send(mailbox, 'cut@there.test')), { responseCode: undefined });
  await t.throwsAsync(send(mailbox, 'lost@there.test'));
  await send(mailbox, 'cut@there.test');
  const answered = (address: string): boolean[] =>
    world.messages.filter((one) => one.envelope.to.includes(address)).map((one) => one.answered);
  t.deepEqual(answered('cut@there.test'), [false, true]);
  t.deepEqual(answered('lost@there.test'), []);
});

test('SMTP: a delayed answer comes after the message was taken', async (t) => {
  const mailbox = await addMailbox();
  world.script('slow@there.test', { kind: 'delay', ms: 300 });
  let answered = false;
  const sending = send(mailbox, 'slow@there.test').then(() => (answered = true));
  await world.waitFor((one) => one.envelope.to.includes('slow@there.test'), 5000);
  t.false(answered);
  await sending;
  t.true(answered);
});

test('SMTP: STARTTLS is offered when asked for', async (t) => {
  const secured = await startMailWorld({ startTls: true });
  t.teardown(() => secured.stop());
  const mailbox = await secured.addMailbox({ email: 'ann@ours.test', password: 'secret' });
  const auth = { user: mailbox.email, pass: mailbox.password };
  const tls = { rejectUnauthorized: false };
  const transport = nodemailer.createTransport({ ...mailbox.smtp, secure: false, requireTLS: true, auth, tls });
  await transport.sendMail({ from: mailbox.email, to: 'lead@there.test', text: 'Hello' });
  t.is(secured.messages.length, 1);
});

test('mail between two mailboxes of the world arrives in the INBOX', async (t) => {
  const [from, to] = [await addMailbox(), await addMailbox()];
  await send(from, to.email);
  t.is(to.messages('INBOX').length, 1);
  t.is(from.messages('INBOX').length, 0);
});

test('waitFor says what came instead', async (t) => {
  const quiet = await startMailWorld();
  t.teardown(() => quiet.stop());
  await t.throwsAsync(
    quiet.waitFor(() => true, 10),
    { message: /nothing/ },
  );
});

test('IMAP: logs in, refuses a wrong password, and follows a changed one', async (t) => {
  const mailbox = await addMailbox();
  await withImap(mailbox, async (client) => t.truthy(client.authenticated));
  const refused = await t.throwsAsync(withImap(mailbox, async () => undefined, 'wrong'));
  t.like(refused, { authenticationFailed: true });
  mailbox.setPassword('changed');
  await t.throwsAsync(withImap(mailbox, async () => undefined));
  await t.notThrowsAsync(withImap(mailbox, async () => undefined, 'changed'));
});

test('IMAP: Sent is found by its special use', async (t) => {
  const mailbox = await addMailbox();
  const folders = await withImap(mailbox, (client) => client.list());
  t.deepEqual(
    folders.map(({ path, specialUse }) => [path, specialUse]),
    [
      ['INBOX', '\\Inbox'],
      ['Sent', '\\Sent'],
    ],
  );
});

test('IMAP: IDLE notices new mail, again and again', async (t) => {
  const mailbox = await addMailbox();
  await withImap(mailbox, async (client) => {
    await client.mailboxOpen('INBOX');
    for (const count of [1, 2]) {
      const noticed = new Promise<{ count: number }>((resolve) => client.once('exists', resolve));
      const idling = client.idle();
      mailbox.deliver(RAW);
      t.is((await noticed).count, count);
      await client.noop();
      await idling;
    }
  });
});

test('IMAP: a message comes back byte for byte and is found by its Message-ID', async (t) => {
  const mailbox = await addMailbox();
  mailbox.deliver('Subject: another\r\nMessage-ID: <two@lead.test>\r\n\r\n');
  mailbox.deliver(RAW);
  await withImap(mailbox, async (client) => {
    await client.mailboxOpen('INBOX');
    const find = (id: string) => client.search({ header: { 'message-id': id } }, { uid: true });
    t.deepEqual(await find('<one@lead.test>'), [2]);
    t.deepEqual(await find('<none@lead.test>'), []);
    const message = await client.fetchOne('2', { source: true, envelope: true, size: true }, { uid: true });
    if (!message) return t.fail('no message');
    t.true(message.source?.equals(RAW));
    t.is(message.size, RAW.length);
    t.like(message.envelope, { messageId: '<one@lead.test>', subject: 'Re: héllo {3}' });
  });
});

test('IMAP: APPEND to Sent keeps bytes and flags, small and large', async (t) => {
  const mailbox = await addMailbox();
  const large = Buffer.concat([RAW, Buffer.from('0123456789abcdef {9}\r\n'.repeat(20_000))]);
  await withImap(mailbox, async (client) => {
    await client.append('Sent', RAW, ['\\Seen'], new Date());
    await client.append('Sent', large);
    await client.mailboxOpen('Sent');
    t.deepEqual(await client.search({ header: { 'message-id': '<one@lead.test>' } }, { uid: true }), [1, 2]);
  });
  const [first, second] = mailbox.messages('Sent');
  t.true(first?.raw.equals(RAW));
  t.deepEqual(first?.flags, ['\\Seen']);
  t.true(second?.raw.equals(large));
});

test('IMAP: renumbering changes UIDVALIDITY and cuts clients off', async (t) => {
  const mailbox = await addMailbox();
  mailbox.deliver(RAW);
  const validity = (): Promise<bigint> =>
    withImap(mailbox, async (client) => (await client.mailboxOpen('INBOX')).uidValidity);
  const before = await validity();
  await withImap(mailbox, async (client) => {
    await client.mailboxOpen('INBOX');
    const closed = new Promise((resolve) => client.once('close', resolve));
    mailbox.renumber();
    await closed;
  });
  t.not(await validity(), before);
});

test('a world with a client cut off in the middle of IDLE lets its process end', async (t) => {
  const args = [...TYPESCRIPT, fileURLToPath(new URL('idle-cut-off.ts', import.meta.url))];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 30_000 });
  t.is(stdout, 'stopped');
});
