import { AppError, type AppErrorOptions } from '../../../lib/errors.ts';
import type { Message } from '../../../messages/index.ts';

/** Error codes of RFC 6749, 7009, 7591 and 8707 that this server returns. */
export const OAUTH_CODES = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'invalid_scope',
  'invalid_target',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
  'unsupported_token_type',
  'access_denied',
  'invalid_redirect_uri',
  'invalid_client_metadata',
  'temporarily_unavailable',
  'server_error',
] as const;
export type OAuthCode = (typeof OAUTH_CODES)[number];

/** An error with an OAuth code. OAuth endpoints return it in OAuth's form, others in the API's error envelope. */
export class OAuthError extends AppError {
  readonly oauthCode: OAuthCode;

  constructor(oauthCode: OAuthCode, said: Message, options: AppErrorOptions = {}) {
    super(oauthCode === 'invalid_client' ? 'unauthorized' : 'bad_request', said, options);
    this.name = 'OAuthError';
    this.oauthCode = oauthCode;
  }
}
