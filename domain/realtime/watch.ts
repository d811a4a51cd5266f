import { listen, type Listener } from '../../db/listen.ts';
import type { Deps } from '../kernel/context.ts';
import { namedOrganizations, POSITIONS_CHANNEL } from '../kernel/events.ts';

/**
 * Calls back whenever events have got their positions, and once after every (re)connect, as notifications may have been lost.
 * @param onPositions called with the organizations of the events; null when they are not known
 */
export function watchPositions(
  deps: Deps,
  onPositions: (organizationIds: readonly string[] | null) => void,
): Promise<Listener> {
  return listen(
    deps.config.PRIMARY_DB,
    POSITIONS_CHANNEL,
    (payload) => onPositions(namedOrganizations(payload)),
    deps.log,
  );
}
