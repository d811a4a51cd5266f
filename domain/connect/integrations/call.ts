import { DAY_MS, type Clock } from '../../../lib/clock.ts';
import type { Egress, EgressResponse } from '../../../lib/egress/index.ts';
import { EgressError } from '../../../lib/egress/index.ts';
import { signPayload } from '../../../lib/signature.ts';
import { message } from '../../../messages/index.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import {
  RateLimited,
  ReauthRequired,
  Refused,
  Unavailable,
  type Provider,
  type ProviderAnswer,
  type ProviderCall,
  type ProviderRequest,
} from './providers/provider.ts';

/** Dependencies of a provider client. */
export type CallDeps = Pick<Deps, 'config' | 'egress' | 'clock'>;

/** The account that makes the requests. */
export interface CallSubject {
  config?: Readonly<Record<string, unknown>>;
  /** Base URL of this account's API, if the account has its own. */
  apiBase?: string | null;
  /** Returns the access token (OAuth only). */
  accessToken?(): Promise<string>;
  /** Returns a new access token in place of a refused one. */
  refresh?(refused: string): Promise<string>;
  /** Secret that signs webhooks. */
  signingSecret?: string | undefined;
}

const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
/** Default wait (ms) after a 429 response without a Retry-After time. */
const USUAL_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = DAY_MS;
const MAX_MESSAGE = 300;

/** Opens a provider client for one account. */
export function openCall(deps: CallDeps, provider: Provider, subject: CallSubject): ProviderCall {
  const config = subject.config ?? {};
  return {
    config,
    async request(request) {
      const url = urlOf(deps, provider, subject, request);
      const isOwn = url.origin === new URL(baseOf(deps, provider, subject)).origin;
      const token = isOwn ? await subject.accessToken?.() : undefined;
      let answer = await send(deps, provider, subject, { request, url, isOwn, token });
      const isRefused = () => isOwn && isRefusedToken(provider, answer);
      if (isRefused() && subject.refresh && token !== undefined)
        answer = await send(deps, provider, subject, { request, url, isOwn, token: await subject.refresh(token) });
      if (isRefused()) throw new ReauthRequired(message('connect.credentials_ended', { provider: provider.name }));
      return settle(provider, request, answer, deps.clock);
    },
  };
}

/**
 * Returns the base URL of an account's API. Uses the installation's setting. If it is missing, uses the account's
 * value, and finally the provider's default.
 */
function baseOf({ config }: CallDeps, provider: Provider, subject: CallSubject): string {
  return config.INTEGRATION_ENDPOINTS?.[provider.id]?.api ?? subject.apiBase ?? provider.apiBase;
}

function urlOf(deps: CallDeps, provider: Provider, subject: CallSubject, request: ProviderRequest): URL {
  const { path, query } = request;
  const isWhole = /^https?:\/\//.test(path);
  if (!isWhole && !path.startsWith('/')) throw new TypeError('a path below the base starts with a slash');
  const url = new URL(isWhole ? path : baseOf(deps, provider, subject) + path);
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

interface Attempt {
  request: ProviderRequest;
  url: URL;
  isOwn: boolean;
  token: string | undefined;
}

/**
 * Sends one request to the provider.
 * @throws Unavailable without an answer, Refused for an address that may not be called
 */
async function send(
  { config, egress, clock }: CallDeps,
  provider: Provider,
  subject: CallSubject,
  { request, url, isOwn, token }: Attempt,
): Promise<ProviderAnswer> {
  const { json, form } = request;
  const body =
    json !== undefined ? JSON.stringify(json) : form ? new URLSearchParams({ ...form }).toString() : undefined;
  const type = json !== undefined ? 'application/json' : 'application/x-www-form-urlencoded';
  const authorization = token
    ? { authorization: `Bearer ${token}` }
    : isOwn
      ? provider.credentials?.authorize?.(subject.config ?? {})
      : undefined;
  const signature =
    request.signed && subject.signingSecret
      ? {
          'x-service-signature': signPayload(
            subject.signingSecret,
            Math.floor(clock.now().getTime() / 1000),
            body ?? '',
          ),
        }
      : undefined;
  const answer = await exchange(egress, provider, {
    method: request.method,
    url,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-type': type }),
      ...authorization,
      ...signature,
      ...request.headers,
    },
    ...(body === undefined ? {} : { body }),
    timeoutMs: config.INTEGRATION_TIMEOUT_MS,
    maxResponseBytes: MAX_ANSWER_BYTES,
  });
  if (answer.truncated) throw new Refused(message('connect.provider_too_large', { provider: provider.name }));
  const text = answer.body.toString('utf8');
  return { status: answer.status, headers: plainHeaders(answer), json: parseJson(text), text };
}

/** Sends one request. @throws Unavailable without an answer, Refused for an address that may not be called */
export async function exchange(
  egress: Egress,
  { name }: Provider,
  request: Parameters<Egress['request']>[0],
): Promise<EgressResponse> {
  try {
    return await egress.request(request);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    if (error.kind === 'blocked') throw new Refused(error.said);
    throw new Unavailable(message('connect.provider_unreached', { provider: name, reason: error.said }));
  }
}

function isRefusedToken(provider: Provider, answer: ProviderAnswer): boolean {
  return answer.status === 401 || (provider.isTokenRefused?.(answer) ?? false);
}

/**
 * Returns an answer, or throws it as an error.
 * @throws RateLimited for 429, Refused for a refusal, Unavailable for a failure of the provider
 */
function settle(
  { name }: Provider,
  { expect = [] }: ProviderRequest,
  answer: ProviderAnswer,
  clock: Clock,
): ProviderAnswer {
  const { status } = answer;
  if ((status >= 200 && status < 300) || expect.includes(status)) return answer;
  if (status === 429) throw new RateLimited(retryAfterMs(answer.headers['retry-after'], clock));
  if (status >= 500 || status === 408)
    throw new Unavailable(message('connect.provider_status', { provider: name, status }));
  const words = messageIn(answer);
  const said = words
    ? message('connect.provider_said', { provider: name, status, words })
    : message('connect.provider_status', { provider: name, status });
  throw new Refused(said, status);
}

/** Parses Retry-After, in seconds or as a date (RFC 9110 section 10.2.3), to ms. */
function retryAfterMs(header: string | undefined, clock: Clock): number {
  if (header === undefined) return USUAL_WAIT_MS;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - clock.now().getTime();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 1000), LONGEST_WAIT_MS) : USUAL_WAIT_MS;
}

/**
 * Extracts the error message of a refusal from the fields that providers use, as one line without control characters.
 * Email addresses are removed, because people who may not see contacts can read the logs.
 */
function messageIn({ json, text }: ProviderAnswer): string {
  const found = typeof json === 'string' ? json : sentenceIn(json, 0);
  return (found ?? (json === undefined ? text : ''))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, MAX_MESSAGE * 2)
    .replace(/[^\s"'<>(),;:]{1,64}@[^\s"'<>(),;:]+/g, '[address]')
    .slice(0, MAX_MESSAGE);
}

const MESSAGE_FIELDS = [
  'message',
  'error_description',
  'error',
  'error_info',
  'detail',
  'title',
  'errors',
  'field-errors',
];

function sentenceIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || depth > 3) return undefined;
  if (Array.isArray(value)) return sentenceIn(value[0], depth + 1);
  for (const field of MESSAGE_FIELDS) {
    const found = sentenceIn((value as Record<string, unknown>)[field], depth + 1);
    if (found) return found;
  }
  // Falls back to an object that maps field names to errors.
  const [named] = Object.entries(value).filter(([, fault]) => typeof fault === 'string');
  return depth > 0 && named ? `${named[0]}: ${String(named[1])}` : undefined;
}

function plainHeaders({ headers }: EgressResponse): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** Parses JSON. Returns undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
