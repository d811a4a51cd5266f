import type { ParkedEvent } from '../domain/platform/events/parked.ts';
import type { SubscriberStatus } from '../domain/platform/events/status.ts';

/** Formats subscribers and their parked events as lines for a terminal. Times are UTC. */
export function reactionLines({
  subscribers,
  parked,
}: {
  subscribers: readonly SubscriberStatus[];
  parked: readonly ParkedEvent[];
}): string[] {
  return [
    subscribers.length === 0
      ? 'No subscriber is registered: no worker with the role reactions has run.'
      : 'Subscribers',
    ...subscribers.flatMap((each) => [
      `  ${each.name}: ${each.lag_events === 0 ? 'up to date' : `${each.lag_events} events behind, ${each.lag_seconds.toFixed(1)} s`}`,
      `    takes ${each.types.join(', ')}`,
      ...(each.failing_organizations > 0 ? [`    fails in ${each.failing_organizations} organizations`] : []),
      ...(each.waiting_organizations > 0
        ? [`    waits for a parked event in ${each.waiting_organizations} organizations`]
        : []),
    ]),
    '',
    parked.length === 0 ? 'No event is parked.' : 'Parked events (heron reactions replay <id> | discard <id>)',
    ...parked.flatMap((each) => [
      `  ${each.id}  ${each.subscriber}  ${each.event_type}  event ${each.event_id}  organization ${each.organization_id}`,
      `    ${each.parked_at.toISOString()}, ${each.attempts} attempts: ${each.last_error}`,
    ]),
  ];
}
