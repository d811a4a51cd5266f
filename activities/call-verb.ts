import type { Ctx, Deps } from '../domain/platform/kernel/context.ts';
import { runOrBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { withHeartbeat } from './heartbeat.ts';

/**
 * Runs one function of the domain in the context of an organization; most activities consist of this call. Sends
 * heartbeats while it runs ({@link withHeartbeat}) and marks the workflow as blocked if the function keeps failing
 * ({@link runOrBlock}).
 * @throws ApplicationFailure that Temporal retries, or one of type `blocked`
 */
export function callVerb<T>(
  deps: Deps,
  { organizationId }: { organizationId: string },
  verb: (ctx: Ctx) => Promise<T>,
): Promise<T> {
  return runOrBlock(deps, organizationId, () => withHeartbeat(() => verb(contextOf(deps, organizationId))));
}
