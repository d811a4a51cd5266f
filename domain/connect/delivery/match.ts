import { holds } from '../../../lib/permissions.ts';
import { EVENT_TYPES, isEventType, scopeOf } from '../../platform/kernel/events.ts';

/** Settings that decide which events an endpoint receives. */
interface Subscription {
  /** Event types of the endpoint or of its application. Empty means all types that are not firehose. */
  eventTypes: readonly string[];
  /**
   * Mask of the scopes that the workspace has granted to the endpoint's application. Null for an endpoint of the
   * workspace itself.
   */
  grantedScopes: number | null;
}

/**
 * Returns true if an endpoint receives events of a type. Firehose events are received only if the endpoint names their
 * type. An application also needs the granted scope of the event's family.
 */
export function isSubscribed({ eventTypes, grantedScopes }: Subscription, type: string): boolean {
  if (!isEventType(type)) return false;
  if (grantedScopes !== null && !holds(grantedScopes, [scopeOf(type)])) return false;
  return eventTypes.length === 0 ? !EVENT_TYPES[type].firehose : eventTypes.includes(type);
}
