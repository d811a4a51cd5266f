import type { Message } from '../../../messages/index.ts';
import { across } from '../../../db/across.ts';
import { json } from '../../../db/connection.ts';
import type { Row } from '../../../db/rows.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/clock.ts';
import { systemCtx, type Ctx, type Deps } from '../../platform/kernel/context.ts';
import { singleStatement, transact } from '../../platform/kernel/transact.ts';
import {
  openAccount,
  HEALTHY_EVERY_MS,
  logRun,
  recordReauth,
  openConfig,
  type ConnectionRow,
  type OpenAccount,
} from './account.ts';
import { openCall } from './call.ts';
import { pauseCalls, acquireCall } from './claim.ts';
import { failureReason } from './failure.ts';
import { RateLimited, ReauthRequired, Refused, type Provider } from './providers/provider.ts';
import { findProvider } from './registry.ts';
import { requireClient, revokeToken } from './tokens.ts';

/**
 * Interval (ms) between health checks of an account whose provider did not answer. Other accounts are checked every
 * {@link HEALTHY_EVERY_MS}.
 */
const UNHEALTHY_EVERY_MS = 5 * MINUTE_MS;
const PAGE = 50;
/** Maximum duration (ms) of one round of health checks. */
const ROUND_MS = 4 * MINUTE_MS;
const FIRST_RETRY_MS = MINUTE_MS;
/**
 * Maximum number of attempts to revoke a consent, over about three weeks. After that a person must revoke the consent
 * at the provider.
 */
const MAX_ATTEMPTS = 30;

/**
 * Checks the accounts whose health check is due, and stores the result. An account whose credentials are rejected needs
 * reauthorization. Refreshes tokens that expire soon.
 * @returns the number of checked accounts
 */
export async function checkHealth(deps: Deps): Promise<number> {
  const endsAt = performance.now() + ROUND_MS;
  let asked = 0;
  while (performance.now() < endsAt) {
    const now = deps.clock.now();
    const due = await across(deps.db, 'maintenance').sql<ConnectionRow>(
      `with due as (
         select id from integration_connections where health_due_at <= :now and status in ('connected', 'degraded')
         order by health_due_at limit :page for update skip locked)
       update integration_connections c set health_due_at = :next from due where c.id = due.id returning c.*`,
      { now, page: PAGE, next: new Date(now.getTime() + UNHEALTHY_EVERY_MS) },
    );
    if (due.length === 0) break;
    for (const connection of due) {
      await checkOne(systemCtx(deps, connection.organization_id, 'integration-health'), connection);
      asked += 1;
    }
  }
  return asked;
}

async function checkOne(ctx: Ctx, connection: ConnectionRow): Promise<void> {
  const provider = findProvider(connection.provider);
  if (!provider) return;
  // If the rate limit or a pause of the provider allows no call now, the account is checked in the next round.
  if ((await acquireCall(ctx, connection.id, provider.rate)) > 0) return;
  const startedAt = ctx.clock.now();
  let account: OpenAccount | undefined;
  try {
    account = openAccount(ctx, connection);
    await ask(account);
    await storeHealth(ctx, connection, { health: 'healthy', status: 'connected', detail: null });
  } catch (error) {
    const detail = failureReason(ctx, error, provider);
    if (error instanceof ReauthRequired) await recordReauth(ctx, account?.refused(error) ?? connection, detail);
    else if (error instanceof RateLimited) {
      await transact(ctx, (tx) => pauseCalls(tx, connection.id, error.retryAfterMs));
      return;
    } else if (error instanceof Refused)
      await storeHealth(ctx, connection, { health: 'degraded', status: 'degraded', detail });
    else await storeHealth(ctx, connection, { health: 'down', status: 'degraded', detail });
    if (connection.health === 'healthy')
      await logRun(ctx, connection.id, { kind: 'health', status: 'error', detail, records: 0, startedAt });
  }
}

/**
 * Sends a read-only request to a provider: reads its fields, or the account of the key. If the provider offers neither,
 * refreshes the tokens.
 */
async function ask({ provider, call, renew }: OpenAccount): Promise<void> {
  if (provider.check) await provider.check(call);
  else if (provider.push?.readFields) await provider.push.readFields(call);
  else if (provider.oauth) await renew();
  else await provider.credentials?.validate(call);
}

async function storeHealth(
  ctx: Ctx,
  { id }: ConnectionRow,
  {
    health,
    status,
    detail,
  }: { health: ConnectionRow['health']; status: 'connected' | 'degraded'; detail: Message | null },
): Promise<void> {
  const now = ctx.clock.now();
  await singleStatement(ctx).sql(
    `update integration_connections set health = :health, status = :status, health_detail = cast(:detail as jsonb), health_checked_at = :now, health_due_at = :next
     where organization_id = :org and id = :id and status in ('connected', 'degraded')`,
    {
      id,
      health,
      status,
      detail: detail && json(detail),
      now,
      next: new Date(now.getTime() + (health === 'healthy' ? HEALTHY_EVERY_MS : UNHEALTHY_EVERY_MS)),
    },
  );
}

type Revocation = Row<'integration_revocations'>;

/**
 * Revokes due consents and webhooks of deleted connections at their providers. Stores the time of the next attempt
 * before each attempt. A provider that does not answer is called again after a minute; the delay doubles up to a day. A
 * consent is kept if another connection of this installation uses the same account, because most providers have one
 * consent for all.
 * @returns the number of connections that need no further attempt
 */
export async function revokeConnections(deps: Deps): Promise<number> {
  const due = await across(deps.db, 'maintenance').sql<Revocation & { shared: boolean }>(
    `with due as (
       select connection_id from integration_revocations where due_at <= :now order by due_at limit :page for update skip locked)
     update integration_revocations r set attempts = r.attempts + 1,
       due_at = cast(:now as timestamptz) + least(:first * power(2, least(r.attempts, 20)), :longest) * interval '1 millisecond'
     from due where r.connection_id = due.connection_id
     returning r.*, exists (select from integration_connections c where c.provider = r.provider
       and c.external_account_id = r.external_account_id and c.status in ('connected', 'degraded')) as shared`,
    { now: deps.clock.now(), page: PAGE, first: FIRST_RETRY_MS, longest: DAY_MS },
  );
  let done = 0;
  for (const row of due) {
    const isOver = await revoke(deps, row);
    if (!isOver && row.attempts < MAX_ATTEMPTS) continue;
    if (!isOver) deps.log.error({ connectionId: row.connection_id }, 'the consent of a connection could not be ended');
    await across(deps.db, 'maintenance')
      .table('integration_revocations')
      .where({ connection_id: row.connection_id })
      .delete();
    done += 1;
  }
  return done;
}

/**
 * Revokes a consent that no other connection needs, and deletes its webhooks at the provider. Returns true if nothing
 * remains to be revoked.
 */
async function revoke(deps: Deps, row: Revocation & { shared: boolean }): Promise<boolean> {
  const provider = findProvider(row.provider);
  if (!provider) return false;
  try {
    await endAll(deps, provider, row);
    return true;
  } catch (error) {
    // The consent has already ended, so nothing remains to be revoked.
    if (error instanceof Refused || error instanceof ReauthRequired) return true;
    deps.log.warn({ connectionId: row.connection_id, err: error }, 'a provider could not be asked to end a consent');
    return false;
  }
}

async function endAll(deps: Deps, provider: Provider, row: Revocation & { shared: boolean }): Promise<void> {
  const secrets = openConfig(deps.keyring, { id: row.connection_id, sealed: row.sealed }) as Record<string, string>;
  const call = openCall(deps, provider, {
    apiBase: row.api_base,
    ...(provider.oauth ? { accessToken: async () => secrets.access_token! } : { config: secrets }),
  });
  if (row.inbound_external_id) await provider.inbound?.unregister?.(call, row.inbound_external_id);
  if (!provider.oauth || row.shared) return;
  const token = secrets.refresh_token || secrets.access_token!;
  if (provider.oauth.revoke) await provider.oauth.revoke(call, token);
  else await revokeToken(deps, provider, requireClient(deps.config, provider), token);
}
