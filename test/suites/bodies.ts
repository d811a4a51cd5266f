import { toSchema } from '../../api/http/openapi-schema.ts';
import type { AnyRoute } from '../../api/http/route.ts';

interface JsonSchema {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  minimum?: number;
  minLength?: number;
  minItems?: number;
}

const TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const;
type JsonType = (typeof TYPES)[number];

const POLICY = {
  api_key_id: '01890a5d-ac96-774b-bcce-b302099a8057',
  name: 'Agent',
  capabilities: ['campaign.launch'],
  mailbox_ids: ['01890a5d-ac96-774b-bcce-b302099a8057'],
  max_recipients_per_run: 1,
  max_recipients_per_day: 1,
  max_actions_per_day: 1,
  expires_at: '2999-01-01T00:00:00Z',
};
const SIGN_UP = { event_name: 'signed.up', predicates: [{ path: 'plan', op: 'eq', value: 'pro' }] };
const MARCH = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };
const AUTOMATION = {
  name: 'Tell us',
  trigger_event: 'email.replied',
  graph: {
    nodes: [
      { id: 'trigger', type: 'trigger', x: 0, y: 0 },
      { id: 'tell', type: 'action', action: 'sendsets.notify', config: { message: 'An answer' }, x: 0, y: 100 },
    ],
    edges: [{ id: 'e1', source: 'trigger', target: 'tell' }],
  },
};
/** Bodies by operation that {@link sampleBody} cannot guess, because they must satisfy a rule beyond types. */
const BY_HAND: Record<string, unknown> = {
  // Without `limit`, a list tool returns fewer rows than its route.
  'agentTools.call': { arguments: { limit: 100 } },
  'agentPolicies.create': POLICY,
  'agentPolicies.replace': POLICY,
  'acquisition.getEventTrends': { name: 'order.paid' },
  'acquisition.listEventTrendPeople': { name: 'order.paid' },
  'acquisition.listFunnelPeople': {
    steps: [{ kind: 'confirmed_send' }, { kind: 'event', event_name: 'order.paid' }],
    step: 2,
  },
  'acquisition.getFunnel': { steps: [{ kind: 'confirmed_send' }, { kind: 'event', event_name: 'order.paid' }] },
  'acquisition.setCampaignSpend': { amount_minor: 1, currency: 'EUR' },
  'automations.create': AUTOMATION,
  'automations.replace': AUTOMATION,
  'campaigns.addLeads': { contact_ids: ['01890a5d-ac96-774b-bcce-b302099a8057'] },
  'campaigns.estimate': { segment_ids: [] },
  'integrations.connect': { provider: 'n8n', config: { webhook_url: 'http://127.0.0.1:9/webhook/none' } },
  'integrations.startOAuth': { provider: 'hubspot' },
  'integrations.createEventSubscription': { event_type: 'contact.created', action: 'n8n.send_webhook' },
  'integrations.replaceFieldMappings': { mappings: [{ external_field: 'company', sendsets_field: 'company' }] },
  'crm.createStage': { name: 'New', color: '#0ea5e9' },
  'crm.updateTasks': { tasks: ['01890a5d-ac96-774b-bcce-b302099a8057'], status: 'completed' },
  'crm.deleteTasks': { tasks: ['01890a5d-ac96-774b-bcce-b302099a8057'] },
  'teams.update': { name: 'Another name' },
  'oauth.createApplication': { name: 'App', redirect_uris: ['https://app.example.com/callback'] },
  'oauth.registerClient': { redirect_uris: ['https://app.example.com/callback'] },
  'meetings.create': { invitee_email: 'ada@lead.test', event_name: 'Call', scheduled_for: '2026-03-10T09:00:00Z' },
  'goals.create': { name: 'Signed up', kind: 'signup', is_primary: true, definition: SIGN_UP },
  'goals.preview': { definition: SIGN_UP },
  'goals.previewReplay': MARCH,
  'goals.startReplay': MARCH,
  'runs.create': {
    name: 'Walk',
    senders: { mode: 'auto' },
    daily_limit: 10,
    schedule: { mode: 'auto' },
    stop_on_reply: true,
    opt_out_enabled: true,
    intent: 'draft',
  },
  'unibox.correctReading': { intent: 'positive' },
  'unibox.markSeen': { folder: 'inbox' },
  'events.publish': { name: 'order.paid', email: 'walker@example.com' },
};

/** Returns the JSON Schema of a route's body. */
export function bodySchema(spec: AnyRoute): JsonSchema {
  return toSchema(spec.body!, 'input') as JsonSchema;
}

const DAYS = { from: '2026-01-01', to: '2026-01-31' };

/** Required queries by operation. */
export const QUERIES: Record<string, Record<string, string>> = {
  'analytics.getWarmup': DAYS,
  'analytics.getCampaignDaily': DAYS,
  'analytics.explainFigure': { figure: 'sent' },
  'acquisition.explainFigure': { figure: 'prospects' },
};

/**
 * Returns a small body that the route's schema accepts.
 * @throws Error when none can be guessed; then add it to BY_HAND
 */
export function sampleBody(spec: AnyRoute): unknown {
  const body = BY_HAND[spec.operationId] ?? sample(bodySchema(spec));
  const parsed = spec.body!.safeParse(body);
  if (!parsed.success)
    throw new Error(
      `${spec.operationId}: no sample body: ${parsed.error.message}. Put one into BY_HAND of test/suites/bodies.ts`,
    );
  return body;
}

function sample(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return sample(alternatives[0]!);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(sample));
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return Object.fromEntries((schema.required ?? []).map((name) => [name, sample(schema.properties?.[name] ?? {})]));
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items ?? {}));
    case 'string':
      return sampleString(schema);
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    default:
      return null;
  }
}

/** Returns a value with every known property of a schema. */
export function wholeSample(schema: JsonSchema): unknown {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return wholeSample(alternatives[0]!);
  if (schema.properties)
    return Object.fromEntries(Object.entries(schema.properties).map(([name, part]) => [name, wholeSample(part)]));
  return schema.items ? [wholeSample(schema.items)] : sample(schema);
}

function sampleString({ format, minLength }: JsonSchema): string {
  switch (format) {
    case 'email':
      return 'walker@example.com';
    case 'uuid':
      return '01890a5d-ac96-774b-bcce-b302099a8057';
    case 'date-time':
      return '2999-01-01T00:00:00Z';
    case 'date':
      return '2999-01-01';
    case 'uri':
      return 'https://app.example.com';
    default:
      return 'x'.repeat(minLength ?? 1);
  }
}

/**
 * Returns a body with a wrong type in every top-level field, and the fields that accept anything; undefined for a body
 * that is no plain object.
 */
export function wrongBody(spec: AnyRoute): { body: Record<string, unknown>; open: string[] } | undefined {
  const { properties } = bodySchema(spec);
  if (!properties) return undefined;
  const body: Record<string, unknown> = {};
  const open: string[] = [];
  for (const [name, schema] of Object.entries(properties)) {
    const wrong = TYPES.find((type) => !typesOf(schema).has(type));
    if (wrong) body[name] = EXAMPLES[wrong];
    else open.push(name);
  }
  return { body, open };
}

const EXAMPLES: Record<JsonType, unknown> = {
  object: { wrong: true },
  array: [{ wrong: true }],
  string: 'wrong',
  number: 12.5,
  boolean: true,
  null: null,
};

function typesOf(schema: JsonSchema): Set<JsonType> {
  if (schema.enum) return new Set(schema.enum.map(typeOf));
  if (schema.const !== undefined) return new Set([typeOf(schema.const)]);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return new Set(alternatives.flatMap((alternative) => [...typesOf(alternative)]));
  if (schema.allOf) return typesOf(schema.allOf[0]!);
  if (!schema.type) return new Set(TYPES);
  return new Set([schema.type].flat().map((type) => (type === 'integer' ? 'number' : type) as JsonType));
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as JsonType;
}
