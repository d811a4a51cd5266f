import { ApiKeys } from '../../db/models/api-key.ts';
import { AppError } from '../../lib/errors.ts';
import { namesOf } from '../../lib/permissions.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Tx } from '../kernel/transact.ts';

/**
 * Where a key or an application's token acts: it hands out no permission it lacks itself, neither to a key nor to an
 * application.
 * @param permissions mask of lib/permissions.ts
 * @throws AppError forbidden naming what it lacks; unauthorized when it has just been revoked: its caller may still be
 *   believed for a moment, long enough for a thief to make something that outlives it
 */
export async function assertActorGrants(tx: Tx, actor: Actor, permissions: number): Promise<void> {
  if (actor.kind !== 'api_key' && actor.kind !== 'oauth') return;
  const alive = actor.apiKeyId
    ? await tx.org.query(ApiKeys).findById(actor.apiKeyId).where('status', 'active').select('permissions')
    : await tx.org.table('oauth_grants').where({ id: actor.oauthGrantId }).whereNull('revoked_at').first('id');
  if (!alive) throw new AppError('unauthorized', 'The credential has been revoked');
  const own = 'permissions' in alive ? actor.permissions & (alive.permissions as number) : actor.permissions;
  const extra = namesOf(permissions & ~own);
  if (extra.length === 0) return;
  throw new AppError('forbidden', `A credential cannot hand out permissions it lacks: ${extra.join(', ')}`, {
    fix: 'Ask for less, or do it as a signed-in person.',
  });
}
