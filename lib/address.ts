import { domainToASCII, domainToUnicode } from 'node:url';
import { z } from 'zod';

const MAX_ADDRESS = 254;
/** Maximum length (characters) of text that is searched for addresses. Longer text is not treated as an address. */
const MAX_WRITTEN = 2_000;
const PLAIN = /^[\w.+-]+@[a-z\d][a-z\d.-]*[a-z]$/i;
/**
 * Invisible characters that pasted text can contain: zero-width characters, soft hyphens, direction marks, isolates.
 */
const SHAPELESS = /[\p{Default_Ignorable_Code_Point}\p{Cf}\0]/gu;
const DISPLAY_FORM = /<([^<>]*)>$/;
const MAILTO = /^mailto:/i;
/** A link in Markdown, as databases of notes export it. */
const MARKDOWN_LINK = /^\[([^\]]*)\]\(([^()]*)\)$/;
/** Quotes, brackets and punctuation around an address in a sentence or list. Excel marks a text by an apostrophe. */
const AROUND = /^[\s"“”„'‘’‚«»‹›`[({,;]+|[\s"“”„'‘’«»‹›`\])},;:.!?]+$/g;

/**
 * Returns true if the text is one lower-case address that every mail server interprets in the same way. The API accepts
 * only such addresses.
 */
export function isAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS && z.regexes.email.test(text);
}

/**
 * Returns the canonical form in which an address is stored and compared: lower case, the domain in A-labels (UTS 46).
 * Returns null if the text is not exactly one address. Accepts pasted forms: `Name <addr>`, `mailto:`, surrounding
 * marks, invisible and full-width characters.
 */
export function parseAddress(text: string): string | null {
  if (PLAIN.test(text)) return checked(text.toLowerCase());
  if (text.length > MAX_WRITTEN) return null;
  return checked(asciiAddress(unwrapped(text)));
}

/** Separators between addresses in one cell. ` ::: ` is the separator of Google exports. */
const BETWEEN = /\s*(?:[;,|\n\r\t]|:::|\s\/\s)\s*/;

/**
 * Returns the distinct canonical addresses of a text that consists only of addresses. Returns an empty array for any
 * other text.
 */
export function parseAddresses(text: string): string[] {
  const single = parseAddress(text);
  if (single) return [single];
  if (text.length > MAX_WRITTEN) return [];
  const clean = withoutShapeless(text).trim();
  const listed = clean.split(BETWEEN).filter(Boolean);
  const parts = (listed.length > 1 ? listed : clean.split(/\s+/)).map(parseAddress);
  return parts.every((part) => part !== null) ? [...new Set(parts)] : [];
}

/**
 * Returns the look-up key of an address: the result of {@link parseAddress}, or the text in lower case if it is no
 * address.
 */
export function addressKey(text: string): string {
  return parseAddress(text) ?? text.trim().toLowerCase();
}

/**
 * Returns the address in lower case, with the domain in A-labels (RFC 5890): `Info@Bücher.example` becomes
 * `info@xn--bcher-kva.example`.
 */
export function asciiAddress(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return `${address.slice(0, at)}${asciiHost(address.slice(at))}`.toLowerCase();
}

/**
 * Returns a host name in A-labels and lower case, without a trailing dot. Returns the input unchanged if UTS 46 rejects
 * it.
 */
export function asciiHost(host: string): string {
  const plain = host.replace(/[.。]$/, '');
  const ascii = /[^\0-\x7f]/.test(plain) ? domainToASCII(plain) : plain;
  return (ascii || plain).toLowerCase();
}

/** Returns an address or host for display, with the domain in Unicode instead of A-labels. */
export function shownAddress(address: string): string {
  if (!address.includes('xn--')) return address;
  const at = address.lastIndexOf('@') + 1;
  return `${address.slice(0, at)}${domainToUnicode(address.slice(at)) || address.slice(at)}`;
}

/** Removes invisible characters and converts full-width characters to their usual width. */
export function withoutShapeless(text: string): string {
  return text
    .replace(SHAPELESS, '')
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replaceAll('﹫', '@');
}

function unwrapped(text: string): string {
  let rest = withoutShapeless(text).trim();
  for (let before = ''; before !== rest;) {
    before = rest;
    const link = MARKDOWN_LINK.exec(rest);
    if (link && namesAnother(link[1]!, link[2]!)) return '';
    if (link) rest = link[2]!.trim();
    const shown = DISPLAY_FORM.exec(rest);
    // The display name may repeat the address. A text whose name contains a different address is refused.
    if (shown && namesAnother(rest.slice(0, shown.index), shown[1]!)) return '';
    if (shown) rest = shown[1]!.trim();
    if (MAILTO.test(rest)) rest = withoutMailto(rest);
    if (!rest.includes('<')) rest = rest.replace(/>+$/, '');
    if (!rest.includes('>')) rest = rest.replace(/^<+/, '');
    rest = rest.replace(AROUND, '');
  }
  return rest;
}

function namesAnother(before: string, address: string): boolean {
  return before.includes('@') && parseAddress(before) !== parseAddress(address);
}

function withoutMailto(text: string): string {
  const [address = ''] = text.replace(MAILTO, '').split(/[?|]/);
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

function checked(address: string): string | null {
  return isAddress(address) ? address : null;
}
