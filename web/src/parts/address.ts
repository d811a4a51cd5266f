import punycode from 'punycode.js';

/** An address or domain as people read it: a domain of A-labels (`xn--…`) in Unicode. */
export function shownAddress(address: string): string {
  if (!address.includes('xn--')) return address;
  try {
    return punycode.toUnicode(address);
  } catch {
    return address;
  }
}
