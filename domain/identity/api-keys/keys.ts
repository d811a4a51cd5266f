import { ApiKeys, type ApiKeyRow } from '../../../db/models/api-key.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { revokeMade } from './lineage.ts';
import { message, type Message } from '../../../messages/index.ts';

export type { ApiKeyRow } from '../../../db/models/api-key.ts';

const LIST = 'api-keys';

/** Lists the organization's keys, newest first (GET /api-keys). */
export async function listKeys(ctx: Ctx, page: PageRequest): Promise<Page<ApiKeyRow>> {
  const after = decodeIdCursor(LIST, null, page.cursor);
  const query = reader(ctx)
    .query(ApiKeys)
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (after) void query.where('id', '<', after);
  return pageOf(await query, page.limit, (last) => encodeCursor(LIST, null, [last.id]));
}

/**
 * Returns one key.
 * @throws AppError not_found
 */
export async function readKey(ctx: Ctx, id: string): Promise<ApiKeyRow> {
  const key = isUuid(id) ? await reader(ctx).query(ApiKeys).findById(id) : undefined;
  if (!key) throw notFound('api_key');
  return key;
}

/**
 * Revokes a key and every key that was created with it, directly or through other keys. This cannot be undone. The keys
 * stop authenticating within a second, in every process. Revoking a key twice changes nothing.
 * @returns number of other keys that were revoked with it
 * @throws AppError not_found
 */
export async function revokeKey(ctx: Ctx, id: string, reason: Message = message('revoked.by_user')): Promise<number> {
  if (!isUuid(id)) throw notFound('api_key');
  return transact(ctx, async (tx) => {
    const revoked = await tx.org
      .query(ApiKeys)
      .findById(id)
      .where('status', 'active')
      .patch({ status: 'revoked', revoked_at: tx.now, revoked_reason: reason, updated_at: tx.now });
    if (revoked === 0) {
      await readKey({ ...ctx, trx: tx.trx }, id);
      return 0;
    }
    tx.audit({ action: 'revoke', entityType: 'api_key', entityId: id, metadata: { reason } });
    return revokeMade(tx, { key: id }, message('revoked.with_key'));
  });
}

/**
 * Deletes a key that no longer authenticates, with its usage records.
 * @throws AppError not_found, conflict while the key can still authenticate
 */
export async function deleteKey(ctx: Ctx, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound('api_key');
  await transact(ctx, async (tx) => {
    const key = await tx.org.query(ApiKeys).findById(id).forUpdate();
    if (!key) throw notFound('api_key');
    if (key.status === 'active' && !(key.expires_at && key.expires_at <= tx.now)) {
      throw new AppError('conflict', message('api_key.usable'), {
        fix: message('api_key.usable.fix'),
      });
    }
    await tx.org.query(ApiKeys).deleteById(id);
    tx.audit({ action: 'delete', entityType: 'api_key', entityId: id, metadata: { name: key.name } });
  });
}
