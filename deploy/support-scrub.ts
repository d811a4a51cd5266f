import { SENSITIVE } from '../lib/config/secrets.ts';
import { type SettingName } from '../lib/config/settings.ts';

/**
 * Minimum length (characters) of a secret that is replaced in text. If shorter secrets were replaced, every line would
 * become unreadable, and the gaps would reveal the secrets.
 */
const SHORTEST_SECRET = 4;
const EMAIL = /[^\s<>"'`,;:()[\]{}=/]+@[^\s<>"'`,;:()[\]{}=/]+\.[^\s<>"'`,;:()[\]{}=/]+/gu;
const URL_CREDENTIALS = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s"'<>]*@/gi;
const NAMED_SECRET =
  /((?:password|passwd|secret|token|api[_-]?key|authorization|cookie)["']?\s*[:=]\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',;&}]+/gi;
const AUTHORIZATION = /\b(bearer|basic)\s+[a-z0-9+/=._~-]{8,}/gi;
const LONG_WORD = /[A-Za-z0-9_+=~-]{20,}/g;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MIGRATION = /^\d{4}_[a-z0-9_]+$/;
/** Pattern of the name of a setting. */
const SETTING = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/;

/**
 * Creates a function that removes secrets from text. It removes values of this environment, credentials in URLs, email
 * addresses, and fields named as secrets. It also removes long words with letters and digits, such as keys and tokens,
 * except ids (UUID).
 */
export function createScrub(env: Record<string, string | undefined>): (text: string) => string {
  const given = [...SENSITIVE].flatMap((name) => secretParts(env[name as SettingName] ?? ''));
  const known = [...new Set(given)]
    .filter((part) => part.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const withoutKnown = known.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text);
    return withoutKnown
      .replace(URL_CREDENTIALS, '$1[redacted]@')
      .replace(EMAIL, '[address]')
      .replace(AUTHORIZATION, '$1 [redacted]')
      .replace(NAMED_SECRET, '$1[redacted]')
      .replace(LONG_WORD, (word) => (isRandom(word) ? '[redacted]' : word));
  };
}

/**
 * Returns the parts of a secret to remove: the value, its list items, and the user and password of a URL, encoded and
 * decoded.
 */
function secretParts(value: string): string[] {
  if (value === '') return [];
  if (!URL.canParse(value) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return [value, ...value.split(/[\s,;]+/)];
  const { password } = new URL(value);
  return [value, password, safelyDecoded(password)];
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isRandom(word: string): boolean {
  return /\d/.test(word) && /[A-Za-z]/.test(word) && ![UUID, MIGRATION, SETTING].some((shape) => shape.test(word));
}
