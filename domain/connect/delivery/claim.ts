import { json } from '../../../db/connection.ts';
import { message } from '../../../messages/index.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { callClaimMs } from '../../platform/kernel/call-claim.ts';
import { engineSql } from './sql.ts';

/** Error stored for an attempt whose worker stopped. */
const LOST = json(message('connect.attempt_lost'));

/** A delivery claimed by one process. Until the claim ends, no other process attempts the delivery. */
export interface Claimed {
  id: string;
  /** Time of the claim by the process's clock (ms of `performance.now()`). */
  claimedAtMs: number;
  organizationId: string;
  endpointId: string;
  eventId: string;
  eventType: string;
  /** Number of the attempt. Together with the status it identifies the claim. */
  attempt: number;
  maxAttempts: number;
  /** Number of attempts before the latest redelivery. */
  earlierAttempts: number;
  url: string;
  enabled: boolean;
  verified: boolean;
  /** The application's `allowed_webhook_domains` for its endpoint. Null for an endpoint of the workspace itself. */
  allowedDomains: string[] | null;
  /** The stored body. Null once retention has deleted it. */
  body: string | null;
  /** Secret that signs every attempt of the delivery. */
  secret: { id: string; sealed: Buffer } | null;
}

/**
 * Deliveries to claim: the waiting ones of a batch, or one by its id. With `takeOver`, also those whose claim expired
 * without an outcome. With `lane`, the batch of an endpoint, failed deliveries are claimed only when they are due
 * again.
 */
type ClaimWhat =
  | { batchId: string; limit: number; takeOver: boolean; lane?: boolean }
  | { deliveryId: string; organizationId: string };

/** SQL condition: the claim of a delivery has ended. */
const IS_OVER = `(d.claimed_until > now()) is not true`;

const WHICH = {
  batch: `d.batch_id = :batch::uuid and d.status in ('pending', 'in_flight') and d.status = :status::text and (d.status = 'pending' or ${IS_OVER})`,
  lane: `d.batch_id = :batch::uuid and (d.status = 'pending' or d.status = 'failed' and d.next_attempt_at <= :now::timestamptz)`,
  one: `d.id = :id::uuid and d.organization_id = :org::uuid and (d.status = 'in_flight' and ${IS_OVER} or d.status in ('pending', 'failed') and d.next_attempt_at <= :now::timestamptz)`,
} as const;

/**
 * Claims deliveries in one statement: they become `in_flight`, the attempt is counted, and the secret is chosen. A
 * first attempt uses the newest secret; later attempts reuse it. An attempt whose worker has crashed is recorded
 * without a result. It is not counted as one of the limited attempts, and does not lengthen the next delay. A claim
 * lasts as long as a request may take, so a worker that was suspended for a shorter time keeps its deliveries.
 */
export async function claimWebhookDeliveries(
  { db, clock, config }: Pick<Deps, 'db' | 'clock' | 'config'>,
  what: ClaimWhat,
): Promise<Claimed[]> {
  const isBatch = 'batchId' in what;
  const which = !isBatch ? 'one' : what.lane && !what.takeOver ? 'lane' : 'batch';
  const now = clock.now();
  const claimedAtMs = performance.now();
  const claimMs = callClaimMs(config.WEBHOOK_TIMEOUT_MS);
  const rows = await engineSql<ClaimedRow>(
    db,
    `claim_${which}`,
    `with due as materialized (
       select d.id, d.status, d.organization_id, d.endpoint_id, d.event_id, d.secret_id, d.batch_id, d.attempt_count, d.last_attempt_at
       from webhook_deliveries d where ${WHICH[which]}
       order by d.id limit :limit::int for update skip locked
     ), facts as (
       select due.id, case due.status when 'in_flight' then 1 else 0 end as lost, e.url, e.enabled, e.verified_at is not null as verified, a.allowed_webhook_domains, p.body,
         coalesce(kept.id, newest.id) as secret_id, coalesce(kept.sealed, newest.sealed) as sealed
       from due
       join webhook_endpoints e on e.id = due.endpoint_id
       left join oauth_applications a on a.id = e.application_id
       left join webhook_payloads p on p.event_id = due.event_id
       left join webhook_secrets kept on kept.id = due.secret_id
       left join lateral (
         select s.id, s.sealed from (
           (select id, sealed from webhook_secrets where endpoint_id = e.id order by id desc limit 1)
           union all (select id, sealed from webhook_secrets where application_id = e.application_id order by id desc limit 1)) s
         order by s.id desc limit 1) newest on kept.id is null
     ), interrupted as (
       insert into webhook_attempts (delivery_id, attempt, organization_id, started_at, duration_ms, error_reason, batch_id)
       select id, attempt_count, organization_id, coalesce(last_attempt_at, :now::timestamptz), 0, :lost::jsonb, batch_id
       from due where status = 'in_flight' on conflict do nothing
     )
     update webhook_deliveries d
     set status = 'in_flight', attempt_count = d.attempt_count + 1, max_attempts = d.max_attempts + f.lost, earlier_attempts = d.earlier_attempts + f.lost, secret_id = f.secret_id, last_attempt_at = :now::timestamptz, claimed_until = now() + :claimMs::float8 * interval '1 millisecond', next_attempt_at = null, updated_at = :now::timestamptz
     from facts f where d.id = f.id
     returning d.id, d.organization_id as "organizationId", d.endpoint_id as "endpointId", d.event_id as "eventId", d.event_type as "eventType",
       d.attempt_count as attempt, d.max_attempts as "maxAttempts", d.earlier_attempts as "earlierAttempts",
       f.url, f.enabled, f.verified, f.allowed_webhook_domains as "allowedDomains", f.body, d.secret_id as "secretId", f.sealed`,
    isBatch
      ? {
          batch: what.batchId,
          status: what.takeOver ? 'in_flight' : 'pending',
          limit: what.limit,
          now,
          claimMs,
          lost: LOST,
        }
      : { id: what.deliveryId, org: what.organizationId, limit: 1, now, claimMs, lost: LOST },
  );
  return rows.map(({ secretId, sealed, ...row }) => ({
    ...row,
    claimedAtMs,
    secret: secretId && sealed ? { id: secretId, sealed } : null,
  }));
}

interface ClaimedRow extends Omit<Claimed, 'secret' | 'claimedAtMs'> {
  secretId: string | null;
  sealed: Buffer | null;
}

/** Age (ms) of a claim from which it is renewed before the request. */
const RENEW_AFTER_MS = 1_000;

/**
 * Returns true if a delivery may be sent under its claim. Renews a claim older than a second. Returns false if another
 * attempt has taken over the delivery while this one waited for a permit or the process was suspended.
 */
export async function holdsClaim(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  { id, attempt, claimedAtMs }: Claimed,
): Promise<boolean> {
  if (performance.now() - claimedAtMs < RENEW_AFTER_MS) return true;
  const rows = await engineSql(
    db,
    'renew_claim',
    `update webhook_deliveries set claimed_until = now() + :claimMs::float8 * interval '1 millisecond'
     where id = :id::uuid and status = 'in_flight' and attempt_count = :attempt::int returning id`,
    { id, attempt, claimMs: callClaimMs(config.WEBHOOK_TIMEOUT_MS) },
  );
  return rows.length > 0;
}

/**
 * Returns the time (ms) until the first claim of another attempt in a batch ends; undefined if no other attempt has
 * deliveries of the batch in flight.
 * @param own ids of the deliveries that the caller has in flight
 */
export async function othersClaimEndsInMs(
  { db }: Pick<Deps, 'db'>,
  batchId: string,
  own: Iterable<string>,
): Promise<number | undefined> {
  const [others] = await engineSql<{ ms: number | null }>(
    db,
    'read_claims',
    `select (extract(epoch from min(coalesce(claimed_until, now())) - now()) * 1000)::float8 as ms from webhook_deliveries
     where batch_id = :batch::uuid and status = 'in_flight' and id <> all(:own::uuid[])`,
    { batch: batchId, own: [...own] },
  );
  return others!.ms === null ? undefined : Math.max(0, others!.ms);
}
