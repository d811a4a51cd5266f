import { isLiteralElement, parse } from '@formatjs/icu-messageformat-parser';
import type { ParsedSentence } from './format.ts';

/**
 * Parses an ICU message. The server parses a message when it first renders it. The build of the dashboard parses all
 * its messages.
 * @throws SyntaxError for text that is not ICU MessageFormat
 */
export function parseSentence(text: string): ParsedSentence {
  const elements = parse(text, { ignoreTag: true });
  return elements.every(isLiteralElement) ? elements.map(({ value }) => value).join('') : elements;
}
