import { AppError } from '../../lib/errors.ts';
import type { Actor } from '../platform/kernel/actor.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { assertHeld, type GivenRights } from '../platform/rights.ts';
import { message } from '../../messages/index.ts';

/**
 * Refuses to grant a key or an application more rights than the actor has.
 * @throws AppError forbidden with the excess rights; unauthorized when the acting credential was just revoked
 */
export function assertActorGrants(tx: Tx, actor: Actor, given: Pick<GivenRights, 'scopes' | 'limits'>): Promise<void> {
  const code = actor.kind === 'session' ? 'credential.beyond_role' : 'credential.beyond_itself';
  return assertHeld(
    tx.org,
    actor,
    given,
    (beyond) => new AppError('forbidden', message(code, { permissions: beyond }), { fix: message(`${code}.fix`) }),
  );
}
