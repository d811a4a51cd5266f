import type { OrgScope } from '../../db/tenancy.ts';
import { AppError } from '../../lib/errors.ts';
import { message } from '../../messages/index.ts';

/** Returns true for a test workspace, whose emails are never sent to anybody. */
export async function isTestWorkspace(org: OrgScope): Promise<boolean> {
  const [row] = await org.sql<{ is_test: boolean }>('select is_test from organizations where id = :org');
  return row?.is_test ?? false;
}

/**
 * Refuses an action that would use a paid service or another company's account from a test workspace.
 * @throws AppError forbidden
 */
export async function assertNoTestWorkspace(org: OrgScope): Promise<void> {
  if (await isTestWorkspace(org))
    throw new AppError('forbidden', message('workspace.is_test'), { fix: message('workspace.is_test.fix') });
}
