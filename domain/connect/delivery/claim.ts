import type { Db } from '../../../db/connection.ts';
import { json } from '../../../db/connection.ts';
import { message } from '../../../messages/index.ts';
import { engineSql } from './sql.ts';

/** Outcome of an attempt whose worker stopped. */
const LOST = json(message('connect.attempt_lost'));

/** A delivery claimed by one process. No other process attempts it before the claim's deadline. */
export interface Claimed {
  id: string;
  organizationId: string;
  endpointId: string;
  eventId: string;
  eventType: string;
  /** Number of the attempt. Number and status together identify the claim. */
  attempt: number;
  maxAttempts: number;
  /** Number of attempts before the latest redelivery. */
  earlierAttempts: number;
  url: string;
  enabled: boolean;
  verified: boolean;
  /** The application's `allowed_webhook_domains` for its endpoint; null for an endpoint of the workspace itself. */
  allowedDomains: string[] | null;
  /** The stored body; null once retention has deleted it. */
  body: string | null;
  /** The secret that signs every attempt of the delivery, from the first to the last. */
  secret: { id: string; sealed: Buffer } | null;
}

/**
 * Deliveries to claim: the waiting ones of a batch, those that a dead worker left in flight (`takeOver`), or one by id.
 */
type ClaimWhat = { batchId: string; limit: number; takeOver: boolean } | { deliveryId: string; organizationId: string };

const WHICH = {
  batch: `d.batch_id = :batch::uuid and d.status in ('pending', 'in_flight') and d.status = :status::text`,
  // A delivery outside a batch has a single run. So a delivery in flight was left by an earlier attempt of that run
  // that died.
  one: `d.id = :id::uuid and d.organization_id = :org::uuid and (d.status = 'in_flight' or d.status in ('pending', 'failed') and d.next_attempt_at <= :now::timestamptz)`,
} as const;

/**
 * Claims deliveries in one statement: they become `in_flight`, the attempt is counted, and the secret is chosen. A
 * first attempt uses the newest secret; later attempts reuse it. An attempt whose worker died is recorded without an
 * outcome. It does not count against the receiver's attempts and does not lengthen the next wait.
 */
export async function claimWebhookDeliveries(db: Db, what: ClaimWhat, now: Date): Promise<Claimed[]> {
  const isBatch = 'batchId' in what;
  const rows = await engineSql<Omit<Claimed, 'secret'> & { secretId: string | null; sealed: Buffer | null }>(
    db,
    isBatch ? 'claim_batch' : 'claim_one',
    `with due as materialized (
       select d.id, d.status, d.organization_id, d.endpoint_id, d.event_id, d.secret_id, d.batch_id, d.attempt_count, d.last_attempt_at
       from webhook_deliveries d where ${isBatch ? WHICH.batch : WHICH.one}
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
     set status = 'in_flight', attempt_count = d.attempt_count + 1, max_attempts = d.max_attempts + f.lost, earlier_attempts = d.earlier_attempts + f.lost, secret_id = f.secret_id, last_attempt_at = :now::timestamptz, next_attempt_at = null, updated_at = :now::timestamptz
     from facts f where d.id = f.id
     returning d.id, d.organization_id as "organizationId", d.endpoint_id as "endpointId", d.event_id as "eventId", d.event_type as "eventType",
       d.attempt_count as attempt, d.max_attempts as "maxAttempts", d.earlier_attempts as "earlierAttempts",
       f.url, f.enabled, f.verified, f.allowed_webhook_domains as "allowedDomains", f.body, d.secret_id as "secretId", f.sealed`,
    isBatch
      ? { batch: what.batchId, status: what.takeOver ? 'in_flight' : 'pending', limit: what.limit, now, lost: LOST }
      : { id: what.deliveryId, org: what.organizationId, limit: 1, now, lost: LOST },
  );
  return rows.map(({ secretId, sealed, ...row }) => ({
    ...row,
    secret: secretId && sealed ? { id: secretId, sealed } : null,
  }));
}
