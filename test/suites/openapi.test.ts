import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lintFromString, loadConfig } from '@redocly/openapi-core';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import test from 'ava';
import { routes } from '../../api/routes.ts';
import { fullPath } from '../../api/http/route.ts';
import { apiDocument } from '../../api/servers/api.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../domain/platform/kernel/events.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Parameter {
  name: string;
  description?: string;
  schema: object;
  example?: unknown;
}

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Reference {
  $ref: string;
}

interface Document {
  servers: { url: string; variables: Record<string, { default: string }> }[];
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        parameters: (Parameter | Reference)[];
        responses: Record<string, { headers?: object; content?: Record<string, { schema: Schema }> }>;
      }
    >
  >;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    responses: Record<string, { headers?: object }>;
  };
  webhooks: Record<string, { post: Record<string, any> }>;
}

/** Maximum size (bytes) of the document as served. */
const MAX_BYTES = 1_500_000;
/** Maximum number of fields in an object that only wraps resources. */
const MAX_ENVELOPE = 3;

const published = apiDocument('https://heron.test') as Document;
const operations = Object.values(published.paths).flatMap((methods) => Object.values(methods));

/** Resolves a reference to a parameter. */
function resolved(parameter: Parameter | Reference): Parameter {
  return '$ref' in parameter ? published.components.parameters[parameter.$ref.split('/').at(-1)!]! : parameter;
}

/** Lints a document by redocly.yaml. Returns one line per problem. */
async function lint(document: object): Promise<string[]> {
  const config = await loadConfig({ configPath: join(ROOT, 'redocly.yaml') });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
  return problems.map(
    ({ severity, ruleId, location, message }) => `${severity} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}`,
  );
}

test('the OpenAPI document passes the linter', async (t) => {
  t.deepEqual(await lint(published), []);
});

test('the linter is awake', async (t) => {
  const broken = structuredClone(published);
  broken.paths['/v1/auth/me']!.get!.parameters = [{ name: 'x', in: 'nowhere' }] as never;
  const found = await lint(broken);
  t.true(
    found.some((problem) => problem.startsWith('error')),
    found.join('\n'),
  );
});

test('every route is in the document, with what agents read beside it, but for pages and MCP', (t) => {
  const described = published.paths as unknown as Record<string, Record<string, Record<string, unknown>>>;
  for (const spec of routes) {
    const operation = described[fullPath(spec).replace(/:(\w+)/g, '{$1}')]?.[spec.method];
    if (['pages', 'mcp'].includes(spec.area)) {
      t.is(operation, undefined, spec.operationId);
      continue;
    }
    t.is(operation?.operationId, spec.operationId);
    for (const name of ['x-scope', 'x-org-permission', 'x-idempotency'])
      t.is(typeof operation![name], 'string', `${spec.operationId} ${name}`);
  }
  t.true(operations.length > 300);
});

test('every parameter says what it is, beside its schema, and its example fits', (t) => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const fits = new Map<string, ValidateFunction>();
  for (const { operationId, parameters } of operations)
    for (const { name, description, schema, example } of parameters.map(resolved)) {
      t.true((description ?? '').length > 5, `${operationId} ${name}`);
      if (example === undefined) continue;
      const key = JSON.stringify(schema);
      if (!fits.has(key)) fits.set(key, ajv.compile({ ...schema, components: published.components }));
      t.true(fits.get(key)!(example), `${operationId} ${name}: ${JSON.stringify(example)}`);
    }
});

/** Returns the places of unnamed objects with more than a few fields in an answer. */
function nameless(schema: Schema, at: string): string[] {
  const { properties = {}, items, anyOf = [], oneOf = [] } = schema;
  const fields = Object.entries(properties);
  return [
    ...(fields.length > MAX_ENVELOPE ? [`${at}: ${fields.map(([name]) => name).join(', ')}`] : []),
    ...fields.flatMap(([name, field]) => nameless(field, `${at}.${name}`)),
    ...(items ? nameless(items, `${at}[]`) : []),
    ...[...anyOf, ...oneOf].flatMap((option) => nameless(option, at)),
  ];
}

test('an answer is a resource with a name, or a small envelope around such', (t) => {
  const answers = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([, { content }]) => nameless(content?.['application/json']?.schema ?? {}, operationId)),
  );
  t.deepEqual(answers, []);
  t.is(nameless({ properties: { data: { items: { properties: { a: {}, b: {}, c: {}, d: {} } } } } }, 'x').length, 1);
  for (const name of ['Campaign', 'Contact', 'Mailbox', 'Run', 'Error', 'Problem']) {
    t.truthy(published.components.schemas[name], name);
    const uses = JSON.stringify(published).split(`"#/components/schemas/${name}"`).length - 1;
    t.true(uses > 0, name);
  }
  t.deepEqual(
    Object.keys(published.components.schemas).filter((name) => !/^[A-Z]\w+$/.test(name)),
    [],
    'names are chosen, not counted',
  );
});

test('a schema that requests may leave parts of is another one in answers', (t) => {
  const { AutomationEdge, AutomationEdgeInput } = published.components.schemas;
  t.true(AutomationEdge!.required!.includes('when'));
  t.false(AutomationEdgeInput!.required!.includes('when'));
  t.is(published.components.schemas.ContactInput, undefined, 'one that is the same in both is one');
});

test('every reference leads to a component, and the document is small', (t) => {
  const text = JSON.stringify(published);
  const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!));
  t.true(references.size > 100);
  for (const reference of references) {
    const parts = reference.replace('#/', '').split('/');
    const found = parts.reduce<any>((value, part) => value?.[part], published);
    t.truthy(found, reference);
  }
  t.true(Buffer.byteLength(text) <= MAX_BYTES, `${Buffer.byteLength(text)} bytes`);
});

test('headers of answers are in the document, and its server is a variable', (t) => {
  for (const { operationId, responses } of operations)
    for (const [status, answer] of Object.entries(responses)) {
      const { headers } =
        '$ref' in answer ? published.components.responses[(answer as Reference).$ref.split('/').at(-1)!]! : answer;
      t.true('X-Request-Id' in headers!, `${operationId} ${status}`);
      t.is('Retry-After' in headers!, ['429', '503'].includes(status), `${operationId} ${status}`);
    }
  const [server] = published.servers;
  t.is(server!.url, '{installation}');
  t.is(server!.variables.installation!.default, 'https://heron.test');
});

test('every event is in the document with its envelope and payload, and the challenge beside them', (t) => {
  const { webhooks } = published;
  t.deepEqual(Object.keys(webhooks).sort(), [...Object.keys(EVENT_TYPES), TEST_EVENT].sort());
  const created = webhooks['contact.created']!.post;
  t.deepEqual(
    created.parameters.map(({ name }: { name: string }) => name),
    ['X-Service-Signature', 'X-Service-Event', 'X-Service-Event-Id'],
  );
  const { properties } = created.requestBody.content['application/json'].schema;
  t.is(properties.event_type.const, 'contact.created');
  // The event's data must have exactly these fields.
  t.deepEqual(properties.data.required, [
    'contact_id',
    'contact_email',
    'first_name',
    'last_name',
    'company',
    'phone',
    'subscribed',
    'custom_fields',
    'source',
    'source_detail',
    'campaign_ids',
    'category_ids',
    'created_at',
  ]);
  t.deepEqual(
    webhooks['campaign.unsubscribed']!.post.requestBody.content['application/json'].schema.properties.data.properties
      .source.enum,
    ['one_click', 'link', 'reply', 'action'],
  );
});
