import type { SystemMessage } from '../../lib/mail/index.ts';
import { message, toLanguage, type Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { CODE_MINUTES, RESET_MINUTES } from './challenges.ts';

/*
 * Mails that a request sends at once. A person reads the language of their account; for an address without one it is that of the
 * request, as nothing else is known of its reader.
 */

/** The account that a mail is for; undefined where the address has none. */
type Reader = { language: string | null } | undefined;

/** The code that finishes a sign-in or a sign-up. */
export function codeMail(
  ctx: Ctx,
  to: string,
  purpose: 'login' | 'register',
  code: string,
  reader?: Reader,
): SystemMessage {
  const say = speaker(ctx, reader);
  const kind = purpose === 'login' ? 'mail.sign_in_code' : 'mail.sign_up_code';
  const lasts = say(message('mail.code_lasts', { minutes: CODE_MINUTES }));
  return {
    to,
    subject: say(message(`${kind}.subject`, { code })),
    text: `${say(message(kind))}\n\n    ${code}\n\n${lasts}\n\n${say(message('mail.ignore'))}\n`,
  };
}

/** The link that sets a new password. */
export function resetMail(ctx: Ctx, to: string, handle: string, reader: Reader): SystemMessage {
  const say = speaker(ctx, reader);
  const lasts = say(message('mail.reset_lasts', { minutes: RESET_MINUTES }));
  return {
    to,
    subject: say(message('mail.reset.subject')),
    text:
      `${say(message('mail.reset'))}\n\n    ${ctx.config.APP_URL}/reset-password/${handle}\n\n` +
      `${lasts}\n\n${say(message('mail.ignore'))}\n`,
  };
}

/** Sent to an address without an account when a reset is asked for: the same work as for one that has an account. */
export function noAccountMail(ctx: Ctx, to: string): SystemMessage {
  const say = speaker(ctx, undefined);
  const why = say(message('mail.no_account', { url: ctx.config.APP_URL }));
  return { to, subject: say(message('mail.no_account.subject')), text: `${why}\n\n${say(message('mail.ignore'))}\n` };
}

interface Invited {
  to: string;
  workspace: string;
  token: string;
  /** Validity of the link. */
  days: number;
}

/** The link that makes an address a member of a workspace. */
export function invitationMail(ctx: Ctx, { to, workspace, token, days }: Invited, reader: Reader): SystemMessage {
  const say = speaker(ctx, reader);
  return {
    to,
    subject: say(message('mail.invitation.subject', { workspace: workspace.replace(/\s+/g, ' ') })),
    text:
      `${say(message('mail.invitation', { workspace, days }))}\n\n    ${ctx.config.APP_URL}/invitations/${token}\n\n` +
      `${say(message('mail.invitation_unknown'))}\n`,
  };
}

function speaker(ctx: Ctx, reader: Reader): (said: Message) => string {
  const language = toLanguage(reader?.language) ?? ctx.language;
  return (said) => render(said, language);
}
