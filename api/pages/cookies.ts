import type { Config } from '../../lib/config/index.ts';

/** Names of the cookies that the pages use. */
export interface CookieNames {
  /** Renewal token of the signed-in person's session. */
  session: string;
  /** Random value that binds a form to this browser before sign-in. */
  visitor: string;
  /** Handle of a sign-in that waits for its mailed code. */
  challenge: string;
  /** Token that makes the mailed code unnecessary on this device (AUTH_LOGIN_CODE=new_device). */
  device: string;
}

/** Returns true if people reach the pages over TLS. */
function isSecure(config: Config): boolean {
  return config.APP_URL.startsWith('https:');
}

/**
 * Returns the cookie names. The prefix `__Host-` makes browsers refuse a cookie set over http, by a sibling host or for
 * a path.
 */
export function cookieNames(config: Config): CookieNames {
  const prefix = isSecure(config) ? '__Host-heron_' : 'heron_';
  return {
    session: `${prefix}session`,
    visitor: `${prefix}visitor`,
    challenge: `${prefix}challenge`,
    device: `${prefix}device`,
  };
}

/**
 * Parses the cookies of a request. If a name is sent twice, the first value is used, because browsers send the cookie
 * with the longest path first.
 */
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
 * Returns a Set-Cookie line. Scripts cannot read the cookie, and other sites' forms and frames do not send it. Links on
 * other sites send it (Lax), because applications link to these pages.
 * @param value base64url or a token, which needs no quoting
 * @param maxAgeMs lifetime in the browser; 0 removes the cookie, undefined keeps it for the browser session
 */
export function setCookie(config: Config, name: string, value: string, maxAgeMs?: number): string {
  const age = maxAgeMs === undefined ? '' : `; Max-Age=${Math.floor(maxAgeMs / 1000)}`;
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${isSecure(config) ? '; Secure' : ''}${age}`;
}
