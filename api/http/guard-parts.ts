import type { ActorResolver } from '../../domain/identity/resolve-actor.ts';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import type { RateLimiter } from '../../lib/rate-limit.ts';
import type { RequestsUnderWay } from './under-way.ts';

/** Dependencies of the guard, one set per process. */
export interface GuardParts {
  deps: Deps;
  actors: ActorResolver;
  limiter: RateLimiter;
  underWay: RequestsUnderWay;
  /**
   * Checks every answer against its schema and replaces an unfitting one by a 500. Otherwise only a sample is checked
   * and logged. On in tests.
   */
  strictResponses: boolean;
}
