import { json } from '../../db/connection.ts';
import type { TestDeps } from './database.ts';
import { EVENTS_CHANNEL } from '../../domain/platform/kernel/events.ts';
import { assignPositions, type FanOutMemory } from '../../domain/connect/delivery/fan-out.ts';
import { issueSecret } from '../../domain/connect/delivery/secrets.ts';
import { newId } from '../../lib/ids.ts';

/**
 * Creates a verified endpoint with its secret directly in the database, without the functions that create one for
 * people.
 */
export async function createEndpoint(
  deps: TestDeps,
  organizationId: string,
  url: string,
  fields: Record<string, unknown> = {},
): Promise<{ id: string; secret: string }> {
  const id = newId();
  const now = deps.clock.now();
  await deps.db('webhook_endpoints').insert({
    id,
    organization_id: organizationId,
    url,
    verified_at: now,
    created_at: now,
    updated_at: now,
    ...fields,
  });
  return { id, secret: await issueSecret(deps.db, deps.keyring, { endpointId: id }, now) };
}

/** Commits events of a workspace in one transaction. `n` in their data numbers them. Returns their ids. */
export async function emitEvents(
  deps: TestDeps,
  organizationId: string,
  count: number,
  type = 'team.member_joined',
  data: Record<string, unknown> = {},
): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, n) => ({
    id: newId(),
    organization_id: organizationId,
    type,
    data: json({ n, ...data }),
    created_at: deps.clock.now(),
  }));
  await deps.db.transaction(async (trx) => {
    await trx('domain_events').insert(rows);
    await trx.raw(`select pg_notify('${EVENTS_CHANNEL}', '')`);
  });
  return rows.map(({ id }) => id);
}

/** Runs the fan-out until every event has its position. Returns the number of created deliveries. */
export async function fanOut(deps: TestDeps, memory: FanOutMemory = { open: undefined }): Promise<number> {
  let deliveries = 0;
  for (;;) {
    const turn = await assignPositions(deps, memory);
    deliveries += turn.deliveries;
    if (!turn.busy && turn.positioned === 0) return deliveries;
  }
}
