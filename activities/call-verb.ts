import type { Ctx, Deps } from '../domain/platform/kernel/context.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { withPulse } from './pulse.ts';

/**
 * What most activities are: one verb of the domain, called in the context of one organization. While it waits, the activity sends heartbeats
 * ({@link withPulse}); where it keeps failing, the run is shown as blocked ({@link orBlock}).
 * @throws ApplicationFailure for which Temporal retries the activity, or of type `blocked`
 */
export function callVerb<T>(
  deps: Deps,
  { organizationId }: { organizationId: string },
  verb: (ctx: Ctx) => Promise<T>,
): Promise<T> {
  return orBlock(deps, organizationId, () => withPulse(() => verb(contextOf(deps, organizationId))));
}
