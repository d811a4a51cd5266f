import type { z } from 'zod';
import type { UsageAnalytics } from '../../../domain/identity/api-keys/analytics.ts';
import type { ApiKeyRow } from '../../../domain/identity/api-keys/keys.ts';
import type { ApiKeyUsageLogRow, UsageSummary } from '../../../domain/identity/api-keys/usage.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { iso } from '../../http/schemas.ts';
import { reasonIn } from '../../http/stored-message.ts';
import type { apiKey, usageAnalytics, usageLog, usageSummary } from './schemas.ts';

/**
 * Returns an API key for lists and changes. Its secret is not stored; only the answer to its creation contains it.
 */
export function presentKey(row: ApiKeyRow, { language }: Pick<Ctx, 'language'>): z.input<typeof apiKey> {
  return {
    id: row.id,
    user_id: row.user_id,
    made_by_key_id: row.made_by_key_id,
    made_by_application_id: row.made_by_application_id,
    organization_id: row.organization_id,
    name: row.name,
    description: row.description,
    key_prefix: row.key_prefix,
    key_suffix: row.key_suffix,
    permissions: row.permissions,
    allowed_ips: row.allowed_ips,
    allowed_email_accounts: row.allowed_email_accounts,
    rate_limit_per_minute: row.rate_limit_per_minute,
    status: row.status,
    last_used_at: iso(row.last_used_at),
    last_request_ip: row.last_request_ip,
    expires_at: iso(row.expires_at),
    revoked_at: iso(row.revoked_at),
    revoked_reason: reasonIn(row.revoked_reason, language),
    revoked_reason_code: row.revoked_reason?.code ?? null,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns the workspace's key counts by state and their activity of the past 24 hours. */
export function presentSummary(summary: UsageSummary): z.input<typeof usageSummary> {
  return { ...summary, last_call_at: iso(summary.last_call_at) };
}

/** Returns the number of calls of one key or of all keys, in time buckets. */
export function presentAnalytics(analytics: UsageAnalytics): z.input<typeof usageAnalytics> {
  return {
    ...analytics,
    from: iso(analytics.from),
    to: iso(analytics.to),
    buckets: analytics.buckets.map((bucket) => ({ ...bucket, bucket: iso(bucket.bucket) })),
  };
}

/** Returns one request made with a key and its answer. `response_time_ms` is the time in this process. */
export function presentUsageLog(row: ApiKeyUsageLogRow): z.input<typeof usageLog> {
  const { id, api_key_id, endpoint, method, ip_address, user_agent, response_code, response_time_ms, request_id } = row;
  return {
    id,
    api_key_id,
    endpoint,
    method,
    ip_address,
    user_agent,
    response_code,
    response_time_ms,
    request_id,
    created_at: iso(row.created_at),
  };
}
