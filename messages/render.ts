import { formatSentence, type ParsedSentence } from './format.ts';
import { SENTENCES, type Language, type Message, type MessageCode } from './index.ts';
import { parseSentence } from './parse.ts';

const parsed = new Map<string, ParsedSentence>();

/**
 * Renders a message for its reader. If this version has no text for a stored code, returns the code.
 * @param timeZone time zone (IANA name) for times in the message; defaults to UTC
 */
export function render(message: Message, language: Language = 'en', timeZone = 'UTC'): string {
  const sentence = sentenceOf(message.code, language);
  if (sentence === undefined) return message.code;
  const values = Object.entries(message.values).map(([name, value]) => [
    name,
    typeof value === 'object' && 'code' in value ? render(value, language, timeZone) : value,
  ]);
  return formatSentence(sentence, Object.fromEntries(values), { language, timeZone });
}

function sentenceOf(code: MessageCode, language: Language): ParsedSentence | undefined {
  const text = SENTENCES[language][code] as string | undefined;
  if (text === undefined) return undefined;
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const sentence = parseSentence(text);
  parsed.set(text, sentence);
  return sentence;
}
