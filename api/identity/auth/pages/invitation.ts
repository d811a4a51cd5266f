import { z } from 'zod';
import { readProfile } from '../../../../domain/identity/auth/profile.ts';
import { assertSignUpOpen, confirmSignUp, signUp } from '../../../../domain/identity/auth/sign-up.ts';
import { CODE_MINUTES } from '../../../../domain/identity/challenges.ts';
import { acceptInvitation, readInvitation } from '../../../../domain/identity/organizations/invitations.ts';
import { AppError } from '../../../../lib/errors.ts';
import type { StreamReply } from '../../../http/route.ts';
import { sentForm, shownPage } from '../../../pages/declare.ts';
import { html } from '../../../http/html.ts';
import { messagePage, page } from '../../../pages/layout.ts';
import { APPS_PATH, INVITATION_PATH, invitationRequest } from '../../../pages/return-to.ts';
import { AUTOFOCUS, hiddenFields, problem, signInPage } from '../../../pages/sign-in.ts';
import type { Visit } from '../../../pages/visit.ts';
import { nameField, runOrShowAgain, passwordField, splitName, tokenParams } from '../../../pages/fields.ts';

type Invitation = Awaited<ReturnType<typeof readInvitation>>;

const path = (token: string, rest = '') => `${INVITATION_PATH}/${encodeURIComponent(token)}${rest}`;

/** Pages of an invitation link. */
export const invitationRoutes = [
  shownPage({
    operationId: 'pages.invitation',
    path: `${INVITATION_PATH}/:token`,
    params: tokenParams,
    summary: 'Page of an invitation: join, or create an account first',
    errors: ['invitation_invalid', 'registration_closed'],
    show: async (visit, _query, token) => invitationPage(visit, token, await readInvitation(visit.ctx, token)),
  }),
  sentForm({
    operationId: 'pages.acceptInvitation',
    path: `${INVITATION_PATH}/:token`,
    params: tokenParams,
    summary: 'Join the workspace as the signed-in person',
    fields: {},
    errors: ['invitation_invalid', 'workspace_deletion_scheduled'],
    back: path,
    act: async (visit, _fields, token) => {
      if (!visit.signedIn) return signInPage(visit, { request: invitationRequest(token) });
      const { name } = await acceptInvitation(visit.ctx, token);
      return joinedPage(visit, name);
    },
  }),
  sentForm({
    operationId: 'pages.signUpInvited',
    path: `${INVITATION_PATH}/:token/account`,
    params: tokenParams,
    summary: 'Start an account for an invited address; a code is mailed',
    fields: { name: z.string().default(''), password: z.string().default('') },
    errors: ['invitation_invalid', 'registration_closed', 'rate_limit_exceeded'],
    back: path,
    act: async (visit, { name, password }, token) => {
      const invitation = await readInvitation(visit.ctx, token);
      return runOrShowAgain(
        (refused) => accountPage(visit, token, invitation, name, refused),
        async () => {
          const { session } = await signUp(visit.ctx, {
            email: invitation.email,
            password,
            ...splitName(name),
            invitation: token,
          });
          return codePage(visit, token, invitation, session);
        },
      );
    },
  }),
  sentForm({
    operationId: 'pages.confirmInvited',
    path: `${INVITATION_PATH}/:token/code`,
    params: tokenParams,
    summary: 'Complete the account of an invited address with the mailed code, and join the workspace',
    fields: { session: z.string().default(''), code: z.string().default('') },
    errors: ['invitation_invalid', 'unauthorized'],
    back: path,
    act: async (visit, { session, code }, token) => {
      const invitation = await readInvitation(visit.ctx, token);
      return runOrShowAgain(
        (refused) => codePage(visit, token, invitation, session, refused),
        async () => {
          await confirmSignUp(visit.ctx, { session, code: code.trim() });
          return joinedPage(visit, invitation.organization);
        },
      );
    },
  }),
];

async function invitationPage(visit: Visit, token: string, invitation: Invitation): Promise<StreamReply> {
  if (!visit.signedIn) {
    if (invitation.hasAccount) return signInPage(visit, { request: invitationRequest(token), email: invitation.email });
    await assertSignUpOpen(visit.ctx, token);
    return accountPage(visit, token, invitation, '');
  }
  const { user } = await readProfile(visit.ctx);
  if (user.email !== invitation.email) return otherPersonPage(visit, token, invitation, user.email);
  const { invitation: words } = visit.text;
  const title = words.title(invitation.organization);
  return page(visit.text, {
    title,
    body: html`<h1>${title}</h1>
<p>${words.invited(invitation.role)}</p>
<form method="post" action="${path(token)}">${hiddenFields(visit, '')}<button class="main wide">${words.join}</button></form>
<p class="soft">${words.signedIn(user.email)}</p>`,
  });
}

function otherPersonPage(visit: Visit, token: string, invitation: Invitation, email: string): StreamReply {
  const { invitation: words } = visit.text;
  return page(visit.text, {
    title: words.otherAddress,
    status: 403,
    body: html`<h1>${words.otherAddress}</h1>
<p>${words.sentTo(invitation.email, email)}</p>
<form method="post" action="/account/sign-out">${hiddenFields(visit, invitationRequest(token))}<button class="main">${words.signOut}</button></form>`,
  });
}

function accountPage(
  visit: Visit,
  token: string,
  invitation: Invitation,
  name: string,
  refused?: AppError,
): StreamReply {
  const { goOn, invitation: words } = visit.text;
  const title = words.title(invitation.organization);
  return page(visit.text, {
    title,
    status: refused?.status ?? 200,
    headers: refused?.headers,
    body: html`<h1>${title}</h1>
<p>${words.invited(invitation.role)} ${words.makeAccount(invitation.email)}</p>
${problem(visit, refused)}<form method="post" action="${path(token, '/account')}">${hiddenFields(visit, '')}
${nameField(visit.text, name, AUTOFOCUS)}
<input type="hidden" name="username" value="${invitation.email}" autocomplete="username">
${passwordField(visit.text)}
<button class="main wide">${goOn}</button></form>`,
  });
}

function codePage(
  visit: Visit,
  token: string,
  invitation: Invitation,
  session: string,
  refused?: AppError,
): StreamReply {
  const { code, field, invitation: words } = visit.text;
  return page(visit.text, {
    title: code.title,
    status: refused?.status ?? 200,
    headers: refused?.headers,
    body: html`<h1>${code.title}</h1>
<p class="soft">${code.mailedTo(invitation.email)} ${code.lasts(CODE_MINUTES)}</p>
${problem(visit, refused)}<form method="post" action="${path(token, '/code')}">${hiddenFields(visit, '')}<input type="hidden" name="session" value="${session}">
<label class="field">${field.code}<input class="text code" name="code" inputmode="numeric" autocomplete="one-time-code" pattern="\\s*[0-9]{6}\\s*" title="${field.sixDigits}" required maxlength="12"${AUTOFOCUS}></label>
<button class="main wide">${words.title(invitation.organization)}</button></form>
<p class="soft">${code.noMailYet} <a href="${path(token)}">${code.beginAgain}</a></p>`,
  });
}

function joinedPage({ text }: Visit, organization: string): StreamReply {
  const { invitation: words } = text;
  return messagePage(
    text,
    200,
    words.joined(organization),
    html`<div class="note good"><p>${words.joinedWhy}</p></div>
<p><a href="${APPS_PATH}">${words.apps}</a> · <a href="/docs">${words.reference}</a></p>`,
  );
}
