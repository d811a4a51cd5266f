import type { Config } from '../../lib/config/index.ts';
import { AppError } from '../../lib/errors.ts';

/**
 * The address that a checkout leads back to, when it may be used: one of an origin of this installation, the dashboard's, the API's or one
 * that CORS_ALLOW_ORIGINS names. Anything else would lend the checkout's good name to another site.
 * @throws AppError redirect_not_allowed
 */
export function checkReturnUrl(
  config: Pick<Config, 'APP_URL' | 'API_PUBLIC_URL' | 'CORS_ALLOW_ORIGINS'>,
  target: string,
): string {
  const owned = [config.APP_URL, config.API_PUBLIC_URL, ...config.CORS_ALLOW_ORIGINS].flatMap((address) =>
    URL.canParse(address) ? [new URL(address).origin] : [],
  );
  const url = URL.canParse(target) ? new URL(target) : null;
  // An opaque origin, as of a data URL, is `null` and must not equal that of another.
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || !owned.includes(url.origin))
    throw new AppError('redirect_not_allowed', 'The return URL is outside the origins of this installation', {
      fix: 'Use a URL under APP_URL, or leave it out.',
    });
  return url.href;
}
