import { z } from 'zod';
import { inWords, type Said } from '../../lib/errors.ts';
import type { Language, Message } from '../../messages/index.ts';

/** Fields of a stored message in an answer. */
export const said = {
  message: z.string().meta({ description: 'In the language of the request' }),
  code: z.string().meta({ description: 'Names the sentence; stable' }),
  values: z.record(z.string(), z.unknown()).meta({ description: 'Values in the sentence' }),
};

/** A stored message as answers show it: in words, and as its code and values. */
export function presentSaid({ code, values }: Message, language?: Language) {
  return { message: inWords({ code, values }, language), code, values };
}

/** A stored reason in words; null where there is none. */
export function reasonIn(reason: Message | null, language?: Language): string | null {
  return reason && inWords(reason, language);
}

/** What went wrong and what to do about it, in the language of the request. */
export const issue = z.strictObject({ code: z.string(), message: z.string(), fix: z.string() });

/** A stored issue in words. */
export function presentIssue(
  { code, message, fix }: { code: string; message: Said; fix: Said },
  language?: Language,
): z.input<typeof issue> {
  return { code, message: inWords(message, language), fix: inWords(fix, language) };
}
