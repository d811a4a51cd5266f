import { AppError, recordTypeMessage, type RecordType } from '../../lib/errors.ts';
import { message } from '../../messages/index.ts';

/**
 * Refuses to overwrite another person's change: throws if the row was updated after the caller read it. `expected` is
 * the `updated_at` that the caller read; null means that there was no row. If `expected` is undefined, nothing is
 * checked.
 * @param updatedAt current value of the row, which the caller's transaction has locked
 * @throws AppError conflict
 */
export function assertUnchanged(what: RecordType, updatedAt: Date | null, expected: Date | null | undefined): void {
  if (expected === undefined || expected?.getTime() === updatedAt?.getTime()) return;
  const thing = recordTypeMessage(what);
  const said = updatedAt
    ? message('row.changed', { thing, at: updatedAt.toISOString() })
    : message('row.never_changed', { thing });
  throw new AppError('conflict', said, {
    fix: message('row.changed.fix'),
    extra: { updated_at: updatedAt?.toISOString() ?? null },
  });
}
