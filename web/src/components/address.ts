import punycode from 'punycode.js';

/** Formats an address or domain for people: A-labels (`xn--…`) as Unicode. */
export function shownAddress(address: string): string {
  if (!address.includes('xn--')) return address;
  try {
    return punycode.toUnicode(address);
  } catch {
    return address;
  }
}
