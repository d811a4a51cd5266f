import { listen, type Listener } from '../../../db/listen.ts';
import { openBus, subscribeBus, type BusConnection } from '../../../lib/event-bus.ts';
import type { Deps } from '../kernel/context.ts';
import { namedOrganizations, POSITIONS_CHANNEL } from '../kernel/events.ts';

/**
 * Calls back whenever events have got their positions, and once after every (re)connect, as notifications may have been lost.
 * @param onPositions called with the organizations of the events; null when they are not known
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
 * Passes notifications of new positions on to NATS, where EVENTBUS_PROVIDER says so: gateways then need no connection of their own for
 * them. Every process with a fan-out does it, so that a gateway may hear of an event more than once, which costs it one read.
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

/** Installations that share a NATS have a task queue each. */
function busSubject({ TEMPORAL_NAMESPACE: namespace, TEMPORAL_TASK_QUEUE: queue }: Deps['config']): string {
  return ['heron', namespace, queue, 'positions'].map((part) => part.replace(/[^\w-]/g, '_')).join('.');
}
