import { ApiKeys } from '../../db/models/api-key.ts';
import { grantableWith } from '../../lib/grantable.ts';
import { AppError } from '../../lib/errors.ts';
import { ALL_PERMISSIONS, namesOf } from '../../lib/permissions.ts';
import type { Actor } from '../platform/kernel/actor.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { message } from '../../messages/index.ts';

/**
 * Refuses to give a key or an application permissions that the actor lacks. A key or token can give only scopes in its
 * mask. A signed-in person can give only scopes whose routes their role opens.
 * @param permissions mask of lib/permissions.ts
 * @throws AppError forbidden naming the missing permissions; unauthorized when the credential has just been revoked.
 * Its caller may still be cached for a moment, long enough for a thief to create a credential that outlives it
 */
export async function assertActorGrants(tx: Tx, actor: Actor, permissions: number): Promise<void> {
  const extra = namesOf(permissions & ~(await grantablePermissions(tx, actor)));
  if (extra.length === 0) return;
  const code = actor.kind === 'session' ? 'credential.beyond_role' : 'credential.beyond_itself';
  throw new AppError('forbidden', message(code, { permissions: extra }), { fix: message(`${code}.fix`) });
}

/**
 * Returns the mask of permissions that an actor may give to others.
 * @throws AppError unauthorized when the credential has just been revoked
 */
export async function grantablePermissions(tx: Tx, actor: Actor): Promise<number> {
  if (actor.kind === 'system') return ALL_PERMISSIONS;
  if (actor.kind === 'session') return grantableWith(actor.orgPermissions);
  const alive = actor.apiKeyId
    ? await tx.org.query(ApiKeys).findById(actor.apiKeyId).where('status', 'active').select('permissions')
    : await tx.org.table('oauth_grants').where({ id: actor.oauthGrantId! }).whereNull('revoked_at').first('id');
  if (!alive) throw new AppError('unauthorized', message('credential.revoked'));
  return 'permissions' in alive ? actor.permissions & Number(alive.permissions) : actor.permissions;
}
