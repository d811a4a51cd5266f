import { matchEvents } from './match-events.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';

/**
 * Creates conversions of product events. An event is matched with the definitions that were valid when it was received,
 * and gets one conversion per goal. Therefore the order of events does not matter, and repeated events have no effect.
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
