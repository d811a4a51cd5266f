import { OAUTH_CODES, OAuthError, type OAuthCode } from '../../domain/identity/oauth/errors.ts';
import type { AppError } from '../../lib/errors.ts';
import type { ErrorStyle } from './route.ts';
import { render } from '../../messages/render.ts';

/** Error body of OAuth's endpoints (RFC 6749, section 5.2; RFC 7591, section 3.2.2), in the OpenAPI document. */
export const oauthErrorSchema = {
  type: 'object',
  required: ['error', 'error_description', 'request_id'],
  properties: {
    error: { type: 'string', enum: OAUTH_CODES, description: 'Error code for programs' },
    error_description: { type: 'string', description: 'Error description; names every problem of a bad request' },
    request_id: { type: 'string', description: 'Also in the X-Request-Id header' },
    trace_id: { type: 'string', description: 'Present if traces are recorded' },
  },
};

/** Returns an error in the format of OAuth's endpoints. */
export function oauthBody(
  error: AppError,
  style: ErrorStyle,
  requestId: string,
): { error: OAuthCode; error_description: string; request_id: string } {
  const faults = (error.problems ?? []).map(
    ({ path, message }) => `${path.replace(/^(body|query)\./, '')}: ${render(message)}`,
  );
  return {
    error: codeOf(error, style),
    error_description: printable([error.message, ...faults].join('; ')),
    request_id: requestId,
  };
}

function codeOf(error: AppError, style: ErrorStyle): OAuthCode {
  if (error instanceof OAuthError) return error.oauthCode;
  if (error.status === 429 || error.status === 503) return 'temporarily_unavailable';
  if (error.status >= 500) return 'server_error';
  if (style === 'oauth') return 'invalid_request';
  return error.problems?.some(({ path }) => path.startsWith('body.redirect_uris'))
    ? 'invalid_redirect_uri'
    : 'invalid_client_metadata';
}

/** Removes characters that RFC 6749 does not allow in a description. */
function printable(text: string): string {
  return text
    .replaceAll('"', "'")
    .replaceAll('\\', '/')
    .replace(/[^\x20-\x7e]/g, '?');
}
