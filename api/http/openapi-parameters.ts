import { MAX_KEY_LENGTH } from './once.ts';
import type { OperationExample } from './examples.ts';
import { toSchema } from './openapi-schema.ts';
import { fullPath, type AnyRoute } from './route.ts';

/** What an id of a path is of, by the part of the path before it. */
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
  folders: 'folder',
  goals: 'goal',
  'identity-conflicts': 'identity conflict',
  imports: 'import',
  invitations: 'invitation',
  leads: 'contact',
  'mailbox-provisioning': 'order',
  meetings: 'meeting',
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

/** What other parameters of paths are. */
const BY_NAME: Readonly<Record<string, string>> = {
  eventId: 'Id of the subscription',
  name: 'Name of the tool, as GET /v1/ai/tools lists it',
  token: 'The secret part of the address',
};

function pathWords(spec: AnyRoute, name: string): string {
  if (Object.hasOwn(BY_NAME, name)) return BY_NAME[name]!;
  const parts = fullPath(spec).split('/');
  const noun = OF_PART[parts[parts.indexOf(`:${name}`) - 1]!];
  if (!noun)
    throw new Error(`${spec.operationId}: no words for the parameter ${name} (api/http/openapi-parameters.ts)`);
  return `Id of the ${noun}`;
}

/**
 * The parameters of an operation. Words about one stand beside its schema and not in it: that is where generators of clients and
 * readers of the document look for them.
 */
export function parameters(spec: AnyRoute, idempotency: string, example: OperationExample): object[] {
  const out: object[] = [];
  for (const [, name] of fullPath(spec).matchAll(/:([A-Za-z]+)/g)) {
    const value = example.path?.[name!];
    out.push({
      name,
      in: 'path',
      required: true,
      description: pathWords(spec, name!),
      schema: { type: 'string' },
      ...(value ? { example: value } : {}),
    });
  }
  if (spec.query) {
    const schema = toSchema(spec.query, 'input') as {
      properties?: Record<string, { description?: string; type?: string }>;
      required?: string[];
    };
    for (const [name, { description, ...property }] of Object.entries(schema.properties ?? {})) {
      out.push({
        name,
        in: 'query',
        required: schema.required?.includes(name) ?? false,
        ...(description === undefined ? {} : { description }),
        schema: property,
        ...queryExample(name, property.type, example.query),
      });
    }
  }
  if (idempotency !== 'none') {
    out.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: idempotency === 'required',
      description: 'Any unique string; the same key with the same request repeats the first answer for 24 hours',
      schema: { type: 'string', maxLength: MAX_KEY_LENGTH },
    });
  }
  return out;
}

/** The value of a recorded request, with the type that the schema names; none of a cursor, which fits its own request alone. */
function queryExample(name: string, type: string | undefined, query: OperationExample['query']): { example?: unknown } {
  const given = query?.[name];
  if (given === undefined || name === 'cursor') return {};
  return { example: type === 'integer' || type === 'number' ? Number(given) : given };
}
