const MAX_URL = 2048;

/** Why a name cannot be shown on a consent screen, as a sentence; undefined when it can. */
export function nameProblem(name: string): string | undefined {
  if (name.trim() === '' || name.length > 255) return 'Must be 1 to 255 characters';
  // These include characters that reverse the direction of text, which can make a name read as another.
  return /\p{C}/u.test(name) ? 'Must not have control or formatting characters' : undefined;
}

/** Why a URL cannot be shown or linked to on a consent screen, as a sentence; undefined when it can. */
export function webUrlProblem(text: string): string | undefined {
  if (text.length > MAX_URL) return `Must be ${MAX_URL} characters or shorter`;
  if (!URL.canParse(text) || /[\s\p{C}\\]/u.test(text)) return 'Must be a URL';
  const url = new URL(text);
  if (url.protocol !== 'https:') return 'Must use https';
  return url.username !== '' || url.password !== '' ? 'Must not have user information' : undefined;
}
