import { Context } from '@temporalio/activity';

/**
 * Interval (ms) at which activities send heartbeats and the SDK transmits them. The shortest heartbeat timeout is 10
 * seconds, so a worker suspended for up to six seconds keeps its activities.
 */
export const HEARTBEAT_MS = 3_000;

/**
 * Runs a long function and sends a heartbeat every {@link HEARTBEAT_MS}, so that the server can distinguish slow work
 * from a dead worker. The server repeats a dead worker's activity after the heartbeat timeout.
 */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  // A local activity sends no heartbeats, because the server learns of it only when its workflow task completes.
  if (context.info.isLocal) return work();
  // Keeps the details that an earlier attempt has stored.
  const pulse = setInterval(() => context.heartbeat(context.info.heartbeatDetails), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(pulse);
  }
}
