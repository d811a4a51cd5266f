import { isDatabaseUnavailable } from '../../../db/errors.ts';
import { errorKind } from '../../../lib/error-report.ts';
import { newId } from '../../../lib/ids.ts';
import type { ReplayReport } from '../../../workflows/goal-replay/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { addDeadLetter, REPLAY_EVENT } from '../../platform/dead-letters.ts';
import type { Place } from './compare.ts';
import { advance, lockReplayPage, replayPageOf, PAGE_EVENTS, replayPage, type OpenReplay } from './replay-page.ts';
import { readSkippedEvents } from './skipped-events.ts';
import { message } from '../../../messages/index.ts';

/** Maximum number of events that a replay skips. If more events fail, the cause is probably not the events. */
const MAX_PASSED_OVER = 20;
/**
 * Number of failures of a single event before it is skipped. A temporary failure, such as a deadlock or a timeout, is
 * unlikely to occur this often.
 */
const TRIES = 3;

/**
 * Continues a replay whose next page keeps failing. Processes the events before the failing event and skips that event.
 * The skipped event is listed with the replay and as a dead letter. An event is skipped only together with a following
 * event that succeeds. If none succeeds, the cause is not the event, and nothing is skipped.
 * @param limit number of events in the failing page
 * @returns the next action of the replay; undefined when it cannot continue
 * @throws the error of an unreachable database
 */
export async function skipFailingEvents(
  ctx: Ctx,
  replayId: string,
  limit = PAGE_EVENTS,
): Promise<ReplayReport | undefined> {
  const ended = await advanceToFailing(ctx, replayId, limit);
  if (ended) return ended;
  let error: unknown;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const done = await attempt(() => replayPage(ctx, replayId, 1));
    if ('turn' in done) return done.turn;
    ({ error } = done);
  }
  for (let count = 1; count <= MAX_PASSED_OVER; count += 1) {
    const done = await attempt(() => transact(ctx, (tx) => skipEvents(tx, replayId, count, error)));
    if ('turn' in done) return done.turn;
  }
  return undefined;
}

/**
 * Processes the events of the next page up to the first failing one, which is found by bisection. Returns the result if
 * the replay has ended.
 */
async function advanceToFailing(ctx: Ctx, replayId: string, limit: number): Promise<ReplayReport | undefined> {
  for (let among = limit; among > 1;) {
    const half = Math.floor(among / 2);
    const done = await attempt(() => replayPage(ctx, replayId, half));
    if ('turn' in done && done.turn.kind === 'done') return done.turn;
    among = 'turn' in done ? among - half : half;
  }
  return undefined;
}

async function attempt<T>(work: () => Promise<T>): Promise<{ turn: T } | { error: unknown }> {
  try {
    return { turn: await work() };
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    return { error };
  }
}

/**
 * Skips the next `count` events and processes the one after them, in one transaction. Returns undefined if there are
 * fewer events, or if the replay would skip more than its maximum.
 */
async function skipEvents(tx: Tx, replayId: string, count: number, error: unknown): Promise<ReplayReport | undefined> {
  const begun = await lockReplayPage(tx, replayId);
  if ('ended' in begun) return begun.ended;
  const { replay } = begun;
  const before = (await readSkippedEvents(tx.org, [replayId])).get(replayId) ?? [];
  const places = await nextPlaces(tx, replay, count);
  const last = places.at(-1);
  if (!last || places.length < count || before.length + count > MAX_PASSED_OVER) return undefined;
  for (const { id } of places)
    await addDeadLetter(tx, {
      taskId: newId(),
      taskType: REPLAY_EVENT,
      payload: { replay_id: replayId, goal_id: replay.goal_id, event_id: id },
      error: message('goals.event_passed_over', { kind: errorKind(error) }),
      attempts: TRIES,
      maxAttempts: TRIES,
      nextRetryAt: null,
    });
  await advance(tx, replayId, last, { scanned: count, added: 0, removed: 0, kept: 0, retained: 0 });
  const { at: cursor_at, id: cursor_id } = last;
  return replayPageOf(tx, { ...replay, cursor_at, cursor_id, scanned: replay.scanned + count }, 1);
}

/** Returns the positions of a replay's next events and conversions, without comparing them. */
function nextPlaces(tx: Tx, replay: OpenReplay, count: number): Promise<Place[]> {
  const after = (at: string, id: string) =>
    replay.cursor_at === null ? '' : `and (${at}, ${id}) > (cast(:afterAt as timestamptz), cast(:afterId as uuid))`;
  return tx.org.sql<Place>(
    `select cast(occurred_at as text) as at, id from (
       (select occurred_at, id from product_events
        where organization_id = :org and name = :name and occurred_at >= :from and occurred_at < :to ${after('occurred_at', 'id')}
        order by occurred_at, id limit :count)
       union
       (select occurred_at, event_id from conversions
        where organization_id = :org and goal_id = :goal and occurred_at >= :from and occurred_at < :to ${after('occurred_at', 'event_id')}
        order by occurred_at, event_id limit :count)
     ) next order by occurred_at, id limit :count`,
    {
      name: replay.definition.event_name,
      goal: replay.goal_id,
      from: replay.from_at,
      to: replay.to_at,
      count,
      ...(replay.cursor_at === null ? {} : { afterAt: replay.cursor_at, afterId: replay.cursor_id! }),
    },
  );
}
