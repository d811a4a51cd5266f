import { text } from '../text/index.ts';
import { loadServerTexts } from '../text/server.ts';
import { language } from './preferences.ts';

/** How long (ms) before its end an access token is renewed. */
const MARGIN_MS = 30_000;
/** Tabs share the cookie: one renews it at a time. */
const LOCK = 'heron-session';

interface Access {
  token: string;
  expiresAt: number;
}

/** The session ended while somebody was at work: what they typed stays on the page, and goes on once they have signed in elsewhere. */
export class SessionEnded extends Error {}

let wasSignedIn = false;
let access: Access | undefined;
let renewing: Promise<Access> | undefined;

/** The access token of this tab. It is kept in memory alone; the cookie it is made from is out of reach of scripts. */
export async function accessToken(): Promise<string> {
  if (access && access.expiresAt - MARGIN_MS > Date.now()) return access.token;
  return (await renew()).token;
}

/**
 * Sends a request in the language of the person, and once more with a new token when the server no longer takes the one it had. An
 * answer that is an error comes when its sentences are here.
 */
export async function sendSignedIn(request: Request): Promise<Response> {
  request.headers.set('accept-language', language());
  const response = await sendTwice(request);
  if (!response.ok) await loadServerTexts(language()).catch(() => undefined);
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

/** Forgets the token, so that the next request asks for one with the workspace that is selected now. */
export function forgetAccess(): void {
  access = undefined;
}

/** Leads to the sign-in page, and back here afterwards. */
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
    // The page is being left: nothing that waits for a token should show an error meanwhile.
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
