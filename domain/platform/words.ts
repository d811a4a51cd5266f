import { message, type Message } from '../../messages/index.ts';

/**
 * Words that are not ours, as a message: what a mail server answered, what a person wrote.
 * @param max characters that are kept
 */
export function words(text: string, max = 500): Message {
  return message('words', { words: text.slice(0, max) });
}
