/** Words that clients send where they know no id, without what stands around the letters. */
const NOBODY: ReadonlySet<string> = new Set([
  'null',
  'nil',
  'undefined',
  'none',
  'nan',
  'nobody',
  'na',
  'notavailable',
  'notset',
  'unset',
  'unknown',
  'empty',
  'false',
  'true',
  'anonymous',
  'anonymoususer',
  'anon',
  'guest',
  'guestuser',
  'user',
  'userid',
  'anonymousid',
  'distinctid',
  'visitor',
  'test',
  'id',
  'email',
  'default',
  'object',
  'objectobject',
  'objectundefined',
  'objectnull',
  'objectpromise',
  'function',
  'infinity',
  'todo',
]);

/**
 * True for an identifier that names nobody: a word or number that a client writes where it knows no id (`undefined`, `[object Object]`, `0`, the zero
 * UUID), a template that was not filled, or no letter and digit at all. Two people who send it are not one.
 */
export function isNobody(identifier: string): boolean {
  const bare = identifier
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
  if (bare === '' || identifier.trim() === '-1' || /^0+$/.test(bare) || /^f{32}$/.test(bare) || NOBODY.has(bare))
    return true;
  return /^\s*(?:\{\{.*\}\}|\$\{.*\}|<%.*%>|%[A-Z_]+%|\{[A-Za-z_.]+\})\s*$/.test(identifier);
}
