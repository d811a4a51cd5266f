import { AppError } from '../../../lib/errors.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { RateLimited, ReauthRequired, Refused, Unavailable, type Provider } from './providers/provider.ts';

const KNOWN = [RateLimited, ReauthRequired, Refused, Unavailable, AppError];

/**
 * What people may read of a failure with a provider. Errors that were made to be read keep their message; that of any other may quote a request, with its secrets and
 * addresses, so it becomes one sentence, and its class goes to the log.
 */
export function failureSentence({ log }: Pick<Ctx, 'log'>, error: unknown, { id, name }: Provider): string {
  if (error instanceof Error && KNOWN.some((known) => error instanceof known)) return error.message;
  log.error(
    { provider: id, kind: error instanceof Error ? error.name : typeof error },
    'a call of a provider failed unforeseen',
  );
  return `The answer of ${name} could not be understood.`;
}
