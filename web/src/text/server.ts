import { formatSentence, type ParsedSentence } from '../../../messages/format.ts';
import type { Message } from '../../../messages/index.ts';
import type { Language } from '../../../messages/languages.ts';
import { language, reader } from '../app/preferences.ts';

/** Message of the server: its text in the language of the request, and its code with values. */
interface ServerMessage {
  message: string;
  code?: string | undefined;
  values?: Values | undefined;
}
type Values = Readonly<Record<string, unknown>>;

/** The server's messages by language, loaded with the first page that shows them or with the first error. */
const sentences: Partial<Record<Language, Readonly<Record<string, ParsedSentence>>>> = {};
const files = import.meta.glob<Record<string, Readonly<Record<string, ParsedSentence>>>>([
  '../../../messages/*/index.ts',
]);

/** Loads the server's messages in a language. */
export async function loadServerTexts(inLanguage: Language): Promise<void> {
  const file = files[`../../../messages/${inLanguage}/index.ts`];
  if (file && !sentences[inLanguage]) sentences[inLanguage] = Object.values(await file())[0]!;
}

/**
 * Returns a server message in the reader's language, with times in their zone. Falls back to its own text for an
 * unknown code.
 */
export function messageText({ message, code, values = {} }: ServerMessage): string {
  return (code && sentenceOf(code, values)) || message;
}

/** Returns a server message with its values; undefined if this build lacks it or it needs other values. */
function sentenceOf(code: string, values: Values): string | undefined {
  const sentence = sentences[language()]?.[code];
  if (sentence === undefined) return undefined;
  try {
    const put = Object.entries(values).map(([name, value]) => [name, isMessage(value) ? nested(value) : value]);
    return formatSentence(sentence, Object.fromEntries(put), reader());
  } catch {
    return undefined;
  }
}

/** @throws Error for an unknown message; the caller then shows the server's text */
function nested({ code, values }: Message): string {
  const text = sentenceOf(code, values);
  if (text === undefined) throw new Error(`no sentence of ${code}`);
  return text;
}

const isMessage = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && 'code' in value;
