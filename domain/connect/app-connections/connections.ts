import { changed, created, deleted, secretChanged } from '../../platform/changes.ts';
import { AppConnections, type AppConnectionRow } from '../../../db/models/app-connection.ts';
import { isForeignKeyViolation } from '../../../db/errors.ts';
import { newSecret, SECRET_PREFIX } from '../../../lib/crypto.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { assertBelowLimit } from '../../platform/full-list.ts';
import { normalizeBaseUrl } from './base-url.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';
import { message } from '../../../messages/index.ts';

/** A connection with its signing secret in plain text. The secret is shown once and cannot be read again. */
interface IssuedConnection {
  connection: AppConnectionRow;
  secret: string;
}

/** Decrypts the signing secret of a connection. */
export function openSecret(ctx: Pick<Ctx, 'keyring'>, connection: Pick<AppConnectionRow, 'id' | 'secret'>): string {
  return ctx.keyring.open(connection.secret, SEAL_PLACES.appConnection(connection.id)).toString();
}

/** Maximum number of connections per workspace, because the list is not paged. */
const MAX_CONNECTIONS = 200;

/** Lists all app connections of the organization, newest first (GET /app-connections). */
export async function listAppConnections(ctx: Ctx): Promise<AppConnectionRow[]> {
  return reader(ctx).query(AppConnections).orderBy('id', 'desc');
}

/**
 * Returns one app connection.
 * @throws AppError not_found
 */
export async function getAppConnection(ctx: Ctx, id: string): Promise<AppConnectionRow> {
  return requireConnection(reader(ctx), id);
}

/**
 * Creates an app connection with a new signing secret (POST /app-connections).
 * @throws AppError bad_request for a base URL that must not be called, or at the workspace's limit of connections;
 * conflict when the name is taken
 */
export async function createAppConnection(
  ctx: Ctx,
  input: { name: string; baseUrl: string },
): Promise<IssuedConnection> {
  const baseUrl = normalizeBaseUrl(input.baseUrl, { allowUnsafe: ctx.config.ALLOW_UNSAFE_WEBHOOK_URLS });
  const id = newId();
  const secret = newSecret(SECRET_PREFIX.app);
  return transact(ctx, async (tx) => {
    await assertBelowLimit(tx, 'app_connections', { most: MAX_CONNECTIONS, what: message('connect.app_connections') });
    const connection = await tx.org.create(AppConnections, {
      id,
      name: input.name,
      base_url: baseUrl,
      secret: ctx.keyring.seal(secret, SEAL_PLACES.appConnection(id)),
      created_by: ctx.actor.userId,
      created_at: tx.now,
      updated_at: tx.now,
    });
    tx.audit({
      action: 'app_connection.created',
      entityType: 'app_connection',
      entityId: id,
      changes: created({ name: input.name, base_url: baseUrl }),
    });
    return { connection, secret };
  });
}

/**
 * Changes the name or the base URL of an app connection. Calls made afterwards use the new URL (PATCH
 * /app-connections/:id).
 * @throws AppError not_found, bad_request, conflict as in {@link createAppConnection}
 */
export async function updateAppConnection(
  ctx: Ctx,
  id: string,
  input: { name?: string | undefined; baseUrl?: string | undefined },
): Promise<AppConnectionRow> {
  const changes = {
    ...(input.name === undefined ? {} : { name: input.name }),
    ...(input.baseUrl === undefined
      ? {}
      : { base_url: normalizeBaseUrl(input.baseUrl, { allowUnsafe: ctx.config.ALLOW_UNSAFE_WEBHOOK_URLS }) }),
  };
  return transact(ctx, async (tx) => {
    const connection = await requireConnection(tx.org, id);
    if (Object.keys(changes).length === 0) return connection;
    await tx.org
      .table('app_connections')
      .where({ id })
      .update({ ...changes, updated_at: tx.now });
    tx.audit({
      action: 'app_connection.updated',
      entityType: 'app_connection',
      entityId: id,
      changes: changed(connection, changes),
    });
    return requireConnection(tx.org, id);
  });
}

/**
 * Deletes an app connection (DELETE /app-connections/:id). The foreign key of campaign_steps also refuses the deletion
 * when a step is added concurrently.
 * @throws AppError not_found, app_connection_in_use (409) while an app_action step or an automation references it
 */
export async function deleteAppConnection(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const connection = await requireConnection(tx.org, id);
    try {
      await tx.org.table('app_connections').where({ id }).delete();
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw new AppError('app_connection_in_use', message('connect.app_connection_in_use'), {
        fix: message('connect.app_connection_in_use.fix'),
        cause: error,
      });
    }
    tx.audit({
      action: 'app_connection.deleted',
      entityType: 'app_connection',
      entityId: id,
      changes: deleted({ name: connection.name }),
    });
  });
}

/**
 * Replaces the signing secret immediately. Signatures made with the old secret no longer verify.
 * @throws AppError not_found
 */
export async function rotateAppSecret(ctx: Ctx, id: string): Promise<string> {
  const secret = newSecret(SECRET_PREFIX.app);
  await transact(ctx, async (tx) => {
    await requireConnection(tx.org, id);
    await tx.org
      .table('app_connections')
      .where({ id })
      .update({ secret: ctx.keyring.seal(secret, SEAL_PLACES.appConnection(id)), updated_at: tx.now });
    tx.audit({
      action: 'app_connection.secret_rotated',
      entityType: 'app_connection',
      entityId: id,
      changes: secretChanged('secret'),
    });
  });
  return secret;
}

async function requireConnection(org: OrgScope, id: string): Promise<AppConnectionRow> {
  const connection = isUuid(id) ? await org.query(AppConnections).findById(id) : undefined;
  if (!connection) throw notFound('app_connection');
  return connection;
}
