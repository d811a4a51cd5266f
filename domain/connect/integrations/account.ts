import { setTimeout as sleep } from 'node:timers/promises';
import { json } from '../../../db/connection.ts';
import type { Row } from '../../../db/rows.ts';
import type { Said } from '../../../lib/errors.ts';
import { MINUTE_MS } from '../../../lib/clock.ts';
import type { Config } from '../../../lib/config/index.ts';
import { newSecret, SECRET_PREFIX } from '../../../lib/crypto.ts';
import { newId } from '../../../lib/ids.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import { message } from '../../../messages/index.ts';
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

/** How often (ms) a healthy account is asked whether it still answers. */
export const HEALTHY_EVERY_MS = 15 * MINUTE_MS;
/** A token is renewed when it has less than this left (ms). */
const RENEW_BEFORE_MS = 60_000;
/** Time (ms) that a refresh spends in this process and in PostgreSQL, beside its request. */
const REFRESH_MARGIN_MS = 5_000;
const POLL_MS = 100;
/** How long (ms) new tokens wait for a database that is away. */
const STORING_MS = 10_000;

/** How long (ms) one process has to refresh a token before another may; whoever waits for it waits no longer. */
export function refreshLeaseMs({ INTEGRATION_TIMEOUT_MS: requestMs }: Pick<Config, 'INTEGRATION_TIMEOUT_MS'>): number {
  return requestMs + REFRESH_MARGIN_MS;
}

/** A conversation with a connection's provider. */
export interface OpenAccount {
  provider: Provider;
  call: ProviderCall;
  /** Refreshes the tokens where they are about to end. @throws ReauthRequired, Unavailable */
  renew(): Promise<void>;
  /** The connection with the credentials that a refusal is about: those that could not be refreshed, else those that are in use. */
  refused(error: ReauthRequired): Pick<ConnectionRow, 'id' | 'sealed_version'>;
}

/** Opens a conversation with a connection's provider: its credentials are read, and its tokens refreshed when they have to be. */
export function callFor(ctx: Ctx, connection: ConnectionRow): OpenAccount {
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
    // Another request of this conversation has met the same refusal first.
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
    // Another request of this conversation may have got newer ones meanwhile, from a person who connected the account again.
    refused: ({ version }) => ({ id: current.id, sealed_version: version ?? current.sealed_version }),
  };
}

/** What was pasted for a connection. */
export function openConfig(keyring: Keyring, { id, sealed }: Pick<ConnectionRow, 'id' | 'sealed'>) {
  return JSON.parse(keyring.open(sealed, SEAL_PLACES.integration(id)).toString('utf8')) as Record<string, unknown>;
}

/** The tokens of a connection. */
function openStoredTokens(keyring: Keyring, connection: Pick<ConnectionRow, 'id' | 'sealed'>): StoredTokens {
  return openConfig(keyring, connection) as unknown as StoredTokens;
}

/** What is pasted, or tokens, sealed for a connection. */
export function sealFor(keyring: Keyring, connectionId: string, value: object): Buffer {
  return keyring.seal(JSON.stringify(value), SEAL_PLACES.integration(connectionId));
}

/** A new secret that signs the webhooks of a connection. */
export function newSigningSecret(keyring: Keyring, connectionId: string): { secret: string; sealed: Buffer } {
  const secret = newSecret(SECRET_PREFIX.webhook);
  return { secret, sealed: keyring.seal(secret, SEAL_PLACES.integrationSigning(connectionId)) };
}

/** The secret that signs the webhooks of a connection; undefined before it was first needed. */
export function openSigningSecret(
  keyring: Keyring,
  { id, signing_secret: sealed }: Pick<ConnectionRow, 'id' | 'signing_secret'>,
): string | undefined {
  return sealed ? keyring.open(sealed, SEAL_PLACES.integrationSigning(id)).toString('utf8') : undefined;
}

/** When an answer's access token ends; null where it does not say: it is used until it is refused. */
export function tokenEnd({ expires_in: seconds }: TokenFields, now: Date): Date | null {
  const lifeMs = Number(seconds) * 1000;
  return Number.isFinite(lifeMs) && lifeMs > 0 ? new Date(now.getTime() + lifeMs) : null;
}

/**
 * Exchanges the refresh token of a connection, in one process at a time over all of them: whoever comes second waits for the tokens that the first one stores. Many
 * providers take a refresh token once.
 * @returns the connection with its new tokens
 * @throws ReauthRequired where the consent has ended, Unavailable where the provider does not answer
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
    const sealed = sealFor(ctx.keyring, connection.id, tokensIn(fields, refreshToken));
    // Many providers have ended the old refresh token by now: the new one must not be lost with a database that is away for a moment.
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
    // First, so that nobody who waits asks with the same token once more.
    if (ended) await noteReauth(ctx, connection, detail);
    await singleStatement(ctx).sql(
      'update integration_connections set refreshing_until = null where organization_id = :org and id = :id and sealed_version = :version',
      { id: connection.id, version: connection.sealed_version },
    );
    await logRun(ctx, connection.id, { kind: 'refresh', status: 'error', detail, records: 0, startedAt: now });
    throw ended ? new ReauthRequired(error.said, connection.sealed_version) : error;
  }
}

/**
 * Shows a connection as one whose account has to be connected again; what waits for it stays.
 * @param refused the connection with the credentials that the provider did not accept
 * @returns false where it has others by now: the refusal says nothing of them
 */
export async function noteReauth(
  ctx: Ctx,
  { id, sealed_version: version }: Pick<ConnectionRow, 'id' | 'sealed_version'>,
  detail: Said,
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

/** One line of a connection's log. */
interface RunLine {
  kind: Row<'integration_runs'>['kind'];
  status: 'success' | 'error';
  detail: Said | null;
  records: number;
  startedAt: Date;
}

/** Writes a line into a connection's log. One of a connection that is gone is dropped. */
export async function logRun(ctx: Ctx, connectionId: string, line: RunLine): Promise<void> {
  await singleStatement(ctx).sql(RUN_SQL, runBindings(connectionId, line, ctx.clock.now()));
}

/** {@link logRun} in a transaction. */
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
