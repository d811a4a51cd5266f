import { matchEvents } from './match-events.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';

/**
 * Makes conversions of product events. An event counts by the definitions that were in force when it was received, and once for each goal, so neither its
 * order among others nor a repetition matters.
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
