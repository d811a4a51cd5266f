import type { Language } from '../platform/kernel/context.ts';

const en = {
  ignore: 'If this was not you, ignore this email: nothing has changed.',
  signInCode: {
    subject: (code: string) => `${code} is your sign-in code`,
    lead: 'Your code to sign in is',
  },
  signUpCode: {
    subject: (code: string) => `${code} is your sign-up code`,
    lead: 'Your code to finish your sign-up is',
  },
  codeLasts: (minutes: number) => `It is good for ${minutes} minutes and for one use.`,
  reset: {
    subject: 'Set a new password',
    lead: 'Set a new password here:',
    lasts: (minutes: number) => `The link is good for ${minutes} minutes and for one use.`,
  },
  noAccount: {
    subject: 'There is no account for this address',
    why: (url: string) => `Somebody asked for a new password for this address at ${url}, but it has no account there.`,
  },
  invitation: {
    subject: (workspace: string) => `You are invited to ${workspace}`,
    lead: (workspace: string, days: number) =>
      `You are invited to join the workspace ${workspace}. Accept here within ${days} days:`,
    unknown: 'If you do not know the workspace, ignore this email.',
  },
};

/** The texts of the installation's mails in one language; every language has the same entries. */
export type MailTexts = typeof en;

const de: MailTexts = {
  ignore: 'Wenn du das nicht warst, brauchst du nichts zu tun: Es hat sich nichts geändert.',
  signInCode: {
    subject: (code) => `${code} ist dein Code zum Anmelden`,
    lead: 'Dein Code zum Anmelden ist',
  },
  signUpCode: {
    subject: (code) => `${code} ist dein Code für die Registrierung`,
    lead: 'Dein Code für die Registrierung ist',
  },
  codeLasts: (minutes) => `Er gilt ${minutes} Minuten und nur einmal.`,
  reset: {
    subject: 'Neues Passwort setzen',
    lead: 'Setze hier ein neues Passwort:',
    lasts: (minutes) => `Der Link gilt ${minutes} Minuten und nur einmal.`,
  },
  noAccount: {
    subject: 'Für diese Adresse gibt es kein Konto',
    why: (url) => `Jemand hat für diese Adresse auf ${url} ein neues Passwort verlangt, aber sie hat dort kein Konto.`,
  },
  invitation: {
    subject: (workspace) => `Du bist zu ${workspace} eingeladen`,
    lead: (workspace, days) =>
      `Du bist in den Arbeitsbereich ${workspace} eingeladen. Nimm hier innerhalb von ${days} Tagen an:`,
    unknown: 'Wenn du den Arbeitsbereich nicht kennst, brauchst du nichts zu tun.',
  },
};

export const MAIL_TEXTS: Readonly<Record<Language, MailTexts>> = { en, de };
