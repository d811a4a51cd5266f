import { once } from 'node:events';
import WebSocket from 'ws';
import { eventually } from './eventually.ts';

/** Client of the realtime gateway that records its messages. */
export interface StreamClient {
  socket: WebSocket;
  messages: any[];
  /** Ids of received events in order. */
  ids(): string[];
  events(): any[];
  say(message: unknown): void;
  /** Returns the first message of a type not returned by an earlier call. */
  next(type: string): Promise<any>;
  closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
}

export interface StreamOptions {
  token?: string;
  headers?: Record<string, string>;
  protocols?: string[];
  path?: string;
}

/** Opens a socket. If the server refuses the upgrade, rejects with its `status` and `body`. */
export async function openStream(url: string, options: StreamOptions = {}): Promise<StreamClient> {
  const socket = new WebSocket(
    `${url.replace(/^http/, 'ws')}${options.path ?? '/v1/realtime'}`,
    options.protocols ?? [],
    {
      headers: { ...(options.token ? { authorization: `Bearer ${options.token}` } : {}), ...options.headers },
    },
  );
  const messages: any[] = [];
  const given = new Set<unknown>();
  socket.on('message', (data) => messages.push(JSON.parse((data as Buffer).toString('utf8'))));
  socket.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString('utf8') }));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk) => (text += (chunk as Buffer).toString('utf8')));
      response.on('end', () => {
        const body = text.startsWith('{') ? JSON.parse(text) : undefined;
        reject(
          Object.assign(new Error(`refused with ${response.statusCode}`), {
            status: response.statusCode,
            body,
            headers: response.headers,
          }),
        );
      });
    });
    socket.once('error', reject);
  });
  const events = () => messages.filter(({ type }) => type === 'event');
  return {
    socket,
    messages,
    events,
    closed,
    ids: () => events().map(({ id }) => id),
    say: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async next(type) {
      const message = await eventually(async () => messages.find((one) => one.type === type && !given.has(one)));
      given.add(message);
      return message;
    },
    async close() {
      if (socket.readyState === WebSocket.CLOSED) return;
      const gone = once(socket, 'close');
      socket.close();
      await gone;
    },
  };
}
