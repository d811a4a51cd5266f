import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from '../lib/log.ts';
import { ensureSearchAttributes, waitForSearchAttributes } from './attributes.ts';
import { ensureSchedules } from './schedules.ts';

/** How often (ms) a running worker looks whether the namespace is still prepared. */
const KEEP_MS = 5 * 60_000;

interface Installation {
  namespace: string;
  taskQueue: string;
  /** How long (ms) the server may take to know new search attributes. */
  patienceMs?: number;
}

/**
 * Makes a namespace ready for Heron, in the order that a new one needs: the search attributes
 * first, then (once the server accepts them) the schedules, whose runs carry them. Repeating it changes nothing.
 * A server that does not let us create search attributes is fine once they have been created another way.
 * @throws Error naming the search attributes when the server does not know them within `patienceMs`
 */
export async function prepareNamespace(
  client: Client,
  { namespace, taskQueue, patienceMs }: Installation,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  try {
    await ensureSearchAttributes(client, namespace);
  } catch (error) {
    log.warn({ err: error }, 'search attributes could not be created; they may have been created by hand');
  }
  await waitForSearchAttributes(client, patienceMs);
  await ensureSchedules(client, taskQueue);
}

/**
 * Prepares a namespace again now and then, while workers run, until `stop`, which settles when the turn under way has ended: a server that lost its store has neither search attributes,
 * without which it takes no start, nor the schedule that looks for missing runs.
 */
export function keepPrepared(
  client: Client,
  installation: Installation,
  log: Pick<Logger, 'warn'>,
  everyMs = KEEP_MS,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = (async () => {
    for (;;) {
      await sleep(everyMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await prepareNamespace(client, installation, log);
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'the namespace could not be prepared, will try again');
      }
    }
  })();
  return {
    stop() {
      stopping.abort();
      return loop;
    },
  };
}
