import type { SystemMessage } from '../../lib/mail/index.ts';
import { message, toLanguage, type Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { CODE_MINUTES, RESET_MINUTES } from './challenges.ts';

/**
 * Emails about accounts and workspaces. They use the language of the recipient's account. Without an account, they use
 * the language of the request.
 */

/** The account of an email's recipient. Undefined if the address has no account. */
type Reader = { language: string | null } | undefined;

/** Builds the email with the code for a sign-in or sign-up. */
export function codeMail(
  ctx: Ctx,
  to: string,
  purpose: 'login' | 'register',
  code: string,
  reader?: Reader,
): SystemMessage {
  const say = messageRenderer(ctx, reader);
  const kind = purpose === 'login' ? 'mail.sign_in_code' : 'mail.sign_up_code';
  const lasts = say(message('mail.code_lasts', { minutes: CODE_MINUTES }));
  return {
    to,
    subject: say(message(`${kind}.subject`, { code })),
    text: `${say(message(kind))}\n\n    ${code}\n\n${lasts}\n\n${say(message('mail.ignore'))}\n`,
  };
}

/** Builds the email with the link for setting a new password. */
export function resetMail(ctx: Ctx, to: string, handle: string, reader: Reader): SystemMessage {
  const say = messageRenderer(ctx, reader);
  const lasts = say(message('mail.reset_lasts', { minutes: RESET_MINUTES }));
  return {
    to,
    subject: say(message('mail.reset.subject')),
    text:
      `${say(message('mail.reset'))}\n\n    ${ctx.config.APP_URL}/reset-password/${handle}\n\n` +
      `${lasts}\n\n${say(message('mail.ignore'))}\n`,
  };
}

/**
 * Builds the email for a password reset that was requested for an address without an account. Building it takes as long
 * as for an account.
 */
export function noAccountMail(ctx: Ctx, to: string): SystemMessage {
  const say = messageRenderer(ctx, undefined);
  const why = say(message('mail.no_account', { url: ctx.config.APP_URL }));
  return { to, subject: say(message('mail.no_account.subject')), text: `${why}\n\n${say(message('mail.ignore'))}\n` };
}

interface Invited {
  to: string;
  workspace: string;
  token: string;
  /** Validity (days) of the link. */
  days: number;
}

/** Builds the email with the link for joining a workspace. */
export function invitationMail(ctx: Ctx, { to, workspace, token, days }: Invited, reader: Reader): SystemMessage {
  const say = messageRenderer(ctx, reader);
  return {
    to,
    subject: say(message('mail.invitation.subject', { workspace: workspace.replace(/\s+/g, ' ') })),
    text:
      `${say(message('mail.invitation', { workspace, days }))}\n\n    ${ctx.config.APP_URL}/invitations/${token}\n\n` +
      `${say(message('mail.invitation_unknown'))}\n`,
  };
}

/** Builds the email with the link to a finished export of the workspace. */
export function workspaceExportMail(
  ctx: Ctx,
  { to, workspace, days }: Pick<Invited, 'to' | 'workspace' | 'days'>,
  reader: Reader,
): SystemMessage {
  const say = messageRenderer(ctx, reader);
  return {
    to,
    subject: say(message('mail.workspace_export.subject', { workspace: workspace.replace(/\s+/g, ' ') })),
    text:
      `${say(message('mail.workspace_export', { workspace, days }))}\n\n    ${ctx.config.APP_URL}/settings/workspace\n\n` +
      `${say(message('mail.workspace_export_unknown'))}\n`,
  };
}

function messageRenderer(ctx: Ctx, reader: Reader): (said: Message) => string {
  const language = toLanguage(reader?.language) ?? ctx.language;
  return (said) => render(said, language);
}
