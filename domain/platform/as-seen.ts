import { AppError, thingMessage, type Thing } from '../../lib/errors.ts';
import { message } from '../../messages/index.ts';

/**
 * Refuses to overwrite what another person changed meanwhile: the caller's copy is as of `expected`, the row was changed at `updatedAt`. Without
 * `expected` the last one to write wins. Null is for what was never written.
 * @param updatedAt of the row as it is locked by the transaction that changes it
 * @throws AppError conflict
 */
export function assertAsSeen(what: Thing, updatedAt: Date | null, expected: Date | null | undefined): void {
  if (expected === undefined || expected?.getTime() === updatedAt?.getTime()) return;
  const thing = thingMessage(what);
  const said = updatedAt
    ? message('row.changed', { thing, at: updatedAt.toISOString() })
    : message('row.never_changed', { thing });
  throw new AppError('conflict', said, {
    fix: message('row.changed.fix'),
    extra: { updated_at: updatedAt?.toISOString() ?? null },
  });
}
