import { fold } from './fold.ts';

/** Marks that mail programs put before the subject of a reply or forwarded message; matches folded text. */
export const ANSWERS = /^(?:(?:re|aw|sv|vs|rv|ref|odp|antw|r|fwd?|wg|tr)\s?(?:\[\d+\])?\s?:\s*)+/;

/**
 * Removes our sent subjects from a reply's folded subject: `Automatic reply: Vacation homes` gives `Automatic reply:`,
 * and `Vacation homes` gives an empty text. Our own subject must not influence the classification of the reply.
 */
export function withoutOwnSubject(subject: string, sent: readonly string[]): string {
  const whole = fold(subject).trim();
  for (const each of sent) {
    const ours = fold(each).trim().replace(ANSWERS, '');
    const at = ours === '' ? -1 : whole.lastIndexOf(ours);
    if (at < 0 || isLetter(whole[at - 1]) || isLetter(whole[at + ours.length])) continue;
    return `${whole.slice(0, at)} ${whole.slice(at + ours.length)}`.trim();
  }
  return whole;
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}
