import { z } from 'zod';
import { browserSession } from '../../domain/identity/browser-session.ts';
import { CODE_MINUTES } from '../../domain/identity/challenges.ts';
import { DEVICE_MS, signOut, type TokenPair } from '../../domain/identity/sessions.ts';
import { confirmSignIn, signIn } from '../../domain/identity/auth/sign-in.ts';
import { AppError } from '../../lib/errors.ts';
import type { StreamReply } from '../http/route.ts';
import { emailAddress } from '../http/schemas.ts';
import { sentForm, shownPage } from './declare.ts';
import { html, type Html, type Part } from '../http/html.ts';
import { page, redirect } from './layout.ts';
import { approvalIn, dashboardIn, dashboardRequest, invitationIn, returnTo, SIGN_IN_PATH } from './return-to.ts';
import type { Visit } from './visit.ts';
import { message } from '../../messages/index.ts';

interface SignInOptions {
  /** Authorization request to return to; empty for the authorized apps. */
  request: string;
  /** Error that the form shows, with its status and headers. */
  refused?: AppError;
  /** Previously entered address, so that the person can correct it. */
  email?: string;
}

/** Renders the hidden fields of every form: its CSRF token and the request that it continues. */
export function hiddenFields(visit: Visit, request: string): Html {
  return html`<input type="hidden" name="csrf" value="${visit.csrf}"><input type="hidden" name="request" value="${request}">`;
}

/** Renders the sign-in form: email and password, or the mailed code if a sign-in waits for it. */
export function signInPage(visit: Visit, options: SignInOptions): StreamReply {
  return visit.cookie('challenge') ? codePage(visit, options) : passwordPage(visit, options);
}

function passwordPage(visit: Visit, { request, refused, email = '' }: SignInOptions): StreamReply {
  const { signIn: words, field } = visit.text;
  return asked(
    visit,
    words.title,
    refused,
    html`<p class="soft">${words[purposeOf(request)]}</p>
${problem(visit, refused)}<form method="post" action="${SIGN_IN_PATH}">${hiddenFields(visit, request)}
<label class="field">${field.email}<input class="text" type="email" name="email" value="${email}" autocomplete="username" required maxlength="254"${email === '' ? AUTOFOCUS : null}></label>
<label class="field">${field.password}<input class="text" type="password" name="password" autocomplete="current-password" required maxlength="1024"${email === '' ? null : AUTOFOCUS}></label>
<button class="main wide">${words.button}</button></form>
<p class="soft"><a href="/account/forgotten-password">${words.forgotten}</a></p>`,
  );
}

/** Returns the key of the text that names the purpose of the sign-in. */
function purposeOf(request: string) {
  if (dashboardIn(request) !== undefined) return 'toDashboard';
  if (request === '') return 'toApps';
  if (approvalIn(request) !== undefined) return 'toApproval';
  return invitationIn(request) === undefined ? 'toApp' : 'toInvitation';
}

function codePage(visit: Visit, { request, refused }: SignInOptions): StreamReply {
  const { code, field, goOn } = visit.text;
  return asked(
    visit,
    code.title,
    refused,
    html`<p class="soft">${whereTheCodeIs(visit)} ${code.lasts(CODE_MINUTES)}</p>
${problem(visit, refused)}<form method="post" action="/account/sign-in/code">${hiddenFields(visit, request)}
<label class="field">${field.code}<input class="text code" name="code" inputmode="numeric" autocomplete="one-time-code" pattern="\\s*[0-9]{6}\\s*" title="${field.sixDigits}" required maxlength="12"${AUTOFOCUS}></label>
<button class="main wide">${goOn}</button></form>
<form method="post" action="/account/sign-in/restart" class="who">${hiddenFields(visit, request)}<p class="soft">${code.noMail}</p><button class="link">${code.restart}</button></form>`,
  );
}

/**
 * Tells the person where to find the code. Without a mail server an installation writes its mail to its log, which `npm
 * start` shows.
 */
function whereTheCodeIs({ ctx: { config }, text: { code } }: Visit): string {
  return config.MAIL_TRANSPORT === 'log' ? code.inLog : code.mailed;
}

export const AUTOFOCUS = html` autofocus`;

function asked({ text }: Visit, title: string, refused: AppError | undefined, body: Part): StreamReply {
  return page(text, {
    title,
    status: refused?.status ?? 200,
    headers: refused?.headers,
    body: html`<h1>${title}</h1>${body}`,
  });
}

/** Renders the error above a form: the message, every field problem, and the fix. */
export function problem({ text }: Pick<Visit, 'text'>, refused: AppError | undefined): Html | null {
  if (!refused) return null;
  const faults = (refused.problems ?? []).map(({ message }) => html` ${text.plainly(message)}.`);
  return html`<div class="note bad" role="alert">${text.plainly(refused.said)}.${faults}${refused.fix ? html` ${text.plainly(refused.fix)}` : null}</div>`;
}

/** Runs a step of the sign-in. Shows the same form again for an error that the person can correct. */
async function runSignInStep(visit: Visit, options: SignInOptions, work: () => Promise<void>): Promise<StreamReply> {
  try {
    await work();
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return signInPage(visit, { ...options, refused: error });
    throw error;
  }
  return redirect(returnTo(options.request));
}

/**
 * Starts a session under a new cookie, so that a session cookie that an attacker set in this browser before has no
 * effect.
 */
export async function startBrowserSession(visit: Visit, tokens: TokenPair): Promise<void> {
  const { value, maxAgeMs } = await browserSession(visit.ctx, tokens);
  if (visit.signedIn) await signOut(visit.ctx);
  visit.keep('session', value, maxAgeMs);
  visit.keep('visitor', '', 0);
  visit.keep('challenge', '', 0);
  if (tokens.deviceToken) visit.keep('device', tokens.deviceToken, DEVICE_MS);
}

/** Routes for signing in and out of the pages, with the same functions as the API's sign-in. */
export const signInRoutes = [
  shownPage({
    operationId: 'pages.showSignIn',
    path: SIGN_IN_PATH,
    summary: 'The sign-in form of the dashboard',
    description: 'Redirects a signed-in person to the path `to` of this server.',
    query: z.object({
      to: z.string().optional().meta({ description: 'Path of the dashboard to return to. Default: its first page' }),
    }),
    show: async (visit, { to }) => {
      const request = dashboardRequest(typeof to === 'string' ? to : '/');
      return visit.signedIn ? redirect(returnTo(request)) : signInPage(visit, { request });
    },
  }),
  sentForm({
    operationId: 'pages.signIn',
    path: SIGN_IN_PATH,
    summary: 'The sign-in form: address and password',
    description:
      'Opens a browser session, or mails a code first, depending on AUTH_LOGIN_CODE. Attempts are limited as for POST /v1/auth/login.',
    fields: { email: z.string().default(''), password: z.string().default('') },
    act: async (visit, { request, email, password }) =>
      runSignInStep(visit, { request, email }, async () => {
        const address = emailAddress.safeParse(email);
        if (!address.success || password === '') throw new AppError('bad_request', message('page.sign_in.both_fields'));
        const result = await signIn(visit.ctx, { email: address.data, password, deviceToken: visit.cookie('device') });
        if ('session' in result) visit.keep('challenge', result.session, CODE_MINUTES * 60_000);
        else await startBrowserSession(visit, result);
      }),
  }),
  sentForm({
    operationId: 'pages.signInCode',
    path: '/account/sign-in/code',
    summary: 'The sign-in form: the mailed code',
    fields: { code: z.string().default('') },
    act: async (visit, { request, code }) =>
      runSignInStep(visit, { request }, async () => {
        const tokens = await confirmSignIn(visit.ctx, { session: visit.cookie('challenge') ?? '', code: code.trim() });
        await startBrowserSession(visit, tokens);
      }),
  }),
  sentForm({
    operationId: 'pages.restartSignIn',
    path: '/account/sign-in/restart',
    summary: 'Abort a sign-in that waits for its code',
    fields: {},
    act: async (visit, { request }) => {
      visit.keep('challenge', '', 0);
      return redirect(returnTo(request));
    },
  }),
  sentForm({
    operationId: 'pages.signOut',
    path: '/account/sign-out',
    summary: 'End the browser session',
    fields: {},
    act: async (visit, { request }) => {
      if (visit.signedIn) await signOut(visit.ctx);
      visit.keep('session', '', 0);
      return redirect(returnTo(request));
    },
  }),
];
