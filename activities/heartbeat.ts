import { Context } from '@temporalio/activity';

/**
 * Interval (ms) between heartbeats, and between their transmissions to the server. A worker that stands still for up to
 * six seconds keeps its activities, as the shortest heartbeat timeout is 10 seconds.
 */
export const HEARTBEAT_MS = 3_000;

/**
 * Runs work that may take long and sends a heartbeat every {@link HEARTBEAT_MS}. The server thus tells slow work from a
 * dead worker, and repeats the work of a dead one once the heartbeat timeout is over.
 */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  // The server knows nothing of a local activity until its workflow task completes.
  if (context.info.isLocal) return work();
  const pulse = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(pulse);
  }
}
