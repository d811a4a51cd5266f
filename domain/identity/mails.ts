import type { SystemMessage } from '../../lib/mail/index.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { CODE_MINUTES, RESET_MINUTES } from './challenges.ts';
import { MAIL_TEXTS, type MailTexts } from './mail-texts.ts';

/*
 * Mails that a request sends at once. They are in the language of that request: nothing else is known of the reader's, and in all but the
 * invitation the reader is the one who asked.
 */

/** The code that finishes a sign-in or a sign-up. */
export function codeMail(ctx: Ctx, to: string, purpose: 'login' | 'register', code: string): SystemMessage {
  const texts = textsOf(ctx);
  const { subject, lead } = purpose === 'login' ? texts.signInCode : texts.signUpCode;
  return {
    to,
    subject: subject(code),
    text: `${lead}\n\n    ${code}\n\n${texts.codeLasts(CODE_MINUTES)}\n\n${texts.ignore}\n`,
  };
}

/** The link that sets a new password. */
export function resetMail(ctx: Ctx, to: string, handle: string): SystemMessage {
  const { reset, ignore } = textsOf(ctx);
  return {
    to,
    subject: reset.subject,
    text:
      `${reset.lead}\n\n    ${ctx.config.APP_URL}/reset-password/${handle}\n\n` +
      `${reset.lasts(RESET_MINUTES)}\n\n${ignore}\n`,
  };
}

/** Sent to an address without an account when a reset is asked for: the same work as for one that has an account. */
export function noAccountMail(ctx: Ctx, to: string): SystemMessage {
  const { noAccount, ignore } = textsOf(ctx);
  return { to, subject: noAccount.subject, text: `${noAccount.why(ctx.config.APP_URL)}\n\n${ignore}\n` };
}

/**
 * The link that makes an address a member of a workspace.
 * @param days how long the link is good
 */
export function invitationMail(ctx: Ctx, to: string, workspace: string, token: string, days: number): SystemMessage {
  const { invitation } = textsOf(ctx);
  return {
    to,
    subject: invitation.subject(workspace.replace(/\s+/g, ' ')),
    text:
      `${invitation.lead(workspace, days)}\n\n    ${ctx.config.APP_URL}/invitations/${token}\n\n` +
      `${invitation.unknown}\n`,
  };
}

function textsOf({ language }: Ctx): MailTexts {
  return MAIL_TEXTS[language ?? 'en'];
}
