import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import hoodiecrow from 'hoodiecrow-imap';
import { eventually } from '../test/harness/eventually.ts';
import { createMailbox } from '../test/harness/factories.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { startSync } from './sync.ts';

const plain = (id: string) =>
  `From: lea@lead.test\r\nTo: sam@ours.test\r\nSubject: ${id}\r\nMessage-ID: <${id}@lead.test>\r\n\r\nHello\r\n`;

type Plugin = (server: hoodiecrow.ImapServer) => void;

/** Starts a server without IDLE, with a Junk folder, and with the faults of the plugin. */
async function poorServer(t: ExecutionContext, plugin: Plugin = () => {}) {
  const folder = (use?: string) => ({ uidvalidity: 7, messages: [], ...(use ? { 'special-use': use } : {}) });
  const server = hoodiecrow({
    plugins: ['SPECIAL-USE', 'NAMESPACE', plugin],
    users: { 'sam@ours.test': { password: 'secret' } },
    storage: { INBOX: folder(), '': { separator: '/', folders: { 'Bulk mail': folder('\\Junk') } } },
  });
  const sockets = new Set<{ destroy(): void }>();
  server.server.on('connection', (socket) => sockets.add(socket));
  const listening = once(server.server, 'listening');
  server.listen(0, '127.0.0.1', () => {});
  await listening;
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.server.close();
  });
  const deliver = (path: string, id: string) => server.appendMessage(path, [], undefined, plain(id));
  return { deliver, endpoint: { host: '127.0.0.1', port: (server.server.address() as AddressInfo).port } };
}

async function watched(
  t: ExecutionContext,
  endpoint: { host: string; port: number },
): Promise<{ world: World; id: string; stop(): Promise<void> }> {
  const world = await createWorld({ env: { IMAP_POLL_MS: '200' } });
  const tenant = await world.tenant();
  const id = await createMailbox(world.deps, tenant.organizationId, 'sam@ours.test', {
    smtp: endpoint,
    imap: endpoint,
  });
  const sync = await startSync(world.deps, { leaseMs: 2_000, sweepMs: 100, retryMs: 50 });
  t.teardown(() => world.close());
  return { world, id, stop: () => sync.stop() };
}

const readRows = (world: World, id: string) =>
  world.deps.db('inbound_messages').where({ mailbox_id: id }).orderBy('id');
const holds = (world: World, id: string, n: number) => eventually(async () => (await readRows(world, id)).length >= n);

test('a server without IDLE is polled, its Junk folder too', async (t) => {
  const { deliver, endpoint } = await poorServer(t);
  const { world, id, stop } = await watched(t, endpoint);
  deliver('INBOX', 'one');
  await holds(world, id, 1);
  deliver('Bulk mail', 'junk');
  await holds(world, id, 2);
  deliver('INBOX', 'two');
  await holds(world, id, 3);
  await stop();
  t.deepEqual(
    (await readRows(world, id)).map(({ folder, subject }) => [folder, subject]),
    [
      ['INBOX', 'one'],
      ['Bulk mail', 'junk'],
      ['INBOX', 'two'],
    ],
  );
  t.deepEqual(
    (await world.deps.db('mailbox_sync').where({ mailbox_id: id }).orderBy('folder')).map(({ folder, last_uid }) => [
      folder,
      last_uid,
    ]),
    [
      ['Bulk mail', 1],
      ['INBOX', 2],
    ],
  );
});

/** Returns a plugin that refuses to return messages while `refuses` returns true. */
const refusing =
  (answer: 'BAD' | 'NO', refuses: (command: string) => boolean): Plugin =>
  (server) => {
    const fetch = server.getCommandHandler('UID FETCH');
    server.setCommandHandler('UID FETCH', (connection, parsed, data, done) => {
      if (!refuses(data)) return fetch(connection, parsed, data, done);
      connection.send(
        { tag: parsed.tag, command: answer, attributes: [{ type: 'TEXT', value: 'internal error' }] },
        'broken',
        parsed,
        data,
      );
      done();
    });
  };

test('a sign-in refused for wrong credentials, by its response code, is not tried again for hours', async (t) => {
  const { endpoint } = await poorServer(t, (server) => {
    server.setCommandHandler('LOGIN', (connection, parsed, data, done) => {
      const code = { type: 'SECTION', section: [{ type: 'ATOM', value: 'AUTHENTICATIONFAILED' }] };
      connection.send(
        { tag: parsed.tag, command: 'NO', attributes: [code, { type: 'TEXT', value: 'wrong' }] },
        'refused',
        parsed,
        data,
      );
      done();
    });
  });
  const { world, id, stop } = await watched(t, endpoint);
  const position = () => world.deps.db('mailbox_sync').where({ mailbox_id: id, folder: 'INBOX' }).first();
  await eventually(async () => (await position()).failures > 0);
  await stop();
  t.true((await position()).retry_at > new Date(Date.now() + 5 * 3600_000));
});

test('a server that says NO to everything for a while loses no message', async (t) => {
  let refuses = true;
  const { deliver, endpoint } = await poorServer(
    t,
    refusing('NO', (data) => refuses && /BODY/i.test(data)),
  );
  for (const id of ['one', 'two']) deliver('INBOX', id);
  const { world, id, stop } = await watched(t, endpoint);
  await eventually(
    async () => (await world.deps.db('mailbox_sync').where({ mailbox_id: id, folder: 'INBOX' }).first()).failures >= 6,
  );
  t.deepEqual(await readRows(world, id), []);
  refuses = false;
  await holds(world, id, 2);
  await stop();
  t.deepEqual(
    (await readRows(world, id)).map(({ subject, error }) => [subject, error]),
    [
      ['one', null],
      ['two', null],
    ],
  );
});

test('Junk is read while mail keeps coming into the INBOX', async (t) => {
  let flood = (): void => {};
  const { deliver, endpoint } = await poorServer(
    t,
    refusing('NO', () => {
      flood();
      return false;
    }),
  );
  // Every fetch delivers more messages, so that the INBOX is never read to its end.
  flood = () => ['one', 'more'].forEach((id) => deliver('INBOX', id));
  flood();
  const { world, id, stop } = await watched(t, endpoint);
  await holds(world, id, 5);
  deliver('Bulk mail', 'junk');
  const junk = await eventually(async () => (await readRows(world, id)).find(({ folder }) => folder === 'Bulk mail'));
  t.is(junk.subject, 'junk');
  await stop();
});

test('a message the server cannot hand over is noted after a few tries, passed by, and read when it can be', async (t) => {
  let refuses = true;
  const { deliver, endpoint } = await poorServer(
    t,
    refusing('BAD', (data) => refuses && /UID FETCH 2 .*BODY/i.test(data)),
  );
  for (const id of ['one', 'two', 'three']) deliver('INBOX', id);
  const { world, id, stop } = await watched(t, endpoint);
  await holds(world, id, 3);
  t.deepEqual(
    (await readRows(world, id)).map(({ uid, subject, error }) => [uid, subject, error && error.code]),
    [
      [1, 'one', null],
      [2, '', 'imap.message_not_delivered'],
      [3, 'three', null],
    ],
  );
  const second = () => world.deps.db('inbound_messages').where({ mailbox_id: id, uid: 2 }).first();
  const due = () =>
    world.deps.db('inbound_messages').where({ mailbox_id: id, uid: 2 }).update({ retry_at: new Date() });
  await due();
  await eventually(async () => (await second()).tries === 1);
  t.true((await second()).retry_at > new Date());
  refuses = false;
  await due();
  await eventually(async () => (await second())?.subject === 'two');
  await stop();
  t.like(await second(), { error: null, retry_at: null });
  t.is((await readRows(world, id)).length, 3);
});

/** Returns a plugin that answers `BODY[] NIL` for one message while `isNil` returns true. */
const withoutSource =
  (uid: number, isNil: () => boolean): Plugin =>
  (server) => {
    server.outputHandlers.push((_connection, { attributes }) => {
      const items = attributes?.[2] as { value?: string; section?: unknown[] }[] | undefined;
      if (!isNil() || !Array.isArray(items)) return;
      const of = items.findIndex((item) => item?.value === 'UID');
      const source = items.findIndex((item) => item?.value === 'BODY' && item.section);
      if (source >= 0 && Number(items[of + 1]) === uid) items[source + 1] = null as never;
    });
  };

test('a message whose source is NIL for a moment is noted, passed by, and read when it comes', async (t) => {
  let isNil = true;
  const { deliver, endpoint } = await poorServer(
    t,
    withoutSource(2, () => isNil),
  );
  for (const id of ['one', 'two', 'three']) deliver('INBOX', id);
  const { world, id, stop } = await watched(t, endpoint);
  await holds(world, id, 3);
  t.deepEqual(
    (await readRows(world, id)).map(({ uid, subject, error }) => [uid, subject, error && error.code]),
    [
      [1, 'one', null],
      [2, '', 'imap.message_not_delivered'],
      [3, 'three', null],
    ],
  );
  isNil = false;
  await world.deps.db('inbound_messages').where({ mailbox_id: id, uid: 2 }).update({ retry_at: new Date() });
  await eventually(
    async () => (await world.deps.db('inbound_messages').where({ mailbox_id: id, uid: 2 }).first())?.subject === 'two',
  );
  await stop();
  t.is((await readRows(world, id)).length, 3);
});

test('the only message of a folder is noted too when the server cannot hand it over', async (t) => {
  const { deliver, endpoint } = await poorServer(
    t,
    refusing('BAD', (data) => /BODY/i.test(data)),
  );
  deliver('INBOX', 'one');
  const { world, id, stop } = await watched(t, endpoint);
  await holds(world, id, 1);
  await stop();
  t.is((await readRows(world, id))[0]!.error.code, 'imap.message_not_delivered');
});

test('a Junk folder that the server does not open does not keep the INBOX from being read', async (t) => {
  const { deliver, endpoint } = await poorServer(t, (server) => {
    const examine = server.getCommandHandler('EXAMINE');
    server.setCommandHandler('EXAMINE', (connection, parsed, data, done) => {
      if (!data.includes('Bulk mail')) return examine(connection, parsed, data, done);
      const attributes = [{ type: 'TEXT', value: 'no such right' }];
      connection.send({ tag: parsed.tag, command: 'NO', attributes }, 'refused', parsed, data);
      done();
    });
  });
  const { world, id, stop } = await watched(t, endpoint);
  deliver('INBOX', 'one');
  await holds(world, id, 1);
  await stop();
  t.is((await readRows(world, id))[0]!.subject, 'one');
});

test('a server that is away is tried again', async (t) => {
  const gone = await poorServer(t);
  const { world, id, stop } = await watched(t, { host: '127.0.0.1', port: 1 });
  await eventually(async () => (await world.deps.db('mailbox_sync').where({ mailbox_id: id }).first()).failures >= 2);
  t.is((await world.deps.db('mailboxes').where({ id }).first()).hold_code, null);
  await world.deps
    .db('mailboxes')
    .where({ id })
    .update({ imap: JSON.stringify({ ...gone.endpoint, username: 'sam@ours.test', security: 'none' }) });
  gone.deliver('INBOX', 'one');
  await holds(world, id, 1);
  await stop();
  t.is((await world.deps.db('mailbox_sync').where({ mailbox_id: id, folder: 'INBOX' }).first()).failures, 0);
});
