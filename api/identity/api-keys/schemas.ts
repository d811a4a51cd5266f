import { z } from 'zod';
import { inputTimestamp, pageDescriptions, requestId, resource, timestamp, uuid } from '../../http/schemas.ts';

const MAX_LIST = 100;

const name = z.string().trim().min(1).max(255);
const permissions = z.number().int().nonnegative().meta({ description: 'Bit mask, see GET /v1/api-keys/permissions' });
const optionalFields = {
  description: z.string().max(2000).optional(),
  allowed_ips: z
    .array(z.string().trim().max(64))
    .max(MAX_LIST)
    .optional()
    .meta({ description: 'Addresses or CIDR ranges; empty allows any source' }),
  allowed_email_accounts: z
    .array(z.string())
    .max(MAX_LIST)
    .optional()
    .meta({ description: 'Mailbox ids of the workspace; empty allows all' }),
  rate_limit_per_minute: z.int().min(0).max(1_000_000).optional().meta({ description: '0 sets the default, 60' }),
};

export const createBody = z.strictObject({
  name,
  permissions,
  ...optionalFields,
  expires_at: inputTimestamp.nullish().meta({ description: 'null or omitted: it does not expire' }),
});
export const updateBody = z.strictObject({
  name: name.optional(),
  permissions: permissions.optional(),
  ...optionalFields,
});

/** Paging parameters of lists of API keys. Unlike in other lists, a bad limit is replaced by the default. */
const lenientPage = (max: number) => ({
  cursor: z.string().optional().meta({ description: pageDescriptions.cursor }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(max)
    .default(50)
    .catch(50)
    .meta({ description: `${pageDescriptions.limit}; the default if it is out of range` }),
});

export const listQuery = z.object({
  ...lenientPage(100),
});
/** Query of a key's request log. */
export const logsQuery = z.object({
  ...lenientPage(200),
  request_id: requestId.optional().meta({ description: 'Only the request with this X-Request-Id' }),
});
const interval = z.enum(['minute', 'hour', 'day']);
export const analyticsQuery = z.object({
  from: inputTimestamp.optional().meta({ description: 'Default: 24 hours before `to`' }),
  to: inputTimestamp.optional().meta({ description: 'Default: now' }),
  interval: interval
    .default('hour')
    .meta({ description: 'Maximum range: 24 hours with `minute`, 31 days with `hour`, 92 days with `day`' }),
});
export const revokeQuery = z.object({
  reason: z
    .string()
    .trim()
    .max(500)
    // An empty reason is accepted, so that it does not prevent the revocation of a leaked key.
    .transform((reason) => reason || undefined)
    .optional()
    .meta({ description: 'Reason, stored with the key; empty for none' }),
});

const fields = {
  id: uuid,
  user_id: uuid.nullable(),
  made_by_key_id: uuid
    .nullable()
    .meta({ description: 'Key with which it was created. Revoking that key also revokes this one' }),
  made_by_application_id: uuid
    .nullable()
    .meta({ description: 'Application whose token created it. The end of its grant also revokes this key' }),
  organization_id: uuid,
  name: z.string(),
  description: z.string(),
  key_prefix: z.string(),
  key_suffix: z.string(),
  permissions: z.int(),
  allowed_ips: z.array(z.string()),
  allowed_email_accounts: z.array(uuid),
  rate_limit_per_minute: z.int(),
  status: z
    .enum(['active', 'revoked'])
    .meta({ description: 'A key past expires_at is still `active`, but authenticates nothing' }),
  last_used_at: timestamp.nullable().meta({ description: 'Accurate to about a minute' }),
  last_request_ip: z.string().nullable(),
  expires_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
  revoked_reason: z.string().nullable().meta({ description: 'Text in the language of the request' }),
  revoked_reason_code: z.string().nullable().meta({ description: '`words` marks the words of a person' }),
  created_at: timestamp,
  updated_at: timestamp,
};

export const apiKey = resource('ApiKey', fields);
export const apiKeyWithSecret = resource('ApiKeyWithSecret', {
  ...fields,
  secret: z.string().meta({ description: 'Shown only in this answer' }),
});
export const deleted = z.strictObject({ status: z.literal('deleted') });
export const revoked = z.strictObject({
  status: z.literal('revoked'),
  revoked_keys: z.int().meta({ description: 'Keys revoked together with it, because they were created with it' }),
});
export const catalogue = resource('PermissionCatalogue', {
  permissions: z.array(
    z.strictObject({
      name: z.string(),
      value: z.int(),
      description: z.string(),
      category: z.enum(['read', 'write', 'bulk', 'special']),
    }),
  ),
  presets: z.strictObject({ read_only: z.int(), full_access: z.int() }),
});

export const usageSummary = resource('ApiUsageSummary', {
  active_keys: z.int(),
  revoked_keys: z.int(),
  expired_keys: z.int(),
  requests_24h: z.int(),
  errors_24h: z.int().meta({ description: 'Number of answers with status 400 and above' }),
  avg_latency_ms_24h: z.number(),
  last_call_at: timestamp.nullable(),
});

export const usageAnalytics = resource('ApiUsageAnalytics', {
  api_key_id: uuid.meta({ description: 'All zeros for the whole workspace' }),
  from: timestamp,
  to: timestamp,
  interval,
  buckets: z
    .array(
      z.strictObject({
        bucket: timestamp.meta({ description: 'Start of the bucket, aligned to UTC' }),
        total: z.int(),
        success: z.int(),
        client_errors: z.int(),
        server_errors: z.int(),
        avg_latency_ms: z.number(),
      }),
    )
    .meta({
      description:
        'Buckets without gaps. Only requests of the range count, even if the first or last bucket extends beyond it',
    }),
  endpoints: z
    .array(
      z.strictObject({
        endpoint: z.string(),
        method: z.string(),
        count: z.int(),
        error_count: z.int(),
        avg_latency_ms: z.number(),
      }),
    )
    .meta({ description: 'Most used first' }),
  total: z.int(),
  errors: z.int(),
});

export const usageLog = resource('ApiUsageLog', {
  id: uuid,
  api_key_id: uuid,
  endpoint: z.string().meta({ description: 'Path template of the route' }),
  method: z.string(),
  ip_address: z.string(),
  user_agent: z.string(),
  response_code: z.int(),
  response_time_ms: z.int(),
  request_id: z.string().meta({ description: 'Also in the X-Request-Id header of its answer' }),
  created_at: timestamp,
});
