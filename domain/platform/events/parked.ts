import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { errorSummary } from '../../../lib/error-report.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { systemCtx, type Deps } from '../kernel/context.ts';
import { transact, type Tx } from '../kernel/transact.ts';
import { applyWithin, STREAM_LOCK, toEvent } from './apply-events.ts';
import type { ReactionEvent, Subscriber } from './subscriber.ts';
import { message } from '../../../messages/index.ts';

const COLUMNS = [
  'id',
  'organization_id',
  'subscriber',
  'event_id',
  'event_type',
  'position',
  'attempts',
  'last_error',
  'parked_at',
] as const;

/** An event for which all attempts of a subscriber failed. */
export type ParkedEvent = Columns<'reaction_parked_events', (typeof COLUMNS)[number]>;

/** Lists parked events that are neither replayed nor discarded, oldest first. */
export async function listParkedEvents({ db }: Pick<Deps, 'db'>, limit = 200): Promise<ParkedEvent[]> {
  return across(db, 'operator')
    .table('reaction_parked_events')
    .where({ state: 'parked' })
    .orderBy('parked_at')
    .orderBy('id')
    .limit(limit)
    .select(...COLUMNS);
}

/**
 * Passes a parked event to its subscriber again, and marks it as replayed in the same transaction. A stream that waits
 * for the event continues. On failure the event stays parked.
 * @throws AppError not_found; conflict when it is settled already, its event is deleted or this build has no such
 * subscriber; and every error of the subscriber
 */
export async function replayParkedEvent(
  deps: Deps,
  subscribers: readonly Subscriber[],
  parkedId: string,
): Promise<void> {
  const parked = await findParked(deps, parkedId);
  const subscriber = subscribers.find(({ name }) => name === parked.subscriber);
  if (!subscriber)
    throw new AppError('conflict', message('parked_event.no_subscriber', { subscriber: parked.subscriber }));
  const ctx = systemCtx(deps, parked.organization_id, `reaction/${subscriber.name}`);
  try {
    await transact(ctx, async (tx) => {
      await lockParked(tx, parked);
      const event = await readEvent(tx, parked.event_id);
      await applyWithin(tx, ctx, subscriber, [event]);
      await settle(tx, parked, 'replayed');
    });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'conflict'))
      await across(deps.db, 'operator')
        .table('reaction_parked_events')
        .where({ id: parked.id, state: 'parked' })
        .update({ attempts: across(deps.db, 'operator').raw('attempts + 1'), last_error: errorSummary(error) });
    throw error;
  }
}

/**
 * Discards a parked event permanently. A stream that waits for the event continues.
 * @throws AppError not_found; conflict when it is settled already
 */
export async function discardParkedEvent(deps: Deps, parkedId: string): Promise<void> {
  const parked = await findParked(deps, parkedId);
  await transact(systemCtx(deps, parked.organization_id, `reaction/${parked.subscriber}`), async (tx) => {
    await lockParked(tx, parked);
    await settle(tx, parked, 'discarded');
  });
}

async function findParked({ db }: Deps, id: string): Promise<ParkedEvent> {
  const parked = isUuid(id)
    ? await across(db, 'operator')
        .table('reaction_parked_events')
        .where({ id })
        .first(...COLUMNS)
    : undefined;
  if (!parked) throw notFound('parked_event');
  return parked;
}

/** Locks the stream and then the parked event, so that no other events are applied in the meantime. */
async function lockParked(tx: Tx, { id, subscriber }: ParkedEvent): Promise<void> {
  await tx.org.sql(`select pg_advisory_xact_lock(${STREAM_LOCK})`, { name: subscriber });
  const [open] = await tx.org.sql(
    `select id from reaction_parked_events where organization_id = :org and id = :id and state = 'parked' for update`,
    { id },
  );
  if (!open) throw new AppError('conflict', message('parked_event.settled'));
}

async function readEvent(tx: Tx, id: string): Promise<ReactionEvent> {
  const [row] = await tx.org.sql<Parameters<typeof toEvent>[0]>(
    'select id, type, position, created_at, data, hops from domain_events where organization_id = :org and id = :id',
    { id },
  );
  if (!row) throw new AppError('conflict', message('parked_event.event_gone'));
  return toEvent(row, tx);
}

async function settle(tx: Tx, parked: ParkedEvent, state: 'replayed' | 'discarded'): Promise<void> {
  await tx.org.sql(
    `with going_on as (
       update reaction_streams set position = greatest(position, :position), waits_for = null
       where organization_id = :org and subscriber = :subscriber and waits_for = :id
     )
     update reaction_parked_events set state = :state, settled_at = :now where organization_id = :org and id = :id`,
    { id: parked.id, position: parked.position, subscriber: parked.subscriber, state, now: tx.now },
  );
}
