import pg from 'pg';
import type { Logger } from '../lib/log.ts';

export interface Listener {
  /** Ends the connection, also one that is being opened. */
  close(): Promise<void>;
}

interface ListenOptions {
  /** The pause (ms) before a connection that broke, or could not be opened, is opened again. */
  retryMs?: number;
  /** How long (ms) opening one may take: a host that is gone may take a connection and never answer. */
  connectMs?: number;
}

/**
 * Calls `onNotify` on each notification of a channel, over a connection of its own that is opened again when it breaks.
 * After every (re)connect it calls once, as notifications may have been missed.
 */
export async function listen(
  url: string,
  channel: string,
  onNotify: (payload: string) => void,
  log: Logger,
  { retryMs = 1_000, connectMs = 10_000 }: ListenOptions = {},
): Promise<Listener> {
  let closed = false;
  /** The one that is open or being opened. */
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
    // A connection that breaks may say so more than once; it is followed by one other.
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
