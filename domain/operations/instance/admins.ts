import { across } from '../../../db/across.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { AppError } from '../../../lib/errors.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { message } from '../../../messages/index.ts';

/**
 * Key of the advisory lock under which administrators are changed. Only one change runs at a time, so that at least one
 * administrator remains.
 */
const ADMINS_LOCK = 7_201_948;

/**
 * Makes a person an administrator of the installation, or removes this right (`heron admin`). The last administrator
 * cannot be removed.
 * @returns the addresses of all administrators afterwards
 * @throws AppError not_found for an address without an account, conflict for the last administrator
 */
export async function setPlatformAdmin(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  email: string,
  { isAdmin }: { isAdmin: boolean },
): Promise<string[]> {
  return inTransaction(db, async (trx) => {
    const operator = across(trx, 'operator');
    await operator.sql('select pg_advisory_xact_lock(:lock)', { lock: ADMINS_LOCK });
    const changed = await operator
      .table('users')
      .where('email', email.toLowerCase())
      .update({ is_platform_admin: isAdmin, updated_at: clock.now() });
    if (changed === 0) throw new AppError('not_found', message('admin.no_account', { email }));
    const admins = (
      await operator.table('users').where('is_platform_admin', true).orderBy('email').select('email')
    ).map((row) => row.email);
    if (admins.length === 0) throw new AppError('conflict', message('admin.last'));
    return admins;
  });
}
