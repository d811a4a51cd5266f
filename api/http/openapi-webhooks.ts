import type { z } from 'zod';
import { EVENT_PAYLOADS, TEST_PAYLOAD } from '../../domain/platform/kernel/event-payloads.ts';
import { EVENT_TYPES, scopeOf, TEST_EVENT, type EventType } from '../../domain/platform/kernel/events.ts';
import { message } from '../../messages/index.ts';
import { shorten, toSchema } from './openapi-schema.ts';
import { render } from '../../messages/render.ts';

const HEADERS = [
  {
    name: 'X-Service-Signature',
    pattern: '^t=\\d+,v1=[0-9a-f]{64}$',
    description:
      '`t=<unix>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the endpoint secret. Compare in constant time, refuse a `t` that differs by more than 5 minutes, ignore other schemes.',
  },
  { name: 'X-Service-Event', description: 'The event type' },
  {
    name: 'X-Service-Event-Id',
    description: 'Event id, the same for every attempt; use it to deduplicate',
  },
] as const;

/** Builds the `webhooks` section of the document: the request that endpoints receive for each event. */
export function webhooksSection(): Record<string, object> {
  const types = Object.keys(EVENT_TYPES) as EventType[];
  return {
    ...Object.fromEntries(
      types.map((type) => [
        type,
        delivery(type, {
          description: render(message(`event.${type}`)),
          payload: EVENT_PAYLOADS[type],
          extra: { 'x-firehose': EVENT_TYPES[type].firehose, 'x-scope': scopeOf(type) },
        }),
      ]),
    ),
    [TEST_EVENT]: delivery(TEST_EVENT, {
      description:
        "Verification challenge of an endpoint, or a later test. It needs no subscription. A workspace's endpoint answers 2xx; an application's endpoint must also echo the challenge, as `challenge` in a JSON body or in the header X-Service-Webhook-Challenge.",
      payload: TEST_PAYLOAD,
      extra: {},
    }),
  };
}

function delivery(
  type: string,
  { description, payload, extra }: { description: string; payload: z.ZodType; extra: object },
): object {
  return {
    post: {
      operationId: `event_${type.replace('.', '_')}`,
      tags: ['webhooks'],
      summary: type,
      description,
      security: [],
      ...extra,
      // Parameters are written inline because oapi-codegen drops components to which only webhooks refer.
      parameters: HEADERS.map(({ name, description: meaning, ...rest }) => ({
        name,
        in: 'header',
        required: true,
        description: meaning,
        schema: { type: 'string', ...('pattern' in rest ? { pattern: rest.pattern } : {}) },
      })),
      requestBody: { required: true, content: { 'application/json': { schema: envelope(type, payload) } } },
      responses: {
        '2XX': { description: 'Delivered' },
        '4XX': {
          description:
            'The attempt failed and is retried, as for any other answer including redirects: 8 attempts in total',
        },
      },
    },
  };
}

function envelope(type: string, payload: z.ZodType): object {
  return {
    type: 'object',
    required: ['id', 'event_type', 'organization_id', 'created_at', 'data'],
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Event id; equals X-Service-Event-Id' },
      event_type: { const: type },
      organization_id: {
        type: 'string',
        format: 'uuid',
        description: 'Source organization; for an application it identifies the install',
      },
      created_at: { type: 'string', format: 'date-time', description: 'Time of dispatch' },
      data: dataSchema(payload),
    },
  };
}

/** Returns the published schema of a payload. Fields may be added later, so it allows additional properties. */
function dataSchema(payload: z.ZodType): object {
  return toSchema(payload, 'input', (schema) => {
    shorten(schema);
    if (schema.additionalProperties === false) delete schema.additionalProperties;
  });
}
