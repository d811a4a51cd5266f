import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** Points of an SMTP conversation at which the script decides. */
export type SmtpMoment = 'greeting' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body' | 'rset';

/**
 * Behaviour at a point of the conversation: `ok`, cutting the connection, silence, or a custom reply. A cut may follow
 * the reply, at once or `after` something. For a body, `take-and-cut` and `take-and-hush` accept the message without
 * confirming it.
 */
export type SmtpMove =
  | 'ok'
  | 'cut'
  | 'hush'
  | 'take-and-cut'
  | 'take-and-hush'
  | { reply: string; cut?: boolean; after?: Promise<unknown> };

export interface ScriptedSmtp {
  host: string;
  port: number;
  /** Value of the X-Id header of every accepted message, in order. */
  taken: string[];
  connections(): number;
  /** Returns the maximum number of concurrent connections. */
  peak(): number;
  /** Cuts every open connection, like a server's idle timeout. */
  cutAll(farewell?: string): void;
  stop(): Promise<void>;
}

/** Extensions that the server announces; `auth` and `starttls` can be switched off. */
export interface ScriptedSmtpOptions {
  extensions?: string[];
  /** Decides the behaviour at a point. `nth` is the number of earlier points of this kind over all connections. */
  move?: (moment: SmtpMoment, line: string, nth: number) => SmtpMove;
}

const REPLIES: Record<SmtpMoment, string> = {
  greeting: '220 scripted',
  ehlo: '250',
  starttls: '220 go',
  auth: '235 fine',
  mail: '250 fine',
  rcpt: '250 fine',
  data: '354 go on',
  body: '250 taken',
  rset: '250 fine',
};

/**
 * Starts a mail server on a free port that misbehaves as scripted, down to single bytes, which smtp-server does not
 * allow.
 */
export async function startScriptedSmtp({
  extensions = ['AUTH PLAIN', 'PIPELINING'],
  move = () => 'ok',
}: ScriptedSmtpOptions = {}): Promise<ScriptedSmtp> {
  const taken: string[] = [];
  const sockets = new Set<Socket>();
  const counts = new Map<SmtpMoment, number>();
  let connections = 0;
  let peak = 0;

  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    peak = Math.max(peak, sockets.size);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let pending = '';
    let inBody = false;
    let recipients = 0;

    const act = (moment: SmtpMoment, line: string): void => {
      if (moment === 'mail' || moment === 'rset') recipients = 0;
      if (moment === 'data' && recipients === 0) return void socket.write('503 nobody to send to\r\n');
      const nth = counts.get(moment) ?? 0;
      counts.set(moment, nth + 1);
      const todo = move(moment, line, nth);
      if (moment === 'rcpt' && (todo === 'ok' || (typeof todo === 'object' && todo.reply.startsWith('2'))))
        recipients += 1;
      if (moment === 'data' && (todo === 'ok' || (typeof todo === 'object' && todo.reply.startsWith('3'))))
        inBody = true;
      if (todo === 'hush' || todo === 'take-and-hush') return;
      if (todo === 'cut' || todo === 'take-and-cut') return void socket.destroy();
      if (typeof todo === 'object') {
        const { reply, cut, after } = todo;
        const say = () => {
          socket.write(`${reply}\r\n`);
          if (cut) socket.end();
        };
        if (after) void after.then(say);
        else say();
        return;
      }
      if (moment === 'ehlo')
        socket.write(
          ['scripted', ...extensions]
            .map((text, index, all) => `250${index === all.length - 1 ? ' ' : '-'}${text}\r\n`)
            .join(''),
        );
      else socket.write(`${REPLIES[moment]}\r\n`);
    };

    const takeBody = (body: string): void => {
      const nth = counts.get('body') ?? 0;
      const todo = move('body', body, nth);
      if (
        todo === 'ok' ||
        todo === 'take-and-cut' ||
        todo === 'take-and-hush' ||
        (typeof todo === 'object' && todo.reply.startsWith('2'))
      ) {
        taken.push(/^x-id: (.*)$/im.exec(body)?.[1]?.trim() ?? '');
      }
      act('body', body);
    };

    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      while (!socket.destroyed) {
        const end = inBody ? pending.indexOf('\r\n.\r\n') : pending.indexOf('\r\n');
        if (end < 0) return;
        const text = pending.slice(0, end);
        pending = pending.slice(end + (inBody ? 5 : 2));
        if (inBody) {
          inBody = false;
          takeBody(text);
          continue;
        }
        const verb = text.slice(0, 4).toLowerCase();
        if (verb === 'quit') return void socket.end('221 bye\r\n');
        const moment = (
          {
            ehlo: 'ehlo',
            star: 'starttls',
            auth: 'auth',
            mail: 'mail',
            rcpt: 'rcpt',
            data: 'data',
            rset: 'rset',
          } as const
        )[verb];
        if (moment) act(moment, text);
        else socket.write('502 what?\r\n');
      }
    });
    act('greeting', '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    taken,
    connections: () => connections,
    peak: () => peak,
    cutAll(farewell) {
      for (const socket of sockets) {
        if (farewell) socket.end(`${farewell}\r\n`);
        else socket.destroy();
      }
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
