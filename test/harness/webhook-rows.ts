import type { TestDeps } from './database.ts';
import { newId } from '../../lib/ids.ts';

/** Creates a delivery with its body, but only in PostgreSQL and without a workflow. Returns its id. */
export async function createDelivery(
  deps: TestDeps,
  organizationId: string,
  endpointId: string,
  row: Record<string, unknown> = {},
): Promise<string> {
  const id = newId();
  const now = deps.clock.now();
  const eventId = (row.event_id as string | undefined) ?? newId();
  const eventType = (row.event_type as string | undefined) ?? 'contact.updated';
  const body = JSON.stringify({
    id: eventId,
    event_type: eventType,
    organization_id: organizationId,
    created_at: now.toISOString(),
    data: { contact_id: newId() },
  });
  await deps
    .db('webhook_payloads')
    .insert({ event_id: eventId, organization_id: organizationId, event_type: eventType, body, created_at: now })
    .onConflict()
    .ignore();
  await deps.db('webhook_deliveries').insert({
    id,
    organization_id: organizationId,
    endpoint_id: endpointId,
    event_id: eventId,
    event_type: eventType,
    status: 'delivered',
    attempt_count: 1,
    response_status: 200,
    created_at: now,
    updated_at: now,
    ...row,
  });
  return id;
}
