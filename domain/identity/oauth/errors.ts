import { AppError, type AppErrorOptions } from '../../../lib/errors.ts';
import type { Message } from '../../../messages/index.ts';

/** Error codes of RFC 6749, 7009, 7591 and 8707 that this server answers with. */
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

/** A refusal that has a code in OAuth's own vocabulary. OAuth's endpoints answer in that form, others in the envelope. */
export class OAuthError extends AppError {
  readonly oauthCode: OAuthCode;

  constructor(oauthCode: OAuthCode, said: Message, options: AppErrorOptions = {}) {
    super(oauthCode === 'invalid_client' ? 'unauthorized' : 'bad_request', said, options);
    this.name = 'OAuthError';
    this.oauthCode = oauthCode;
  }
}
