import { z } from 'zod';
import { askReset, confirmReset } from '../../../domain/auth/reset-password.ts';
import { RESET_MINUTES } from '../../../domain/identity/challenges.ts';
import type { AppError } from '../../../lib/errors.ts';
import type { StreamReply } from '../../http/route.ts';
import { sentForm, shownPage } from '../../oauth/pages/declare.ts';
import { html } from '../../oauth/pages/html.ts';
import { messagePage, page } from '../../oauth/pages/layout.ts';
import { APPS_PATH } from '../../oauth/pages/return-to.ts';
import { AUTOFOCUS, hiddenFields, problem } from '../../oauth/pages/sign-in.ts';
import type { Visit } from '../../oauth/pages/visit.ts';
import { addressIn, orAgain, passwordField, tokenParams } from './fields.ts';

const RESET_PATH = '/reset-password';
const FORGOTTEN_PATH = '/account/forgotten-password';

/** Asking for the link that sets a new password, and the page it leads to. */
export const resetRoutes = [
  shownPage({
    operationId: 'pages.forgottenPassword',
    path: FORGOTTEN_PATH,
    summary: 'The form that has a link mailed to set a new password',
    show: async (visit) => forgottenPage(visit, ''),
  }),
  sentForm({
    operationId: 'pages.askReset',
    path: FORGOTTEN_PATH,
    summary: 'Mails a link that sets a new password',
    description: 'Says the same whether the address has an account or not.',
    fields: { email: z.string().default('') },
    errors: ['rate_limit_exceeded'],
    back: () => FORGOTTEN_PATH,
    act: async (visit, { email }) =>
      orAgain(
        (refused) => forgottenPage(visit, email, refused),
        async () => {
          const address = addressIn(email);
          await askReset(visit.ctx, address);
          return messagePage(
            200,
            'Check your mail',
            html`<p>We have written to <strong>${address}</strong>. The link in the mail is good for ${RESET_MINUTES} minutes.</p>`,
          );
        },
      ),
  }),
  shownPage({
    operationId: 'pages.resetPassword',
    path: `${RESET_PATH}/:token`,
    params: tokenParams,
    summary: 'The form that the link of a reset leads to',
    show: async (visit, _query, token) => newPasswordPage(visit, token),
  }),
  sentForm({
    operationId: 'pages.confirmReset',
    path: `${RESET_PATH}/:token`,
    params: tokenParams,
    summary: 'Sets a new password',
    description: 'Ends every session of the account and forgets its devices.',
    fields: { password: z.string().default('') },
    errors: ['unauthorized'],
    back: () => FORGOTTEN_PATH,
    act: async (visit, { password }, token) =>
      orAgain(
        (refused) => (refused.code === 'unauthorized' ? deadLinkPage() : newPasswordPage(visit, token, refused)),
        async () => {
          await confirmReset(visit.ctx, { session: token, password });
          return messagePage(
            200,
            'Your new password is set',
            html`<p>Every session of your account has ended. <a href="${APPS_PATH}">Sign in</a> with the new password.</p>`,
          );
        },
      ),
  }),
];

function forgottenPage(visit: Visit, email: string, refused?: AppError): StreamReply {
  return page({
    title: 'Set a new password',
    status: refused?.status ?? 200,
    headers: refused?.headers,
    body: html`<h1>Set a new password</h1><p class="soft">We mail you a link.</p>
${problem(refused)}<form method="post" action="${FORGOTTEN_PATH}">${hiddenFields(visit, '')}
<label class="field">Email address<input class="text" type="email" name="email" value="${email}" autocomplete="username" required maxlength="254"${AUTOFOCUS}></label>
<button class="main wide">Mail the link</button></form>`,
  });
}

function newPasswordPage(visit: Visit, token: string, refused?: AppError): StreamReply {
  return page({
    title: 'Set a new password',
    status: refused?.status ?? 200,
    body: html`<h1>Set a new password</h1><p class="soft">All your sessions end with it.</p>
${problem(refused)}<form method="post" action="${RESET_PATH}/${encodeURIComponent(token)}">${hiddenFields(visit, '')}
${passwordField('New password')}
<button class="main wide">Set the password</button></form>`,
  });
}

function deadLinkPage(): StreamReply {
  return messagePage(
    401,
    'This link does not work any more',
    html`<p>It was used, or is older than ${RESET_MINUTES} minutes. <a href="${FORGOTTEN_PATH}">Have another one mailed.</a></p>`,
  );
}
