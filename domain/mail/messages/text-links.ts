/** A link found in a text, with the stretch of source a rewriting replaces. */
export interface FoundLink {
  readonly url: string;
  /** The anchor's text on one line, or its image's alternative text; empty in plain text. */
  readonly label: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Characters of URLs as people write them: ASCII without blanks, quotes and angle brackets, and letters and digits of any
 * script. Marks that stand inside words are among them. Punctuation, symbols and invisible marks beyond ASCII end a URL.
 */
const CHARACTER = '(?:[!#-;=?-_a-~]|[^\\P{L}\\p{ASCII}]|[\\p{M}\\u00b7\\u200c\\u200d]|[^\\P{N}\\p{ASCII}])';
/** A stretch that may be a URL; a list may have the next URL right behind its separator. The bound keeps hostile text cheap. */
const CANDIDATE = new RegExp(`\\bhttps?://(?:(?![,;|]https?://)${CHARACTER}){1,8192}`, 'giu');
/** As far back as the beginning of a URL is looked for. */
const URL_LOOKBACK = 512;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
/** Punctuation that ends a sentence, not a URL. */
const TRAILING = /[.,;:!?'*]/;
/** A letter of another script than Latin: behind a Latin letter or digit it begins the sentence that goes on. */
const OTHER_SCRIPT = /[^\P{L}\p{Script=Latin}]/u;

/** The http and https URLs written out in a plain text, in order, without the punctuation and the words around them. */
export function findTextLinks(text: string): FoundLink[] {
  const links: FoundLink[] = [];
  for (const { candidate, start } of candidatesIn(text)) {
    const url = withoutTrailing(candidate.slice(0, urlEnd(candidate)));
    if (isWebUrl(url)) links.push({ url, label: '', start, end: start + url.length });
  }
  return links;
}

/** The beginning of a URL that a text ends inside of, so that what is put behind it continues the URL; else undefined. */
export function unfinishedUrl(text: string): string | undefined {
  let start = text.length;
  while (start > 0 && text.length - start < URL_LOOKBACK && !/[\s<>"`]/.test(text[start - 1]!)) start -= 1;
  const last = [...candidatesIn(text.slice(start))].at(-1)?.candidate;
  return last !== undefined && text.endsWith(last) && urlEnd(last, true) === last.length ? last : undefined;
}

/** Stretches of a text that may be URLs; the next one may begin where a URL ends. */
function* candidatesIn(text: string): Generator<{ candidate: string; start: number }> {
  const pattern = new RegExp(CANDIDATE);
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    yield { candidate: match[0], start: match.index };
    pattern.lastIndex = match.index + Math.max('https://'.length, urlEnd(match[0], true));
  }
}

/** True for a complete http or https URL. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

/**
 * Length of the URL that a candidate begins with. Brackets belong to it in pairs: it ends at one that closes none, and
 * before one that is never closed.
 * @param isOpen more text may follow, which may close the open brackets
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
