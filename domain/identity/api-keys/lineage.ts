import { across } from '../../../db/across.ts';
import { json } from '../../../db/connection.ts';
import type { Row } from '../../../db/rows.ts';
import { AppError } from '../../../lib/errors.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

type Lineage = Pick<Row<'api_keys'>, 'made_by_key_id' | 'made_by_application_id' | 'made_by_grant_id'>;

/**
 * Returns the API key or OAuth grant with which a new key is created. All fields are null if a person creates the key.
 * Locks its row, so that a concurrent revocation waits and then finds the new key.
 * @throws AppError unauthorized when the acting key or grant has just been revoked
 */
export async function lineageOf(tx: Tx, { apiKeyId, oauthGrantId }: Actor): Promise<Lineage> {
  const nobody = { made_by_key_id: null, made_by_application_id: null, made_by_grant_id: null };
  if (apiKeyId) {
    const [key] = await tx.org.sql(
      `select 1 from api_keys where organization_id = :org and id = :id and status = 'active' for share`,
      { id: apiKeyId },
    );
    if (!key) throw new AppError('unauthorized', message('api_key.revoked'));
    return { ...nobody, made_by_key_id: apiKeyId };
  }
  if (!oauthGrantId) return nobody;
  const [grant] = await tx.org.sql<Pick<Row<'oauth_grants'>, 'application_id'>>(
    'select application_id from oauth_grants where organization_id = :org and id = :id and revoked_at is null for share',
    { id: oauthGrantId },
  );
  if (!grant) throw new AppError('unauthorized', message('oauth.grant_revoked'));
  return { ...nobody, made_by_application_id: grant.application_id, made_by_grant_id: oauthGrantId };
}

/**
 * Revokes the active keys that were created by a key or a grant, directly or through other keys. The caller must have
 * revoked the key or grant before, in this transaction.
 * @returns number of revoked keys
 */
export async function revokeMade(tx: Tx, maker: { key: string } | { grant: string }, reason: Message): Promise<number> {
  const column = 'key' in maker ? 'made_by_key_id' : 'made_by_grant_id';
  let count = 0;
  // Repeats until no further key is found, because a key may have created another one before its row was locked.
  for (;;) {
    const revoked = await tx.org.sql<{ id: string }>(
      `with recursive made as (
         select id from api_keys where organization_id = :org and ${column} = :maker
         union select k.id from made m join api_keys k on k.made_by_key_id = m.id where k.organization_id = :org
       )
       update api_keys k set status = 'revoked', revoked_at = :now, revoked_reason = cast(:reason as jsonb), updated_at = :now
       from made where k.organization_id = :org and k.id = made.id and k.status = 'active' returning k.id`,
      { maker: Object.values(maker)[0]!, now: tx.now, reason: json(reason) },
    );
    if (revoked.length === 0) return count;
    count += revoked.length;
    for (const { id } of revoked)
      tx.audit({ action: 'revoke', entityType: 'api_key', entityId: id, metadata: { reason, maker } });
  }
}

/** Revokes the keys of every grant of an application that is being deleted, in every workspace. */
export async function revokeMadeByApplication(tx: Tx, applicationId: string): Promise<void> {
  // Ends the grants first. The update waits for a request that is creating a key with a token, and later requests are
  // refused.
  await across(tx.trx, 'person')
    .table('oauth_grants')
    .where({ application_id: applicationId })
    .whereNull('revoked_at')
    .update({ revoked_at: tx.now, updated_at: tx.now });
  await across(tx.trx, 'person').sql(
    `with recursive made as (
       select id from api_keys where made_by_application_id = :application
       union select k.id from made m join api_keys k on k.made_by_key_id = m.id
     )
     update api_keys k set status = 'revoked', revoked_at = :now, revoked_reason = cast(:reason as jsonb), updated_at = :now
     from made where k.id = made.id and k.status = 'active'`,
    { application: applicationId, now: tx.now, reason: json(message('revoked.with_deleted_application')) },
  );
}
