import { Context } from '@temporalio/activity';

/** How often (ms) work says that it goes on: a worker that is slow can miss a beat or two of the shortest heartbeat timeout, ten seconds. */
export const HEARTBEAT_MS = 3_000;

/**
 * Does work that may take long, with a heartbeat every {@link HEARTBEAT_MS}: by it the server distinguishes slow work from a dead worker, and
 * repeats what a dead one had as soon as the heartbeat timeout is over.
 */
export async function withPulse<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  // The server knows nothing of a local activity until its workflow task is over.
  if (context.info.isLocal) return work();
  const pulse = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(pulse);
  }
}
