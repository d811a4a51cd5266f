import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { plainText } from './plain-history.ts';

/** Shorter texts can be part of an id, a time or a port by chance. */
const MIN_CHARACTERS = 12;

/** A value that no other text contains by chance: 32 drawn hexadecimal digits behind a label, which says in a failure what leaked. */
export function drawnSecret(label = 'secret'): string {
  return `${label}-${randomBytes(16).toString('hex')}`;
}

/**
 * Asserts that none of the secrets stands in a text, or in the texts and bytes of rows, answers and histories: as it is, in hexadecimal, or as part of
 * something in base64.
 * @throws for a secret of fewer than 12 characters, which a text can contain by chance
 */
export function assertNowhere(t: Pick<ExecutionContext, 'false'>, where: unknown, secrets: readonly string[]): void {
  const text = plainText(where);
  for (const secret of secrets) {
    if (secret.length < MIN_CHARACTERS) throw new Error(`"${secret}" is too short to look for: draw a longer one`);
    for (const form of formsOf(secret)) t.false(text.includes(form), `"${secret}" stands there as ${form}`);
  }
}

/** Base64 writes the same bytes in three ways, by where they begin; digits that neighbours take part in are left out. */
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
