import { addressesIn } from './fields.ts';
import { fold } from './fold.ts';
import type { InboundMessage } from './parse.ts';

/** Recipient of our email. */
interface Recipient {
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
}

/** Header values of a message that identify its writer. */
export type WrittenBy = Pick<InboundMessage, 'authors' | 'relatedAddresses' | 'fromName'>;

/** Number of lines at the end of a message in which the writer's name is searched. */
const SIGN_OFF_LINES = 4;
const ROLES =
  /^(?:info|office|contact|kontakt|hello|hallo|mail|sales|support|help|service|admin|team|post|kundenservice|reception|billing|hr|jobs|marketing|press|welcome|enquiries|inquiries)$/;

/**
 * Returns true if the writer of a message is the recipient of our email. Compares the address, the name in From or
 * below the text, and addresses in the text.
 * @param words text written by the person, without quotes
 */
export function isSamePerson(recipient: Recipient, message: WrittenBy, words: string): boolean {
  const email = withoutTag(recipient.email);
  const addresses = [...message.authors, ...message.relatedAddresses].map(withoutTag);
  if (addresses.includes(email) || addresses.some((address) => isOtherAddress(address, email))) return true;
  if (addressesIn(words).some((address) => withoutTag(address) === email)) return true;
  const name = tokens(message.fromName);
  const given = tokens(recipient.firstName);
  const family = tokens(recipient.lastName);
  const whole = [...given, ...family];
  if (given.length > 0 && family.length > 0 && whole.every((part) => name.includes(part))) return true;
  if (whole.length === 0 && isNameOf(name, email)) return true;
  return given.length > 0 && signsAs(words, given, whole);
}

/**
 * Returns true if two addresses have the same local part and related domains. The domains may differ if the local part
 * consists of two names.
 */
function isOtherAddress(address: string, email: string): boolean {
  const [local = '', domain = ''] = email.split('@');
  const [otherLocal = '', otherDomain = ''] = address.split('@');
  if (local !== otherLocal || ROLES.test(local)) return false;
  if (/^\p{L}{2,}[._-]\p{L}{2,}/u.test(local)) return true;
  return domain.endsWith(`.${otherDomain}`) || otherDomain.endsWith(`.${domain}`);
}

/** Returns true if an address consists of parts of a two-word name: `dana.field`, `dfield`, `fieldd`, `danafield`. */
function isNameOf(name: readonly string[], email: string): boolean {
  const [first = '', last = ''] = [name[0], name.at(-1)];
  if (name.length < 2 || first === '' || last === '') return false;
  const local = (email.split('@', 1)[0] ?? '').replace(/[._-]/g, '');
  return [first + last, last + first, first.charAt(0) + last, last + first.charAt(0)].includes(local);
}

/** Returns true if one of the last lines consists only of the name. */
function signsAs(words: string, given: readonly string[], whole: readonly string[]): boolean {
  const lines = words.split('\n').flatMap((line) => line.trim() || []);
  return lines.slice(-SIGN_OFF_LINES).some((line) => {
    const parts = tokens(line);
    return (
      parts.length > 0 && given.every((part) => parts.includes(part)) && parts.every((part) => whole.includes(part))
    );
  });
}

function withoutTag(address: string): string {
  return address.replace(/\+[^@]*@/, '@');
}

function tokens(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}
