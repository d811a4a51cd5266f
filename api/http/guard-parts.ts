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
   * True to check every answer against its schema and to replace a faulty one by a 500, as in tests. Otherwise only a
   * sample is checked, and faults are logged.
   */
  strictResponses: boolean;
}
