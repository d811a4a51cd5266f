import { badRequest, type Problem } from '../../../lib/errors.ts';
import { checkOutboundUrl } from '../../../lib/egress/index.ts';
import { message } from '../../../messages/index.ts';

/**
 * Normalizes the base URL of an app for storage: drops query, fragment and trailing slash.
 * @param options.allowUnsafe ALLOW_UNSAFE_WEBHOOK_URLS, which allows any scheme, host and port
 * @throws AppError bad_request for anything but a public https URL without credentials
 */
export function normalizeBaseUrl(input: string, { allowUnsafe }: { allowUnsafe: boolean }): string {
  const check = checkOutboundUrl(input, { allowUnsafe });
  if (!check.ok)
    throw badRequest(message('connect.base_url_fault', { problem: check.problem }), [
      { path: 'body.base_url', message: check.problem },
    ]);
  return check.url.origin + check.url.pathname.replace(/\/+$/, '');
}

/**
 * Lists the problems for which {@link normalizeBaseUrl} would refuse a base URL. Empty for a valid or missing URL.
 */
export function baseUrlProblems(input: string | undefined, { allowUnsafe }: { allowUnsafe: boolean }): Problem[] {
  const check = input === undefined ? undefined : checkOutboundUrl(input, { allowUnsafe });
  return !check || check.ok ? [] : [{ path: 'body.base_url', message: check.problem }];
}

/** Joins the base URL and the path of an app_action. The path cannot lead to another origin. */
export function actionUrl(baseUrl: string, path: string): string {
  return baseUrl + (path.startsWith('/') ? path : `/${path}`);
}
