import type { Config } from '../../lib/config/index.ts';

/** What the pages keep in a browser. */
export interface CookieNames {
  /** The session of the person who signed in. */
  session: string;
  /** Random; binds a form to this browser before anyone has signed in. */
  visitor: string;
  /** The handle of a sign-in that waits for its mailed code. */
  challenge: string;
  /** Makes the mailed code unnecessary on this device (AUTH_LOGIN_CODE=new_device). */
  device: string;
}

/** Whether people reach the pages over TLS. */
function isSecure(config: Config): boolean {
  return config.APP_URL.startsWith('https:');
}

/** The names. `__Host-` makes browsers refuse one that was set over http, by a sibling host or for a path. */
export function cookieNames(config: Config): CookieNames {
  const prefix = isSecure(config) ? '__Host-heron_' : 'heron_';
  return {
    session: `${prefix}session`,
    visitor: `${prefix}visitor`,
    challenge: `${prefix}challenge`,
    device: `${prefix}device`,
  };
}

/** The cookies of a request; of a name sent twice the first counts, which browsers send for the narrowest path. */
export function readCookies(header: string | undefined): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    if (at > 0 && !cookies.has(name)) cookies.set(name, pair.slice(at + 1).trim());
  }
  return cookies;
}

/**
 * A Set-Cookie line. No script reads it, no other site's form or frame sends it; a link from elsewhere does (Lax), as
 * applications lead people here.
 * @param value base64url or a token: nothing that would need quoting
 * @param maxAgeMs how long the browser keeps it; 0 removes it, undefined keeps it while the browser runs
 */
export function setCookie(config: Config, name: string, value: string, maxAgeMs?: number): string {
  const age = maxAgeMs === undefined ? '' : `; Max-Age=${Math.floor(maxAgeMs / 1000)}`;
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${isSecure(config) ? '; Secure' : ''}${age}`;
}
