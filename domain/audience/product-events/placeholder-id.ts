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
 * (`undefined`, `user_undefined`, `[object Object]`, `0`, the zero UUID), an unfilled template, or a text without letters
 * and digits. Such an identifier must not link events, because different people have it.
 */
export function isPlaceholderId(identifier: string): boolean {
  const text = identifier.normalize('NFKC').toLowerCase();
  const bare = text.replace(SIGNS, '');
  if (bare === '' || identifier.trim() === '-1' || /^0+$/.test(bare) || /^f{32}$/.test(bare) || NOBODY.has(bare))
    return true;
  // Zero-width characters do not separate words.
  const parts = text
    .replace(/\p{Cf}/gu, '')
    .split(SIGNS)
    .filter(Boolean);
  return parts.every((part) => NOBODY.has(part)) || OBJECT.test(text) || TEMPLATE.test(decoded(identifier));
}

/** Returns text from a URL without percent encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const SIGNS = /[^\p{L}\p{N}]+/gu;
/** An object that JavaScript wrote as text. */
const OBJECT = /^\s*\[object \w+\]\s*$/;
/** An unfilled variable of a template. */
const TEMPLATE =
  /^\s*(?:\{\{.*\}\}|\$\{.*\}|<%.*%>|%[A-Z_]+%|%\w+\.\w+%|\{[A-Za-z_.]+\}|\*\|.*\|\*|(?:your|my)[-_ ]?user[-_ ]?id)\s*$/i;
