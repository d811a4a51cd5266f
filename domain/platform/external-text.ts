import { message, type Message } from '../../messages/index.ts';
import { storableText } from './storable-text.ts';

/**
 * Wraps external text in a message, such as a mail server's answer or text written by a person. Characters that
 * PostgreSQL cannot store are removed.
 * @param max maximum number of characters kept
 */
export function externalText(text: string, max = 500): Message {
  return message('words', { words: storableText(text, max) });
}
