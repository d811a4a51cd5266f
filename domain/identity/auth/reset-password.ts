import { secretChanged } from '../../platform/changes.ts';
import { across } from '../../../db/across.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { hashPassword } from '../../../lib/crypto.ts';
import { AppError } from '../../../lib/errors.ts';
import { toSource } from '../../../lib/source.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { findChallenge, openChallenge, refused, settleChallenge, voidChallenges } from '../challenges.ts';
import { noAccountMail, resetMail } from '../mails.ts';
import { assertStrong, isPasswordCorrect } from '../passwords.ts';
import { auditOwn, endSessions } from '../sessions.ts';
import { clearGuesses, throttle } from '../throttle.ts';
import { message } from '../../../messages/index.ts';

/**
 * Emails a link for setting a new password. An address without an account gets an email that states this. Response and
 * duration are the same in both cases, so they do not reveal whether an account exists.
 * @throws AppError rate_limit_exceeded; internal_error when the email cannot be sent
 */
export async function requestPasswordReset(ctx: Ctx, email: string): Promise<void> {
  await throttle(ctx, 'reset_source', toSource(ctx.actor.ipAddress));
  await throttle(ctx, 'reset_mail', email);
  const user = await across(ctx.db, 'person').table('users').where('email', email).first('id', 'language');
  const { handle } = await openChallenge(ctx, 'reset', { email, ...(user ? { userId: user.id } : {}) });
  await ctx.systemMail.send(user ? resetMail(ctx, email, handle, user) : noAccountMail(ctx, email));
}

/**
 * Sets a new password with the handle of the mailed link. Every session ends, every device is forgotten, and other
 * links and codes become invalid.
 * @throws AppError unauthorized (401) for the handle, bad_request for a weak password, which leaves the link usable,
 * rate_limit_exceeded
 */
export async function confirmReset(ctx: Ctx, input: { session: string; password: string }): Promise<void> {
  await throttle(ctx, 'reset_confirm_source', toSource(ctx.actor.ipAddress));
  // Checks the link before the password is hashed, because hashing takes tens of milliseconds of processor time.
  const open = await findChallenge(ctx, 'reset', input.session);
  assertStrong(input.password, open.email);
  const passwordHash = await hashPassword(input.password);
  await settleChallenge(ctx, 'reset', { session: input.session }, async (trx, challenge) => {
    if (!challenge.user_id) throw refused();
    await across(trx, 'person')
      .table('users')
      .where('id', challenge.user_id)
      .update({ password_hash: passwordHash, has_given_password: false, updated_at: ctx.clock.now() });
    await endSessions(ctx, trx, challenge.user_id);
    await voidChallenges(ctx, trx, challenge.user_id);
  });
  await clearGuesses(ctx, open.email);
}

/**
 * Changes the caller's password. Mailed links and codes become invalid. Other sessions end and their devices are
 * forgotten, unless `keepSessions` is set.
 * @throws AppError unauthorized when the current password is wrong, bad_request when the new one is weak,
 * rate_limit_exceeded
 */
export async function changePassword(
  ctx: Ctx,
  input: { current: string; next: string; keepSessions?: boolean | undefined },
): Promise<void> {
  const user = await across(ctx.db, 'person')
    .table('users')
    .where('id', ctx.actor.userId!)
    .first('id', 'email', 'password_hash');
  if (!user) throw new AppError('unauthorized', message('account.gone'));
  assertStrong(input.next, user.email, 'new_password');
  await throttle(ctx, 'password', user.id);
  if (!(await isPasswordCorrect(user, input.current)))
    throw new AppError('unauthorized', message('account.wrong_password'));
  const passwordHash = await hashPassword(input.next);
  await inTransaction(ctx.db, async (trx) => {
    await across(trx, 'person')
      .table('users')
      .where('id', user.id)
      .update({ password_hash: passwordHash, has_given_password: false, updated_at: ctx.clock.now() });
    if (!input.keepSessions) await endSessions(ctx, trx, user.id, ctx.actor.sessionId);
    await voidChallenges(ctx, trx, user.id);
    await auditOwn(
      { ...ctx, trx },
      { action: 'update', entityType: 'user', entityId: user.id, changes: secretChanged('password') },
    );
  });
}
