import { AppError, type Said } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { RateLimited, ReauthRequired, Refused, Unavailable, type Provider } from './providers/provider.ts';

const KNOWN = [RateLimited, ReauthRequired, Refused, Unavailable, AppError];

/**
 * The reason of a failure with a provider that people may read. Errors made for people keep theirs. Any other may quote a request, with its secrets and
 * addresses: it becomes one sentence, and its class goes to the log.
 */
export function failureReason({ log }: Pick<Ctx, 'log'>, error: unknown, { id, name }: Provider): Said {
  for (const known of KNOWN) if (error instanceof known) return error.said;
  log.error(
    { provider: id, kind: error instanceof Error ? error.name : typeof error },
    'a call of a provider failed unforeseen',
  );
  return message('connect.provider_unreadable', { provider: name });
}
