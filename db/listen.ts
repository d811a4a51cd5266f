import pg from 'pg';
import { every, type Repeated } from '../lib/every.ts';
import type { Logger } from '../lib/log.ts';
import { ask, connectionOptions } from './connection-options.ts';

export interface Listener {
  /** Closes the connection, or stops opening it. */
  close(): Promise<void>;
}

interface ListenOptions {
  /** Wait (ms) before a new connection is opened after one broke or failed. */
  retryMs?: number;
  /** Timeout (ms) for opening a connection. Defaults to the timeout of every other connection. */
  connectMs?: number;
  /** Interval (ms) between checks that the connection is alive. Also the timeout of a check. */
  proveMs?: number;
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
  { retryMs = 1_000, connectMs, proveMs = 10_000 }: ListenOptions = {},
): Promise<Listener> {
  let closed = false;
  /** The connection that is open or being opened. */
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let proofs: Repeated | undefined;

  const open = async () => {
    const next = new pg.Client({
      ...connectionOptions(url, `heron-listen-${channel}`),
      ...(connectMs === undefined ? {} : { connectionTimeoutMillis: connectMs }),
    });
    client = next;
    // A broken connection may report several errors, but only one new connection is opened.
    const replace = (error: unknown) => {
      void next.end().catch(() => {});
      if (client !== next) return;
      client = undefined;
      void proofs?.stop();
      log.warn({ err: error, channel }, 'listen connection lost');
      timer = setTimeout(() => void open(), retryMs);
    };
    next.on('error', replace);
    next.on('notification', (message) => onNotify(message.payload ?? ''));
    try {
      await next.connect();
      await ask(next, `listen ${pg.escapeIdentifier(channel)}`, proveMs);
      if (closed) return;
      onNotify('');
      // A listener sends no statements, so without these checks a lost server would go unnoticed.
      proofs = every(`listen ${channel}`, proveMs, () => ask(next, 'select 1', proveMs), replace);
    } catch (error) {
      replace(error);
    }
  };

  await open();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      void proofs?.stop();
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
}
