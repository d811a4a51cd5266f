import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import test from 'ava';
import Koa from 'koa';
import { connect } from '../../../db/connection.ts';
import { readiness } from '../../../domain/operations/system/readiness.ts';
import { browserTests, launchBrowser } from '../../../test/harness/browser.ts';
import { ensureReference } from '../../../local/reference.ts';
import { documents } from './documents.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { message } from '../../../messages/index.ts';

let world: World;
test.before(async (t) => {
  await ensureReference(t.log);
  world = await createWorld();
});
test.after.always(() => world?.close());

test('health answers without a credential', async (t) => {
  const answer = await call(world, 'GET', '/health');
  assertStatus(t, answer, 200);
  t.deepEqual(answer.body, { status: 'ok' });
  t.truthy(answer.headers.get('x-request-id'));
});

test('readiness tells the truth when Temporal is away', async (t) => {
  const { apiKey } = await world.tenant();
  const answer = await call(world, 'GET', '/v1/system/readiness', { token: apiKey });
  assertStatus(t, answer, 200);
  t.false(answer.body.ready);
  const byName = Object.fromEntries(
    answer.body.checks.map((check: { name: string; ok: boolean }) => [check.name, check.ok]),
  );
  t.deepEqual(byName, {
    database: true,
    workflow_service: false,
    workers: false,
    clocks: true,
    scheduler: true,
    parked_intents: true,
    runs: true,
    failing_runs: false,
    event_intake: true,
    event_stream: true,
    reactions: true,
    parked_events: true,
  });
});

test('readiness says that a database takes no writes', async (t) => {
  const { organizationId } = await world.tenant();
  const url = new URL(world.databaseUrl);
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const db = connect({ url: url.href, max: 1 });
  t.teardown(() => db.destroy());
  const { ready, checks } = await readiness({ ...world.system(organizationId), db });
  t.false(ready);
  const failed = (name: string) => checks.find((check) => check.name === name);
  t.like(failed('database'), {
    ok: false,
    detail: message('ready.database_read_only'),
  });
  t.like(failed('event_intake'), { ok: false });
});

test('an unknown path is a 404 in the envelope', async (t) => {
  const answer = await call(world, 'GET', '/v1/nothing');
  assertStatus(t, answer, 404);
  t.is(answer.body.code, 'not_found');
  t.is(answer.body.request_id, answer.headers.get('x-request-id'));
});

test('the OpenAPI document and its page are served', async (t) => {
  const document = await call(world, 'GET', '/openapi.json');
  t.is(document.body.openapi, '3.1.0');
  t.is(document.body.paths['/v1/system/readiness'].get['x-scope'], 'any');
  const page = await call(world, 'GET', '/docs');
  assertStatus(t, page, 200);
  const policy = page.headers.get('content-security-policy')!;
  t.regex(policy, /script-src 'self';.*connect-src 'self';/);
  const sources = [...page.text.matchAll(/<script src="([^"]+)"/g)].map((match) => match[1]!);
  t.deepEqual(sources, ['/docs/scalar.js', '/docs/start.js']);
  for (const path of sources) {
    for (const encoding of ['br', 'identity']) {
      const script = await call(world, 'GET', path, { headers: { 'accept-encoding': encoding } });
      assertStatus(t, script, 200);
      t.regex(script.headers.get('content-type')!, /javascript/);
      t.true(script.text.includes('createApiReference'), `${path} as ${encoding}`);
    }
  }
});

test('the bundle of the reference is the one that scalar.json names', (t) => {
  const folder = new URL('reference/', import.meta.url);
  const about = JSON.parse(readFileSync(new URL('scalar.json', folder), 'utf8')) as { script: string };
  const script = brotliDecompressSync(readFileSync(new URL('scalar.js.br', folder)));
  t.is(`sha256-${createHash('sha256').update(script).digest('base64')}`, about.script);
});

test('where the bundle of the reference could not be fetched, its page says why and names the document', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'heron-reference-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const app = new Koa().use(documents(() => '{}', pathToFileURL(`${folder}/`)));
  const server = app.listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const page = async () => (await fetch(`${url}/docs`)).text();
  t.regex(await page(), /has not been fetched yet/);
  await writeFile(join(folder, 'scalar.missing.txt'), 'npm: <nothing arrived for 20 s>');
  const text = await page();
  t.regex(text, /The reference could not be fetched: npm: &lt;nothing arrived for 20 s&gt;; the document is at/);
  t.true(text.includes('href="/openapi.json"'));
  t.false(text.includes('<script'));
  t.is((await fetch(`${url}/docs/scalar.js`)).status, 404);
});

browserTests(test)('the reference is drawn by this server alone, with examples', async (t) => {
  const chrome = await launchBrowser();
  t.teardown(() => chrome.close());
  const own = await createWorld({ ownAddress: true });
  t.teardown(() => own.close());
  const { page } = await chrome.visit({ viewport: { width: 1400, height: 900 } });
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(`${own.url}/docs`);
  await page.getByRole('heading', { name: 'Heron API' }).first().waitFor();
  await page.getByText('Workspaces, members, roles').first().waitFor();
  await page.goto(`${own.url}/docs#tag/contacts/POST/v1/contacts`);
  await page.getByText('The body is always an array of 1 to 1000').first().waitFor();
  t.deepEqual(
    asked.filter((url) => !url.startsWith(own.url) && !/^(data|blob):/.test(url)),
    [],
  );
  t.deepEqual(complaints, []);
});
