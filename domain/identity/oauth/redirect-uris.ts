import { message, type Message } from '../../../messages/index.ts';

/** Maximum length (characters) of a redirect URI. */
const MAX_REDIRECT_URI = 2048;

/**
 * Splits a loopback URI at its port. The text of the URI is not decoded or normalized, because different parsers could
 * interpret it differently.
 */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/s;
const MAX_PORT = 65_535;
const PRINTABLE = /^[\x21-\x7e]+$/;
/**
 * Schemes that a browser or an operating system handles itself, so that no application can own them. `localhost` is
 * included, because `localhost:3000` is a host without its scheme. Any other scheme is private use (RFC 8252, section
 * 7.1). Editors such as Cursor and VS Code use schemes without the dot that the RFC recommends.
 */
export const RESERVED_SCHEMES: ReadonlySet<string> = new Set([
  'about',
  'blob',
  'chrome',
  'chrome-extension',
  'content',
  'data',
  'file',
  'filesystem',
  'ftp',
  'intent',
  'jar',
  'javascript',
  'localhost',
  'mailto',
  'sms',
  'tel',
  'vbscript',
  'view-source',
  'ws',
  'wss',
]);

/**
 * Returns the problem of a URI that cannot be registered as a redirect target, or undefined.
 * @param privateUse true to allow private-use schemes, for clients that registered themselves
 */
export function redirectUriProblem(uri: string, { privateUse }: { privateUse: boolean }): Message | undefined {
  if (uri.length > MAX_REDIRECT_URI) return message('field.text_longer', { max: MAX_REDIRECT_URI });
  if (!PRINTABLE.test(uri) || uri.includes('\\')) return message('field.printable_uri');
  if (!URL.canParse(uri)) return message('field.absolute_uri');
  const url = new URL(uri);
  if (uri.includes('#')) return message('field.fragment');
  if (url.username !== '' || url.password !== '' || /^[^/?]*\/\/[^/?]*@/.test(uri))
    return message('field.user_information');
  if (uri.includes('*')) return message('field.wildcards');
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'http' && !LOOPBACK.test(url.href)) return message('field.redirect_http');
  if (scheme !== 'https' && scheme !== 'http') {
    if (!privateUse) return message('field.redirect_http');
    if (RESERVED_SCHEMES.has(scheme)) return message('field.redirect_private_use');
  }
  // Accepts only one spelling of each URL, so that the registered text is exactly what a browser shows and requests.
  if (url.href !== uri && url.href !== `${uri}/`) return message('field.written_as', { uri: url.href });
  return undefined;
}

/**
 * Returns true if a requested redirect URI is the registered one, character by character. A loopback URI may have any
 * port.
 */
export function redirectUriMatches(registered: string, requested: string): boolean {
  if (registered === requested) return true;
  const ours = LOOPBACK.exec(registered);
  const theirs = LOOPBACK.exec(requested);
  if (!ours || !theirs || requested.includes('#')) return false;
  const port = theirs[2];
  if (port !== undefined && (Number(port) > MAX_PORT || (port.startsWith('0') && port !== '0'))) return false;
  return ours[1] === theirs[1] && ours[3] === theirs[3];
}
