import type { Egress } from '../../../lib/egress/index.ts';
import type { MailProvider } from './mail-providers.ts';

/** Response of a provider's token endpoint. */
export interface TokenAnswer {
  accessToken: string;
  /** New refresh token. Undefined if the provider keeps the one that was sent. */
  refreshToken: string | undefined;
  expiresInMs: number;
  /** ID token with the mailbox's address. Only the first response contains it. */
  idToken: string | undefined;
}

/** Thrown when the provider refuses. `code` is the provider's error code (RFC 6749, section 5.2). */
export class TokenRefusal extends Error {
  override readonly name = 'TokenRefusal';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const MAX_ANSWER_BYTES = 64 * 1024;
/** Lifetime (ms) of a token if the response states none. */
const USUAL_LIFE_MS = 3_600_000;

/**
 * Requests tokens from a provider, for an authorization code or a refresh token.
 * @throws TokenRefusal with the provider's code, or `bad_answer`; EgressError when it cannot be reached
 */
export async function requestTokens(
  egress: Egress,
  provider: MailProvider,
  grant: Record<string, string>,
  timeoutMs: number,
): Promise<TokenAnswer> {
  const form = new URLSearchParams({ ...grant, client_id: provider.clientId, client_secret: provider.clientSecret });
  const { status, body } = await egress.request({
    method: 'POST',
    url: provider.token,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: form.toString(),
    timeoutMs,
    maxResponseBytes: MAX_ANSWER_BYTES,
  });
  const answer = parsed(body);
  if (status >= 400) {
    const code = textIn(answer, 'error') ?? `http_${status}`;
    const words = typeof answer.error_description === 'string' ? answer.error_description : code;
    throw new TokenRefusal(code, words.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, 300));
  }
  const accessToken = textIn(answer, 'access_token');
  if (status !== 200 || accessToken === undefined)
    throw new TokenRefusal('bad_answer', 'The answer holds no access token');
  const seconds = Number(answer.expires_in);
  return {
    accessToken,
    refreshToken: textIn(answer, 'refresh_token'),
    expiresInMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : USUAL_LIFE_MS,
    idToken: textIn(answer, 'id_token'),
  };
}

function parsed(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Returns a string field of the response. Undefined if it is missing or has control characters. */
function textIn(answer: Record<string, unknown>, name: string): string | undefined {
  const value = answer[name];
  return typeof value === 'string' && value !== '' && !/\p{Cc}/u.test(value) ? value : undefined;
}
