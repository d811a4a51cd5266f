import type { Client } from '@temporalio/client';
import type { Logger } from '../lib/log.ts';
import { ensureSearchAttributes, waitForSearchAttributes } from './attributes.ts';
import { ensureSchedules } from './schedules.ts';

/**
 * Makes a namespace ready for Heron, in the order that a new one needs: the search attributes
 * first, then (once the server accepts them) the schedules, whose runs carry them. Repeating it changes nothing.
 * A server that does not let us create search attributes is fine once they have been created another way.
 * @throws Error naming the search attributes when the server does not know them within `patienceMs`
 */
export async function prepareNamespace(
  client: Client,
  { namespace, taskQueue, patienceMs }: { namespace: string; taskQueue: string; patienceMs?: number },
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
