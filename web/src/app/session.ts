import { text } from '../text/index.ts';
import { withServerTexts } from '../text/server.ts';
import { language } from './preferences.ts';

/** Time (ms) before its expiry at which an access token is renewed. */
const MARGIN_MS = 30_000;
/** Name of the lock under which one tab at a time renews the shared cookie. */
const LOCK = 'heron-session';

interface Access {
  token: string;
  expiresAt: number;
}

/**
 * Thrown when the session has ended while the person was working. The page keeps their input, and they can continue
 * after a sign-in in another tab.
 */
export class SessionEnded extends Error {}

let wasSignedIn = false;
let access: Access | undefined;
let renewing: Promise<Access> | undefined;

/**
 * Returns the access token of this tab, which is kept only in memory. It is requested with the session's cookie, which
 * scripts cannot read.
 */
export async function accessToken(): Promise<string> {
  if (access && access.expiresAt - MARGIN_MS > Date.now()) return access.token;
  return (await renew()).token;
}

/**
 * Sends a request in the person's language. Repeats it once with a new token if the server refuses the token. An error
 * answer is returned only after its messages are loaded.
 */
export async function sendSignedIn(request: Request): Promise<Response> {
  request.headers.set('accept-language', language());
  const response = await sendTwice(request);
  if (!response.ok) await withServerTexts(await response.clone().json()).catch(() => undefined);
  return response;
}

async function sendTwice(request: Request): Promise<Response> {
  const again = request.clone();
  const used = request.headers.get('authorization');
  const response = await fetch(request);
  if (response.status !== 401) return response;
  if (used === `Bearer ${access?.token}`) access = undefined;
  again.headers.set('authorization', `Bearer ${await accessToken()}`);
  return fetch(again);
}

/** Discards the token, so that the next request gets one for the currently selected workspace. */
export function forgetAccess(): void {
  access = undefined;
}

/** Redirects to the sign-in page, which returns here afterwards. */
function goToSignIn(): void {
  const here = window.location.pathname + window.location.search;
  window.location.assign(`/account/sign-in?to=${encodeURIComponent(here)}`);
}

function renew(): Promise<Access> {
  renewing ??= locked(askForAccess).finally(() => {
    renewing = undefined;
  });
  return renewing;
}

function locked<T>(work: () => Promise<T>): Promise<T> {
  return 'locks' in navigator ? navigator.locks.request(LOCK, work) : work();
}

async function askForAccess(): Promise<Access> {
  const response = await fetch('/account/session', {
    method: 'POST',
    headers: { accept: 'application/json', 'accept-language': language() },
  });
  if (response.status === 401) {
    if (wasSignedIn) throw new SessionEnded('The session has ended');
    goToSignIn();
    // Never resolves, so that no error is shown while the page is being left.
    return new Promise(() => {});
  }
  if (!response.ok) {
    const said = (await response.json().catch(() => ({}))) as { message?: string; fix?: string };
    throw new Error(
      [said.message ?? text('error.answer', { status: String(response.status) }), said.fix].filter(Boolean).join('. '),
    );
  }
  const body = (await response.json()) as { access_token: string; access_token_expires_at: string };
  wasSignedIn = true;
  access = { token: body.access_token, expiresAt: Date.parse(body.access_token_expires_at) };
  return access;
}
