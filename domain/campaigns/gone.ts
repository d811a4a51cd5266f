import { AppError } from '../../lib/errors.ts';

/** Undefined for what is gone; any other error is thrown. */
export function isGone(error: unknown): undefined {
  if (error instanceof AppError && error.code === 'not_found') return undefined;
  throw error;
}
