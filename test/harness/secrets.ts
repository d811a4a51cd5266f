import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { plainText } from './plain-history.ts';

/** Minimum length of a secret. Shorter texts may be part of an id, a time or a port by chance. */
const MIN_CHARACTERS = 12;

/**
 * Returns a value that no other text contains by chance: 32 random hex digits behind a label that identifies the secret
 * in a failed assertion.
 */
export function randomSecret(label = 'secret'): string {
  return `${label}-${randomBytes(16).toString('hex')}`;
}

/**
 * Asserts that no secret occurs in a text, or in texts and bytes of rows, answers and histories: plain, in hex, or as
 * part of something in base64.
 * @throws Error for a secret of fewer than 12 characters, which a text may contain by chance
 */
export function assertNowhere(t: Pick<ExecutionContext, 'false'>, where: unknown, secrets: readonly string[]): void {
  const text = plainText(where);
  for (const secret of secrets) {
    if (secret.length < MIN_CHARACTERS) throw new Error(`"${secret}" is too short to look for: draw a longer one`);
    for (const form of formsOf(secret)) t.false(text.includes(form), `"${secret}" stands there as ${form}`);
  }
}

/**
 * Returns the encoded forms of a secret. Base64 encodes bytes in three ways depending on their offset; digits that
 * depend on neighbouring bytes are left out.
 */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const encoded = [0, 1, 2].flatMap((before) => {
    const from = Math.ceil((before * 8) / 6);
    const to = Math.floor(((before + bytes.length) * 8) / 6);
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    return [all.toString('base64').slice(from, to), all.toString('base64url').slice(from, to)];
  });
  return [secret, bytes.toString('hex'), ...encoded];
}
