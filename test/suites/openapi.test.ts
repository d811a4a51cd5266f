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

/** Lints a document by redocly.yaml. Returns one line per problem. */
async function lint(document: object): Promise<string[]> {
  const config = await loadConfig({ configPath: join(ROOT, 'redocly.yaml') });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
  return problems.map(
    ({ severity, ruleId, location, message }) => `${severity} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}`,
  );
}

test('the OpenAPI document passes the linter', async (t) => {
  t.deepEqual(await lint(apiDocument('https://heron.test')), []);
});

test('the linter is awake', async (t) => {
  const broken = structuredClone(apiDocument('https://heron.test')) as {
    paths: Record<string, Record<string, { parameters?: unknown }>>;
  };
  broken.paths['/v1/auth/me']!.get!.parameters = [{ name: 'x', in: 'nowhere' }];
  const found = await lint(broken);
  t.true(
    found.some((problem) => problem.startsWith('error')),
    found.join('\n'),
  );
});

test('every route is in the document, with what agents read beside it', (t) => {
  const { paths } = apiDocument('https://heron.test') as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
  };
  for (const spec of routes) {
    const operation = paths[fullPath(spec).replace(/:(\w+)/g, '{$1}')]?.[spec.method];
    t.is(operation?.operationId, spec.operationId);
    for (const name of ['x-scope', 'x-org-permission', 'x-idempotency'])
      t.is(typeof operation![name], 'string', `${spec.operationId} ${name}`);
  }
});

test('every parameter says what it is, beside its schema, and its example fits', (t) => {
  const { paths } = apiDocument('https://heron.test') as {
    paths: Record<string, Record<string, { operationId: string; parameters: Parameter[] }>>;
  };
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const fits = new Map<string, ValidateFunction>();
  for (const { operationId, parameters } of Object.values(paths).flatMap((methods) => Object.values(methods)))
    for (const { name, description, schema, example } of parameters) {
      t.true((description ?? '').length > 5, `${operationId} ${name}`);
      if (example === undefined) continue;
      const key = JSON.stringify(schema);
      if (!fits.has(key)) fits.set(key, ajv.compile(schema));
      t.true(fits.get(key)!(example), `${operationId} ${name}: ${JSON.stringify(example)}`);
    }
});

test('every event is in the document with its envelope and payload, and the challenge beside them', (t) => {
  const { webhooks } = apiDocument('https://heron.test') as { webhooks: Record<string, { post: Record<string, any> }> };
  t.deepEqual(Object.keys(webhooks).sort(), [...Object.keys(EVENT_TYPES), TEST_EVENT].sort());
  const created = webhooks['contact.created']!.post;
  t.deepEqual(
    created.parameters.map(({ name }: { name: string }) => name),
    ['X-Service-Signature', 'X-Service-Event', 'X-Service-Event-Id'],
  );
  const { properties } = created.requestBody.content['application/json'].schema;
  t.is(properties.event_type.const, 'contact.created');
  // All of it, and nothing else.
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
