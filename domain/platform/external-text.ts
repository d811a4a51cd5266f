import { message, type Message } from '../../messages/index.ts';

/**
 * Wraps external text in a message, such as a mail server's answer or text written by a person.
 * @param max maximum number of characters kept
 */
export function externalText(text: string, max = 500): Message {
  return message('words', { words: text.slice(0, max) });
}
