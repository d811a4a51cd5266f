import type pg from 'pg';
import { ask, openClient } from './connection-options.ts';

/** Time (ms) for which the notifications of a process are collected, to be sent in one statement. */
const GATHER_MS = 2;
/** Wait (ms) before notifications are sent again after a failure. */
const RETRY_MS = 500;
/** Timeout (ms) for an answer of PostgreSQL. */
const ANSWER_MS = 5_000;
const NOTIFY = `select pg_notify(channel, '') from unnest($1::text[]) as t(channel)`;

/** Sends the notifications of a pool over a separate connection. */
export interface Notifier {
  notify(channel: string): void;
  /** Sends the collected notifications if PostgreSQL answers, and closes the connection. */
  close(): Promise<void>;
}

/** Returns the notifier of a pool. It connects at the first notification. */
export function createNotifier(url: string): Notifier {
  const waiting = new Set<string>();
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let closed = false;

  const schedule = (ms: number) => {
    if (closed || sending || timer || waiting.size === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      void send();
    }, ms);
  };
  const send = (): Promise<void> => {
    const channels = [...waiting];
    waiting.clear();
    sending = deliver(channels)
      .then(
        () => GATHER_MS,
        () => {
          for (const channel of channels) waiting.add(channel);
          void client?.end().catch(() => {});
          client = undefined;
          return RETRY_MS;
        },
      )
      .then((ms) => {
        sending = undefined;
        schedule(ms);
      });
    return sending;
  };
  const deliver = async (channels: readonly string[]) => {
    if (!client) {
      client = await openClient(url, 'heron-notify');
      // A notification changes no row, so its commit need not wait for the disk.
      await ask(client, 'set synchronous_commit to off', ANSWER_MS);
    }
    await ask(client, { text: NOTIFY, values: [channels] }, ANSWER_MS);
  };

  return {
    notify(channel) {
      if (closed) return;
      waiting.add(channel);
      schedule(GATHER_MS);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await sending;
      if (waiting.size > 0) await send();
      await client?.end().catch(() => {});
    },
  };
}
