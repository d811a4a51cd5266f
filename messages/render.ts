import { formatSentence, type ParsedSentence } from './format.ts';
import { SENTENCES, type Language, type Message, type MessageCode } from './index.ts';
import { parseSentence } from './parse.ts';

const parsed: Record<Language, Map<MessageCode, ParsedSentence>> = { en: new Map(), de: new Map() };

/**
 * A message as its reader understands it. A stored code that this version has no sentence for stands as it is.
 * @param timeZone IANA name, for moments; UTC where nobody said
 */
export function render(said: Message, language: Language = 'en', timeZone = 'UTC'): string {
  const sentence = sentenceOf(said.code, language);
  if (sentence === undefined) return said.code;
  const values = Object.entries(said.values).map(([name, value]) => [
    name,
    typeof value === 'object' && 'code' in value ? render(value, language, timeZone) : value,
  ]);
  return formatSentence(sentence, Object.fromEntries(values), { language, timeZone });
}

function sentenceOf(code: MessageCode, language: Language): ParsedSentence | undefined {
  const known = parsed[language].get(code);
  if (known !== undefined) return known;
  const text = SENTENCES[language][code] as string | undefined;
  if (text === undefined) return undefined;
  const sentence = parseSentence(text);
  parsed[language].set(code, sentence);
  return sentence;
}
