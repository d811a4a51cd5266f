import { message, type Message } from '../../../messages/index.ts';

const MAX_URL = 2048;

/** Returns the problem of a name that must not appear on a consent page, or undefined. */
export function nameProblem(name: string): Message | undefined {
  if (name.trim() === '' || name.length > 255) return message('field.length', { min: 1, max: 255 });
  // Refuses these characters, because some of them reverse the direction of text and can make a name look like another
  // one.
  return /\p{C}/u.test(name) ? message('field.control_characters') : undefined;
}

/** Returns the problem of a URL that must not be shown or linked on a consent page, or undefined. */
export function webUrlProblem(text: string): Message | undefined {
  if (text.length > MAX_URL) return message('field.text_longer', { max: MAX_URL });
  if (!URL.canParse(text) || /[\s\p{C}\\]/u.test(text)) return message('field.url');
  const url = new URL(text);
  if (url.protocol !== 'https:') return message('field.url_not_https');
  return url.username !== '' || url.password !== '' ? message('field.user_information') : undefined;
}
