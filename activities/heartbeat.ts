import { Context } from '@temporalio/activity';

/**
 * Interval (ms) between heartbeats, and between their transmissions to the server. A worker that is suspended for up to
 * six seconds keeps its activities, because the shortest heartbeat timeout is 10 seconds.
 */
export const HEARTBEAT_MS = 3_000;

/**
 * Runs a long function and sends a heartbeat every {@link HEARTBEAT_MS}. So the server distinguishes slow work from a
 * dead worker, and repeats a dead worker's activity after the heartbeat timeout.
 */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  // The server does not know of a local activity until its workflow task completes.
  if (context.info.isLocal) return work();
  const pulse = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(pulse);
  }
}
