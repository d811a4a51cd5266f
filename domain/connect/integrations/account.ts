import { setTimeout as sleep } from 'node:timers/promises';
import { json } from '../../../db/connection.ts';
import type { Row } from '../../../db/rows.ts';
import { MINUTE_MS } from '../../../lib/clock.ts';
import type { Config } from '../../../lib/config/index.ts';
import { newSecret, SECRET_PREFIX } from '../../../lib/crypto.ts';
import { newId } from '../../../lib/ids.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { singleStatement, reader, type Tx } from '../../platform/kernel/transact.ts';
import { retryUntilStored } from '../../platform/kernel/retry-until-stored.ts';
import { openCall } from './call.ts';
import { failureReason } from './failure.ts';
import {
  ReauthRequired,
  Unavailable,
  type Provider,
  type ProviderCall,
  type TokenFields,
} from './providers/provider.ts';
import { providerOf } from './registry.ts';
import { accountBase, requestProviderTokens, requireClient, tokensIn, type StoredTokens } from './tokens.ts';

export type ConnectionRow = Row<'integration_connections'>;

/** Interval (ms) between two health checks of a healthy account. */
export const HEALTHY_EVERY_MS = 15 * MINUTE_MS;
/** Remaining lifetime (ms) below which a token is renewed. */
const RENEW_BEFORE_MS = 60_000;
/** Time (ms) that a refresh spends in this process and in PostgreSQL, in addition to its request. */
const REFRESH_MARGIN_MS = 5_000;
const POLL_MS = 100;
/** Maximum time (ms) that new tokens wait for an unreachable database. */
const STORING_MS = 10_000;

/**
 * Returns the duration (ms) of the lease under which one process refreshes a token. A waiting process waits at most
 * this long, then refreshes the token itself.
 */
export function refreshLeaseMs({ INTEGRATION_TIMEOUT_MS: requestMs }: Pick<Config, 'INTEGRATION_TIMEOUT_MS'>): number {
  return requestMs + REFRESH_MARGIN_MS;
}

/** An open client for one connection's provider account. */
export interface OpenAccount {
  provider: Provider;
  call: ProviderCall;
  /** Refreshes the tokens if they expire soon. @throws ReauthRequired, Unavailable */
  renew(): Promise<void>;
  /** Returns the version of the rejected credentials: the version whose refresh failed, or the current one. */
  refused(error: ReauthRequired): Pick<ConnectionRow, 'id' | 'sealed_version'>;
}

/** Opens a client for a connection's provider. Reads its credentials, and refreshes its tokens when necessary. */
export function openAccount(ctx: Ctx, connection: ConnectionRow): OpenAccount {
  const provider = providerOf(connection);
  const signingSecret = openSigningSecret(ctx.keyring, connection);
  const shared = { apiBase: connection.api_base, signingSecret };
  if (!provider.oauth) {
    const config = openConfig(ctx.keyring, connection);
    return {
      provider,
      call: openCall(ctx, provider, { ...shared, config }),
      renew: async () => {},
      refused: () => connection,
    };
  }
  let current: ConnectionRow = connection;
  const renewed = async (refused: string) => {
    const known = openStoredTokens(ctx.keyring, current).access_token;
    // If the tokens differ, a concurrent request of this client has already refreshed them.
    if (known !== refused) return known;
    current = await refreshTokens(ctx, provider, current);
    return openStoredTokens(ctx.keyring, current).access_token;
  };
  const accessToken = async () => {
    const { access_token: token } = openStoredTokens(ctx.keyring, current);
    const endsMs = current.token_expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
    return endsMs > ctx.clock.now().getTime() + RENEW_BEFORE_MS ? token : renewed(token);
  };
  const call = openCall(ctx, provider, { ...shared, accessToken, refresh: renewed });
  return {
    provider,
    call,
    renew: async () => void (await accessToken()),
    // `current` may already be newer than the rejected credentials, if a person connected the account again.
    refused: ({ version }) => ({ id: current.id, sealed_version: version ?? current.sealed_version }),
  };
}

/** Decrypts the pasted credentials of a connection. */
export function openConfig(keyring: Keyring, { id, sealed }: Pick<ConnectionRow, 'id' | 'sealed'>) {
  return JSON.parse(keyring.open(sealed, SEAL_PLACES.integration(id)).toString('utf8')) as Record<string, unknown>;
}

function openStoredTokens(keyring: Keyring, connection: Pick<ConnectionRow, 'id' | 'sealed'>): StoredTokens {
  return openConfig(keyring, connection) as unknown as StoredTokens;
}

/** Encrypts pasted credentials or tokens for a connection. */
export function sealCredentials(keyring: Keyring, connectionId: string, value: object): Buffer {
  return keyring.seal(JSON.stringify(value), SEAL_PLACES.integration(connectionId));
}

/** Creates a new secret that signs the webhooks of a connection. */
export function newSigningSecret(keyring: Keyring, connectionId: string): { secret: string; sealed: Buffer } {
  const secret = newSecret(SECRET_PREFIX.webhook);
  return { secret, sealed: keyring.seal(secret, SEAL_PLACES.integrationSigning(connectionId)) };
}

/** Decrypts the secret that signs the webhooks of a connection; undefined if none has been created yet. */
export function openSigningSecret(
  keyring: Keyring,
  { id, signing_secret: sealed }: Pick<ConnectionRow, 'id' | 'signing_secret'>,
): string | undefined {
  return sealed ? keyring.open(sealed, SEAL_PLACES.integrationSigning(id)).toString('utf8') : undefined;
}

/**
 * Returns the expiry of an answer's access token. Null if the answer contains none: the token is then used until the
 * provider rejects it.
 */
export function tokenEnd({ expires_in: seconds }: TokenFields, now: Date): Date | null {
  const lifeMs = Number(seconds) * 1000;
  return Number.isFinite(lifeMs) && lifeMs > 0 ? new Date(now.getTime() + lifeMs) : null;
}

/**
 * Exchanges the refresh token of a connection. Only one process refreshes at a time; other processes wait for the
 * tokens that it stores. Many providers accept a refresh token only once.
 * @returns the connection with its new tokens
 * @throws ReauthRequired when the consent has ended, Unavailable when the provider does not answer
 */
async function refreshTokens(ctx: Ctx, provider: Provider, stale: ConnectionRow): Promise<ConnectionRow> {
  const tokens = openStoredTokens(ctx.keyring, stale);
  const { sealed_version: version } = stale;
  if (!tokens.refresh_token)
    throw new ReauthRequired(message('connect.credentials_ended', { provider: provider.name }), version);
  for (;;) {
    const [mine] = await singleStatement(ctx).sql<ConnectionRow>(
      `update integration_connections set refreshing_until = clock_timestamp() + :lease * interval '1 millisecond'
       where organization_id = :org and id = :id and sealed_version = :version and status <> 'reauth_required'
         and (refreshing_until is null or refreshing_until < clock_timestamp())
       returning *`,
      { id: stale.id, version, lease: refreshLeaseMs(ctx.config) },
    );
    if (mine) return exchangeRefresh(ctx, provider, mine);
    const [now] = await reader(ctx).sql<ConnectionRow>(
      'select * from integration_connections where organization_id = :org and id = :id',
      { id: stale.id },
    );
    if (!now) throw new ReauthRequired(message('connect.connection_removed'), version);
    if (now.sealed_version !== version) return now;
    if (now.status === 'reauth_required')
      throw new ReauthRequired(now.last_error ?? message('connect.reconnect'), version);
    await sleep(POLL_MS);
  }
}

async function exchangeRefresh(ctx: Ctx, provider: Provider, connection: ConnectionRow): Promise<ConnectionRow> {
  const { refresh_token: refreshToken } = openStoredTokens(ctx.keyring, connection);
  const now = ctx.clock.now();
  try {
    const client = requireClient(ctx.config, provider);
    const fields = await requestProviderTokens(ctx, provider, client, {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
    });
    const sealed = sealCredentials(ctx.keyring, connection.id, tokensIn(fields, refreshToken));
    // Retries storing the new refresh token during a short outage of the database, because with many providers the old
    // one is already invalid.
    const store = () =>
      singleStatement(ctx).sql<ConnectionRow>(
        `update integration_connections set sealed = :sealed, sealed_version = sealed_version + 1, token_expires_at = :ends, refreshing_until = null,
         api_base = coalesce(:base, api_base), updated_at = :now
       where organization_id = :org and id = :id and sealed_version = :version returning *`,
        {
          id: connection.id,
          version: connection.sealed_version,
          now,
          ends: tokenEnd(fields, now),
          base: accountBase(client, fields) ?? null,
          sealed,
        },
      );
    const [stored] = await retryUntilStored(ctx, store, { forMs: STORING_MS });
    await logRun(ctx, connection.id, { kind: 'refresh', status: 'success', detail: null, records: 0, startedAt: now });
    if (!stored) throw new Unavailable(message('connect.connection_changed'));
    return stored;
  } catch (error) {
    const detail = failureReason(ctx, error, provider);
    const ended = error instanceof ReauthRequired;
    // Stores the result before it throws the error, so that no waiting process retries with the same token.
    if (ended) await recordReauth(ctx, connection, detail);
    await singleStatement(ctx).sql(
      'update integration_connections set refreshing_until = null where organization_id = :org and id = :id and sealed_version = :version',
      { id: connection.id, version: connection.sealed_version },
    );
    await logRun(ctx, connection.id, { kind: 'refresh', status: 'error', detail, records: 0, startedAt: now });
    throw ended ? new ReauthRequired(error.said, connection.sealed_version) : error;
  }
}

/**
 * Marks a connection as needing reauthorization. Its deliveries keep waiting.
 * @param refused the connection with the credentials that the provider did not accept
 * @returns false if the connection has newer credentials, which the provider has not refused
 */
export async function recordReauth(
  ctx: Ctx,
  { id, sealed_version: version }: Pick<ConnectionRow, 'id' | 'sealed_version'>,
  detail: Message,
): Promise<boolean> {
  await singleStatement(ctx).sql(
    `update integration_connections set status = 'reauth_required', health = 'down', health_detail = cast(:detail as jsonb), health_checked_at = :now,
       last_error = cast(:detail as jsonb), last_error_at = :now, updated_at = :now
     where organization_id = :org and id = :id and sealed_version = :version and status in ('connected', 'degraded')`,
    { id, version, detail: json(detail), now: ctx.clock.now() },
  );
  const [renewed] = await reader(ctx).sql(
    `select 1 from integration_connections
     where organization_id = :org and id = :id and sealed_version <> :version and status in ('connected', 'degraded')`,
    { id, version },
  );
  return renewed === undefined;
}

/** One entry of a connection's log. */
interface RunLine {
  kind: Row<'integration_runs'>['kind'];
  status: 'success' | 'error';
  detail: Message | null;
  records: number;
  startedAt: Date;
}

/** Writes an entry to a connection's log. Writes nothing if the connection has been deleted. */
export async function logRun(ctx: Ctx, connectionId: string, line: RunLine): Promise<void> {
  await singleStatement(ctx).sql(RUN_SQL, runBindings(connectionId, line, ctx.clock.now()));
}

/** Variant of {@link logRun} that writes in the caller's transaction. */
export async function logRunIn(tx: Tx, connectionId: string, line: RunLine): Promise<void> {
  await tx.org.sql(RUN_SQL, runBindings(connectionId, line, tx.now));
}

const RUN_SQL = `insert into integration_runs (id, organization_id, connection_id, kind, status, detail, records_processed, started_at, finished_at)
  select :runId, :org, c.id, :kind, :status, cast(:detail as jsonb), :records, :started, :now
  from integration_connections c where c.organization_id = :org and c.id = :id`;

function runBindings(connectionId: string, { kind, status, detail, records, startedAt }: RunLine, now: Date) {
  return {
    runId: newId(),
    id: connectionId,
    kind,
    status,
    detail: detail && json(detail),
    records,
    started: startedAt,
    now,
  };
}
