import { changed } from '../../platform/changes.ts';
import { defined } from '../../../lib/defined.ts';
import { ApiKeys, type ApiKeyRow } from '../../../db/models/api-key.ts';
import { badRequest, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { assertActorGrants } from '../acting.ts';
import { restrictionProblems } from './restrictions.ts';
import { message } from '../../../messages/index.ts';

/** Changes of a key. Absent fields keep their value, and lists replace the stored lists. */
interface KeyEdit {
  name?: string | undefined;
  description?: string | undefined;
  /** Permission mask of lib/permissions.ts. */
  permissions?: number | undefined;
  allowed_ips?: string[] | undefined;
  allowed_email_accounts?: string[] | undefined;
  /** Maximum number of requests per minute. 0 sets the default limit. */
  rate_limit_per_minute?: number | undefined;
}

const RESTRICTING: readonly (keyof KeyEdit)[] = [
  'permissions',
  'allowed_ips',
  'allowed_email_accounts',
  'rate_limit_per_minute',
];

/**
 * Changes the sent fields of a key (PATCH /api-keys/:id). Every process applies them within a second. The changed key
 * cannot have more rights than the caller's key or role. Otherwise the caller could remove the restrictions of a
 * stronger key.
 * @throws AppError not_found, bad_request with all problems (undefined permission bits, unusable addresses, foreign
 * mailboxes), forbidden when the key would have more rights than the caller
 */
export async function updateKey(ctx: Ctx, id: string, edit: KeyEdit): Promise<ApiKeyRow> {
  if (!isUuid(id)) throw notFound('api_key');
  return transact(ctx, async (tx) => {
    const before = await tx.org.query(ApiKeys).findById(id).forNoKeyUpdate();
    if (!before) throw notFound('api_key');
    const sent = defined(edit) as Partial<ApiKeyRow>;
    const names = Object.keys(sent) as (keyof KeyEdit)[];
    if (names.length === 0) return before;
    const problems = await restrictionProblems(tx.org, edit, tx.now);
    if (problems.length > 0) throw badRequest(message('api_key.invalid'), problems);
    if (names.some((name) => RESTRICTING.includes(name))) {
      const { permissions, ...limits } = { ...before, ...sent };
      await assertActorGrants(tx, ctx.actor, { scopes: permissions, limits });
    }
    await tx.org
      .query(ApiKeys)
      .findById(id)
      .patch({ ...sent, updated_at: tx.now });
    tx.audit({ action: 'update', entityType: 'api_key', entityId: id, changes: changed(before, sent) });
    return tx.org.query(ApiKeys).findById(id).throwIfNotFound();
  });
}
