import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import hoodiecrow from 'hoodiecrow-imap';
import { eventually } from '../test/harness/eventually.ts';
import { createMailbox } from '../test/harness/factories.ts';
import { startMailWorld } from '../test/harness/mail.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { startSync, type SyncOptions } from './sync.ts';

const USER = 'sam@ours.test';
const PATIENCE_MS = 60_000;
/** Number of servers. It exceeds the number of messages that a process reads at once. */
const SERVERS = 20;
const QUICK: SyncOptions = { leaseMs: 5_000, sweepMs: 100, retryMs: 200 };
/** Timeouts longer than a test, so that code which waits for a hanging server's timeout fails the test. */
const PATIENT: SyncOptions = { ...QUICK, connectMs: PATIENCE_MS * 5, commandMs: PATIENCE_MS * 5 };

const plain = (id: string) =>
  `From: lea@lead.test\r\nTo: ${USER}\r\nSubject: ${id}\r\nMessage-ID: <${id}@lead.test>\r\n\r\nHello\r\n`;

interface HangingServer {
  endpoint: { host: string; port: number };
  /** Number of unanswered requests. */
  hung(): number;
}

/** Starts a server that accepts connections and sends nothing. */
async function deafServer(t: ExecutionContext): Promise<HangingServer> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { endpoint: { host: '127.0.0.1', port: (server.address() as AddressInfo).port }, hung: () => count };
}

/** Starts a server that has one message and does not answer the given commands. */
async function stoppingServer(t: ExecutionContext, ...commands: string[]): Promise<HangingServer> {
  let count = 0;
  const server = hoodiecrow({
    plugins: [
      'SPECIAL-USE',
      'NAMESPACE',
      (it: hoodiecrow.ImapServer) => {
        for (const command of commands) it.setCommandHandler(command, () => void (count += 1));
      },
    ],
    users: { [USER]: { password: 'secret' } },
    storage: { INBOX: { uidvalidity: 7, messages: [] } },
  });
  const sockets = new Set<{ destroy(): void }>();
  server.server.on('connection', (socket) => sockets.add(socket));
  const listening = once(server.server, 'listening');
  server.listen(0, '127.0.0.1', () => {});
  await listening;
  server.appendMessage('INBOX', [], undefined, plain('stuck'));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.server.close();
  });
  return { endpoint: { host: '127.0.0.1', port: (server.server.address() as AddressInfo).port }, hung: () => count };
}

const HANGING: Record<string, (t: ExecutionContext) => Promise<HangingServer>> = {
  'at the greeting': deafServer,
  'at the sign-in': (t) => stoppingServer(t, 'LOGIN', 'AUTHENTICATE', 'AUTHENTICATE PLAIN'),
  'in FETCH': (t) => stoppingServer(t, 'UID FETCH'),
};

/** Creates a world with mailboxes on hanging servers, each mailbox in its own workspace. */
async function hangingWorld(
  t: ExecutionContext,
  start: (t: ExecutionContext) => Promise<HangingServer>,
  count: number,
): Promise<{ world: World; servers: HangingServer[]; ids: string[] }> {
  const world = await createWorld({ env: { IMAP_POLL_MS: '300' } });
  t.teardown(() => world.close());
  const servers = await Promise.all(Array.from({ length: count }, () => start(t)));
  const ids: string[] = [];
  for (const { endpoint } of servers) {
    const { organizationId } = await world.tenant();
    ids.push(await createMailbox(world.deps, organizationId, USER, { smtp: endpoint, imap: endpoint }));
  }
  return { world, servers, ids };
}

for (const [moment, start] of Object.entries(HANGING)) {
  test.serial(`servers that hang ${moment} do not hold up the mail of others`, async (t) => {
    t.timeout(PATIENCE_MS * 2);
    const { world, servers } = await hangingWorld(t, start, SERVERS);
    const mail = await startMailWorld();
    t.teardown(() => mail.stop());
    const sync = await startSync(world.deps, PATIENT);
    t.teardown(() => sync.stop());
    const hanging = () => servers.filter((server) => server.hung() > 0).length;
    await eventually(async () => hanging() >= 8, PATIENCE_MS);

    const { organizationId } = await world.tenant();
    const good = await mail.addMailbox({ email: 'good@ours.test', password: 'secret' });
    const id = await createMailbox(world.deps, organizationId, 'good@ours.test', { smtp: good.smtp, imap: good.imap });
    good.deliver(plain('one'));
    await eventually(
      async () => (await world.deps.db('inbound_messages').where({ mailbox_id: id })).length === 1,
      PATIENCE_MS,
    );
    t.true(hanging() >= 8);
  });

  test.serial(`a server that hangs ${moment} is given up, and tried again later`, async (t) => {
    t.timeout(PATIENCE_MS * 2);
    const { world, servers, ids } = await hangingWorld(t, start, 1);
    const sync = await startSync(world.deps, { ...QUICK, connectMs: 200, commandMs: 400 });
    t.teardown(() => sync.stop());
    const row = await eventually(async () => {
      const found = await world.deps.db('mailbox_sync').where({ mailbox_id: ids[0]!, folder: 'INBOX' }).first();
      return found.failures >= 2 && found;
    }, PATIENCE_MS);
    t.true(row.failures >= 2);
    t.true(servers[0]!.hung() >= 2);
    t.is((await world.deps.db('mailboxes').where({ id: ids[0]! }).first()).hold_code, null);
  });
}
