import { AppError } from '../../lib/errors.ts';

/**
 * Refuses to overwrite what another person changed meanwhile: the caller's copy is as of `expected`, the row was changed at `updatedAt`. Without
 * `expected` the last one to write wins. Null is for what was never written.
 * @param updatedAt of the row as it is locked by the transaction that changes it
 * @throws AppError conflict
 */
export function assertAsSeen(what: string, updatedAt: Date | null, expected: Date | null | undefined): void {
  if (expected === undefined || expected?.getTime() === updatedAt?.getTime()) return;
  const message = updatedAt
    ? `${what} was changed at ${updatedAt.toISOString()}, after you read it`
    : `${what} was never changed`;
  throw new AppError('conflict', message, {
    fix: 'Read it again, bring your changes together with those, and send them with the new updated_at as expected_updated_at.',
    extra: { updated_at: updatedAt?.toISOString() ?? null },
  });
}
