import type { Message } from '../../../messages/index.ts';
import type { Claimed } from './claim.ts';

/**
 * Outcome of a claimed delivery. `failed`: another attempt follows. `abandoned`: the last attempt failed. `refused`:
 * the delivery must no longer be sent. `released`: the delivery was not sent and moves to the batch of its endpoint.
 */
export type Outcome = 'delivered' | 'failed' | 'abandoned' | 'refused' | 'released';

export interface Result {
  delivery: Claimed;
  outcome: Outcome;
  startedAt: Date;
  finishedAt: Date;
  durationMs: number;
  nextAttemptAt: Date | null;
  responseStatus: number | null;
  excerpt: string | null;
  errorReason: Message | null;
}
