import { z } from 'zod';
import { MAX_PUSHED } from '../../../domain/connect/integrations/push.ts';
import { contactSearch } from '../../audience/contacts/schemas.ts';
import { resource, timestamp, uuid } from '../../http/schemas.ts';

const open = z.record(z.string(), z.unknown());
const authMethod = z.enum(['oauth', 'api_key', 'webhook']);
const direction = z.enum(['push', 'pull', 'both']);
const provider = z.string().meta({ description: 'Id of a provider, such as hubspot' });

export const catalogueEntry = resource('IntegrationProvider', {
  provider,
  name: z.string(),
  tagline: z.string(),
  category: z.enum(['crm', 'automation', 'notifications', 'meetings', 'data']),
  docs_url: z.string(),
  auth_method: authMethod,
  badge_color: z.string(),
  beta: z.boolean(),
  webhook_hint: z.string().meta({ description: 'Instructions where to find the value to paste' }),
  highlights: z.array(z.string()),
  scopes: z.array(z.string()),
  events: z.array(z.string()).meta({ description: 'Recommended triggers; a subscription may use any' }),
  action_types: z.array(z.string()).meta({ description: 'Actions of the provider, such as slack.notify' }),
  supports_push: z.boolean(),
  capability: open.nullable(),
  configured: z
    .boolean()
    .meta({ description: "True if accounts can be connected: the installation has the provider's OAuth client" }),
});

export const connection = resource('IntegrationConnection', {
  id: uuid,
  organization_id: uuid,
  provider,
  label: z.string(),
  status: z
    .enum(['pending', 'authorizing', 'connected', 'degraded', 'reauth_required', 'disconnected'])
    .meta({ description: 'reauth_required: the account must be reconnected; pending deliveries are kept' }),
  auth_method: authMethod,
  display_fields: open.meta({ description: 'Values that identify the account; never a secret' }),
  config_capabilities: open,
  sync_direction: direction,
  connected_by_user_id: uuid.nullable(),
  external_account_id: z.string(),
  external_account_name: z.string(),
  granted_scopes: z.array(z.string()),
  token_expires_at: timestamp.nullable(),
  health: z.enum(['unknown', 'healthy', 'degraded', 'down']),
  health_detail: z.string().nullable(),
  health_checked_at: timestamp.nullable(),
  last_synced_at: timestamp.nullable(),
  last_error: z.string().nullable(),
  last_error_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
  inbound_webhook_url: z.string().optional().meta({
    description:
      'URL that a scheduling provider calls; shown once, in the answer to its creation. Heron registers it at the provider if possible.',
  }),
  blocked_reason: z
    .string()
    .optional()
    .meta({ description: 'Reason why its deliveries are stopped after repeated failures' }),
});

export const subscription = resource('IntegrationSubscription', {
  id: uuid,
  connection_id: uuid,
  organization_id: uuid,
  event_type: z.string(),
  action: z.string(),
  config: open,
  enabled: z.boolean(),
  use_case: z.enum(['crm_sync', 'notify', 'custom']),
  automation_id: uuid.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

const mapping = resource('FieldMapping', {
  id: uuid,
  connection_id: uuid,
  organization_id: uuid,
  subscription_id: uuid.nullable(),
  direction,
  object_name: z.string(),
  sendsets_field: z
    .string()
    .meta({ description: 'email, first_name, last_name, name, company, phone or custom.<key>' }),
  external_field: z.string(),
  transform: z.string(),
  static_value: z.string(),
  is_default: z
    .boolean()
    .meta({ description: "True for the provider's default mappings, used until the connection has its own" }),
  created_at: timestamp,
});

export const mappings = resource('FieldMappings', {
  mappings: z.array(mapping),
  updated_at: timestamp.meta({
    description: "Time of the last replacement; for defaults, of the connection's creation",
  }),
});

export const run = resource('IntegrationRun', {
  id: uuid,
  connection_id: uuid,
  organization_id: uuid,
  kind: z.string().meta({ description: 'connect, refresh, dispatch, push, health' }),
  status: z.enum(['success', 'error']),
  detail: z.string(),
  records_processed: z.int(),
  started_at: timestamp,
  finished_at: timestamp.nullable(),
});

export const createBody = z.strictObject({
  provider: z.string().min(1).max(50),
  label: z.string().trim().max(100).optional(),
  config: open.optional().meta({ description: 'Key or webhook URL, as the provider requires' }),
});

export const startBody = z.strictObject({
  provider: z.string().min(1).max(50),
  label: z.string().trim().max(100).optional(),
  connection_id: uuid.optional().meta({ description: 'Connection to reconnect' }),
});

export const configBody = z
  .strictObject({ config_capabilities: open.optional(), sync_direction: direction.optional() })
  .meta({ description: 'Omitted options keep their values' });

export const subscriptionBody = z.strictObject({
  event_type: z.string().min(1).max(100).meta({ description: 'A trigger, such as email.replied' }),
  action: z.string().min(1).max(100).meta({ description: 'Action, such as slack.notify or sendsets.add_tag' }),
  config: open.optional(),
  enabled: z.boolean().default(true),
});

export const mappingsBody = z.strictObject({
  object: z.string().min(1).max(100).optional(),
  mappings: z
    .array(
      z.strictObject({
        external_field: z.string().min(1).max(200),
        sendsets_field: z.string().max(200).optional(),
        transform: z.enum(['', 'none', 'static', 'uppercase', 'lowercase', 'trim']).optional(),
        static_value: z.string().max(1000).optional(),
      }),
    )
    .max(100),
});

export const pushBody = z.strictObject({
  contact_ids: z
    .array(z.string())
    .max(MAX_PUSHED)
    .optional()
    .meta({ description: 'Contact ids; duplicates count once. Required unless `all` is set' }),
  all: z.boolean().optional(),
  filters: contactSearch.optional(),
  exclude: z.array(z.string()).max(50_000).optional(),
});

export const pushResult = resource('PushResult', {
  provider,
  pushed: z.int(),
  failed: z.int(),
  results: z.array(
    z.strictObject({
      contact_id: uuid,
      email: z.string().optional().meta({ description: 'Present with READ_CONTACTS (keys) or view_contacts (people)' }),
      ok: z.boolean(),
      error: z.string().optional(),
    }),
  ),
});
