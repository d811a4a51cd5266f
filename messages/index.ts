import { de } from './de/index.ts';
import { en } from './en/index.ts';
import { LANGUAGES, type Language } from './languages.ts';
import type { Values } from './values.ts';

export { LANGUAGES, type Language };

/** Every message code of the server. */
export type MessageCode = keyof typeof en;

/** Message as code and values. It is thrown, stored and sent in this form, which is JSON. */
export interface Message {
  code: MessageCode;
  values: { [name: string]: MessageValue };
}
/** Value of a message: text, a number, a time as RFC 3339 text, a list, or a nested message. */
type MessageValue = string | number | readonly string[] | Message;

/** Messages of every language by code. A missing code is a compile error. */
export const SENTENCES: Readonly<Record<Language, Readonly<Record<MessageCode, string>>>> = { en, de };

type ValuesOf<Code extends MessageCode> = Values<(typeof en)[Code], Message>;

/** Returns the language of a BCP 47 tag; undefined for a language without messages. */
export function toLanguage(tag: string | null | undefined): Language | undefined {
  return LANGUAGES.find((language) => language === tag);
}

/** Joins one or more messages into a single message, separated by semicolons. */
export function joined([first, ...rest]: readonly Message[]): Message {
  return rest.reduce((all, next) => ({ code: 'sentence.and', values: { first: all, next } }), first!);
}

/** Creates a message of a code with the values that its English text names. */
export function message<Code extends MessageCode>(
  code: Code,
  ...[values]: keyof ValuesOf<Code> extends never ? [] : [values: ValuesOf<Code>]
): Message {
  return { code, values: (values ?? {}) as Message['values'] };
}
