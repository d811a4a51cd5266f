import { matchEvents } from './match-events.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';

/**
 * Creates conversions of product events. An event is matched with the definitions in force when it was received, and
 * counts once per goal. So neither the order nor a repetition of events matters.
 */
export const matchGoals = declareSubscriber({
  name: 'match_goals',
  types: ['custom.event'],
  startsFrom: 'now',
  applyBatch: (tx, events) =>
    matchEvents(
      tx,
      events.map(({ data }) => data.event_id),
    ),
});
