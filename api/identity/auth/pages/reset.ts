import { z } from 'zod';
import { requestPasswordReset, confirmReset } from '../../../../domain/identity/auth/reset-password.ts';
import { RESET_MINUTES } from '../../../../domain/identity/challenges.ts';
import type { AppError } from '../../../../lib/errors.ts';
import type { StreamReply } from '../../../http/route.ts';
import { sentForm, shownPage } from '../../../pages/declare.ts';
import { html } from '../../../http/html.ts';
import { messagePage, page } from '../../../pages/layout.ts';
import { APPS_PATH } from '../../../pages/return-to.ts';
import { AUTOFOCUS, hiddenFields, problem } from '../../../pages/sign-in.ts';
import type { Visit } from '../../../pages/visit.ts';
import { addressIn, runOrShowAgain, passwordField, tokenParams } from '../../../pages/fields.ts';

const RESET_PATH = '/reset-password';
const FORGOTTEN_PATH = '/account/forgotten-password';

/** Pages for requesting a password link and for setting the new password. */
export const resetRoutes = [
  shownPage({
    operationId: 'pages.forgottenPassword',
    path: FORGOTTEN_PATH,
    summary: 'Form that requests a link for a new password',
    show: async (visit) => forgottenPage(visit, ''),
  }),
  sentForm({
    operationId: 'pages.askReset',
    path: FORGOTTEN_PATH,
    summary: 'Mail a link for setting a new password',
    description: 'Answers the same for addresses with and without an account.',
    fields: { email: z.string().default('') },
    errors: ['rate_limit_exceeded'],
    back: () => FORGOTTEN_PATH,
    act: async (visit, { email }) =>
      runOrShowAgain(
        (refused) => forgottenPage(visit, email, refused),
        async () => {
          const address = addressIn(email);
          await requestPasswordReset(visit.ctx, address);
          return messagePage(
            visit.text,
            200,
            visit.text.code.title,
            html`<p>${visit.text.reset.written(address, RESET_MINUTES)}</p>`,
          );
        },
      ),
  }),
  shownPage({
    operationId: 'pages.resetPassword',
    path: `${RESET_PATH}/:token`,
    params: tokenParams,
    summary: 'Form of a mailed link for setting a new password',
    show: async (visit, _query, token) => newPasswordPage(visit, token),
  }),
  sentForm({
    operationId: 'pages.confirmReset',
    path: `${RESET_PATH}/:token`,
    params: tokenParams,
    summary: 'Set a new password',
    description: 'Ends every session of the account and forgets its devices.',
    fields: { password: z.string().default('') },
    errors: ['unauthorized'],
    back: () => FORGOTTEN_PATH,
    act: async (visit, { password }, token) =>
      runOrShowAgain(
        (refused) => (refused.code === 'unauthorized' ? deadLinkPage(visit) : newPasswordPage(visit, token, refused)),
        async () => {
          await confirmReset(visit.ctx, { session: token, password });
          return messagePage(
            visit.text,
            200,
            visit.text.reset.done,
            html`<p>${visit.text.reset.allEnded(APPS_PATH)}</p>`,
          );
        },
      ),
  }),
];

function forgottenPage(visit: Visit, email: string, refused?: AppError): StreamReply {
  const { field, reset: words } = visit.text;
  return page(visit.text, {
    title: words.title,
    status: refused?.status ?? 200,
    headers: refused?.headers,
    body: html`<h1>${words.title}</h1><p class="soft">${words.mailsLink}</p>
${problem(visit, refused)}<form method="post" action="${FORGOTTEN_PATH}">${hiddenFields(visit, '')}
<label class="field">${field.email}<input class="text" type="email" name="email" value="${email}" autocomplete="username" required maxlength="254"${AUTOFOCUS}></label>
<button class="main wide">${words.mailIt}</button></form>`,
  });
}

function newPasswordPage(visit: Visit, token: string, refused?: AppError): StreamReply {
  const { field, reset: words } = visit.text;
  return page(visit.text, {
    title: words.title,
    status: refused?.status ?? 200,
    body: html`<h1>${words.title}</h1><p class="soft">${words.endsSessions}</p>
${problem(visit, refused)}<form method="post" action="${RESET_PATH}/${encodeURIComponent(token)}">${hiddenFields(visit, '')}
${passwordField(visit.text, field.newPassword)}
<button class="main wide">${words.button}</button></form>`,
  });
}

function deadLinkPage({ text }: Visit): StreamReply {
  return messagePage(text, 401, text.reset.dead, html`<p>${text.reset.deadWhy(RESET_MINUTES, FORGOTTEN_PATH)}</p>`);
}
