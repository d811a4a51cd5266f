/**
 * `npm run client`: writes src/schema.ts, the types of every endpoint, from the API's own OpenAPI document. With --check it writes nothing and
 * fails when the file is not what it would write.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILE = new URL('src/schema.ts', import.meta.url);
const MAX_OUTPUT = 64 * 1024 * 1024;

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
  webhooks?: unknown;
}

const { stdout } = await promisify(execFile)(process.execPath, ['bundle/run.mjs', 'deploy/heron.ts', 'openapi'], {
  cwd: ROOT,
  maxBuffer: MAX_OUTPUT,
});
const text = await typesOf(JSON.parse(stdout) as Document);
if (!process.argv.includes('--check')) {
  await writeFile(FILE, text);
  process.stdout.write('client/src/schema.ts is written.\n');
} else if ((await readFile(FILE, 'utf8').catch(() => '')) !== text) {
  process.stderr.write('client/src/schema.ts is stale; run `npm run client`.\n');
  process.exitCode = 1;
}

async function typesOf(document: Document): Promise<string> {
  return astToString(await openapiTS(shortened(document) as unknown as OpenAPI3));
}

/** The document without what types do not need: pages, examples, and the same error at each status of each endpoint. */
function shortened({ webhooks: _, ...document }: Document): Document {
  const error = {
    description: 'Error',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
  const paths = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => {
          const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
          return [method, { ...operation, responses: { ...Object.fromEntries(successes), default: error } }];
        }),
      ),
    ]);
  return withoutExamples({ ...document, paths: Object.fromEntries(paths) });
}

function withoutExamples<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutExamples) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== 'example' && key !== 'examples');
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutExamples(each)])) as T;
}
