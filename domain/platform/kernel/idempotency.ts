import { json, type Handle, type Trx } from '../../../db/connection.ts';
import { isLockTimeout, translateDbError } from '../../../db/errors.ts';
import type { Columns } from '../../../db/rows.ts';
import { OrgScope } from '../../../db/tenancy.ts';
import { hmac, safeEqual } from '../../../lib/crypto.ts';
import { AppError } from '../../../lib/errors.ts';
import { organizationOf, type Ctx } from './context.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';
import { message } from '../../../messages/index.ts';

const KEY_TTL_MS = 24 * 3600_000;
/** Time (ms) that a concurrent duplicate waits for the first request before it gets 409. */
const WAIT_MS = 10_000;

interface StoredAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** A write with an Idempotency-Key: caller, operation, key and a hash of the request. */
interface IdempotentRequest {
  actorId: string;
  operation: string;
  key: string;
  /**
   * Hash of the request, keyed with AUTH_SECRET. Without a key, a password in the body could be guessed from the hash.
   */
  requestHash: string;
}

/**
 * Builds the record of a write with an Idempotency-Key: the caller, the operation and a hash of the whole request.
 */
export function idempotentRequest(ctx: Ctx, operation: string, key: string, asked: unknown): IdempotentRequest {
  const actorId = ctx.actor.apiKeyId ?? ctx.actor.oauthGrantId ?? ctx.actor.userId ?? 'system';
  const text = JSON.stringify(asked);
  return {
    actorId,
    operation,
    key,
    requestHash: hmac(ctx.config.AUTH_SECRET, `heron/request/${text}`).toString('hex'),
  };
}

/**
 * Performs a write once per Idempotency-Key; the effect and the stored response commit together. A repeated request
 * receives the stored response. A concurrent duplicate waits for the first request and then gets its response.
 * @param work.prepare runs before the transaction, for example to connect to a server. Skipped when a response is
 * already stored. Without `prepare` the stored response is read only inside the transaction.
 * @param work.run the write, with the open transaction in its context. A returned error is thrown after the commit: the
 * written rows stay, and the key can be used again as after a thrown error
 * @throws AppError conflict (409) when the key was used with another request, or the first request takes too long
 */
export async function performOnce<Prepared>(
  ctx: Ctx,
  request: IdempotentRequest,
  work: {
    prepare?: (() => Promise<Prepared>) | undefined;
    run(inner: Ctx, prepared: Prepared | undefined): Promise<StoredAnswer | AppError>;
  },
): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  const earlier = work.prepare && (await storedAnswer(ctx, scopeOf(ctx, ctx.db), request));
  if (earlier) return { answer: earlier, replayed: true };
  const prepared = await work.prepare?.();
  try {
    const outcome = await inTransaction(ctx.db, async (trx) => {
      const first = await claimKey(ctx, trx, request);
      if (first) return { answer: first, replayed: true };
      const answer = await work.run({ ...ctx, trx }, prepared);
      await (answer instanceof AppError ? freeKey(ctx, trx, request) : storeAnswer(ctx, trx, request, answer));
      return answer instanceof AppError ? answer : { answer, replayed: false };
    });
    if (outcome instanceof AppError) throw outcome;
    return outcome;
  } catch (error) {
    throw translateDbError(error);
  }
}

async function storedAnswer(ctx: Ctx, org: OrgScope, request: IdempotentRequest): Promise<StoredAnswer | undefined> {
  const [row] = await org.sql<
    Columns<'idempotency_keys', 'request_hash' | 'status' | 'headers' | 'body' | 'expires_at'>
  >(
    `select request_hash, status, headers, body, expires_at from idempotency_keys
     where organization_id = :org and actor_id = :actor and operation = :operation and key = :key`,
    keyOf(request),
  );
  if (!row || row.expires_at <= ctx.clock.now()) return undefined;
  if (!safeEqual(row.request_hash, request.requestHash)) {
    throw new AppError('conflict', message('request.key_reused'), {
      fix: message('request.key_reused.fix'),
    });
  }
  if (row.status === null || !row.body) return undefined;
  return {
    status: row.status,
    headers: row.headers ?? {},
    body: ctx.keyring.open(row.body, sealContext(ctx, request)),
  };
}

/**
 * Claims the key inside the write's transaction. A concurrent duplicate waits here until the first request has
 * committed.
 */
async function claimKey(ctx: Ctx, trx: Trx, request: IdempotentRequest): Promise<StoredAnswer | undefined> {
  const now = ctx.clock.now();
  const org = scopeOf(ctx, trx);
  // Sends all statements together to save round trips. PostgreSQL runs them in order.
  const [, claimed] = await Promise.all([
    org.limitLockWaits(WAIT_MS),
    claimRow(org, request, now).catch((error: unknown) => {
      if (!isLockTimeout(error)) throw error;
      throw new AppError('conflict', message('request.key_pending'), {
        fix: message('request.key_pending.fix'),
        cause: error,
      });
    }),
    org.limitLockWaits(null),
  ]);
  return claimed ? undefined : storedAnswer(ctx, org, request);
}

/** Stores the idempotency key, or takes over an expired one. Returns false when the key is in use. */
async function claimRow(org: OrgScope, request: IdempotentRequest, now: Date): Promise<boolean> {
  const claimed = await org.sql(
    `insert into idempotency_keys as known (organization_id, actor_id, operation, key, request_hash, created_at, expires_at)
     values (:org, :actor, :operation, :key, :hash, :now, :expires)
     on conflict (organization_id, actor_id, operation, key) do update set request_hash = excluded.request_hash,
       status = null, headers = null, body = null, created_at = excluded.created_at, expires_at = excluded.expires_at
     where known.expires_at <= excluded.created_at
     returning key`,
    { ...keyOf(request), hash: request.requestHash, now, expires: new Date(now.getTime() + KEY_TTL_MS) },
  );
  return claimed.length > 0;
}

/** Stores the encrypted response in the transaction of the write. */
async function storeAnswer(ctx: Ctx, trx: Trx, request: IdempotentRequest, answer: StoredAnswer): Promise<void> {
  await scopeOf(ctx, trx).sql(
    `update idempotency_keys set status = :status, headers = :headers::jsonb, body = :body
     where organization_id = :org and actor_id = :actor and operation = :operation and key = :key`,
    {
      ...keyOf(request),
      status: answer.status,
      headers: json(answer.headers),
      body: ctx.keyring.seal(answer.body, sealContext(ctx, request)),
    },
  );
}

async function freeKey(ctx: Ctx, trx: Trx, request: IdempotentRequest): Promise<void> {
  await scopeOf(ctx, trx)
    .table('idempotency_keys')
    .where({ actor_id: request.actorId, operation: request.operation, key: request.key })
    .delete();
}

function scopeOf(ctx: Ctx, handle: Handle): OrgScope {
  return new OrgScope(handle, organizationOf(ctx));
}

function keyOf({ actorId, operation, key }: IdempotentRequest) {
  return { actor: actorId, operation, key };
}

function sealContext(ctx: Ctx, request: IdempotentRequest): string {
  return SEAL_PLACES.answer(organizationOf(ctx), request.actorId, request.operation, request.key);
}
