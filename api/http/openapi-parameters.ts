import { MAX_KEY_LENGTH } from './idempotency.ts';
import type { OperationExample } from './examples.ts';
import type { DocumentSchemas } from './openapi-schema.ts';
import type { SharedComponents } from './openapi-shared.ts';
import { fullPath, idempotencyOf, type AnyRoute } from './route.ts';

/** Record to which the path parameter `:id` refers, by the path segment before it. */
const OF_PART: Readonly<Record<string, string>> = {
  'ab-variants': 'variant',
  accounts: 'mailbox',
  'agent-policies': 'policy',
  'api-keys': 'API key',
  'app-connections': 'app connection',
  applications: 'application',
  approvals: 'approval',
  attachments: 'file',
  attributions: 'person, as `person_id` of other answers',
  automations: 'automation',
  'bulk-edits': 'bulk edit',
  'campaign-spend': 'campaign',
  campaigns: 'campaign',
  categories: 'category',
  connections: 'connection',
  contacts: 'contact',
  deals: 'deal',
  deliveries: 'delivery',
  dlq: 'dead letter',
  drafts: 'draft',
  emails: 'mailbox',
  events: 'event',
  exports: 'export',
  folders: 'folder',
  goals: 'goal',
  'identity-conflicts': 'identity conflict',
  imports: 'import',
  invitations: 'invitation',
  'lead-allowances': 'allowance',
  leads: 'contact',
  'mailbox-provisioning': 'order',
  meetings: 'meeting',
  notes: 'note',
  members: 'person, as `user_id` of the member',
  organizations: 'workspace',
  people: 'person',
  pipelines: 'pipeline',
  prospects: 'contact',
  replays: 'replay',
  roles: 'role',
  routing: 'rule',
  runs: 'run',
  scheduled: 'email, as `task_id` of the answer that scheduled it',
  segments: 'segment',
  session: 'consent, as `session` of the answer that began it',
  sessions: 'session',
  stages: 'stage',
  'step-runs': 'step run',
  steps: 'step',
  suppressions: 'suppression',
  tags: 'tag',
  'task-types': 'task type',
  tasks: 'task',
  teams: 'team',
  templates: 'template',
  'test-runs': 'test run',
  unibox: 'message',
  webhooks: 'endpoint',
};

/** Component name and description of the other path parameters. */
const BY_NAME: Readonly<Record<string, [component: string, words: string]>> = {
  eventId: ['SubscriptionId', 'Id of the subscription'],
  name: ['ToolName', 'Name of the tool, as GET /v1/ai/tools lists it'],
  token: ['Token', 'The secret part of the address'],
};

/** @throws Error for a path parameter without a description */
function pathParameter(spec: AnyRoute, name: string): [component: string, words: string] {
  if (Object.hasOwn(BY_NAME, name)) return BY_NAME[name]!;
  const parts = fullPath(spec).split('/');
  const noun = OF_PART[parts[parts.indexOf(`:${name}`) - 1]!];
  if (!noun)
    throw new Error(`${spec.operationId}: no words for the parameter ${name} (api/http/openapi-parameters.ts)`);
  return [`${pascal(noun.replace(/,.*/, ''))}Id`, `Id of the ${noun}`];
}

/**
 * Returns the parameters of an operation. The parameters have the descriptions, not their schemas, because client
 * generators expect them there.
 */
export function parameters(
  spec: AnyRoute,
  { schemas, components }: { schemas: DocumentSchemas; components: SharedComponents },
  example: OperationExample,
): object[] {
  const out: object[] = [];
  for (const [, name] of fullPath(spec).matchAll(/:([A-Za-z]+)/g)) {
    const [component, description] = pathParameter(spec, name!);
    const parameter = { name, in: 'path', required: true, description, schema: { type: 'string' } };
    out.push(components.parameter(component, parameter));
  }
  if (spec.query) {
    const { properties = {}, required } = schemas.of(spec.query, 'input') as QuerySchema;
    for (const [name, { description, ...schema }] of Object.entries(properties)) {
      const parameter = {
        name,
        in: 'query',
        required: required?.includes(name) ?? false,
        ...(description === undefined ? {} : { description }),
        schema,
      };
      if (name === 'cursor' || name === 'limit')
        out.push(components.parameter(pascal(`${name} ${schema.maximum ?? ''}`), parameter));
      else out.push({ ...parameter, ...queryExample(name, schema.type, example.query) });
    }
  }
  const idempotency = idempotencyOf(spec);
  if (idempotency !== 'none') {
    const required = idempotency === 'required';
    out.push(
      components.parameter(required ? 'RequiredIdempotencyKey' : 'IdempotencyKey', {
        name: 'Idempotency-Key',
        in: 'header',
        required,
        description: 'Any unique string; the same key with the same request repeats the first answer for 24 hours',
        schema: { type: 'string', maxLength: MAX_KEY_LENGTH },
      }),
    );
  }
  return out;
}

interface QuerySchema {
  properties?: Record<string, { description?: string; type?: string; maximum?: number }>;
  required?: string[];
}

/** Converts words to a component name. For example, `step run` becomes StepRun. */
function pascal(words: string): string {
  return words
    .split(' ')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}

/** Returns the example of a query parameter: its value in the recorded request, converted to the schema's type. */
function queryExample(name: string, type: string | undefined, query: OperationExample['query']): { example?: unknown } {
  const given = query?.[name];
  if (given === undefined) return {};
  return { example: type === 'integer' || type === 'number' ? Number(given) : given };
}
