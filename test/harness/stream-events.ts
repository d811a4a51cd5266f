import { json } from '../../db/connection.ts';
import type { TestDeps } from './database.ts';
import { POSITIONS_CHANNEL, type EventType } from '../../domain/platform/kernel/events.ts';
import { newId } from '../../lib/ids.ts';
import type { World } from './world.ts';

/** Inserts events directly in the database, without a stream position, like a commit does. Returns their ids. */
export async function emit(
  world: Pick<World, 'deps'>,
  organizationId: string,
  type: EventType,
  count: number,
  data: object = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  await world.deps.db.raw(
    `insert into domain_events (id, organization_id, type, data, created_at)
     select id, ?, ?, cast(? as jsonb) || jsonb_build_object('n', n), ? from unnest(cast(? as uuid[])) with ordinality as t(id, n)`,
    [organizationId, type, json(data), world.deps.clock.now(), ids],
  );
  return ids;
}

/** Assigns stream positions to these events in this order and notifies the gateways, like the fan-out. */
export async function assignPositionsTo({ db }: Pick<TestDeps, 'db'>, ids: readonly string[]): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(7201950)');
    await trx.raw(
      `with given as (select id, nextval('domain_event_positions') as position from unnest(cast(? as uuid[])) with ordinality as t(id, n) order by n)
       update domain_events e set position = given.position from given where e.id = given.id`,
      [[...ids]],
    );
    await trx.raw(`select pg_notify('${POSITIONS_CHANNEL}', '')`);
  });
}
