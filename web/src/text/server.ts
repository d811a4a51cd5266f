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

/** Loaded messages of the server by language. Only the files whose codes occurred in answers are loaded. */
const sentences: Partial<Record<Language, Record<string, ParsedSentence>>> = {};
/** Codes in all answers for which messages were loaded. */
const seen = new Set<string>();

/** Loads the messages that an answer names by code, and returns the answer. */
export async function withServerTexts<Answer>(answer: Answer): Promise<Answer> {
  for (const code of codesIn(answer)) seen.add(code);
  // If loading fails, the server's own texts in the answer are shown.
  await loadServerTexts(language()).catch(() => undefined);
  return answer;
}

/** Loads the messages of all answers so far in a language. */
export async function loadServerTexts(inLanguage: Language): Promise<void> {
  const known = (sentences[inLanguage] ??= {});
  const missing = [...seen].filter((code) => known[code] === undefined);
  if (missing.length === 0) return;
  const { loadRooms } = await import('./rooms.ts');
  Object.assign(known, await loadRooms(missing, inLanguage));
}

function codesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    typeof part === 'string' && /^(?:message_)?code$/.test(name) ? [part] : codesIn(part),
  );
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

/**
 * Returns the text of a nested message.
 * @throws Error for an unknown message; the caller then shows the server's text
 */
function nested({ code, values }: Message): string {
  const text = sentenceOf(code, values);
  if (text === undefined) throw new Error(`no sentence of ${code}`);
  return text;
}

const isMessage = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && 'code' in value;
