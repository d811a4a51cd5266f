import { AppError } from '../../../lib/errors.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { RateLimited, ReauthRequired, Refused, Unavailable, type Provider } from './providers/provider.ts';

const KNOWN = [RateLimited, ReauthRequired, Refused, Unavailable, AppError];

/**
 * Returns the reason of a provider failure without secrets and addresses. Errors with a message for people keep that
 * message. The message of any other error may contain secrets, so a generic sentence replaces it, and the error's class
 * is logged.
 */
export function failureReason({ log }: Pick<Ctx, 'log'>, error: unknown, { id, name }: Provider): Message {
  for (const known of KNOWN) if (error instanceof known) return error.said;
  log.error(
    { provider: id, kind: error instanceof Error ? error.name : typeof error },
    'a call of a provider failed unforeseen',
  );
  return message('connect.provider_unreadable', { provider: name });
}
