import type { Message } from '../../../messages/index.ts';
import type { Claimed } from './claim.ts';

/**
 * The result of a claimed delivery: `delivered`; `failed`, with another attempt to come; `abandoned`, the last
 * one failed; `refused`, it may not be sent any more and was not; `released`, it was not sent and waits in the batch of its endpoint.
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
