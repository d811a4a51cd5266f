import type { IncomingMessage } from 'node:http';
import accepts from 'accepts';
import { LANGUAGES, type Language } from '../../messages/languages.ts';

/**
 * The language that a request prefers of those there are (RFC 9110, section 12.5.4); English where it prefers none of them.
 * @param acceptLanguage the header as it was sent, such as `de-AT,de;q=0.9,en;q=0.5`
 */
export function preferredLanguage(acceptLanguage: string | undefined): Language {
  return namedLanguage(acceptLanguage) ?? 'en';
}

/** As {@link preferredLanguage}, but undefined where the request names no language that there is: a script sends `*` or nothing. */
export function namedLanguage(acceptLanguage: string | undefined): Language | undefined {
  const request = { headers: { 'accept-language': acceptLanguage } } as unknown as IncomingMessage;
  const known = accepts(request);
  const preferred = known.languages([...LANGUAGES]);
  const isNamed = known.languages().some((tag) => tag.toLowerCase().split('-')[0] === preferred);
  return isNamed ? LANGUAGES.find((language) => language === preferred) : undefined;
}
