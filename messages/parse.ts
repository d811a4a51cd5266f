import { isLiteralElement, parse } from '@formatjs/icu-messageformat-parser';
import type { ParsedSentence } from './format.ts';

/**
 * An ICU sentence, parsed. The server parses a sentence when it first renders it, the dashboard's build parses all.
 * @throws SyntaxError where the sentence is no ICU MessageFormat
 */
export function parseSentence(text: string): ParsedSentence {
  const elements = parse(text, { ignoreTag: true });
  return elements.every(isLiteralElement) ? elements.map(({ value }) => value).join('') : elements;
}
