import type { Client } from '@temporalio/client';
import type { GoalDefinition } from '../../db/json-columns.ts';
import { createGoal } from '../../domain/reporting/goals/goals.ts';
import { startReplay } from '../../domain/reporting/goals/replays.ts';
import { newId } from '../../lib/ids.ts';
import { eventually } from './eventually.ts';
import { createContact, type Tenant } from './factories.ts';
import type { World } from './world.ts';

/** Time range of the desk's replays. */
export const REPLAYED = { from: new Date('2026-03-01T00:00:00Z'), to: new Date('2026-03-03T00:00:00Z') };
/** Timeout (ms). It is long because pages of 5,000 events are slow on a busy machine. */
const PATIENCE_MS = 120_000;

/** Creates a goal and earlier events, every second of which matches. They fill three pages. */
export async function openReplayDesk(world: World, temporal: Client, count = 12_000) {
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const { db } = world.deps;
  const ctx = world.system(organizationId);
  const contactId = await createContact(db, REPLAYED.from, organizationId);
  const personId = newId();
  await db('people').insert({
    id: personId,
    organization_id: organizationId,
    contact_id: contactId,
    created_at: REPLAYED.from,
  });
  await db.raw(
    `insert into product_events (id, organization_id, contact_id, person_id, name, data, occurred_at, received_at)
     select id, ?, ?, ?, 'signed.up', jsonb_build_object('n', n % 2, 'm', n % 3), ?::timestamptz + n * interval '1 second', now()
     from unnest(?::uuid[]) with ordinality as e (id, n)`,
    // These ids contain the time of creation. A worker's sweep would treat random ones as old rows.
    [organizationId, contactId, personId, REPLAYED.from, Array.from({ length: count }, newId)],
  );
  const definition: GoalDefinition = {
    event_name: 'signed.up',
    predicates: [{ path: 'n', op: 'eq', value: 1 }],
    value_path: null,
    value_unit: 'minor',
    currency_path: null,
    default_currency: null,
  };
  const goal = await createGoal(ctx, { name: 'Signed up', kind: 'signup', isPrimary: true, definition });
  return { ...(await startFollowedReplay(world, temporal, tenant, goal.id)), definition };
}

/** Starts a replay of a goal and waits for its end. */
export async function startFollowedReplay(world: World, temporal: Client, tenant: Tenant, goalId: string) {
  const { db } = world.deps;
  const ctx = world.system(tenant.organizationId);
  const { id } = await startReplay(ctx, goalId, REPLAYED);
  return {
    tenant,
    ctx,
    id,
    goalId,
    read: () => db('goal_replays').where({ id }).first(),
    ended: () =>
      eventually(async () => {
        const row = await db('goal_replays').where({ id }).first();
        return row.finished_at !== null && row;
      }, PATIENCE_MS),
    conversions: async () => Number((await db('conversions').where({ goal_id: goalId }).count().first())!.count),
    handle: temporal.workflow.getHandle(`goal-replay/${id}`),
  };
}
