import { message, type Message } from '../../../messages/index.ts';

const MAX_URL = 2048;

/** The fault that keeps a name from a consent screen; undefined when it can be shown. */
export function nameProblem(name: string): Message | undefined {
  if (name.trim() === '' || name.length > 255) return message('field.length', { min: 1, max: 255 });
  // These include characters that reverse the direction of text, which can make a name read as another.
  return /\p{C}/u.test(name) ? message('field.control_characters') : undefined;
}

/** The fault that keeps a URL from a consent screen; undefined when it can be shown and linked to. */
export function webUrlProblem(text: string): Message | undefined {
  if (text.length > MAX_URL) return message('field.text_longer', { max: MAX_URL });
  if (!URL.canParse(text) || /[\s\p{C}\\]/u.test(text)) return message('field.url');
  const url = new URL(text);
  if (url.protocol !== 'https:') return message('field.url_not_https');
  return url.username !== '' || url.password !== '' ? message('field.user_information') : undefined;
}
