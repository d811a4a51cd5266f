import pg from 'pg';
import type { Logger } from '../lib/log.ts';

export interface Listener {
  close(): Promise<void>;
}

const RETRY_MS = 1_000;

/**
 * Calls `onNotify` on each notification of a channel, over a connection of its own that is opened again when it breaks.
 * After every (re)connect it calls once, as notifications may have been missed.
 */
export async function listen(
  url: string,
  channel: string,
  onNotify: (payload: string) => void,
  log: Logger,
): Promise<Listener> {
  let closed = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  const retry = () => {
    if (closed || timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      void open();
    }, RETRY_MS);
  };

  const open = async () => {
    if (closed) return;
    const next = new pg.Client({ connectionString: url, application_name: `heron-listen-${channel}`, keepAlive: true });
    next.on('error', (error) => {
      log.warn({ err: error, channel }, 'listen connection lost');
      void next.end().catch(() => {});
      retry();
    });
    next.on('notification', (message) => onNotify(message.payload ?? ''));
    try {
      await next.connect();
      await next.query(`listen ${pg.escapeIdentifier(channel)}`);
      // Closed while it was being opened again: nobody else would end it.
      if (closed) return await next.end();
      client = next;
      onNotify('');
    } catch (error) {
      log.warn({ err: error, channel }, 'listen connection failed');
      void next.end().catch(() => {});
      retry();
    }
  };

  await open();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}
