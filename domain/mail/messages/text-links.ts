/** A link found in a text, with the range of the source that rewriting replaces. */
export interface FoundLink {
  readonly url: string;
  /** Text of the anchor on one line, or its image's alternative text. Empty in plain text. */
  readonly label: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Characters of typed URLs: ASCII except blanks, quotes and angle brackets, plus letters, digits and word-internal
 * marks of any script. Other punctuation, symbols and invisible marks beyond ASCII end a URL.
 */
const CHARACTER = '(?:[!#-;=?-_a-~]|[^\\P{L}\\p{ASCII}]|[\\p{M}\\u00b7\\u200c\\u200d]|[^\\P{N}\\p{ASCII}])';
/**
 * Text that may be a URL. In a list, the next URL may directly follow the comma, semicolon or bar. The length limit
 * bounds the work for hostile text.
 */
const CANDIDATE = new RegExp(`\\bhttps?://(?:(?![,;|]https?://)${CHARACTER}){1,8192}`, 'giu');
/** Maximum number of characters that are searched backwards for the beginning of a URL. */
const URL_LOOKBACK = 512;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
/** Punctuation that ends a sentence, not a URL. */
const TRAILING = /[.,;:!?'*]/;
/**
 * A letter of a non-Latin script. After a Latin letter or a digit, such a letter belongs to the sentence, not to the
 * URL.
 */
const OTHER_SCRIPT = /[^\P{L}\p{Script=Latin}]/u;

/** Finds the http and https URLs in a plain text, in order, without adjacent punctuation and words. */
export function findTextLinks(text: string): FoundLink[] {
  const links: FoundLink[] = [];
  for (const { candidate, start } of candidatesIn(text)) {
    const url = withoutTrailing(candidate.slice(0, urlEnd(candidate)));
    if (isWebUrl(url)) links.push({ url, label: '', start, end: start + url.length });
  }
  return links;
}

/**
 * Returns the URL with which a text ends, so that appended text would become part of it. Undefined if the text does not
 * end with a URL.
 */
export function unfinishedUrl(text: string): string | undefined {
  let start = text.length;
  while (start > 0 && text.length - start < URL_LOOKBACK && !/[\s<>"`]/.test(text[start - 1]!)) start -= 1;
  const last = [...candidatesIn(text.slice(start))].at(-1)?.candidate;
  return last !== undefined && text.endsWith(last) && urlEnd(last, true) === last.length ? last : undefined;
}

/** Yields the parts of a text that may be URLs. The search continues directly after the end of each URL. */
function* candidatesIn(text: string): Generator<{ candidate: string; start: number }> {
  const pattern = new RegExp(CANDIDATE);
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    yield { candidate: match[0], start: match.index };
    pattern.lastIndex = match.index + Math.max('https://'.length, urlEnd(match[0], true));
  }
}

/** Returns true for a complete http or https URL. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

/**
 * Returns the length of the URL at the start of a candidate. Brackets belong to the URL in pairs: it ends at an
 * unopened closing bracket, and before an unclosed opening bracket.
 * @param isOpen true if more text may follow, which may close the open brackets
 */
function urlEnd(candidate: string, isOpen = false): number {
  const open: { closing: string; at: number }[] = [];
  let index = 0;
  for (; index < candidate.length; index += 1) {
    const character = String.fromCodePoint(candidate.codePointAt(index)!);
    const closing = CLOSING[character];
    if (closing !== undefined) open.push({ closing, at: index });
    else if (character === ')' || character === ']' || character === '}') {
      if (open.at(-1)?.closing !== character) break;
      open.pop();
    } else if (character === "'" && !/[\p{L}\p{N}]/u.test(candidate[index + 1] ?? '')) break;
    else if (OTHER_SCRIPT.test(character) && /[a-z0-9]/i.test(candidate[index - 1]!)) break;
    index += character.length - 1;
  }
  return isOpen ? index : Math.min(index, open[0]?.at ?? index);
}

function withoutTrailing(url: string): string {
  let end = url.length;
  while (TRAILING.test(url[end - 1] ?? '')) end -= 1;
  return url.slice(0, end);
}
