import { createHash } from 'node:crypto';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const TOKEN = /\b(?:eyJ[\w-]+\.[\w-]+\.[\w-]+|(?:ss[a-z]{1,3}_|whsec_)?[A-Za-z0-9_-]{40,}|[0-9a-f]{32,})/g;
const LOCAL = /(https?|wss?):\/\/127\.0\.0\.1:\d+/g;
const NUMBERED = /-\d+-\d+@/g;
/** Maximum number of items that an example shows of a list. The document of the API stays small. */
const MAX_ITEMS = 20;
const BEGIN = Date.parse('2026-03-02T09:00:00.000Z');

/**
 * Normalizes values of a recorded call that differ between runs: ids, times, secrets, ports. Equal ids stay equal, and
 * times keep their order. Shortens long lists.
 */
export function tidied<T extends object>(value: T): T {
  const text = JSON.stringify(value);
  const times = [...new Set(text.match(TIME))].toSorted((a, b) => Date.parse(a) - Date.parse(b));
  const ids = new Map<string, string>();
  const tokens = new Map<string, string>();
  const named = (map: Map<string, string>, key: string, make: (index: number) => string): string => {
    if (!map.has(key)) map.set(key, make(map.size + 1));
    return map.get(key)!;
  };
  const tidyText = (part: string): string =>
    part
      .replace(UUID, (id) => named(ids, id.toLowerCase(), idNumber))
      .replace(TIME, (time) => new Date(BEGIN + times.indexOf(time) * 60_000).toISOString())
      .replace(TOKEN, (token) =>
        isKept(token, ids) ? token : named(tokens, token, (index) => inventedToken(token, index)),
      )
      .replace(LOCAL, '$1://127.0.0.1:8080')
      .replace(NUMBERED, '@');
  const walk = (part: unknown): unknown => {
    if (typeof part === 'string') return tidyText(part);
    if (Array.isArray(part)) return part.slice(0, MAX_ITEMS).map(walk);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [tidyText(name), walk(inner)]));
  };
  return walk(value) as T;
}

function idNumber(index: number): string {
  return `019cad4d-3c00-7000-8000-${String(index).padStart(12, '0')}`;
}

/** Returns true if a token must not be replaced. Normalized ids and plain words are not secrets. */
function isKept(token: string, ids: ReadonlyMap<string, string>): boolean {
  return [...ids.values()].some((id) => token.includes(id)) || !/\d/.test(token);
}

/** Returns a fake token with the real one's length and prefix. */
function inventedToken(token: string, index: number): string {
  if (token.startsWith('eyJ')) return 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl';
  const prefix = /^(?:ss[a-z]{1,3}_|whsec_)/.exec(token)?.[0] ?? '';
  const hash = createHash('sha512').update(`example ${index}`);
  const filling = /^[0-9a-f]+$/.test(token) ? hash.digest('hex') : hash.digest('base64url');
  return prefix + filling.repeat(4).slice(0, token.length - prefix.length);
}
