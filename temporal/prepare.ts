import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from '../lib/log.ts';
import { ensureSearchAttributes, waitForSearchAttributes } from './attributes.ts';
import { ensureSchedules } from './schedules.ts';

/** Interval (ms) at which a running worker checks that the namespace is still prepared. */
const PREPARE_EVERY_MS = 5 * 60_000;

interface Installation {
  namespace: string;
  taskQueue: string;
  /** Maximum time (ms) to wait until the server accepts new search attributes. */
  patienceMs?: number;
}

/**
 * Prepares a namespace for Heron: creates the search attributes, waits until the server accepts them, and creates the
 * schedules. Repeated calls change nothing. If the server does not allow search attributes to be created, they must
 * exist already.
 * @throws Error naming the search attributes that the server does not accept within `patienceMs`
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
 * Prepares a namespace repeatedly while workers run, until `stop` is called. `stop` resolves after the current
 * iteration. This repairs a server that lost its storage: without the search attributes it refuses starts, and without
 * the schedule no sweep finds missing workflows.
 */
export function prepareRegularly(
  client: Client,
  installation: Installation,
  log: Pick<Logger, 'warn'>,
  everyMs = PREPARE_EVERY_MS,
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
