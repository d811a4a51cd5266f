import { verifySignature } from '../../lib/signature.ts';
import type { RawDb } from '../harness/database.ts';
import { eventually } from '../harness/eventually.ts';
import type { Receiver } from '../harness/receiver.ts';
import type { Check } from './reconcile.ts';

/** Endpoint of one round's workspace. */
export interface HonestEndpoint {
  id: string;
  organizationId: string;
  secret: string;
  path: string;
}

const PATIENCE_MS = 240_000;

/** Waits until the deliveries of these endpoints have ended, and compares them with the received requests. */
export async function compareWebhooks(
  db: RawDb,
  receiver: Receiver,
  endpoints: readonly HonestEndpoint[],
): Promise<Check[]> {
  const ids = endpoints.map(({ id }) => id);
  const open = () =>
    db('webhook_deliveries').whereIn('endpoint_id', ids).whereNotIn('status', ['delivered', 'abandoned']).first('id');
  await eventually(async () => !(await open()), PATIENCE_MS, 500).catch(() => {});
  const events: { id: string; organization_id: string }[] = await db('domain_events')
    .whereIn(
      'organization_id',
      endpoints.map(({ organizationId }) => organizationId),
    )
    .select('id', 'organization_id');
  const deliveries: { id: string; event_id: string; endpoint_id: string; status: string; attempt_count: number }[] =
    await db('webhook_deliveries')
      .whereIn('endpoint_id', ids)
      .select('id', 'event_id', 'endpoint_id', 'status', 'attempt_count');
  const endpointAt = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  const organizationOf = new Map(events.map((event) => [event.id, event.organization_id]));
  const came = new Map<string, number>();
  const strange: string[] = [];
  for (const { path, headers, raw, receivedAt } of receiver.requests) {
    const endpoint = endpointAt.get(path);
    if (!endpoint) continue;
    const eventId = String(headers['x-service-event-id']);
    came.set(eventId, (came.get(eventId) ?? 0) + 1);
    if (organizationOf.get(eventId) !== endpoint.organizationId) strange.push(`${path} got event ${eventId} of others`);
    const signature = String(headers['x-service-signature']);
    if (!verifySignature(signature, endpoint.secret, raw, { now: new Date(receivedAt) }))
      strange.push(`${path}: event ${eventId} has a wrong signature`);
  }
  return [
    {
      name: 'every webhook delivery of the honest arrived, as often as it was attempted at most',
      seen: `${deliveries.length} deliveries, ${[...came.values()].reduce((sum, count) => sum + count, 0)} requests`,
      faults: deliveries.flatMap(({ id, event_id: eventId, status, attempt_count: attempts }) => {
        const times = came.get(eventId) ?? 0;
        if (status !== 'delivered') return [`delivery ${id} is ${status}`];
        if (times === 0) return [`event ${eventId} never came`];
        return times > attempts ? [`event ${eventId} came ${times} times in ${attempts} attempts`] : [];
      }),
    },
    { name: 'every endpoint got its own events, signed', seen: `${endpoints.length} endpoints`, faults: strange },
  ];
}
