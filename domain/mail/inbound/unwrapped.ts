const BEGIN_SIGNED = '-----BEGIN PGP SIGNED MESSAGE-----';
/** Signature of an OpenPGP message, up to its end. */
const PGP_SIGNATURE = /^-----BEGIN PGP SIGNATURE-----$[^]*?(?:^-----END PGP SIGNATURE-----$|(?![^]))/gm;
/** Marks of the writing direction, which programs put around names and addresses. */
const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** An address whose closing bracket was wrapped onto the next line, where it looks like a mark of a quote. */
const BROKEN_ADDRESS = /(<[^<>\s]{1,100}@[^<>\s]{1,100})\r?\n>(?=[:：])/g;

/**
 * Removes marks that programs put into a plain text. These are the armor of a signed OpenPGP message (RFC 9580, section
 * 7), marks of the writing direction, and a line break within an address.
 */
export function unwrapped(text: string): string {
  const plain = text.replace(DIRECTIONS, '').replace(BROKEN_ADDRESS, '$1>');
  const begin = plain.indexOf(BEGIN_SIGNED);
  if (begin < 0) return plain;
  const signed = plain.slice(begin + BEGIN_SIGNED.length).replace(/^(?:\r?\n[A-Za-z-]{1,40}: .{0,200})*\r?\n/, '');
  return (
    plain.slice(0, begin) +
    signed
      .replace(/\r\n/g, '\n')
      .replace(PGP_SIGNATURE, '')
      .replace(/^- (?=-)/gm, '')
  );
}
