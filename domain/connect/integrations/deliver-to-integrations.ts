import { followEvents } from './subscriptions.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';
import { readTriggers, TRIGGER_EVENTS } from '../triggers/read.ts';

/**
 * Adds what event subscriptions of integrations ask for to what waits for their providers. Events of an organization come in their order, so what is added about a contact is in
 * order too.
 */
export const deliverToIntegrations = declareSubscriber({
  name: 'deliver_to_integrations',
  types: TRIGGER_EVENTS,
  startsFrom: 'now',
  async applyBatch(tx, events) {
    await followEvents(
      tx,
      events.flatMap((event) =>
        readTriggers(event).map((happening) => ({ ...happening, occurredAt: event.createdAt })),
      ),
    );
  },
});
