import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import hoodiecrow from 'hoodiecrow-imap';
import { newSecret } from '../../lib/crypto.ts';
import { withLacks, type ServerLack } from './imap-lacks.ts';

const PLUGINS = [
  'ENABLE',
  'ID',
  'NAMESPACE',
  'SASL-IR',
  'AUTH-PLAIN',
  'XOAUTH2',
  'SPECIAL-USE',
  'UIDPLUS',
  'UNSELECT',
  'LITERALPLUS',
];

/** Message in a folder. */
export interface StoredMessage {
  uid: number;
  flags: string[];
  raw: Buffer;
}

export type Folder = 'INBOX' | 'Sent' | 'Junk';

export interface ImapBox {
  host: string;
  port: number;
  /** Puts a message into a folder (default: INBOX) and notifies watching clients. */
  deliver: (raw: Buffer | string, folder?: Folder) => void;
  messages: (folder: Folder) => StoredMessage[];
  /** Names of the clients' commands so far. */
  commands: readonly string[];
  /** Capabilities that the server currently lacks. Tests add and delete entries. */
  lacks: Set<ServerLack>;
  setPassword(password: string): void;
  /** Accepts only this access token and no password from now on. */
  setToken(token: string): void;
  /** Simulates a restored server: new UIDs under a new UIDVALIDITY, clients disconnected. */
  renumber: () => void;
  stop(): Promise<void>;
}

/**
 * Starts an IMAP server with one mailbox (INBOX, Sent, and optionally Junk) on 127.0.0.1, by default on a free port.
 * Messages arrive at `now`.
 */
export async function startImapBox(
  email: string,
  password: string,
  {
    port = 0,
    junk = false,
    now = () => new Date(),
  }: { port?: number | undefined; junk?: boolean | undefined; now?: (() => Date) | undefined } = {},
): Promise<ImapBox> {
  const uidvalidity = Math.floor(Date.now() / 1000);
  const users = { [email]: { password } };
  const lacks = new Set<ServerLack>();
  const imap = hoodiecrow({
    plugins: [...PLUGINS, idle, withLacks(lacks)],
    users,
    storage: {
      INBOX: { uidvalidity, messages: [] },
      '': {
        separator: '/',
        folders: {
          Sent: { uidvalidity, 'special-use': '\\Sent', messages: [] },
          ...(junk ? { Junk: { uidvalidity, 'special-use': '\\Junk', messages: [] } } : {}),
        },
      },
    },
  });
  const sockets = new Set<Socket>();
  const commands: string[] = [];
  imap.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('data', (chunk: Buffer) => commands.push(...commandsIn(chunk.toString('latin1'))));
    socket.once('close', () => sockets.delete(socket));
  });
  const listening = once(imap.server, 'listening');
  imap.listen(port, '127.0.0.1', () => undefined);
  await listening;

  const folder = (name: Folder): hoodiecrow.Folder => imap.getMailbox(name)!;
  const disconnect = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    host: '127.0.0.1',
    port: (imap.server.address() as AddressInfo).port,
    deliver: (raw, name = 'INBOX') => imap.appendMessage(name, [], now(), Buffer.from(raw).toString('latin1')),
    messages: (name) =>
      folder(name).messages.map(({ uid, flags, raw }) => ({ uid, flags: [...flags], raw: Buffer.from(raw, 'latin1') })),
    commands,
    lacks,
    setPassword: (changed) => void (users[email]!.password = changed),
    setToken(token) {
      users[email] = Object.assign(users[email]!, { password: newSecret(), xoauth2: { accessToken: token } });
    },
    renumber() {
      for (const name of ['INBOX', 'Sent'] as const) {
        const box = folder(name);
        box.uidvalidity += 1;
        box.uidnext = 1;
        for (const message of box.messages) message.uid = box.uidnext++;
      }
      disconnect();
    },
    async stop() {
      const closed = new Promise<void>((resolve) => void imap.server.close(() => resolve()));
      disconnect();
      await closed;
    },
  };
}

/** Returns the names of the commands in a client's data; UID commands include that word. */
function commandsIn(sent: string): string[] {
  return [...sent.matchAll(/^[A-Z0-9]+ ((?:UID )?[A-Z]+)\b/gm)].map(([, name]) => name!);
}

/**
 * Implements IDLE in place of the package's plugin. That one keeps a 30-minute timer after a disconnect, so the process
 * cannot end, and writes notices into other commands after IDLE.
 */
function idle(server: hoodiecrow.ImapServer): void {
  server.registerCapability('IDLE');
  server.setCommandHandler('IDLE', (connection, parsed, data, done) => {
    const reply = (command: 'OK' | 'BAD' | 'NO', value: string): void =>
      connection.send({ tag: parsed.tag, command, attributes: [{ type: 'TEXT', value }] }, 'IDLE', parsed, data);
    if (connection.state === 'Not Authenticated') {
      reply('NO', 'Login first');
      return done();
    }
    connection.directNotifications = true;
    connection.inputHandler = (line) => {
      connection.inputHandler = false;
      connection.directNotifications = false;
      if (line.toUpperCase() === 'DONE') reply('OK', 'IDLE terminated');
      else reply('BAD', 'Invalid IDLE continuation');
    };
    connection.socket?.write('+ idling\r\n');
    connection.processNotifications();
    done();
  });
}
