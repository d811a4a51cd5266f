import { de } from './de/index.ts';
import { en } from './en/index.ts';
import { LANGUAGES, type Language } from './languages.ts';
import type { Values } from './values.ts';

export { LANGUAGES, type Language };

/** Every code that the server may say. */
export type MessageCode = keyof typeof en;

/** A sentence by its code, with its values: what is thrown, stored and sent. It is JSON. */
export interface Message {
  code: MessageCode;
  values: { [name: string]: MessageValue };
}
/** A value of a sentence: text as it is, a number, a moment as RFC 3339 text, a list, or a sentence within the sentence. */
type MessageValue = string | number | readonly string[] | Message;

/** Sentences of every language by code. A code that a language lacks does not compile. */
export const SENTENCES: Readonly<Record<Language, Readonly<Record<MessageCode, string>>>> = { en, de };

type ValuesOf<Code extends MessageCode> = Values<(typeof en)[Code], Message>;

/** The language of a stored or sent tag; undefined where no sentences are in it. */
export function toLanguage(tag: string | null | undefined): Language | undefined {
  return LANGUAGES.find((language) => language === tag);
}

/** Several sentences as one value, each after a semicolon. At least one is needed. */
export function joined([first, ...rest]: readonly Message[]): Message {
  return rest.reduce((all, next) => ({ code: 'sentence.and', values: { first: all, next } }), first!);
}

/** A message of a code with the values that its English sentence names. */
export function message<Code extends MessageCode>(
  code: Code,
  ...[values]: keyof ValuesOf<Code> extends never ? [] : [values: ValuesOf<Code>]
): Message {
  return { code, values: (values ?? {}) as Message['values'] };
}
