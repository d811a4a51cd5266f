import { AppError } from '../../lib/errors.ts';

/** Undefined for what is gone; any other error is thrown. */
export function undefinedIfGone(error: unknown): undefined {
  if (error instanceof AppError && error.code === 'not_found') return undefined;
  throw error;
}
