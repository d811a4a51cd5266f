import { z } from 'zod';
import { DELIVERY_STATUSES } from '../../../domain/connect/webhooks/deliveries.ts';
import { EVENT_TYPES, type EventType } from '../../../domain/platform/kernel/events.ts';
import { named, outboundUrl, paged, pageQuery, resource, runFields, timestamp, uuid } from '../../http/schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

const MAX_DESCRIPTION = 1000;

const eventType = named(
  'EventType',
  z.enum(Object.keys(EVENT_TYPES) as [EventType, ...EventType[]], {
    error: ({ input }) => (typeof input === 'string' ? ruleMessage('field.unknown_event') : undefined),
  }),
);

const url = outboundUrl('HTTPS on the standard port; its host must resolve to public addresses only');

export const endpointBody = z.strictObject({
  url,
  description: z
    .string()
    .trim()
    .max(MAX_DESCRIPTION)
    .refine((text) => !text.includes('\0'), ruleMessage('field.nul'))
    .default(''),
  event_types: z
    .array(eventType)
    .max(200)
    .default([])
    .meta({ description: 'Event types to receive; empty for every event that is not firehose' }),
  enabled: z.boolean().default(true),
});

export const endpoint = resource('WebhookEndpoint', {
  id: uuid,
  organization_id: uuid,
  url: z.string(),
  description: z.string(),
  event_types: z.array(z.string()),
  enabled: z.boolean(),
  disabled_reason: z.string().nullable().meta({
    description: 'Reason why the installation disabled it; null if it is enabled or a person disabled it',
  }),
  verified_at: timestamp.nullable().meta({ description: 'Null while unverified: it gets no live events' }),
  ownership_confirmed: z.boolean().meta({ description: 'True if the receiver echoed a challenge' }),
  last_success_at: timestamp.nullable(),
  last_failure_at: timestamp.nullable(),
  last_failure_reason: z.string().nullable(),
  consecutive_failures: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const secret = z.string().meta({ description: 'Signs every delivery (`whsec_…`); shown once' });
export const endpointWithSecret = resource('WebhookEndpointWithSecret', { ...endpoint.shape, secret });
export const endpointList = z.strictObject({
  endpoints: z.array(endpoint),
  event_types: z.array(z.string()).meta({ description: 'Event types that an endpoint may list' }),
});

export const eventTypeList = z.strictObject({
  event_types: z.array(
    resource('WebhookEventType', {
      type: z.string(),
      category: z.string(),
      description: z.string(),
      firehose: z.boolean().meta({ description: 'High volume: delivered only to endpoints that list it' }),
    }),
  ),
});

export const verification = resource('WebhookVerification', {
  endpoint,
  verified: z.boolean().meta({ description: 'True if the endpoint is verified now' }),
  passed: z.boolean().meta({ description: 'True if this challenge was answered with a 2xx status' }),
  challenge_echoed: z.boolean().meta({ description: 'True if the answer contained the challenge' }),
  status: z.int().meta({ description: 'HTTP status of the answer; 0 when there was none' }),
  reason: z.string().nullable().meta({ description: 'Reason why the challenge failed' }),
  latency_ms: z.int(),
});

export const deliveryQuery = z.object({
  ...pageQuery(200),
  status: z.enum(DELIVERY_STATUSES).optional().meta({ description: 'Only deliveries in this state' }),
  event_type: eventType.optional().meta({ description: 'Only deliveries of this type of event' }),
});
export const pageOnlyQuery = z.object(pageQuery(200));

export const applicationDelivery = resource('ApplicationDelivery', {
  id: uuid,
  endpoint_id: uuid,
  organization_id: uuid,
  event_type: z.string(),
  event_id: uuid.meta({ description: 'The same for every retry and redelivery' }),
  status: z.enum(DELIVERY_STATUSES),
  attempt_count: z.int(),
  max_attempts: z.int(),
  next_attempt_at: timestamp.nullable(),
  last_attempt_at: timestamp.nullable(),
  response_status: z.int().nullable(),
  response_body_excerpt: z.string().nullable().meta({ description: "First 1024 bytes of the receiver's answer" }),
  error_reason: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const delivery = resource('WebhookDelivery', {
  ...applicationDelivery.shape,
  ...runFields,
  payload: z
    .strictObject({
      id: uuid,
      event_type: z.string(),
      organization_id: uuid,
      created_at: timestamp,
      data: z.record(z.string(), z.unknown()),
    })
    .nullable()
    .meta({ description: 'Body as sent to the receiver; null once it is no longer stored' }),
});

export const attempts = z.strictObject({
  data: z.array(
    resource('DeliveryAttempt', {
      attempt: z.int().meta({ description: 'Number of the attempt, from 1; redeliveries continue the count' }),
      started_at: timestamp,
      duration_ms: z.int(),
      response_status: z.int().nullable().meta({ description: 'Null if no answer came' }),
      error_reason: z.string().nullable().meta({ description: 'Reason of the failure' }),
      temporal_url: z
        .string()
        .optional()
        .meta({ description: "The attempt's run in the Temporal UI; absent without TEMPORAL_UI_URL" }),
    }),
  ),
});

export const deliveryParams = z.object({ deliveryId: z.string() });

export const throttleDrop = resource('ThrottleDrop', {
  endpoint_id: uuid,
  event_type: z.string(),
  reason: z
    .enum(['endpoint_rate', 'event_type_rate'])
    .meta({ description: "Limit that was exceeded: the endpoint's own, or the workspace's limit for the event type" }),
  dropped: z.int().meta({ description: 'Number of events not sent to the endpoint in that minute' }),
  minute: timestamp,
  last_event_id: uuid,
});

export const throttleDropPage = paged(throttleDrop).extend({
  drops: z.array(throttleDrop).meta({ description: 'The same rows, under the name that some clients read' }),
});

export const managedEndpoint = resource('ManagedEndpoint', {
  id: uuid,
  organization_id: uuid,
  url: z.string(),
  enabled: z.boolean(),
  verified_at: timestamp.nullable(),
  consecutive_failures: z.int(),
  last_success_at: timestamp.nullable(),
  last_failure_at: timestamp.nullable(),
});

export const applicationSecret = z.strictObject({
  webhook_secret: z
    .string()
    .meta({ description: 'Signs the deliveries to all installs of the application (`whsec_…`)' }),
});
