import pg from 'pg';
import type { Logger } from '../lib/log.ts';

export interface Listener {
  /** Closes the connection, or stops opening it. */
  close(): Promise<void>;
}

interface ListenOptions {
  /** Wait (ms) before a broken or failed connection is opened again. */
  retryMs?: number;
  /** Timeout (ms) for opening a connection. A dead host may accept a connection and never answer. */
  connectMs?: number;
}

/**
 * Calls `onNotify` for each notification of a channel, over its own connection, which is reopened when it breaks. Also
 * calls it after every (re)connect, because notifications may have been missed.
 */
export async function listen(
  url: string,
  channel: string,
  onNotify: (payload: string) => void,
  log: Logger,
  { retryMs = 1_000, connectMs = 10_000 }: ListenOptions = {},
): Promise<Listener> {
  let closed = false;
  /** The connection that is open or being opened. */
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  const open = async () => {
    const next = new pg.Client({
      connectionString: url,
      application_name: `heron-listen-${channel}`,
      keepAlive: true,
      connectionTimeoutMillis: connectMs,
    });
    client = next;
    // A broken connection may report several errors, but only one new connection is opened.
    const replace = (error: unknown) => {
      void next.end().catch(() => {});
      if (client !== next) return;
      client = undefined;
      log.warn({ err: error, channel }, 'listen connection lost');
      timer = setTimeout(() => void open(), retryMs);
    };
    next.on('error', replace);
    next.on('notification', (message) => onNotify(message.payload ?? ''));
    try {
      await next.connect();
      await next.query(`listen ${pg.escapeIdentifier(channel)}`);
      if (!closed) onNotify('');
    } catch (error) {
      replace(error);
    }
  };

  await open();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
}
