import { across } from '../../../db/across.ts';
import { json } from '../../../db/connection.ts';
import type { Row } from '../../../db/rows.ts';
import type { Said } from '../../../lib/errors.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/clock.ts';
import { systemCtx, type Ctx, type Deps } from '../../platform/kernel/context.ts';
import { singleStatement, transact } from '../../platform/kernel/transact.ts';
import {
  callFor,
  HEALTHY_EVERY_MS,
  logRun,
  noteReauth,
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

/** How often (ms) an account is asked that did not answer; others wait {@link HEALTHY_EVERY_MS}. */
const UNHEALTHY_EVERY_MS = 5 * MINUTE_MS;
const PAGE = 50;
/** How long (ms) one round may take. */
const ROUND_MS = 4 * MINUTE_MS;
const FIRST_RETRY_MS = MINUTE_MS;
/** After so many attempts, some three weeks, the consent is left to its person. */
const MAX_ATTEMPTS = 30;

/**
 * Asks accounts whether they still answer, those that are due: it shows in their health, and one whose credentials are refused has to be connected again. Tokens that are about to
 * end are refreshed by the way.
 * @returns accounts that were asked
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
  // While its calls are used up, or it asks to wait, it is asked the next time.
  if ((await acquireCall(ctx, connection.id, provider.rate)) > 0) return;
  const startedAt = ctx.clock.now();
  let account: OpenAccount | undefined;
  try {
    account = callFor(ctx, connection);
    await ask(account);
    await noteHealth(ctx, connection, { health: 'healthy', status: 'connected', detail: null });
  } catch (error) {
    const detail = failureReason(ctx, error, provider);
    if (error instanceof ReauthRequired) await noteReauth(ctx, account?.refused(error) ?? connection, detail);
    else if (error instanceof RateLimited) {
      await transact(ctx, (tx) => pauseCalls(tx, connection.id, error.retryAfterMs));
      return;
    } else if (error instanceof Refused)
      await noteHealth(ctx, connection, { health: 'degraded', status: 'degraded', detail });
    else await noteHealth(ctx, connection, { health: 'down', status: 'degraded', detail });
    if (connection.health === 'healthy')
      await logRun(ctx, connection.id, { kind: 'health', status: 'error', detail, records: 0, startedAt });
  }
}

/** Asks a provider something that changes nothing: its fields, or whose key it is. Where there is nothing of the kind, the tokens are kept fresh. */
async function ask({ provider, call, renew }: OpenAccount): Promise<void> {
  if (provider.check) await provider.check(call);
  else if (provider.push?.readFields) await provider.push.readFields(call);
  else if (provider.oauth) await renew();
  else await provider.credentials?.validate(call);
}

async function noteHealth(
  ctx: Ctx,
  { id }: ConnectionRow,
  {
    health,
    status,
    detail,
  }: { health: ConnectionRow['health']; status: 'connected' | 'degraded'; detail: Said | null },
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
 * Ends consents and webhooks of connections that are gone at their providers: those that are due, with the time of the next attempt stored before each. A provider that
 * does not answer is asked again after a minute, doubling, up to a day. An account that another connection of this installation uses keeps its consent: at most
 * providers it is one for all of them.
 * @returns those that need no further attempt
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

/** Asks the provider to end a consent that no other connection needs, and to send no webhooks. Returns whether nothing is left to do. */
async function revoke(deps: Deps, row: Revocation & { shared: boolean }): Promise<boolean> {
  const provider = findProvider(row.provider);
  if (!provider) return false;
  try {
    await endAll(deps, provider, row);
    return true;
  } catch (error) {
    // What the provider refuses now it would refuse again: the consent has ended there already.
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
