import { across } from '../../db/across.ts';
import type { Columns } from '../../db/rows.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Trx } from '../../db/connection.ts';
import { sha256 } from '../../lib/crypto.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import type { Actor } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type AuditEntry } from '../platform/kernel/transact.ts';
import { newRenewalToken, sessionOfToken, type TokenHolder } from './renewal-token.ts';
import { signSessionToken } from './session-token.ts';
import { message } from '../../messages/index.ts';

/** Time (ms) after its last refresh at which a session ends. */
export const SESSION_MS = 30 * 24 * 3600_000;
/** Time (ms) for which a device is remembered after its last sign-in. */
export const DEVICE_MS = 90 * 24 * 3600_000;

/** Tokens of a signed-in client. `deviceToken` is set only if this sign-in registered the device. */
export interface TokenPair {
  accessToken: string;
  accessTokenExpiresAt: Date;
  refreshToken: string;
  refreshTokenExpiresAt: Date;
  sessionId: string;
  userId: string;
  deviceToken?: string;
}

export type SessionRow = Columns<
  'sessions',
  'id' | 'user_id' | 'organization_id' | 'user_agent' | 'ip_address' | 'created_at' | 'last_active_at'
>;

/**
 * Signs a person in. The session selects the workspace that the person used last. Otherwise it selects their first one.
 * @param options.device token of a known or newly known device; stored as a hash
 */
export async function openSession(
  ctx: Ctx,
  trx: Trx,
  userId: string,
  options: { device?: string | undefined; organizationId?: string } = {},
): Promise<TokenPair> {
  const now = ctx.clock.now();
  const id = newId();
  const refreshToken = newRenewalToken(ctx.config, 'client', id);
  const expiresAt = new Date(now.getTime() + SESSION_MS);
  const organizationId = options.organizationId ?? (await usualOrganization(trx, userId));
  await across(trx, 'person').insert('sessions', {
    id,
    user_id: userId,
    organization_id: organizationId,
    refresh_hash: sha256(refreshToken),
    device_hash: options.device ? sha256(options.device) : null,
    ip_address: ctx.actor.ipAddress,
    user_agent: ctx.actor.userAgent,
    created_at: now,
    last_active_at: now,
    expires_at: expiresAt,
  });
  if (organizationId) {
    await auditOwn(actingAs(ctx, trx, userId, organizationId), {
      action: 'sign_in',
      entityType: 'session',
      entityId: id,
    });
  }
  return tokenPair(ctx, { id, userId }, refreshToken, expiresAt);
}

/** Returns the context of a person who has just signed in to an organization, inside an open transaction. */
export function actingAs(ctx: Ctx, trx: Trx, userId: string, organizationId: string): Ctx {
  const actor: Actor = { ...ctx.actor, kind: 'session', userId, organizationId };
  return { ...ctx, trx, actor };
}

/** Records a person's change of their own account in the audit log of their selected workspace, if one is selected. */
export async function auditOwn(ctx: Ctx, entry: AuditEntry): Promise<void> {
  if (ctx.actor.organizationId) await transact(ctx, async (tx) => tx.audit(entry));
}

async function usualOrganization(trx: Trx, userId: string): Promise<string | null> {
  const [row] = await across(trx, 'person').sql<Columns<'memberships', 'organization_id'>>(
    `select m.organization_id from memberships m
     left join sessions s on s.user_id = m.user_id and s.organization_id = m.organization_id
     where m.user_id = :userId order by s.last_active_at desc nulls last, m.created_at, m.organization_id limit 1`,
    { userId },
  );
  return row?.organization_id ?? null;
}

/**
 * Returns true if a device token was issued to this person at a sign-in within {@link DEVICE_MS} and not withdrawn
 * since.
 */
export async function deviceKnown(ctx: Ctx, userId: string, deviceToken: string): Promise<boolean> {
  const since = new Date(ctx.clock.now().getTime() - DEVICE_MS);
  const row = await across(ctx.db, 'person')
    .table('sessions')
    .where({ user_id: userId, device_hash: sha256(deviceToken) })
    .where('created_at', '>', since)
    .first('id');
  return row !== undefined;
}

/**
 * Maximum number of renewals after which the use of an already replaced browser token is not yet treated as a copy; see
 * {@link refreshSession}.
 */
const LATE_RENEWALS = 3;

/** Rules for storing and replacing one kind of refresh token. */
interface RenewalRules {
  keeper: TokenHolder;
  /**
   * Time (ms) for which the previous token stays valid after its first replacement. Further uses do not extend this
   * time.
   */
  graceMs: number;
  /** Returns the hash under which a token of this kind is stored. */
  hash(token: string): string;
  /**
   * Returns the successor of a token. With a grace time, the successor is the same for every use, so that concurrent
   * uses do not replace each other's token.
   */
  successor(token: string, sessionId: string): string;
}

/**
 * Exchanges a refresh token for a new pair. A refresh token works once. A second use means that the token was copied,
 * so its session ends, even if it was renewed in the meantime. With a grace time, concurrent requests of a browser may
 * arrive in any order. A token that was replaced only a few renewals ago is then refused without ending the session, if
 * the last renewal was within the grace time.
 * @param rules defaults to those of API clients, without a grace time
 * @throws AppError unauthorized
 */
export async function refreshSession(ctx: Ctx, refreshToken: string, rules = apiRules(ctx)): Promise<TokenPair> {
  const { graceMs } = rules;
  const now = ctx.clock.now();
  const since = new Date(now.getTime() - graceMs);
  const hash = rules.hash(refreshToken);
  const known = sessionOfToken(ctx.config, rules.keeper, refreshToken) ?? (await sessionOfHash(ctx, hash));
  if (!known) throw invalidToken();
  const next = rules.successor(refreshToken, known);
  const expiresAt = new Date(now.getTime() + SESSION_MS);
  const [session] = await across(ctx.db, 'person').sql<Columns<'sessions', 'id' | 'user_id'>>(
    `update sessions
     set refresh_hash = :next, previous_refresh_hash = :hash, expires_at = :expiresAt,
       last_active_at = case when refresh_hash = :hash then cast(:now as timestamptz) else last_active_at end
     where id = :known and revoked_at is null and expires_at > :now
       and (refresh_hash = :hash or (previous_refresh_hash = :hash and last_active_at > :since))
     returning id, user_id`,
    { hash, next: rules.hash(next), now, expiresAt, known, since },
  );
  if (!session) {
    const late = [next];
    while (late.length < LATE_RENEWALS) late.push(rules.successor(late.at(-1)!, known));
    const ended = await across(ctx.db, 'person').sql(
      `update sessions set revoked_at = :now, device_hash = null
       where id = :known and revoked_at is null and not (last_active_at > :since and previous_refresh_hash = any(cast(:late as text[])))
       returning id`,
      { known, now, since, late: late.map((token) => rules.hash(token)) },
    );
    if (ended.length > 0) ctx.log.warn({ sessionId: known }, 'refresh token replayed; session revoked');
    throw invalidToken();
  }
  return tokenPair(ctx, { id: session.id, userId: session.user_id }, next, expiresAt);
}

function apiRules({ config }: Ctx): RenewalRules {
  return {
    keeper: 'client',
    graceMs: 0,
    hash: sha256,
    successor: (_token, sessionId) => newRenewalToken(config, 'client', sessionId),
  };
}

/**
 * Returns the session of a token that does not contain its session id. Finds a session only by its current or previous
 * token.
 */
async function sessionOfHash(ctx: Ctx, hash: string): Promise<string | undefined> {
  const [row] = await across(ctx.db, 'person').sql<Columns<'sessions', 'id'>>(
    'select id from sessions where refresh_hash = :hash or previous_refresh_hash = :hash',
    { hash },
  );
  return row?.id;
}

function invalidToken(): AppError {
  return new AppError('unauthorized', message('session.refresh_invalid'), {
    fix: message('session.refresh_invalid.fix'),
  });
}

async function tokenPair(
  ctx: Ctx,
  session: { id: string; userId: string },
  refreshToken: string,
  expiresAt: Date,
): Promise<TokenPair> {
  const access = await signSessionToken(ctx.config, ctx.clock, session);
  return {
    accessToken: access.token,
    accessTokenExpiresAt: access.expiresAt,
    refreshToken,
    refreshTokenExpiresAt: expiresAt,
    sessionId: session.id,
    userId: session.userId,
  };
}

/** Ends the current session. Its device stays registered. */
export async function signOut(ctx: Ctx): Promise<void> {
  const id = ctx.actor.sessionId!;
  await inTransaction(ctx.db, async (trx) => {
    await across(trx, 'person')
      .table('sessions')
      .where('id', id)
      .whereNull('revoked_at')
      .update({ revoked_at: ctx.clock.now() });
    await auditOwn({ ...ctx, trx }, { action: 'sign_out', entityType: 'session', entityId: id });
  });
}

/**
 * Ends sessions of a person and forgets their devices, inside an open transaction.
 * @param keep a session that stays open
 */
export async function endSessions(ctx: Ctx, trx: Trx, userId: string, keep?: string): Promise<void> {
  const others = () => {
    const query = across(trx, 'person').table('sessions').where('user_id', userId);
    return keep ? query.whereNot('id', keep) : query;
  };
  await others().whereNotNull('device_hash').update({ device_hash: null });
  await others().whereNull('revoked_at').update({ revoked_at: ctx.clock.now() });
}

/** Ends the caller's sessions and forgets their devices. `others` keeps the current session. */
export async function signOutEverywhere(ctx: Ctx, which: 'all' | 'others'): Promise<void> {
  const userId = ctx.actor.userId!;
  await inTransaction(ctx.db, async (trx) => {
    await endSessions(ctx, trx, userId, which === 'others' ? ctx.actor.sessionId : undefined);
    await auditOwn(
      { ...ctx, trx },
      { action: 'sign_out', entityType: 'user', entityId: userId, metadata: { sessions: which } },
    );
  });
}

/** Lists the open sessions of the caller: the current one first, then the most recently active. */
export async function listSessions(ctx: Ctx): Promise<SessionRow[]> {
  const rows = (await across(ctx.db, 'person')
    .table('sessions')
    .where('user_id', ctx.actor.userId!)
    .whereNull('revoked_at')
    .where('expires_at', '>', ctx.clock.now())
    .orderByRaw('(id = ?) desc, last_active_at desc, id desc', [ctx.actor.sessionId!])
    .select(
      'id',
      'user_id',
      'organization_id',
      'user_agent',
      'ip_address',
      'created_at',
      'last_active_at',
    )) as SessionRow[];
  return rows;
}

/**
 * Ends one session of the caller and forgets its device.
 * @throws AppError not_found, also for another person's session and for one that has ended
 */
export async function revokeSession(ctx: Ctx, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound('session');
  const now = ctx.clock.now();
  await inTransaction(ctx.db, async (trx) => {
    const ended = await across(trx, 'person')
      .table('sessions')
      .where({ id, user_id: ctx.actor.userId! })
      .whereNull('revoked_at')
      .where('expires_at', '>', now)
      .update({ revoked_at: now, device_hash: null });
    if (ended === 0) throw notFound('session');
    await auditOwn({ ...ctx, trx }, { action: 'revoke', entityType: 'session', entityId: id });
  });
}
