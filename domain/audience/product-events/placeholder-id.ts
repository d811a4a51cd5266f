/** Words that clients send in place of an unknown id, without punctuation around them. */
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
 * Returns true for a placeholder that identifies no person. Examples are a word or number for an unknown id
 * (`undefined`, `[object Object]`, `0`, the zero UUID), an unfilled template, or a text without letters and digits.
 * Such an identifier must not link events, because different people have it.
 */
export function isPlaceholderId(identifier: string): boolean {
  const bare = identifier
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
  if (bare === '' || identifier.trim() === '-1' || /^0+$/.test(bare) || /^f{32}$/.test(bare) || NOBODY.has(bare))
    return true;
  return /^\s*(?:\{\{.*\}\}|\$\{.*\}|<%.*%>|%[A-Z_]+%|\{[A-Za-z_.]+\})\s*$/.test(identifier);
}
