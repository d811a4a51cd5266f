import { holds } from '../../../lib/permissions.ts';
import { EVENT_TYPES, isEventType, scopeOf } from '../../platform/kernel/events.ts';

/** What decides which events an endpoint gets. */
interface Subscription {
  /** Of the endpoint, or of its application; empty means all that are not firehose. */
  eventTypes: readonly string[];
  /** For an application's endpoint: the mask the workspace granted. Null for an endpoint of the workspace itself. */
  grantedScopes: number | null;
}

/**
 * Whether an endpoint gets events of a type: firehose events only by name, an application's only where the workspace
 * granted the scope of the family.
 */
export function isSubscribed({ eventTypes, grantedScopes }: Subscription, type: string): boolean {
  if (!isEventType(type)) return false;
  if (grantedScopes !== null && !holds(grantedScopes, [scopeOf(type)])) return false;
  return eventTypes.length === 0 ? !EVENT_TYPES[type].firehose : eventTypes.includes(type);
}
