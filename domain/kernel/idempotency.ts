import type { Trx } from '../../db/connection.ts';
import { json } from '../../db/connection.ts';
import { translateDbError } from '../../db/errors.ts';
import { sha256 } from '../../lib/crypto.ts';
import { AppError } from '../../lib/errors.ts';
import { organizationOf, type Ctx } from './context.ts';
import { inTransaction } from './transact.ts';

const KEEP_MS = 24 * 3600_000;
/** How long a concurrent duplicate waits for the first before it gets 409. */
const WAIT_MS = 10_000;

export interface StoredAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** One guarded write: who, which operation, which key, what was asked. */
export interface IdempotentRequest {
  actorId: string;
  operation: string;
  key: string;
  requestHash: string;
}

/** Describes a write for its key: the caller, the operation and a hash of everything that was asked. */
export function idempotentRequest(ctx: Ctx, operation: string, key: string, asked: unknown): IdempotentRequest {
  const actorId = ctx.actor.apiKeyId ?? ctx.actor.oauthGrantId ?? ctx.actor.userId ?? 'system';
  return { actorId, operation, key, requestHash: sha256(JSON.stringify(asked)) };
}

/**
 * Does a write once per Idempotency-Key: the effect and the stored answer commit together. A request
 * that was answered before gets that answer; a concurrent duplicate waits for the first, then gets its answer.
 * @param work.prepare what must happen before the transaction, such as a dialled check; not repeated for a known answer
 * @param work.run the write, with the open transaction in its context
 * @throws AppError conflict (409) when the key came with another request, or the first takes too long
 */
export async function performOnce<Prepared>(
  ctx: Ctx,
  request: IdempotentRequest,
  work: { prepare(): Promise<Prepared>; run(inner: Ctx, prepared: Prepared): Promise<StoredAnswer> },
): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  const earlier = await storedAnswer(ctx, ctx.db, request);
  if (earlier) return { answer: earlier, replayed: true };
  const prepared = await work.prepare();
  try {
    return await inTransaction(ctx.db, async (trx) => {
      const first = await claimKey(ctx, trx, request);
      if (first) return { answer: first, replayed: true };
      const answer = await work.run({ ...ctx, trx }, prepared);
      await storeAnswer(ctx, trx, request, answer);
      return { answer, replayed: false };
    });
  } catch (error) {
    throw translateDbError(error);
  }
}

interface Row {
  request_hash: string;
  status: number | null;
  headers: Record<string, string> | null;
  body: Buffer | null;
  expires_at: Date;
}

async function storedAnswer(
  ctx: Ctx,
  db: Trx | Ctx['db'],
  request: IdempotentRequest,
): Promise<StoredAnswer | undefined> {
  const row = (await db('idempotency_keys').where(keyOf(ctx, request)).first()) as Row | undefined;
  if (!row || row.expires_at <= ctx.clock.now()) return undefined;
  if (row.request_hash !== request.requestHash) {
    throw new AppError('conflict', 'This Idempotency-Key was used with another request', {
      fix: 'Use a new key for a new request.',
    });
  }
  if (row.status === null || !row.body) return undefined;
  return { status: row.status, headers: row.headers ?? {}, body: ctx.keyring.open(row.body, placeOf(ctx, request)) };
}

/** Takes the key inside the write's transaction; a concurrent duplicate waits here until the first has committed. */
async function claimKey(ctx: Ctx, trx: Trx, request: IdempotentRequest): Promise<StoredAnswer | undefined> {
  const now = ctx.clock.now();
  await trx.raw(`set local lock_timeout = ${WAIT_MS}`);
  await trx('idempotency_keys').where(keyOf(ctx, request)).where('expires_at', '<=', now).delete();
  const inserted = await trx('idempotency_keys')
    .insert({
      ...keyOf(ctx, request),
      request_hash: request.requestHash,
      created_at: now,
      expires_at: new Date(now.getTime() + KEEP_MS),
    })
    .onConflict()
    .ignore()
    .returning('key');
  await trx.raw('set local lock_timeout = 0');
  return inserted.length > 0 ? undefined : storedAnswer(ctx, trx, request);
}

/** Stores the answer, encrypted, in the transaction that made it. */
async function storeAnswer(ctx: Ctx, trx: Trx, request: IdempotentRequest, answer: StoredAnswer): Promise<void> {
  await trx('idempotency_keys')
    .where(keyOf(ctx, request))
    .update({
      status: answer.status,
      headers: json(answer.headers),
      body: ctx.keyring.seal(answer.body, placeOf(ctx, request)),
    });
}

function keyOf(ctx: Ctx, request: IdempotentRequest) {
  return {
    organization_id: organizationOf(ctx),
    actor_id: request.actorId,
    operation: request.operation,
    key: request.key,
  };
}

function placeOf(ctx: Ctx, request: IdempotentRequest): string {
  return `idempotency_keys/${organizationOf(ctx)}/${request.actorId}/${request.operation}/${request.key}`;
}
