import { changed, created, deleted } from '../../platform/changes.ts';
import { ZodError } from 'zod';
import { json } from '../../../db/connection.ts';
import type { Row } from '../../../db/rows.ts';
import { newSecret, sha256 } from '../../../lib/crypto.ts';
import { AppError, badRequest, notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { checkWebhookUrl } from '../webhooks/policy.ts';
import {
  HEALTHY_EVERY_MS,
  logRunIn,
  newSigningSecret,
  openSigningSecret,
  sealCredentials,
  type ConnectionRow,
} from './account.ts';
import { openCall } from './call.ts';
import { PROVIDERS } from './catalogue.ts';
import { signalDeliveries } from './enqueue.ts';
import {
  RateLimited,
  ReauthRequired,
  Refused,
  Unavailable,
  type Provider,
  type ProviderAccount,
} from './providers/provider.ts';
import { findProvider, schemaFaults } from './registry.ts';
import { abandonDeliveries } from '../../directory/integration-deliveries.ts';
import { isConfigured } from './tokens.ts';

/** An entry in a connection's log, about calls to its provider. */
export type IntegrationRun = Row<'integration_runs'>;

/** Credentials that a person pasted. */
interface ConnectionInput {
  provider: string;
  label?: string | undefined;
  config?: Record<string, unknown> | undefined;
}

/** Credentials accepted by the provider, not stored yet. */
interface CheckedCredentials {
  id: string;
  /**
   * True if `id` is that of an existing connection whose stored credentials the provider rejects. The new credentials
   * replace them.
   */
  isRenewal: boolean;
  provider: Provider;
  config: Record<string, unknown>;
  account: ProviderAccount;
  signing: { secret: string; sealed: Buffer };
  /** Webhook of a provider that calls Heron: its address, and the provider's id if Heron registered it. */
  inbound: { url: string; hash: string; externalId: string | null } | null;
}

/** Path below API_PUBLIC_URL that providers call. */
export const INBOUND_PATH = '/integrations/inbound';

/** Lists every provider, with a flag if this installation can connect its accounts. */
export function listCatalogue(ctx: Ctx): { provider: Provider; configured: boolean }[] {
  return PROVIDERS.map((provider) => ({ provider, configured: isConfigured(ctx.config, provider) }));
}

/** Lists the connections of the workspace, newest first. */
export async function listConnections(ctx: Ctx): Promise<ConnectionRow[]> {
  return reader(ctx).sql<ConnectionRow>(
    'select * from integration_connections where organization_id = :org order by id desc',
  );
}

/** Returns one connection. @throws AppError not_found */
export async function readConnection(ctx: Ctx, id: string): Promise<ConnectionRow> {
  return requireConnection(reader(ctx), id);
}

/** Returns a connection, locked if `lock` is `for update`. @throws AppError not_found */
export async function requireConnection(
  org: OrgScope,
  id: string,
  lock: '' | 'for update' = '',
): Promise<ConnectionRow> {
  const [row] = isUuid(id)
    ? await org.sql<ConnectionRow>(
        `select * from integration_connections where organization_id = :org and id = :id ${lock}`,
        { id },
      )
    : [];
  if (!row) throw notFound('connection');
  return row;
}

/** Lists the newest entries of a connection's log. @throws AppError not_found */
export async function listRuns(ctx: Ctx, id: string, limit: number): Promise<IntegrationRun[]> {
  const connection = await readConnection(ctx, id);
  return reader(ctx).sql<Row<'integration_runs'>>(
    'select * from integration_runs where organization_id = :org and connection_id = :id order by id desc limit :limit',
    { id: connection.id, limit },
  );
}

/** Lists format errors of pasted credentials. */
export function credentialProblems({ provider: id, config }: Partial<ConnectionInput>): Problem[] {
  if (id === undefined) return [];
  const provider = findProvider(id);
  if (!provider) return [{ path: 'body.provider', message: message('connect.unknown_provider') }];
  if (!provider.credentials) return [{ path: 'body.provider', message: message('connect.provider_by_consent') }];
  return schemaFaults(provider.credentials.schema, config ?? {}, 'body.config');
}

/**
 * Validates pasted credentials with the provider, and registers a webhook there if the provider sends any. Does not
 * store the account.
 * @throws AppError bad_request with the provider's message, service_unavailable when it does not answer
 */
export async function checkCredentials(ctx: Ctx, input: ConnectionInput): Promise<CheckedCredentials> {
  refuseProblems(credentialProblems(input));
  const provider = findProvider(input.provider)!;
  const config = provider.credentials!.schema.parse(input.config ?? {});
  // Checks the URL now, because a webhook is not called as a test. Otherwise a URL that must not be called would be
  // stored.
  if (typeof config.webhook_url === 'string')
    refuseProblems(await checkWebhookUrl(ctx, config.webhook_url, 'body.config.webhook_url'));
  const id = newId();
  const signing = newSigningSecret(ctx.keyring, id);
  const call = openCall(ctx, provider, { config, signingSecret: signing.secret });
  return asAppErrors(provider, 'body.config', async () => {
    const account = await provider.credentials!.validate(call);
    const ended = await findEnded(ctx, provider, account);
    // The connection's webhook is already registered at the provider.
    if (ended) return { id: ended, isRenewal: true, provider, config, account, signing, inbound: null };
    if (!provider.inbound) return { id, isRenewal: false, provider, config, account, signing, inbound: null };
    const token = newSecret();
    const url = `${ctx.config.API_PUBLIC_URL}${INBOUND_PATH}/${token}`;
    const registered = await provider.inbound.register?.(call, { url, secret: signing.secret });
    const inbound = { url, hash: sha256(token), externalId: registered?.externalId ?? null };
    return { id, isRenewal: false, provider, config, account, signing, inbound };
  });
}

/**
 * Finds the oldest connection to the same account whose credentials are no longer valid. The caller stores the new
 * credentials there, so that its waiting deliveries, subscriptions and mappings stay.
 */
async function findEnded(ctx: Ctx, { id: provider }: Provider, account: ProviderAccount): Promise<string | undefined> {
  const [row] = await reader(ctx).sql<{ id: string }>(
    `select id from integration_connections
     where organization_id = :org and provider = :provider and external_account_id = :account and status = 'reauth_required' order by id limit 1`,
    { provider, account: account.id },
  );
  return row?.id;
}

/**
 * Stores a connection with credentials that the provider has accepted. If an existing connection of the same account
 * has rejected credentials, renews that connection.
 * @throws AppError not_found if that connection was removed in the meantime
 */
export async function createConnection(
  ctx: Ctx,
  input: ConnectionInput,
  checked: CheckedCredentials,
): Promise<{ connection: ConnectionRow; inboundUrl: string | null }> {
  const { id, isRenewal, provider, config, account, signing, inbound } = checked;
  return transact(ctx, async (tx) => {
    if (isRenewal) {
      const renewed = {
        account,
        sealed: sealCredentials(ctx.keyring, id, config),
        tokenEnds: null,
        scopes: [],
        apiBase: null,
      };
      return { connection: await renewConnection(tx, id, renewed), inboundUrl: null };
    }
    const connection = await insertConnection(ctx, tx, {
      id,
      provider,
      label: input.label ?? '',
      account,
      sealed: sealCredentials(ctx.keyring, id, config),
      tokenEnds: null,
      scopes: [],
      apiBase: null,
      signing: signing.sealed,
      inbound,
    });
    return { connection, inboundUrl: inbound?.url ?? null };
  });
}

/** Data stored for a new connection. */
interface NewConnection {
  id: string;
  provider: Provider;
  label: string;
  account: ProviderAccount;
  sealed: Buffer;
  tokenEnds: Date | null;
  scopes: readonly string[];
  apiBase: string | null;
  signing: Buffer | null;
  inbound: { hash: string; externalId: string | null } | null;
}

/** Inserts a connection with its rate counter, its first log entry and its audit log entry. */
export async function insertConnection(ctx: Ctx, tx: Tx, given: NewConnection): Promise<ConnectionRow> {
  const { id, provider, account } = given;
  const [row] = await tx.org.sql<ConnectionRow>(
    `insert into integration_connections (id, organization_id, provider, label, status, auth_method, sealed, token_expires_at, granted_scopes,
       external_account_id, external_account_name, api_base, display_fields, config_capabilities, sync_direction, connected_by, health,
       health_checked_at, health_due_at, signing_secret, inbound_hash, inbound_external_id, created_at, updated_at)
     values (:id, :org, :provider, :label, 'connected', :method, :sealed, :ends, cast(:scopes as text[]), :account, :accountName, :base,
       cast(:display as jsonb), '{}', 'push', :user, 'healthy', :now, :healthDue, :signing, :inbound,
       :inboundId, :now, :now)
     returning *`,
    {
      id,
      provider: provider.id,
      label: given.label.trim() || account.name || provider.name,
      method: provider.authMethod,
      sealed: given.sealed,
      ends: given.tokenEnds,
      scopes: [...given.scopes],
      account: account.id,
      accountName: account.name,
      base: given.apiBase,
      display: json(account.displayFields ?? {}),
      user: ctx.actor.userId,
      signing: given.signing,
      inbound: given.inbound?.hash ?? null,
      inboundId: given.inbound?.externalId ?? null,
      healthDue: new Date(tx.now.getTime() + HEALTHY_EVERY_MS),
      now: tx.now,
    },
  );
  await tx.org.sql(
    `insert into integration_pace (connection_id, organization_id, tokens, counted_at) values (:id, :org, :tokens, :now)`,
    { id, tokens: provider.rate.capacity, now: tx.now },
  );
  await logRunIn(tx, id, { kind: 'connect', status: 'success', detail: null, records: 0, startedAt: tx.now });
  tx.audit({
    action: 'integration.connected',
    entityType: 'integration_connection',
    entityId: id,
    changes: created({ provider: provider.id, label: row!.label }),
  });
  return row!;
}

/**
 * Stores new credentials for a connected account, and resumes its waiting deliveries.
 * @throws AppError not_found, bad_request for credentials of another account
 */
export async function renewConnection(
  tx: Tx,
  id: string,
  {
    account,
    sealed,
    tokenEnds,
    scopes,
    apiBase,
  }: Omit<NewConnection, 'id' | 'provider' | 'label' | 'signing' | 'inbound'>,
): Promise<ConnectionRow> {
  const current = await requireConnection(tx.org, id, 'for update');
  if (current.external_account_id !== account.id)
    throw badRequest(message('connect.consent_other_account', { account: account.name }));
  const [row] = await tx.org.sql<ConnectionRow>(
    `update integration_connections set sealed = :sealed, sealed_version = sealed_version + 1, token_expires_at = :ends, refreshing_until = null,
       granted_scopes = cast(:scopes as text[]), api_base = :base, external_account_name = :name, display_fields = cast(:display as jsonb),
       status = 'connected', health = 'healthy', health_detail = null, health_checked_at = :now, health_due_at = :healthDue, updated_at = :now
     where organization_id = :org and id = :id returning *`,
    {
      id: current.id,
      sealed,
      ends: tokenEnds,
      scopes: [...scopes],
      base: apiBase,
      name: account.name,
      display: json(account.displayFields ?? {}),
      healthDue: new Date(tx.now.getTime() + HEALTHY_EVERY_MS),
      now: tx.now,
    },
  );
  await logRunIn(tx, current.id, {
    kind: 'connect',
    status: 'success',
    detail: message('connect.connected_again'),
    records: 0,
    startedAt: tx.now,
  });
  tx.audit({ action: 'integration.reconnected', entityType: 'integration_connection', entityId: current.id });
  signalDeliveries(tx, current.id, 'reconnect');
  return row!;
}

/** Changes the settings of a connection. @throws AppError not_found */
export async function updateConnectionConfig(
  ctx: Ctx,
  id: string,
  input: {
    config_capabilities?: Record<string, unknown> | undefined;
    sync_direction?: 'push' | 'pull' | 'both' | undefined;
  },
): Promise<ConnectionRow> {
  return transact(ctx, async (tx) => {
    const before = await requireConnection(tx.org, id, 'for update');
    const { id: found } = before;
    const [row] = await tx.org.sql<ConnectionRow>(
      `update integration_connections set config_capabilities = coalesce(cast(:capabilities as jsonb), config_capabilities),
         sync_direction = coalesce(:direction, sync_direction), updated_at = :now
       where organization_id = :org and id = :id returning *`,
      {
        id: found,
        capabilities: input.config_capabilities ? json(input.config_capabilities) : null,
        direction: input.sync_direction ?? null,
        now: tx.now,
      },
    );
    tx.audit({
      action: 'integration.updated',
      entityType: 'integration_connection',
      entityId: found,
      changes: changed(before, input),
    });
    return row!;
  });
}

/**
 * Deletes a connection with its waiting deliveries. Soon afterwards its webhook is removed and its consent revoked at
 * the provider, unless another connection of this installation uses the same account.
 * @throws AppError not_found
 */
export async function deleteConnection(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const connection = await requireConnection(tx.org, id, 'for update');
    const provider = findProvider(connection.provider);
    if (provider?.oauth?.revokeUrl || provider?.oauth?.revoke || connection.inbound_external_id) {
      await tx.org.sql(
        `insert into integration_revocations
           (connection_id, organization_id, provider, external_account_id, sealed, api_base, inbound_external_id, due_at, created_at)
         select id, :org, provider, external_account_id, sealed, api_base, inbound_external_id, :now, :now from integration_connections
         where organization_id = :org and id = :id`,
        { id: connection.id, now: tx.now },
      );
    }
    await abandonDeliveries(tx, { connectionId: connection.id }, message('connect.connection_deleted'));
    await tx.org.table('integration_connections').where({ id: connection.id }).delete();
    tx.audit({
      action: 'integration.disconnected',
      entityType: 'integration_connection',
      entityId: connection.id,
      changes: deleted({ provider: connection.provider, label: connection.label }),
    });
  });
}

/**
 * Returns the secret that signs the webhooks of a connection. Creates it on the first call. @throws AppError not_found
 */
export async function readWebhookSecret(ctx: Ctx, id: string): Promise<string> {
  return transact(ctx, async (tx) => {
    const connection = await requireConnection(tx.org, id, 'for update');
    const known = openSigningSecret(ctx.keyring, connection);
    if (known) return known;
    const { secret, sealed } = newSigningSecret(ctx.keyring, connection.id);
    await tx.org
      .table('integration_connections')
      .where({ id: connection.id })
      .update({ signing_secret: sealed, updated_at: tx.now });
    return secret;
  });
}

/**
 * Runs `work`, which calls a provider while a person waits, and converts the provider's errors to API errors.
 * @throws AppError bad_request for a refusal of the request or of the credentials, service_unavailable
 */
export async function asAppErrors<T>(provider: Provider, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused)
      throw new AppError('bad_request', message('connect.provider_refuses', { provider: provider.name }), {
        problems: [{ path, message: error.said }],
      });
    if (error instanceof RateLimited || error instanceof Unavailable || error instanceof ZodError)
      throw new AppError('service_unavailable', message('connect.provider_away', { provider: provider.name }), {
        fix: message('connect.provider_away.fix'),
        cause: error,
      });
    if (error instanceof ReauthRequired)
      throw new AppError('bad_request', message('connect.credentials_refused', { provider: provider.name }), {
        problems: [{ path, message: error.said }],
      });
    throw error;
  }
}
