import { z } from 'zod';

const MAX_ADDRESS = 254;
const DISPLAY_FORM = /<([^<>]*)>\s*$/;

/** Whether text is one lower-case address that every mail server reads the same way; the API's rule for addresses. */
export function isAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS && z.regexes.email.test(text);
}

/**
 * The address in a cell or query, lower-case: bare, or in the form `Name <addr>`. Null when there is none.
 */
export function parseAddress(text: string): string | null {
  let address = text.trim();
  if (address.endsWith('>')) address = DISPLAY_FORM.exec(address)?.[1]?.trim() ?? '';
  address = address.toLowerCase();
  return isAddress(address) ? address : null;
}
