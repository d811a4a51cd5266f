import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { across, type AcrossScope } from '../db/across.ts';
import type { Db } from '../db/connection.ts';
import { inTransaction } from '../db/transaction.ts';
import { listen, type Listener } from '../db/listen.ts';
import type { Logger } from '../lib/log.ts';
import { withCostPath } from '../lib/cost-paths.ts';
import { startLoop } from '../lib/loop.ts';
import { inSpan } from '../lib/trace.ts';
import { dispatchIntent } from './client.ts';
import { OUTBOX_CHANNEL, type Intent } from './dispatch.ts';

/** Maximum number of workflows per batch, and of intents per workflow. */
const BATCH = 100;
const LINE = 50;
const CONCURRENCY = 32;
/** Maximum pause (ms) after a batch that dispatched something, without a wake-up. */
const SWEEP_MS = 2_000;
/**
 * Maximum pause (ms) after an empty batch, because a notification is lost with its connection. An intent that becomes
 * due before (scheduled or failed) ends the pause.
 */
const IDLE_SWEEP_MS = 10_000;
const DISPATCH_MS = 5_000;
const BACKOFF_BASE_MS = 500;
const BACKOFF_CAP_MS = 60_000;
/** Maximum pause (ms) while Temporal is unreachable; shorter, because the intents themselves are fine. */
const UNAVAILABLE_CAP_MS = 10_000;
/** Pause (ms) after a batch that failed, such as without a database. */
const FAILED_MS = 500;
/** Number of counted attempts after which an intent is parked: about three minutes. */
const MAX_REFUSALS = 10;
/** Interval (ms) of counting parked intents and of postponing those behind an unfinished one. */
const HOUSEKEEPING_MS = 15_000;
/** Delay (ms) before an intent behind a parked one is read again. */
const BEHIND_PARKED_MS = 600_000;
/** gRPC: INVALID_ARGUMENT. */
const INVALID_ARGUMENT = 3;
/**
 * gRPC codes of errors that are not caused by the intent: CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE
 * (Temporal is unreachable or busy), NOT_FOUND, PERMISSION_DENIED, UNAUTHENTICATED (wrong namespace or credentials).
 */
const UNAVAILABLE_CODES = new Set([1, 4, 8, 14, 5, 7, 16]);

type OutboxRow = {
  id: number;
  kind: Intent['kind'];
  workflow_id: string;
  payload: unknown;
  attempts: number;
  refusals: number;
};

export interface Relay {
  /** Stops taking rows and waits for the current batch. */
  stop(): Promise<void>;
}

interface RelayOptions {
  db: Db;
  databaseUrl: string;
  /** Dispatches one intent to Temporal; rejects with Temporal's error if it was not accepted. */
  carry: (intent: Intent) => Promise<void>;
  log: Logger;
  /** Returns true while no intent may be taken. */
  isHeld?: () => boolean;
  /** First pause (ms) after a refused intent; it doubles. */
  backoffMs?: number;
  onDispatched?: (count: number, failed: number) => void;
  /** Called at intervals with the number of parked intents, and of those parked since the last call. */
  onParked?: (parked: number, lately: number) => void;
}

/** Returns a function that dispatches intents through a client. Temporal has `timeoutMs` to accept one. */
export function createIntentSender(
  client: Client,
  taskQueue: string,
  timeoutMs = DISPATCH_MS,
): (intent: Intent) => Promise<void> {
  return (intent) =>
    inSpan(
      `outbox ${intent.kind}`,
      { parent: intent.payload.traceparent, kind: 'client', attributes: { 'heron.workflow_id': intent.workflowId } },
      () => client.withDeadline(Date.now() + timeoutMs, () => dispatchIntent(client, taskQueue, intent)),
    );
}

/**
 * Dispatches intents from the outbox to Temporal. A batch is locked and then deleted in one transaction, after Temporal
 * has accepted it. If a relay dies, another repeats its rows harmlessly.
 * The intents of one workflow keep their order, through failures and with any number of relays. Only the earliest
 * unfinished intent of a workflow is taken, with those behind it, and processing stops at the first that is not
 * accepted. (An intent scheduled for later that was never tried does not block those behind it.)
 * An intent that Temporal refuses, or that failed {@link MAX_REFUSALS} times while Temporal answered, is parked with
 * the reason until an operator retries it. Intents behind it wait, because they assume its effect: a start that
 * overtakes a failed cancel would be a wrong run, while waiting only delays the workflow.
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const { log } = options;
  let awayMs = 0;
  let tidiedAt = 0;
  let parkedLately = 0;
  const loop = startLoop({
    name: 'relay',
    async iterate(progress) {
      const carry = (intent: Intent) => options.carry(intent).finally(progress);
      const batch = await withCostPath('relay', () => relayBatch({ ...options, carry }));
      parkedLately += batch.parked;
      if (batch.taken < BATCH && Date.now() - tidiedAt >= HOUSEKEEPING_MS) {
        options.onParked?.(await postponeBlocked(options.db), parkedLately);
        parkedLately = 0;
        tidiedAt = Date.now();
      }
      awayMs = batch.away
        ? Math.min(Math.max(awayMs * 2, options.backoffMs ?? BACKOFF_BASE_MS), UNAVAILABLE_CAP_MS)
        : 0;
      // New intents do not mean that Temporal is reachable again.
      if (awayMs > 0) return { leastMs: awayMs };
      return batch.taken < BATCH ? { mostMs: batch.againMs } : {};
    },
    ...(options.isHeld ? { isHeld: options.isHeld } : {}),
    failedMs: FAILED_MS,
    onError: (error) => log.warn({ err: error }, 'outbox relay: batch failed, will try again'),
  });
  const listener: Listener = await listen(options.databaseUrl, OUTBOX_CHANNEL, () => loop.wake(), log);

  return {
    async stop() {
      await loop.stop();
      await listener.close();
    },
  };
}

interface Batch {
  /** Number of workflows whose intents were taken. */
  taken: number;
  parked: number;
  /** True if nothing was dispatched because Temporal did not answer. */
  away: boolean;
  /** Time (ms) until there may be work without a wake-up. */
  againMs: number;
}

/**
 * Selects and locks the earliest dispatchable intent of up to {@link BATCH} workflows. The lock gives the relay
 * exclusive use of the workflow's intents. Behind each, in order, are its following intents, of which there are usually
 * none.
 */
const TAKE = `
  with heads as materialized (
    select o.id, o.kind, o.workflow_id, o.payload, o.attempts, o.refusals
    from outbox o
    where o.available_at <= now()
      and not exists (
        select 1 from outbox e
        where e.workflow_id = o.workflow_id and e.id < o.id and (e.attempts > 0 or e.available_at <= now())
      )
    order by o.available_at, o.id
    limit ${BATCH}
    for update of o skip locked
  )
  select id, kind, workflow_id, payload, attempts, refusals, true as due from heads
  union all
  select b.id, b.kind, b.workflow_id, b.payload, b.attempts, b.refusals, b.due
  from heads h
  cross join lateral (
    select id, kind, workflow_id, payload, attempts, refusals, available_at <= now() as due
    from outbox
    where workflow_id = h.workflow_id and id > h.id
    order by id
    limit ${LINE - 1}
  ) b
  order by id`;

/**
 * Returns the time (ms) until the next intent is due, at most {@link IDLE_SWEEP_MS}. An intent that is already due is
 * held by another relay or waits behind an earlier one.
 */
async function nextDueInMs(outbox: AcrossScope): Promise<number> {
  const [next] = await outbox.sql<{ ms: number | null; held: boolean }>(
    `select (select extract(epoch from min(available_at) - now()) * 1000 from outbox where available_at > now() and available_at < 'infinity')::float8 as ms,
       exists (select 1 from outbox where available_at <= now()) as held`,
  );
  return Math.min(next!.held ? SWEEP_MS : IDLE_SWEEP_MS, Math.max(next!.ms ?? Infinity, 1));
}

interface Failure {
  row: OutboxRow;
  error: unknown;
}

/**
 * Takes one batch: workflows in parallel, the intents of one workflow in order up to the first failure. Exported for
 * tests that take one batch at a time.
 */
export async function relayBatch({
  db,
  carry,
  log,
  backoffMs = BACKOFF_BASE_MS,
  onDispatched,
}: RelayOptions): Promise<Batch> {
  return inTransaction(db, async (trx) => {
    const outbox = across(trx, 'engine');
    const rows = await outbox.sql<OutboxRow & { due: boolean }>(TAKE);
    if (rows.length === 0) return { taken: 0, parked: 0, away: false, againMs: await nextDueInMs(outbox) };
    const lines = byWorkflow(rows);
    const done: number[] = [];
    const failed: Failure[] = [];
    const isAway = () => done.length === 0 && failed.length > 0 && failed.every(({ error }) => isUnanswered(error));
    const limit = pLimit(CONCURRENCY);
    await Promise.all(
      lines.map((line) =>
        limit(async () => {
          for (const same of line) {
            // As many intents as are sent at once got no answer: the rest waits until Temporal is reachable.
            if (isAway() && failed.length >= CONCURRENCY) return;
            const row = same[0]!;
            try {
              await carry({ kind: row.kind, workflowId: row.workflow_id, payload: row.payload } as Intent);
              done.push(...same.map(({ id }) => id));
            } catch (error) {
              failed.push({ row, error });
              return;
            }
          }
        }),
      ),
    );
    if (done.length > 0)
      await outbox.table('outbox').where('id', '=', outbox.raw('any(:done::bigint[])', { done })).delete();
    let parked = 0;
    let againMs = SWEEP_MS;
    for (const failure of failed) {
      const delayMs = await recordFailedAttempt(outbox, failure, done.length > 0, backoffMs, log);
      if (delayMs === undefined) parked += 1;
      else againMs = Math.min(againMs, delayMs);
    }
    onDispatched?.(done.length, failed.length);
    return { taken: lines.length, parked, away: isAway(), againMs };
  });
}

/** Records a failed attempt. Returns the time (ms) until the next one; undefined if the intent was parked. */
async function recordFailedAttempt(
  outbox: AcrossScope,
  { row, error }: Failure,
  othersAccepted: boolean,
  backoffMs: number,
  log: Logger,
): Promise<number | undefined> {
  const refusals = row.refusals + (othersAccepted || !isUnanswered(error) ? 1 : 0);
  const parked = isRefusedForGood(error) || refusals >= MAX_REFUSALS;
  const cap = isUnanswered(error) ? UNAVAILABLE_CAP_MS : BACKOFF_CAP_MS;
  const delayMs = Math.min(backoffMs * 2 ** Math.min(row.attempts, 12), cap);
  const about = { err: error, workflowId: row.workflow_id, intent: row.id, attempts: row.attempts + 1 };
  if (parked) log.error(about, 'outbox relay: intent parked; see `heron outbox`');
  else log.warn(about, 'outbox relay: dispatch failed');
  await outbox
    .table('outbox')
    .where({ id: row.id })
    .update({
      attempts: row.attempts + 1,
      refusals,
      last_error: reasonOf(error),
      ...(parked
        ? { parked_at: outbox.raw('now()'), available_at: outbox.raw(`'infinity'`) }
        : { available_at: outbox.raw(`now() + :delayMs * interval '1 millisecond'`, { delayMs }) }),
    });
  return parked ? undefined : delayMs;
}

/**
 * Postpones intents behind an unfinished one, so that later searches do not read them every time. Returns the number of
 * parked intents.
 */
async function postponeBlocked(db: Db): Promise<number> {
  const outbox = across(db, 'engine');
  await outbox.sql(
    `update outbox o
     set available_at = least(b.until, now() + :behindMs * interval '1 millisecond')
     from (
       select w.id, max(e.available_at) as until
       from outbox w
       join outbox e on e.workflow_id = w.workflow_id and e.id < w.id and e.attempts > 0 and e.available_at > now()
       where w.available_at <= now() and w.attempts = 0
       group by w.id
     ) b
     where o.id = b.id`,
    { behindMs: BEHIND_PARKED_MS },
  );
  const [counted] = await outbox.sql<{ n: number }>('select count(*) as n from outbox where parked_at is not null');
  return counted!.n;
}

/**
 * Groups intents by workflow in order, up to one that may not be dispatched yet. Equal consecutive signals are sent
 * once.
 */
function byWorkflow(rows: readonly (OutboxRow & { due: boolean })[]): OutboxRow[][][] {
  const lines = new Map<string, OutboxRow[][]>();
  const stopped = new Set<string>();
  for (const row of rows) {
    if (stopped.has(row.workflow_id)) continue;
    if (!row.due) {
      // An intent that was tried blocks those behind it; one scheduled for later does not.
      if (row.attempts > 0) stopped.add(row.workflow_id);
      continue;
    }
    const line = lines.get(row.workflow_id) ?? [];
    lines.set(row.workflow_id, line);
    const last = line.at(-1);
    if (last && row.kind === 'signal' && isDeepStrictEqual([row.kind, row.payload], [last[0]!.kind, last[0]!.payload]))
      last.push(row);
    else line.push([row]);
  }
  return [...lines.values()];
}

/** Returns true if the error, or the missing answer, is not caused by the intent. */
function isUnanswered(error: unknown): boolean {
  const code = codeOf(error);
  return (code !== undefined && UNAVAILABLE_CODES.has(code)) || isUnpreparedNamespace(error);
}

function isRefusedForGood(error: unknown): boolean {
  return codeOf(error) === INVALID_ARGUMENT && !isUnpreparedNamespace(error);
}

/**
 * Returns true if the namespace lacks Heron's search attributes, so that every start is refused until they are created.
 */
function isUnpreparedNamespace(error: unknown): boolean {
  return codeOf(error) === INVALID_ARGUMENT && /search attribute/i.test(reasonOf(error));
}

function codeOf(error: unknown): number | undefined {
  const code = (error as { cause?: { code?: unknown } }).cause?.code ?? (error as { code?: unknown }).code;
  return typeof code === 'number' ? code : undefined;
}

/** Returns Temporal's message on one line. The SDK wraps it in an error whose own message only names the call. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { details?: string } };
  return [message, cause?.details].filter(Boolean).join(': ').replaceAll('\n', ' ').slice(0, 500);
}
