import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import type { Db } from '../db/connection.ts';
import { listen, type Listener } from '../db/listen.ts';
import type { Logger } from '../lib/log.ts';
import { dispatchIntent } from './client.ts';
import { OUTBOX_CHANNEL, type Intent } from './dispatch.ts';

const BATCH = 100;
const CONCURRENCY = 32;
/** Without a wake-up the relay looks anyway: a notification is lost with the connection that carried it. */
const SWEEP_MS = 2_000;
const DISPATCH_MS = 5_000;
const BACKOFF_BASE_MS = 500;
const BACKOFF_CAP_MS = 60_000;
/** While Temporal is away nothing is wrong with the intents: they come again sooner. */
const AWAY_CAP_MS = 10_000;
/** gRPC: CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE. */
const AWAY_CODES = new Set([1, 4, 14]);

type OutboxRow = { id: number; kind: Intent['kind']; workflow_id: string; payload: unknown; attempts: number };

export interface Relay {
  /** Stops taking rows and waits for the batch in hand. */
  stop(): Promise<void>;
}

export interface RelayOptions {
  db: Db;
  databaseUrl: string;
  client: Client;
  taskQueue: string;
  log: Logger;
  /** How long (ms) Temporal may take to accept one intent. */
  dispatchMs?: number;
  onDispatched?: (count: number, failed: number) => void;
}

/**
 * Carries intents from the outbox to Temporal. A batch is deleted in the same transaction that holds its rows locked,
 * after Temporal has taken them: a relay that dies gives its rows back, and another repeats them harmlessly.
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const { log } = options;
  let running = true;
  let wake: () => void = () => {};
  let woken = false;
  const listener: Listener = await listen(
    options.databaseUrl,
    OUTBOX_CHANNEL,
    () => {
      woken = true;
      wake();
    },
    log,
  );

  const loop = (async () => {
    let pause = 0;
    while (running) {
      woken = false;
      let batch: Batch = { taken: 0, away: false };
      try {
        batch = await relayBatch(options);
      } catch (error) {
        log.warn({ err: error }, 'outbox relay: batch failed, will try again');
      }
      pause = batch.away ? Math.min(Math.max(pause * 2, BACKOFF_BASE_MS), AWAY_CAP_MS) : 0;
      if (!running || (pause === 0 && (batch.taken === BATCH || woken))) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause || SWEEP_MS);
        wake = () => {
          // New intents do not bring Temporal back.
          if (pause > 0 && running) return;
          clearTimeout(timer);
          resolve();
        };
        if (woken || !running) wake();
      });
    }
  })();

  return {
    async stop() {
      running = false;
      wake();
      await loop;
      await listener.close();
    },
  };
}

interface Batch {
  taken: number;
  /** Nothing got through, as Temporal did not answer. */
  away: boolean;
}

/** Takes one batch: workflows side by side, the intents of one workflow in their order. */
async function relayBatch({
  db,
  client,
  taskQueue,
  log,
  dispatchMs = DISPATCH_MS,
  onDispatched,
}: RelayOptions): Promise<Batch> {
  return db.transaction(async (trx) => {
    const rows = await trx<OutboxRow>('outbox')
      .where('available_at', '<=', trx.fn.now())
      .orderBy('id')
      .limit(BATCH)
      .forUpdate()
      .skipLocked();
    if (rows.length === 0) return { taken: 0, away: false };
    const done: number[] = [];
    const failed: { row: OutboxRow; error: unknown }[] = [];
    const isAway = () => done.length === 0 && failed.length > 0 && failed.every(({ error }) => isUnanswered(error));
    const limit = pLimit(CONCURRENCY);
    await Promise.all(
      byWorkflow(rows).map((line) =>
        limit(async () => {
          for (const same of line) {
            // A whole wave went unanswered: the rest stays for when somebody is there.
            if (isAway() && failed.length >= CONCURRENCY) return;
            const row = same[0]!;
            try {
              await client.withDeadline(Date.now() + dispatchMs, () =>
                dispatchIntent(client, taskQueue, {
                  kind: row.kind,
                  workflowId: row.workflow_id,
                  payload: row.payload,
                } as Intent),
              );
              done.push(...same.map(({ id }) => id));
            } catch (error) {
              failed.push(...same.map((each) => ({ row: each, error })));
            }
          }
        }),
      ),
    );
    if (done.length > 0) await trx('outbox').whereIn('id', done).delete();
    for (const { row, error } of failed) {
      const cap = isUnanswered(error) ? AWAY_CAP_MS : BACKOFF_CAP_MS;
      const delay = Math.min(BACKOFF_BASE_MS * 2 ** Math.min(row.attempts, 12), cap);
      log.warn(
        { err: error, workflowId: row.workflow_id, attempts: row.attempts + 1 },
        'outbox relay: dispatch failed',
      );
      await trx('outbox')
        .where({ id: row.id })
        .update({
          attempts: row.attempts + 1,
          available_at: trx.raw(`now() + ? * interval '1 millisecond'`, [delay]),
          last_error: String((error as Error).message).slice(0, 500),
        });
    }
    onDispatched?.(done.length, failed.length);
    return { taken: done.length, away: isAway() };
  });
}

/** Intents by workflow, in order; signals that say the same in a row are carried once. */
function byWorkflow(rows: readonly OutboxRow[]): OutboxRow[][][] {
  const lines = new Map<string, OutboxRow[][]>();
  for (const row of rows) {
    const line = lines.get(row.workflow_id) ?? [];
    lines.set(row.workflow_id, line);
    const last = line.at(-1);
    if (last && row.kind === 'signal' && isDeepStrictEqual([row.kind, row.payload], [last[0]!.kind, last[0]!.payload]))
      last.push(row);
    else line.push([row]);
  }
  return [...lines.values()];
}

/** Whether Temporal did not answer, which says nothing of the intent. */
function isUnanswered(error: unknown): boolean {
  const code = (error as { cause?: { code?: unknown } }).cause?.code ?? (error as { code?: unknown }).code;
  return typeof code === 'number' && AWAY_CODES.has(code);
}
