import { AppError, type Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { deleteAppConnection } from '../../connect/app-connections/connections.ts';
import { deleteConnection } from '../../connect/integrations/connections.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { revokeKey } from '../api-keys/keys.ts';
import { deleteApplication } from '../oauth/applications.ts';

/** Maximum number of objects listed in a refusal. */
const MAX_NAMED = 100;

/**
 * An object created by a member. Former members may still know its secrets, and other members may not know that it
 * exists.
 */
interface Made {
  kind: 'api_keys' | 'oauth_applications' | 'integration_connections' | 'app_connections';
  id: string;
  name: string;
}

/**
 * Keeps or revokes the API keys, applications and connections created by a member who is about to be removed.
 * @param ctx context that uses the transaction `tx`
 * @throws AppError conflict with up to 100 of these objects, if there are any and `what` is absent
 * @throws AppError app_connection_in_use if a step or an automation uses an app connection that would be deleted
 */
export async function settleMade(ctx: Ctx, tx: Tx, userId: string, what: 'keep' | 'revoke' | undefined): Promise<void> {
  const made = await madeBy(tx, userId);
  if (made.length === 0) return;
  if (what === undefined) {
    const count = (kind: Made['kind']) => made.filter((one) => one.kind === kind).length;
    throw new AppError(
      'conflict',
      message('member.made', {
        keys: count('api_keys'),
        applications: count('oauth_applications'),
        connections: count('integration_connections') + count('app_connections'),
      }),
      { problems: made.slice(0, MAX_NAMED).map(toProblem), fix: message('member.made.fix') },
    );
  }
  if (what === 'keep') {
    await tx.org.table('api_keys').where({ user_id: userId }).update({ user_id: tx.actor.userId, updated_at: tx.now });
    return transfer(tx, userId, tx.actor.userId);
  }
  for (const { kind, id, name } of made) {
    if (kind === 'api_keys') await revokeKey(ctx, id, message('revoked.with_member'));
    else if (kind === 'oauth_applications') await deleteApplication(ctx, id);
    else if (kind === 'app_connections') await endAppConnection(ctx, { kind, id, name });
    else await deleteConnection(ctx, id);
  }
}

/**
 * Revokes the API keys of a member whose account is erased, because the member may have stored them. Transfers the
 * member's applications and connections to the oldest owner, because only the workspace knows their secrets.
 * @param ctx context that uses the transaction `tx`
 */
export async function settleMadeByErased(ctx: Ctx, tx: Tx, userId: string): Promise<void> {
  for (const { kind, id } of await madeBy(tx, userId))
    if (kind === 'api_keys') await revokeKey(ctx, id, message('revoked.with_member'));
  const [owner] = await tx.org.sql<{ user_id: string }>(
    `select m.user_id from memberships m join roles r on r.id = m.role_id
     where m.organization_id = :org and r.is_owner and m.user_id <> :user order by m.created_at, m.user_id limit 1`,
    { user: userId },
  );
  await transfer(tx, userId, owner!.user_id);
}

/**
 * Deletes an app connection.
 * @throws AppError app_connection_in_use with the connection, while a step or an automation uses it
 */
async function endAppConnection(ctx: Ctx, connection: Made): Promise<void> {
  try {
    await deleteAppConnection(ctx, connection.id);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'app_connection_in_use')) throw error;
    const { code, said, fix } = error;
    throw new AppError(code, said, { ...(fix && { fix }), problems: [toProblem(connection)], cause: error });
  }
}

function madeBy(tx: Tx, userId: string): Promise<Made[]> {
  return tx.org.sql<Made>(
    `select 'api_keys' as kind, id, name from api_keys
     where organization_id = :org and user_id = :user and status = 'active' and (expires_at is null or expires_at > :now)
     union all select 'oauth_applications', id, name from oauth_applications where organization_id = :org and created_by = :user
     union all select 'integration_connections', id, label from integration_connections
     where organization_id = :org and connected_by = :user and status <> 'disconnected'
     union all select 'app_connections', id, name from app_connections where organization_id = :org and created_by = :user
     order by kind, id`,
    { user: userId, now: tx.now },
  );
}

function toProblem({ kind, id, name }: Made): Problem {
  const said = {
    api_keys: message('member.made_key', { name }),
    oauth_applications: message('member.made_application', { name }),
    integration_connections: message('member.made_connection', { name }),
    app_connections: message('member.made_app_connection', { name }),
  };
  return { path: `${kind}.${id}`, message: said[kind] };
}

/** Transfers the applications and connections created by a member to another one. */
async function transfer(tx: Tx, userId: string, keeper: string | null): Promise<void> {
  const now = { updated_at: tx.now };
  await tx.org
    .table('oauth_applications')
    .where({ created_by: userId })
    .update({ created_by: keeper, ...now });
  await tx.org
    .table('integration_connections')
    .where({ connected_by: userId })
    .update({ connected_by: keeper, ...now });
  await tx.org
    .table('app_connections')
    .where({ created_by: userId })
    .update({ created_by: keeper, ...now });
}
