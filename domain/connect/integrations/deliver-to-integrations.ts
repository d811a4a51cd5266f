import { enqueueForEvents } from './subscriptions.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';
import { readTriggers, TRIGGER_EVENTS } from '../triggers/read.ts';

/**
 * Queues the actions of integrations that are subscribed to an event. Events of an organization arrive in order, so the
 * actions of a contact are queued in order too.
 */
export const deliverToIntegrations = declareSubscriber({
  name: 'deliver_to_integrations',
  types: TRIGGER_EVENTS,
  startsFrom: 'now',
  optional: {
    types: TRIGGER_EVENTS,
    wanted: 'select from integration_subscriptions s where s.organization_id = n.organization_id and s.enabled',
  },
  async applyBatch(tx, events) {
    await enqueueForEvents(
      tx,
      events.flatMap((event) =>
        readTriggers(event).map((happening) => ({ ...happening, occurredAt: event.createdAt })),
      ),
    );
  },
});
