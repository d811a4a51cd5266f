import type { IncomingMessage } from 'node:http';
import accepts from 'accepts';
import type { Language } from '../../domain/platform/kernel/context.ts';

/**
 * The language that a request prefers of those there are (RFC 9110, section 12.5.4); English where it prefers none of them.
 * @param acceptLanguage the header as it was sent, such as `de-AT,de;q=0.9,en;q=0.5`
 */
export function preferredLanguage(acceptLanguage: string | undefined): Language {
  const request = { headers: { 'accept-language': acceptLanguage } } as unknown as IncomingMessage;
  return accepts(request).languages(['en', 'de']) === 'de' ? 'de' : 'en';
}
