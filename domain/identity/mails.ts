import type { Config } from '../../lib/config/index.ts';
import type { SystemMessage } from '../../lib/mail/index.ts';
import { CODE_MINUTES, RESET_MINUTES } from './challenges.ts';

const IGNORE = 'If this was not you, ignore this email: nothing has changed.';

/** The code that finishes a sign-in or a sign-up. */
export function codeMail(to: string, purpose: 'login' | 'register', code: string): SystemMessage {
  const what = purpose === 'login' ? 'sign in' : 'finish your sign-up';
  return {
    to,
    subject: `${code} is your ${purpose === 'login' ? 'sign-in' : 'sign-up'} code`,
    text: `Your code to ${what} is\n\n    ${code}\n\nIt is good for ${CODE_MINUTES} minutes and for one use.\n\n${IGNORE}\n`,
  };
}

/** The link that sets a new password. */
export function resetMail(config: Config, to: string, handle: string): SystemMessage {
  return {
    to,
    subject: 'Set a new password',
    text:
      `Set a new password here:\n\n    ${config.APP_URL}/reset-password/${handle}\n\n` +
      `The link is good for ${RESET_MINUTES} minutes and for one use.\n\n${IGNORE}\n`,
  };
}

/** Sent to an address without an account when a reset is asked for: the same work as for one that has an account. */
export function noAccountMail(config: Config, to: string): SystemMessage {
  return {
    to,
    subject: 'There is no account for this address',
    text: `Somebody asked for a new password for this address at ${config.APP_URL}, but it has no account there.\n\n${IGNORE}\n`,
  };
}
