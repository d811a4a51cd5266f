import { z } from 'zod';
import type { Language, Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

/** Fields of a stored message in an answer. */
export const storedMessage = {
  message: z.string().meta({ description: 'Text in the language of the request' }),
  code: z.string().meta({ description: 'Stable code of the message' }),
  values: z.record(z.string(), z.unknown()).meta({ description: 'Values in `message`, by name' }),
};

/** Returns a stored message as text, with its code and values. */
export function presentMessage({ code, values }: Message, language: Language | undefined) {
  return { message: render({ code, values }, language), code, values };
}

/** Fields of a reason in an answer. The reason may be a text written by a mail server or a person. */
export const shownReason = {
  reason: z.string().meta({ description: 'Text in the language of the request; empty if no reason is known' }),
  reason_code: z
    .string()
    .nullable()
    .meta({ description: 'Stable code of the reason; `words` marks the words of a server or a person' }),
};

/** Returns a stored reason as text with its code; empty text if there is none. */
export function presentReason(reason: Message | null, language: Language | undefined) {
  return { reason: reasonIn(reason, language) ?? '', reason_code: reason?.code ?? null };
}

/** Returns the text of a stored reason, or null. */
export function reasonIn(reason: Message | null, language: Language | undefined): string | null {
  return reason && render(reason, language);
}

/** Returns the field `blocked_reason` of a record whose workflow is blocked, or else no field. */
export function presentBlocked(
  { blocked_reason: reason }: { blocked_reason: Message | null },
  language: Language | undefined,
) {
  return reason ? { blocked_reason: render(reason, language) } : {};
}

/** Error of a record and its fix, in the language of the request. */
export const issue = z.strictObject({ code: z.string(), message: z.string(), fix: z.string() });

/** Returns the texts of a stored issue in a language. */
export function presentIssue(
  { code, message, fix }: { code: string; message: Message; fix: Message },
  language: Language | undefined,
): z.input<typeof issue> {
  return { code, message: render(message, language), fix: render(fix, language) };
}
