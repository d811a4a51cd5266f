import { across } from '../../../db/across.ts';
import { hashPassword } from '../../../lib/crypto.ts';
import { AppError } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { toSource } from '../../../lib/source.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { findOpenInvitation, joinByInvitation } from '../organizations/invitations.ts';
import { openChallenge, refused, settleChallenge } from '../challenges.ts';
import { codeMail } from '../mails.ts';
import { assertStrong } from '../passwords.ts';
import { actingAs } from '../sessions.ts';
import { throttle } from '../throttle.ts';
import { awaitsClaim, isClaimed } from './setup.ts';
import { message } from '../../../messages/index.ts';

interface SignUp {
  email: string;
  password: string;
  firstName: string;
  lastName: string;
  /** Token of the caller's invitation. Required unless sign-up is open to everyone. */
  invitation?: string | undefined;
}

/**
 * Starts a sign-up and emails its code (POST /auth/register). No account is created before the code is confirmed.
 * @throws AppError registration_closed, registration_invite_only, invitation_invalid (403), bad_request for a weak
 * password, unauthorized when the address cannot be signed up, rate_limit_exceeded, internal_error when the email
 * cannot be sent
 */
export async function signUp(ctx: Ctx, input: SignUp): Promise<{ session: string }> {
  await assertSignUpOpen(ctx, input.invitation);
  assertStrong(input.password, input.email);
  await throttle(ctx, 'sign_up_source', toSource(ctx.actor.ipAddress));
  const invitation = input.invitation ? await findOpenInvitation(ctx, input.invitation, input.email) : undefined;
  await throttle(ctx, 'sign_up_mail', input.email);
  const passwordHash = await hashPassword(input.password);
  if (await across(ctx.db, 'person').table('users').where('email', input.email).first('id')) {
    throw new AppError('unauthorized', message('sign_up.refused'), {
      fix: message('sign_up.refused.fix'),
    });
  }
  const { handle, code } = await openChallenge(ctx, 'register', {
    email: input.email,
    payload: {
      password_hash: passwordHash,
      first_name: input.firstName,
      last_name: input.lastName,
      invitation_id: invitation?.id,
    },
  });
  await ctx.systemMail.send(codeMail(ctx, input.email, 'register', code));
  return { session: handle };
}

/**
 * Checks that sign-up is open, to anyone or with an invitation. Without DISABLE_REGISTRATION a production installation
 * accepts no sign-ups once it has an account. An invitation does not override DISABLE_REGISTRATION=true. Sign-up is
 * also closed until the setup link is used: the first account is the administrator's, and another person's sign-up
 * would invalidate the link.
 * @throws AppError registration_closed, registration_invite_only (403)
 */
export async function assertSignUpOpen(ctx: Ctx, invitation: string | undefined): Promise<void> {
  const { DISABLE_REGISTRATION: mode, APP_ENV } = ctx.config;
  if (mode === 'true') throw new AppError('registration_closed', message('sign_up.closed'));
  if (mode === 'invite_only' && !invitation) {
    throw new AppError('registration_invite_only', message('sign_up.invite_only'), {
      fix: message('sign_up.invite_only.fix'),
    });
  }
  if (await awaitsClaim(ctx.db)) {
    throw new AppError('registration_closed', message('setup.outstanding'), {
      fix: message('setup.outstanding.fix'),
    });
  }
  if (mode === undefined && APP_ENV === 'prod' && !invitation && (await isClaimed(ctx))) {
    throw new AppError('registration_closed', message('sign_up.closed'), {
      fix: message('sign_up.closed_to_strangers.fix'),
    });
  }
}

/**
 * Finishes a sign-up: creates the person and, with an invitation, their membership. Opens no session.
 * @throws AppError unauthorized; invitation_invalid when the invitation was cancelled in the meantime, and then no
 * account is created
 */
export async function confirmSignUp(ctx: Ctx, proof: { session: string; code: string }): Promise<void> {
  await settleChallenge(ctx, 'register', proof, async (trx, { email, payload }) => {
    const now = ctx.clock.now();
    const id = newId();
    const created = await across(trx, 'person')
      .insert('users', {
        id,
        email,
        password_hash: payload.password_hash,
        first_name: payload.first_name,
        last_name: payload.last_name,
        language: ctx.language ?? null,
        created_at: now,
        updated_at: now,
      })
      .onConflict('email')
      .ignore()
      .returning('id');
    if (created.length === 0) throw refused();
    if (payload.invitation_id)
      await joinByInvitation(trx, payload.invitation_id, email, (organizationId) =>
        actingAs(ctx, trx, id, organizationId),
      );
  });
}
