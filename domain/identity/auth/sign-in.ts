import { across } from '../../../db/across.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { newSecret, sha256 } from '../../../lib/crypto.ts';
import { AppError } from '../../../lib/errors.ts';
import { toSite, toSource } from '../../../lib/source.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { openChallenge, settleChallenge } from '../challenges.ts';
import { codeMail } from '../mails.ts';
import { isPasswordCorrect } from '../passwords.ts';
import { deviceKnown, openSession, type TokenPair } from '../sessions.ts';
import {
  resetThrottle,
  clearGuesses,
  isKnownSource,
  rememberSource,
  throttleGuesses,
  throttle,
  returnAttempt,
} from '../throttle.ts';
import { message, type Language } from '../../../messages/index.ts';

/** Tokens of a completed sign-in, or the `session` that waits for the emailed code. */
type SignIn = { session: string } | TokenPair;

/**
 * Checks a password. Then either emails a code or signs the person in immediately, as configured by AUTH_LOGIN_CODE
 * (POST /auth/login).
 * @throws AppError unauthorized (the same for an unknown address and a wrong password), rate_limit_exceeded,
 * internal_error when the email cannot be sent
 */
export async function signIn(
  ctx: Ctx,
  input: { email: string; password: string; deviceToken?: string | undefined },
): Promise<SignIn> {
  const source = toSource(ctx.actor.ipAddress);
  const attempt = `${input.email}/${source}`;
  await throttle(ctx, 'sign_in_source', source);
  await throttle(ctx, 'sign_in', attempt);
  const user = await across(ctx.db, 'person')
    .table('users')
    .where('email', input.email)
    .first('id', 'password_hash', 'language');
  const place = user && `${user.id}/${user.password_hash}/${source}`;
  const known = await knownSourceKey(ctx, user?.id, place, input.deviceToken);
  const guessed = known === undefined ? input.email : `${input.email}/${known}`;
  const failures = known === undefined ? failureBudgets(ctx) : [];
  for (const [rule, from] of failures) await throttle(ctx, rule, from);
  await throttleGuesses(ctx, guessed);
  // Checks the password of an unknown address too. This takes as long as for a known address, so the duration does not
  // reveal which addresses have accounts.
  if (!(await isPasswordCorrect(user, input.password)) || !user) {
    throw new AppError('unauthorized', message('account.wrong_sign_in'));
  }
  await resetThrottle(ctx, 'sign_in', attempt);
  await clearGuesses(ctx, guessed);
  for (const [rule, from] of failures) await returnAttempt(ctx, rule, from);
  await rememberSource(ctx, place!);
  if (user.language === null && ctx.language) await rememberLanguage(ctx, user.id, ctx.language);
  if (await needsCode(ctx, user.id, input.deviceToken)) {
    await throttle(ctx, 'sign_in_mail', input.email);
    const { handle, code } = await openChallenge(ctx, 'login', { email: input.email, userId: user.id });
    await ctx.systemMail.send(codeMail(ctx, input.email, 'login', code, user));
    return { session: handle };
  }
  // Passes the token on only if the device was just recognized. A forged token would otherwise be stored, and later
  // sign-ins with it would need no code.
  const device = ctx.config.AUTH_LOGIN_CODE === 'new_device' ? input.deviceToken : undefined;
  return inTransaction(ctx.db, (trx) => openSession(ctx, trx, user.id, { device }));
}

/**
 * Stores the language of the first browser with which a person signs in. Members can change the language in their
 * profile.
 */
async function rememberLanguage(ctx: Ctx, userId: string, language: Language): Promise<void> {
  await across(ctx.db, 'person').table('users').where('id', userId).whereNull('language').update({ language });
}

/**
 * Returns the rules that limit wrong passwords from an unknown source over all accounts. Each rule is returned with the
 * source for which the attempts are counted.
 */
function failureBudgets(ctx: Ctx): ['sign_in_failures' | 'sign_in_site_failures', string][] {
  const site = toSite(ctx.actor.ipAddress);
  return [
    ['sign_in_failures', toSource(ctx.actor.ipAddress)],
    ...(site === undefined ? [] : [['sign_in_site_failures', site] as ['sign_in_site_failures', string]]),
  ];
}

/**
 * Returns the device or the source from which an account has signed in before, or undefined. Wrong passwords from this
 * device or source are counted separately. Therefore guesses by strangers never lock owners out on their own device or
 * in their office.
 */
async function knownSourceKey(
  ctx: Ctx,
  userId: string | undefined,
  place: string | undefined,
  device: string | undefined,
): Promise<string | undefined> {
  if (userId === undefined || place === undefined) return undefined;
  if (device !== undefined && (await deviceKnown(ctx, userId, device))) return sha256(device);
  return (await isKnownSource(ctx, place)) ? toSource(ctx.actor.ipAddress) : undefined;
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
 * Finishes a sign-in with the emailed code. With AUTH_LOGIN_CODE=new_device the result contains a device token. Later
 * sign-ins with this token need no code.
 * @throws AppError unauthorized
 */
export async function confirmSignIn(ctx: Ctx, proof: { session: string; code: string }): Promise<TokenPair> {
  const device = ctx.config.AUTH_LOGIN_CODE === 'new_device' ? newSecret() : undefined;
  return settleChallenge(ctx, 'login', proof, async (trx, challenge) => {
    const tokens = await openSession(ctx, trx, challenge.user_id!, { device });
    return device ? { ...tokens, deviceToken: device } : tokens;
  });
}
