import { across } from '../../db/across.ts';
import { inTransaction } from '../../db/transaction.ts';
import { newSecret, sha256 } from '../../lib/crypto.ts';
import { AppError } from '../../lib/errors.ts';
import { toSource } from '../../lib/source.ts';
import type { Ctx } from '../kernel/context.ts';
import { openChallenge, settleChallenge } from '../identity/challenges.ts';
import { codeMail } from '../identity/mails.ts';
import { passwordFits } from '../identity/passwords.ts';
import { deviceKnown, openSession, type TokenPair } from '../identity/sessions.ts';
import { forgive, forgiveGuesses, slowDownGuesses, throttle } from '../identity/throttle.ts';

/** Either the sign-in is done, or `session` waits for the code that was mailed. */
export type SignIn = { session: string } | TokenPair;

/**
 * Checks a password; then, as AUTH_LOGIN_CODE says, mails a code or signs in at once (POST /auth/login).
 * @throws AppError unauthorized (unknown address and wrong password alike), rate_limit_exceeded, internal_error when the mail cannot leave
 */
export async function signIn(
  ctx: Ctx,
  input: { email: string; password: string; deviceToken?: string | undefined },
): Promise<SignIn> {
  const source = toSource(ctx.actor.ipAddress);
  const attempt = `${input.email}/${source}`;
  await throttle(ctx, 'sign_in_source', source);
  await throttle(ctx, 'sign_in', attempt);
  const user = await across(ctx.db, 'person').table('users').where('email', input.email).first('id', 'password_hash');
  const guessed = await guessedAt(ctx, input.email, user?.id, input.deviceToken);
  await slowDownGuesses(ctx, guessed);
  // An unknown address takes as long as a wrong password.
  if (!(await passwordFits(user, input.password)) || !user) {
    throw new AppError('unauthorized', 'The email address or the password is wrong');
  }
  await forgive(ctx, 'sign_in', attempt);
  await forgiveGuesses(ctx, guessed);
  if (await needsCode(ctx, user.id, input.deviceToken)) {
    await throttle(ctx, 'sign_in_mail', input.email);
    const { handle, code } = await openChallenge(ctx, 'login', { email: input.email, userId: user.id });
    await ctx.systemMail.send(codeMail(input.email, 'login', code));
    return { session: handle };
  }
  // Only where the device was just recognized: otherwise an invented token would become one that makes the code unnecessary.
  const device = ctx.config.AUTH_LOGIN_CODE === 'new_device' ? input.deviceToken : undefined;
  return inTransaction(ctx.db, (trx) => openSession(ctx, trx, user.id, { device }));
}

/**
 * What wrong passwords are counted under: the account, apart from a device that is known. Guesses of strangers so do not
 * keep the owner out of their own device.
 */
async function guessedAt(ctx: Ctx, email: string, userId: string | undefined, device: string | undefined) {
  const isKnown = userId !== undefined && device !== undefined && (await deviceKnown(ctx, userId, device));
  return isKnown ? `${email}/${sha256(device)}` : email;
}

async function needsCode(ctx: Ctx, userId: string, deviceToken: string | undefined): Promise<boolean> {
  switch (ctx.config.AUTH_LOGIN_CODE) {
    case 'always':
      return true;
    case 'off':
      return false;
    case 'new_device':
      return deviceToken === undefined || !(await deviceKnown(ctx, userId, deviceToken));
  }
}

/**
 * Finishes a sign-in with the mailed code. With AUTH_LOGIN_CODE=new_device the answer carries a device token; later
 * sign-ins that send it need no code.
 * @throws AppError unauthorized
 */
export async function confirmSignIn(ctx: Ctx, proof: { session: string; code: string }): Promise<TokenPair> {
  const device = ctx.config.AUTH_LOGIN_CODE === 'new_device' ? newSecret() : undefined;
  return settleChallenge(ctx, 'login', proof, async (trx, challenge) => {
    const tokens = await openSession(ctx, trx, challenge.user_id!, { device });
    return device ? { ...tokens, deviceToken: device } : tokens;
  });
}
