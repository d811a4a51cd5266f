import { listen, type Listener } from '../../../db/listen.ts';
import { openBus, subscribeBus, type BusConnection } from '../../../lib/event-bus.ts';
import type { Deps } from '../kernel/context.ts';
import { namedOrganizations, POSITIONS_CHANNEL } from '../kernel/events.ts';

/**
 * Calls `onPositions` when events have new positions, and once after every (re)connect, because notifications may have
 * been lost.
 * @param onPositions called with the organizations of the events; null when unknown
 */
export function watchPositions(
  { config, log }: Pick<Deps, 'config' | 'log'>,
  onPositions: (organizationIds: readonly string[] | null) => void,
): Promise<Listener> {
  const onMessage = (payload: string) => onPositions(namedOrganizations(payload));
  if (config.EVENTBUS_PROVIDER === 'nats') return subscribeBus(config.NATS_URL!, busSubject(config), onMessage, log);
  return listen(config.PRIMARY_DB, POSITIONS_CHANNEL, onMessage, log);
}

/**
 * Forwards notifications of new positions to NATS if EVENTBUS_PROVIDER is `nats`, so that gateways need no PostgreSQL
 * connection for them. Every process with a fan-out forwards them. A gateway may be notified of an event several times,
 * and each notification costs it one query.
 */
export async function forwardPositions({
  config,
  log,
}: Pick<Deps, 'config' | 'log'>): Promise<BusConnection | undefined> {
  if (config.EVENTBUS_PROVIDER !== 'nats') return undefined;
  const bus = await openBus(config.NATS_URL!, busSubject(config), log);
  const listener = await listen(config.PRIMARY_DB, POSITIONS_CHANNEL, (payload) => bus.publish(payload), log);
  return {
    async close() {
      await listener.close();
      await bus.close();
    },
  };
}

/** The subject includes the task queue, because installations that share a NATS server have different task queues. */
function busSubject({ TEMPORAL_NAMESPACE: namespace, TEMPORAL_TASK_QUEUE: queue }: Deps['config']): string {
  return ['heron', namespace, queue, 'positions'].map((part) => part.replace(/[^\w-]/g, '_')).join('.');
}
