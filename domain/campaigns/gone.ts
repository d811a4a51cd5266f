import { AppError } from '../../lib/errors.ts';

/** Returns undefined for a not_found error, and rethrows any other error. */
export function undefinedIfGone(error: unknown): undefined {
  if (error instanceof AppError && error.code === 'not_found') return undefined;
  throw error;
}
