import { browserActor, browserSecret } from '../../domain/identity/browser-session.ts';
import { withOwnShare, type Ctx } from '../../domain/platform/kernel/context.ts';
import type { Config } from '../../lib/config/index.ts';
import { hmac, newSecret, safeEqual } from '../../lib/crypto.ts';
import { AppError } from '../../lib/errors.ts';
import { textsFor, type PageTexts } from './texts.ts';
import { cookieNames, readCookies, setCookie, type CookieNames } from './cookies.ts';
import { message } from '../../messages/index.ts';

/** One request of a browser: its signed-in person, the CSRF token of its forms, the cookies of the response. */
export interface Visit {
  /** Context of the signed-in person in the workspace of their session; anonymous before sign-in. */
  ctx: Ctx;
  signedIn: boolean;
  /** Texts of the pages in the browser's language. */
  text: PageTexts;
  /** CSRF token: a keyed hash of this browser's session or of its visitor cookie. */
  csrf: string;
  names: CookieNames;
  cookie(name: keyof CookieNames): string | undefined;
  /** Sets a cookie in the answer; see {@link setCookie}. */
  keep(name: keyof CookieNames, value: string, maxAgeMs?: number): void;
  /** Set-Cookie lines collected so far. */
  cookies: readonly string[];
}

/**
 * Reads the session of a request. A browser without a session gets a visitor cookie, so that the sign-in form is bound
 * to the browser too.
 */
export async function readVisit(ctx: Ctx, headers: Record<string, string | undefined>): Promise<Visit> {
  const names = cookieNames(ctx.config);
  const sent = readCookies(headers.cookie);
  const lines: string[] = [];
  const keep: Visit['keep'] = (name, value, maxAgeMs) =>
    void lines.push(setCookie(ctx.config, names[name], value, maxAgeMs));
  const session = sent.get(names.session);
  const { ipAddress, userAgent } = ctx.actor;
  const found = session ? await browserActor(ctx, session, { ipAddress, userAgent }) : null;
  // If the session is too old for its workspace, treats the person as signed out. They must sign in again.
  const actor = found?.mustSignInAgain ? null : found;
  let visitor = sent.get(names.visitor);
  if (!actor && !visitor) {
    visitor = newSecret();
    keep('visitor', visitor);
  }
  return {
    ctx: actor ? withOwnShare({ ...ctx, actor }) : ctx,
    signedIn: actor !== null,
    text: textsFor(headers['accept-language']),
    csrf: csrfToken(ctx.config, actor ? `session/${actor.sessionId!}` : `visitor/${visitor!}`),
    names,
    cookie: (name) => sent.get(names[name]),
    keep,
    cookies: lines,
  };
}

function csrfToken(config: Config, binding: string): string {
  return hmac(browserSecret(config), `csrf/${binding}`).toString('base64url');
}

/**
 * Refuses a form that was not sent from our own pages. Checks its Origin and Sec-Fetch-Site headers and its token. A
 * browser that sends no Origin is refused.
 * @throws AppError forbidden
 */
export function assertOwnForm(visit: Visit, headers: Record<string, string | undefined>, token: string): void {
  assertOwnOrigin(visit.ctx.config, headers);
  if (!safeEqual(token, visit.csrf)) {
    throw new AppError('forbidden', message('form.too_old'), {
      fix: message('form.too_old.fix'),
    });
  }
}

/**
 * Refuses a request that was not sent from a page of this server, by its Origin and Sec-Fetch-Site headers.
 * @throws AppError forbidden
 */
export function assertOwnOrigin({ APP_URL }: Config, headers: Record<string, string | undefined>): void {
  const site = headers['sec-fetch-site'];
  const isOwn = headers.origin === new URL(APP_URL).origin && (site === undefined || site === 'same-origin');
  if (!isOwn)
    throw new AppError('forbidden', message('form.foreign'), {
      fix: message('form.foreign.fix', { url: APP_URL }),
    });
}
