import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { across, type AcrossScope } from '../db/across.ts';
import type { Db } from '../db/connection.ts';
import { inTransaction } from '../db/transaction.ts';
import { listen, type Listener } from '../db/listen.ts';
import type { Logger } from '../lib/log.ts';
import { withCostPath } from '../lib/cost-paths.ts';
import { startLoop, type Loop } from '../lib/loop.ts';
import { inSpan } from '../lib/trace.ts';
import { dispatchIntent } from './client.ts';
import { OUTBOX_CHANNEL, type Intent } from './dispatch.ts';

/** Maximum number of workflows per batch, and of intents per workflow in a batch. */
const BATCH = 100;
const LINE = 50;
const CONCURRENCY = 32;
/** Maximum number of workflows of one organization whose intents are dispatched at once. */
const SHARE = 8;
/**
 * Time (ms) after which a batch begins no further workflow. Intents that other organizations write in the meantime are
 * in the next batch.
 */
const BATCH_MS = 100;
/** Maximum pause (ms) after a batch with dispatched intents, without a wake-up. */
const SWEEP_MS = 2_000;
/**
 * Maximum pause (ms) after an empty batch, because notifications are lost if the connection breaks. The pause also ends
 * when a scheduled or failed intent becomes due.
 */
const IDLE_SWEEP_MS = 10_000;
const DISPATCH_MS = 5_000;
const BACKOFF_BASE_MS = 500;
const BACKOFF_CAP_MS = 60_000;
/**
 * Maximum pause (ms) after an attempt that Temporal neither accepted nor refused. The pause is short, because the
 * intent is probably valid.
 */
const UNANSWERED_CAP_MS = 10_000;
/** Pause (ms) after a batch that failed, for example because the database was unreachable. */
const FAILED_MS = 500;
/** Number of refusals after which an intent is parked, which takes about three minutes. */
const MAX_REFUSALS = 10;
/**
 * Pauses before a parked intent is retried: the first one as a multiple of `backoffMs` (a minute by default), and the
 * maximum (ms).
 */
const PARKED_BACKOFFS = 120;
const PARKED_CAP_MS = 3_600_000;
/**
 * Interval (ms) at which parked intents are counted, and at which intents that wait for an unfinished one are
 * postponed.
 */
const HOUSEKEEPING_MS = 15_000;
/** Maximum delay (ms) before an intent that waits for an unfinished one is read again. */
const BEHIND_PARKED_MS = 600_000;
/** gRPC code INVALID_ARGUMENT. */
const INVALID_ARGUMENT = 3;
/**
 * gRPC codes with which Temporal refuses one intent: INVALID_ARGUMENT, ALREADY_EXISTS, OUT_OF_RANGE. All other codes
 * concern the server, the namespace, the credentials or the network. Some of them affect only some workflows, such as
 * UNAVAILABLE while a history shard moves, and INTERNAL if a proxy resets a stream.
 */
const VERDICT_CODES = new Set([INVALID_ARGUMENT, 6, 11]);

type OutboxRow = {
  id: number;
  kind: Intent['kind'];
  workflow_id: string;
  payload: unknown;
  attempts: number;
  refusals: number;
  parked: boolean;
};

export interface Relay {
  /** Stops reading the outbox. Resolves after the current batch. */
  stop(): Promise<void>;
}

interface RelayOptions {
  db: Db;
  databaseUrl: string;
  /** Dispatches one intent to Temporal. Rejects with Temporal's error if Temporal does not accept the intent. */
  carry: (intent: Intent) => Promise<void>;
  log: Logger;
  /** Returns true while no intent may be dispatched. */
  isHeld?: () => boolean;
  /** First pause (ms) before a refused intent is retried. The pause doubles with each refusal. */
  backoffMs?: number;
  onDispatched?: (count: number, failed: number) => void;
  /** Called at intervals with the number of parked intents, and with the number of those parked since the last call. */
  onParked?: (parked: number, lately: number) => void;
}

/**
 * Returns a function that dispatches intents through a client. Temporal must accept an intent within `timeoutMs` (ms).
 */
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

/** Intents that one loop handles: new ones, or those whose last attempt failed. */
type Share = 'new' | 'tried';

/**
 * Dispatches intents from the outbox to Temporal. A batch is locked and then deleted in one transaction, after Temporal
 * has accepted it. If a relay dies, another repeats its rows harmlessly. The intents of one workflow keep their order,
 * through failures and with any number of relays. Only the earliest unfinished intent of a workflow is taken, with
 * those behind it, and processing stops at the first that is not accepted. (An intent scheduled for later that was
 * never tried does not block those behind it.) Organizations have equal shares of a batch, in rotation. A batch is
 * short and dispatches few intents of one organization at once, so that no organization delays another. New and failed
 * intents have separate loops, so that a workflow for which Temporal does not answer delays others by at most one
 * attempt. An intent that Temporal refuses as invalid, or {@link MAX_REFUSALS} times in another way, is parked with the
 * reason. It is retried automatically, after pauses that grow to an hour, or at once when an operator retries it. A
 * missing answer is no refusal. Later intents of the workflow wait, because they assume the effect of the parked one.
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const { log } = options;
  let tidiedAt = 0;
  let parkedLately = 0;
  const startShare = (name: string, share: Share, afterBatch: (batch: Batch) => Promise<void>): Loop => {
    let awayMs = 0;
    return startLoop({
      name,
      async iterate(progress) {
        const carry = (intent: Intent) => options.carry(intent).finally(progress);
        const batch = await withCostPath('relay', () => relayBatch({ ...options, carry }, share));
        parkedLately += batch.parked;
        await afterBatch(batch);
        awayMs = batch.away
          ? Math.min(Math.max(awayMs * 2, options.backoffMs ?? BACKOFF_BASE_MS), UNANSWERED_CAP_MS)
          : 0;
        // Keeps the pause even if new intents are written: they do not show that Temporal is reachable again.
        if (awayMs > 0) return { leastMs: awayMs };
        return batch.full ? {} : { mostMs: batch.againMs };
      },
      ...(options.isHeld ? { isHeld: options.isHeld } : {}),
      failedMs: FAILED_MS,
      onError: (error) => log.warn({ err: error }, 'outbox relay: batch failed, will try again'),
    });
  };
  const retries = startShare('relay retries', 'tried', async () => {});
  const loop = startShare('relay', 'new', async ({ full, failed }) => {
    if (failed > 0) retries.wake();
    if (full || Date.now() - tidiedAt < HOUSEKEEPING_MS) return;
    options.onParked?.(await postponeBlocked(options.db), parkedLately);
    parkedLately = 0;
    tidiedAt = Date.now();
  });
  const listener: Listener = await listen(options.databaseUrl, OUTBOX_CHANNEL, () => loop.wake(), log);

  return {
    async stop() {
      await Promise.all([loop.stop(), retries.stop()]);
      await listener.close();
    },
  };
}

interface Batch {
  /** Number of workflows whose intents were dispatched. */
  taken: number;
  /** True if there may be more intents to dispatch. */
  full: boolean;
  /** Number of intents that were parked for the first time. */
  parked: number;
  failed: number;
  /** True if the batch ended early because Temporal did not answer for any workflow. */
  away: boolean;
  /** Time (ms) after which the outbox must be read again, even without a notification. */
  againMs: number;
}

const IS_IN_SHARE: Record<Share, string> = { new: 'attempts = 0', tried: 'attempts > 0' };

/**
 * Returns SQL that selects and locks the earliest dispatchable intent of up to {@link BATCH} workflows, in equal shares
 * of all organizations that have any. The lock gives the relay exclusive use of the workflow's intents. Each is
 * followed by the later intents of its workflow, in order; usually there are none. `share` is the maximum number of
 * workflows of one organization.
 */
const takeSql = (share: Share) => `
  with recursive tenants as (
    (select tenant from outbox where ${IS_IN_SHARE[share]} order by tenant limit 1)
    union all
    select n.tenant from tenants t cross join lateral (
      select tenant from outbox where ${IS_IN_SHARE[share]} and tenant > t.tenant order by tenant limit 1
    ) n
  ), due as materialized (
    select tenant, ceil(${BATCH}::float8 / count(*) over ())::int as share from tenants t
    where exists (select from outbox o where o.tenant = t.tenant and o.${IS_IN_SHARE[share]} and o.available_at <= now())
  ), heads as materialized (
    select h.*, d.tenant, d.share
    from due d
    cross join lateral (
      select o.id, o.kind, o.workflow_id, o.payload, o.attempts, o.refusals, o.parked_at is not null as parked, o.available_at
      from outbox o
      where o.tenant = d.tenant and o.available_at <= now() and o.${IS_IN_SHARE[share]}
        and not exists (
          select 1 from outbox e
          where e.workflow_id = o.workflow_id and e.id < o.id and (e.attempts > 0 or e.available_at <= now())
        )
      order by o.available_at, o.id
      limit d.share
      for update of o skip locked
    ) h
    order by h.available_at, h.id
    limit ${BATCH}
  )
  select id, kind, workflow_id, payload, attempts, refusals, parked, true as due, tenant, share from heads
  union all
  select b.id, b.kind, b.workflow_id, b.payload, b.attempts, b.refusals, b.parked, b.due, null, null
  from heads h
  cross join lateral (
    select id, kind, workflow_id, payload, attempts, refusals, parked_at is not null as parked, available_at <= now() as due
    from outbox
    where workflow_id = h.workflow_id and id > h.id
    order by id
    limit ${LINE - 1}
  ) b
  order by id`;

/** A row of {@link takeSql}. Tenant and share are null for all but the first intent of a workflow. */
type TakenRow = OutboxRow & { due: boolean; tenant: string | null; share: number | null };

/**
 * Returns true if there may be more intents: an organization has used up its share of the batch, or the batch is full.
 */
function isFull(rows: readonly TakenRow[]): boolean {
  const heads = rows.filter(({ tenant }) => tenant !== null);
  const taken = new Map<string, number>();
  for (const { tenant } of heads) taken.set(tenant!, (taken.get(tenant!) ?? 0) + 1);
  return heads.length >= BATCH || heads.some(({ tenant, share }) => taken.get(tenant!)! >= share!);
}

/**
 * Returns the time (ms) until the next intent is due, at most {@link IDLE_SWEEP_MS}. An intent that is already due is
 * locked by another relay or waits for an earlier one.
 */
async function nextDueInMs(outbox: AcrossScope, share: Share): Promise<number> {
  const [next] = await outbox.sql<{ ms: number | null; held: boolean }>(
    `select (select extract(epoch from min(available_at) - now()) * 1000 from outbox where available_at > now() and ${IS_IN_SHARE[share]})::float8 as ms,
       exists (select 1 from outbox where available_at <= now() and ${IS_IN_SHARE[share]}) as held`,
  );
  return Math.min(next!.held ? SWEEP_MS : IDLE_SWEEP_MS, Math.max(next!.ms ?? Infinity, 1));
}

interface Failure {
  row: OutboxRow;
  error: unknown;
}

/**
 * Takes one batch: workflows in parallel, the intents of one workflow in order up to the first failure. Exported for
 * tests that dispatch one batch at a time.
 */
export async function relayBatch(
  { db, carry, log, backoffMs = BACKOFF_BASE_MS, onDispatched }: RelayOptions,
  share: Share = 'new',
): Promise<Batch> {
  return inTransaction(db, async (trx) => {
    const outbox = across(trx, 'engine');
    const rows = await outbox.sql<TakenRow>(takeSql(share));
    if (rows.length === 0)
      return { taken: 0, full: false, parked: 0, failed: 0, away: false, againMs: await nextDueInMs(outbox, share) };
    const lines = inRotation(byWorkflow(rows));
    const done: number[] = [];
    const failed: Failure[] = [];
    const isSilent = (failures: number) =>
      done.length === 0 && failed.length >= failures && failed.every(({ error }) => !isVerdict(error));
    // True if as many intents as are sent in parallel got no answer.
    const isAway = () => isSilent(CONCURRENCY);
    const until = performance.now() + BATCH_MS;
    let left = lines.length;
    let isCut = false;
    const dispatch = async ({ intents }: Line): Promise<void> => {
      if (isAway() || performance.now() >= until) return;
      left -= 1;
      for (const [index, same] of intents.entries()) {
        if (isAway()) return;
        if (index > 0 && performance.now() >= until) {
          isCut = true;
          return;
        }
        const row = same[0]!;
        try {
          await carry({ kind: row.kind, workflowId: row.workflow_id, payload: row.payload } as Intent);
          done.push(...same.map(({ id }) => id));
        } catch (error) {
          failed.push({ row, error });
          return;
        }
      }
    };
    const limit = pLimit(CONCURRENCY);
    const shares = new Map(lines.map(({ tenant }) => [tenant, pLimit(SHARE)]));
    // An organization that is alone in the batch may use all parallel dispatches.
    const isAlone = shares.size === 1;
    await Promise.all(
      lines.map((line) =>
        isAlone ? limit(() => dispatch(line)) : shares.get(line.tenant)!(() => limit(() => dispatch(line))),
      ),
    );
    if (done.length > 0)
      await outbox.table('outbox').where('id', '=', outbox.raw('any(:done::bigint[])', { done })).delete();
    let parked = 0;
    let againMs = SWEEP_MS;
    for (const failure of failed) {
      const next = await recordFailedAttempt(outbox, failure, backoffMs, log);
      if (next.parked) parked += 1;
      againMs = Math.min(againMs, next.delayMs);
    }
    onDispatched?.(done.length, failed.length);
    return {
      taken: lines.length - left,
      full: isCut || left > 0 || isFull(rows),
      parked,
      failed: failed.length,
      away: isSilent(left > 0 ? 1 : CONCURRENCY),
      againMs,
    };
  });
}

/** Records a failed attempt. Returns the time (ms) until the next attempt, and true if this call parked the intent. */
async function recordFailedAttempt(
  outbox: AcrossScope,
  { row, error }: Failure,
  backoffMs: number,
  log: Logger,
): Promise<{ delayMs: number; parked: boolean }> {
  const refusals = row.refusals + (isVerdict(error) ? 1 : 0);
  const isParked = row.parked || (isVerdict(error) && (isRefusedForGood(error) || refusals >= MAX_REFUSALS));
  const delayMs = isParked
    ? backoff(backoffMs * PARKED_BACKOFFS, refusals - 1, PARKED_CAP_MS)
    : backoff(backoffMs, row.attempts, isVerdict(error) ? BACKOFF_CAP_MS : UNANSWERED_CAP_MS);
  const parked = isParked && !row.parked;
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
      available_at: outbox.raw(`now() + :delayMs * interval '1 millisecond'`, { delayMs }),
      ...(parked ? { parked_at: outbox.raw('now()') } : {}),
    });
  return { delayMs, parked };
}

/** Returns the pause (ms) before an attempt: `baseMs`, doubled for each earlier attempt, up to `capMs`. */
function backoff(baseMs: number, before: number, capMs: number): number {
  return Math.min(baseMs * 2 ** Math.min(before, 12), capMs);
}

/**
 * Postpones intents that wait for an unfinished one, so that not every search reads them. Returns the number of parked
 * intents.
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

/** Intents of one workflow in order. Equal consecutive signals form one group, because they are sent once. */
interface Line {
  tenant: string;
  intents: OutboxRow[][];
}

/** Groups intents by workflow in order, up to one that may not be dispatched yet. */
function byWorkflow(rows: readonly TakenRow[]): Line[] {
  const lines = new Map<string, Line>();
  const stopped = new Set<string>();
  for (const row of rows) {
    if (stopped.has(row.workflow_id)) continue;
    if (!row.due) {
      // An intent whose attempt failed blocks the later ones of its workflow. One that is only scheduled for later does
      // not.
      if (row.attempts > 0) stopped.add(row.workflow_id);
      continue;
    }
    const line = lines.get(row.workflow_id) ?? { tenant: row.tenant ?? '', intents: [] };
    lines.set(row.workflow_id, line);
    const last = line.intents.at(-1);
    if (last && row.kind === 'signal' && isDeepStrictEqual([row.kind, row.payload], [last[0]!.kind, last[0]!.payload]))
      last.push(row);
    else line.intents.push([row]);
  }
  return [...lines.values()];
}

/** Orders workflows so that organizations alternate. The workflows of one organization keep their order. */
function inRotation(lines: readonly Line[]): Line[] {
  const counts = new Map<string, number>();
  const turns = lines.map((line) => {
    const turn = counts.get(line.tenant) ?? 0;
    counts.set(line.tenant, turn + 1);
    return { line, turn };
  });
  return turns.sort((a, b) => a.turn - b.turn).map(({ line }) => line);
}

/**
 * Returns true if the error is a refusal of this intent. An error without a gRPC code means that the client could not
 * encode the intent.
 */
function isVerdict(error: unknown): boolean {
  const code = codeOf(error);
  return (code === undefined || VERDICT_CODES.has(code)) && !isUnpreparedNamespace(error);
}

function isRefusedForGood(error: unknown): boolean {
  return codeOf(error) === INVALID_ARGUMENT;
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

/**
 * Returns Temporal's message on one line. The SDK wraps this error in one whose message is only the name of the call.
 */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { details?: string } };
  return [message, cause?.details].filter(Boolean).join(': ').replaceAll('\n', ' ').slice(0, 500);
}
