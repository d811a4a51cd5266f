import { domainToASCII, domainToUnicode } from 'node:url';
import { z } from 'zod';

const MAX_ADDRESS = 254;
/** Longer text holds no address that is worth the work of cleaning. */
const MAX_WRITTEN = 2_000;
const PLAIN = /^[\w.+-]+@[a-z\d][a-z\d.-]*[a-z]$/i;
/** Characters without a shape, which copying leaves in text: zero-width, soft hyphen, direction marks, isolates. */
const SHAPELESS = /[\p{Default_Ignorable_Code_Point}\p{Cf}\0]/gu;
const DISPLAY_FORM = /<([^<>]*)>$/;
const MAILTO = /^mailto:/i;
/** Marks that surround an address in a sentence or a list; an apostrophe is cut only in pairs. */
const AROUND = /^[\s"“”„«»‹›`[({,;]+|[\s"“”„«»‹›`\])},;:.!?]+$/g;

/** Tells whether text is one lower-case address that every mail server reads the same way; the API's rule for addresses. */
export function isAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS && z.regexes.email.test(text);
}

/**
 * The one form in which an address is stored and compared, or null when the text is no single address: lower case, the
 * domain in A-labels (UTS 46). Takes what people paste: `Name <addr>`, `mailto:`, marks around it, shapeless and
 * full-width characters.
 */
export function parseAddress(text: string): string | null {
  if (PLAIN.test(text)) return checked(text.toLowerCase());
  if (text.length > MAX_WRITTEN) return null;
  return checked(asciiAddress(unwrapped(text)));
}

/** Separators of addresses in a cell, Google's ` ::: ` among them. */
const BETWEEN = /\s*(?:[;,|\n\r\t]|:::|\s\/\s)\s*/;

/** All addresses of a text that is nothing but addresses, each in its one form and once; empty where it is anything else. */
export function parseAddresses(text: string): string[] {
  const single = parseAddress(text);
  if (single) return [single];
  if (text.length > MAX_WRITTEN) return [];
  const clean = withoutShapeless(text).trim();
  const listed = clean.split(BETWEEN).filter(Boolean);
  const parts = (listed.length > 1 ? listed : clean.split(/\s+/)).map(parseAddress);
  return parts.every((part) => part !== null) ? [...new Set(parts)] : [];
}

/** The form of an address that look-ups compare: that of {@link parseAddress}, or lower case where it is no address. */
export function addressKey(text: string): string {
  return parseAddress(text) ?? text.trim().toLowerCase();
}

/** Lower case, with the domain in A-labels (RFC 5890): `Info@Bücher.example` becomes `info@xn--bcher-kva.example`. */
export function asciiAddress(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return `${address.slice(0, at)}${asciiHost(address.slice(at))}`.toLowerCase();
}

/** A host name in A-labels and lower case, without a final dot; as it is where UTS 46 refuses it. */
export function asciiHost(host: string): string {
  const plain = host.replace(/[.。]$/, '');
  const ascii = /[^\0-\x7f]/.test(plain) ? domainToASCII(plain) : plain;
  return (ascii || plain).toLowerCase();
}

/** An address or host as people read it, with the domain in Unicode instead of A-labels. */
export function shownAddress(address: string): string {
  if (!address.includes('xn--')) return address;
  const at = address.lastIndexOf('@') + 1;
  return `${address.slice(0, at)}${domainToUnicode(address.slice(at)) || address.slice(at)}`;
}

/** Text without shapeless characters and with full-width ones in their usual width. */
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
    const shown = DISPLAY_FORM.exec(rest);
    // The name may be the same address; another one would make them two.
    if (shown && namesAnother(rest.slice(0, shown.index), shown[1]!)) return '';
    if (shown) rest = shown[1]!.trim();
    if (MAILTO.test(rest)) rest = withoutMailto(rest);
    if (/^'.*'$/s.test(rest)) rest = rest.slice(1, -1);
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
