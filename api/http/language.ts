import type { IncomingMessage } from 'node:http';
import accepts from 'accepts';
import { LANGUAGES, type Language } from '../../messages/languages.ts';

/**
 * Returns the supported language that a request prefers (RFC 9110, section 12.5.4), English by default.
 * @param acceptLanguage the header as sent, such as `de-AT,de;q=0.9,en;q=0.5`
 */
export function preferredLanguage(acceptLanguage: string | undefined): Language {
  return namedLanguage(acceptLanguage) ?? 'en';
}

/**
 * Variant of {@link preferredLanguage} that returns undefined if the request names no supported language. Scripts send
 * `*` or no header.
 */
export function namedLanguage(acceptLanguage: string | undefined): Language | undefined {
  if (!acceptLanguage) return undefined;
  const request = { headers: { 'accept-language': acceptLanguage } } as unknown as IncomingMessage;
  const known = accepts(request);
  const preferred = known.languages([...LANGUAGES]);
  const isNamed = known.languages().some((tag) => tag.toLowerCase().split('-')[0] === preferred);
  return isNamed ? LANGUAGES.find((language) => language === preferred) : undefined;
}
