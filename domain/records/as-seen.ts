import { AppError } from '../../lib/errors.ts';

/**
 * Refuses to overwrite what another person changed meanwhile: the caller's copy is as of `expected`, the row was changed at `updatedAt`. Without
 * `expected` the last one to write wins.
 * @throws AppError conflict
 */
export function assertAsSeen(what: string, updatedAt: Date, expected: Date | undefined): void {
  if (!expected || expected.getTime() === updatedAt.getTime()) return;
  throw new AppError('conflict', `${what} was changed at ${updatedAt.toISOString()}, after you read it`, {
    fix: 'Read it again, bring your changes together with those, and send them with the new updated_at as expected_updated_at.',
    extra: { updated_at: updatedAt.toISOString() },
  });
}
