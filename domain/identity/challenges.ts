import { across } from '../../db/across.ts';
import { inTransaction } from '../../db/transaction.ts';
import { json, type Trx } from '../../db/connection.ts';
import { translateDbError } from '../../db/errors.ts';
import { hmac, newCode, newSecret, safeEqual, sha256 } from '../../lib/crypto.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { message } from '../../messages/index.ts';

/** Validity (minutes) of an emailed code. */
export const CODE_MINUTES = 10;
/** Validity (minutes) of a reset link. */
export const RESET_MINUTES = 30;
/** Number of wrong codes after which a challenge is void. */
export const MAX_ATTEMPTS = 5;
const SWEEP_AFTER_MS = 24 * 3600_000;
/** Time (ms) for which ended sessions are kept, because they identify known devices (sessions.ts, DEVICE_MS). */
const SESSION_KEPT_MS = 90 * 24 * 3600_000;
const SWEEP_ROWS = 200;

type ChallengeKind = 'login' | 'register' | 'reset';

interface Challenge {
  id: string;
  email: string;
  user_id: string | null;
  payload: Record<string, any>;
}

/**
 * Creates a challenge. The client gets `handle`, and the email contains `code`. Only hashes are stored. The hash of the
 * code is keyed with AUTH_SECRET, because a plain hash of six digits could be reversed from a stolen table.
 */
export async function openChallenge(
  ctx: Ctx,
  kind: ChallengeKind,
  about: { email: string; userId?: string; payload?: object },
): Promise<{ handle: string; code: string }> {
  const now = ctx.clock.now();
  const id = newId();
  const handle = newSecret();
  const code = newCode();
  const minutes = kind === 'reset' ? RESET_MINUTES : CODE_MINUTES;
  await sweep(ctx, now);
  await across(ctx.db, 'credential').insert('auth_challenges', {
    id,
    kind,
    handle_hash: sha256(handle),
    code_hash: kind === 'reset' ? null : codeHash(ctx, id, code),
    email: about.email,
    user_id: about.userId ?? null,
    payload: json(about.payload ?? {}),
    created_at: now,
    expires_at: new Date(now.getTime() + minutes * 60_000),
  });
  return { handle, code };
}

/**
 * Checks a proof and runs `effect` for the first caller with the right code, in the transaction that marks the
 * challenge as used. Each guess is counted and committed before the comparison.
 * @throws AppError unauthorized (401), the same for an unknown, expired or used challenge, too many guesses, and a
 * wrong code
 */
export async function settleChallenge<T>(
  ctx: Ctx,
  kind: ChallengeKind,
  proof: { session: string; code?: string },
  effect: (trx: Trx, challenge: Challenge) => Promise<T>,
): Promise<T> {
  const now = ctx.clock.now();
  const [challenge] = await across(ctx.db, 'credential')
    .table('auth_challenges')
    .where({ kind, handle_hash: sha256(proof.session) })
    .whereNull('consumed_at')
    .where('expires_at', '>', now)
    .where('attempts', '<', MAX_ATTEMPTS)
    .update({ attempts: across(ctx.db, 'credential').raw('attempts + 1') })
    .returning('*');
  if (!challenge) throw refused();
  if (challenge.code_hash !== null && !safeEqual(challenge.code_hash, codeHash(ctx, challenge.id, proof.code ?? '')))
    throw refused();
  try {
    return await inTransaction(ctx.db, async (trx) => {
      const taken = await across(trx, 'credential')
        .table('auth_challenges')
        .where('id', challenge.id)
        .whereNull('consumed_at')
        .update({ consumed_at: now });
      if (taken === 0) throw refused();
      return effect(trx, challenge);
    });
  } catch (error) {
    throw translateDbError(error);
  }
}

/**
 * Finds an open challenge by its handle alone. No guess is counted and the challenge stays valid.
 * @throws AppError unauthorized (401), the same for an unknown, expired or used challenge and too many guesses
 */
export async function findChallenge(ctx: Ctx, kind: ChallengeKind, handle: string): Promise<{ email: string }> {
  const found = await across(ctx.db, 'credential')
    .table('auth_challenges')
    .where({ kind, handle_hash: sha256(handle) })
    .whereNull('consumed_at')
    .where('expires_at', '>', ctx.clock.now())
    .where('attempts', '<', MAX_ATTEMPTS)
    .first('email');
  if (!found) throw refused();
  return found;
}

/**
 * Invalidates every open challenge of a person (sign-in codes and reset links), because they were sent while an earlier
 * password was valid.
 */
export async function voidChallenges(ctx: Ctx, trx: Trx, userId: string): Promise<void> {
  await across(trx, 'credential')
    .table('auth_challenges')
    .where('user_id', userId)
    .whereNull('consumed_at')
    .update({ consumed_at: ctx.clock.now() });
}

/** Returns the same error for every invalid proof. */
export function refused(): AppError {
  return new AppError('unauthorized', message('account.code_invalid'), {
    fix: message('account.code_invalid.fix'),
  });
}

function codeHash(ctx: Ctx, id: string, code: string): string {
  return hmac(ctx.config.AUTH_SECRET, `${id}/${code}`).toString('hex');
}

/**
 * Deletes a few long-expired rows of three tables with every new challenge, so that the tables stay small. Skips rows
 * locked by others.
 */
async function sweep({ db }: Ctx, now: Date): Promise<void> {
  const remove = (
    table: 'auth_challenges' | 'auth_throttles' | 'sessions',
    key: string,
    expiry: string,
    keptMs: number,
  ) =>
    across(db, 'maintenance').sql(
      `delete from ${table} where ${key} in (
         select ${key} from ${table} where ${expiry} < :before limit ${SWEEP_ROWS} for update skip locked)`,
      { before: new Date(now.getTime() - keptMs) },
    );
  await remove('auth_challenges', 'id', 'expires_at', SWEEP_AFTER_MS);
  await remove('auth_throttles', 'key', 'window_ends', SWEEP_AFTER_MS);
  await remove('sessions', 'id', 'expires_at', SESSION_KEPT_MS);
}
