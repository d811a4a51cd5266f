import type { ActorResolver } from '../../domain/identity/resolve-actor.ts';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import type { RateLimiter } from '../../lib/rate-limit.ts';

/** What the guard needs of its process. */
export interface GuardParts {
  deps: Deps;
  actors: ActorResolver;
  limiter: RateLimiter;
  /** Check every answer and refuse (500) one that does not fit its schema, instead of checking a sample and logging; on in tests. */
  strictResponses: boolean;
}
