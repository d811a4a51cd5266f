import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import test from 'ava';
import { parse } from 'yaml';
import { runSchema } from '../../api/campaigns/runs/file-schema.ts';
import { faultLines, readRunFile } from '../../deploy/run-file.ts';
import { newId } from '../../lib/ids.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { heron } from '../harness/heron.ts';
import { openRunDesk, type RunDesk } from '../harness/run-desk.ts';
import { call, createWorld, type World } from '../harness/world.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/runs/', import.meta.url));
const FILES = ['follow-ups.yaml', 'trial.yaml', 'win-back.yaml'];

let world: World;
let engine: Engine;
let desk: RunDesk;
test.before(async () => {
  world = await createWorld();
  engine = await startEngine(world);
  desk = await openRunDesk(world);
  const id = newId();
  await world.deps.db('app_connections').insert({
    id,
    organization_id: desk.tenant.organizationId,
    name: 'Shop',
    base_url: 'http://127.0.0.1:1',
    secret: world.deps.keyring.seal('ss_app_x', `app_connections/${id}`),
    created_at: new Date(),
    updated_at: new Date(),
  });
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

const cli = (args: string[], key = desk.tenant.apiKey) =>
  heron(['run', ...args], { HERON_API_URL: world.url, HERON_API_KEY: key });

test('the examples of run files pass --dry-run', async (t) => {
  const outcomes = await Promise.all(FILES.map((file) => cli([join(EXAMPLES, file), '--dry-run', '--wait'])));
  for (const { code, stdout, stderr } of outcomes) {
    t.is(code, 0, stderr);
    const run = JSON.parse(stdout);
    t.like(run, { state: 'completed', intent: 'draft' });
    const campaign = await world.deps.db('campaigns').where({ id: run.campaign_id }).first();
    t.is(campaign.status, 'draft');
  }
});

test('one of them is run for real: it waits for a person, says where, and is launched', async (t) => {
  const { apiKey, apiKeyId } = await desk.key({});
  const running = cli([join(EXAMPLES, 'follow-ups.yaml'), '--wait'], apiKey);
  const waiting = await eventually(() =>
    world.deps.db('runs').where({ api_key_id: apiKeyId, state: 'awaiting_approval' }).first(),
  );
  await desk.decide(waiting.id, 'approved');
  const { code, stdout, stderr } = await running;
  t.is(code, 0, stderr);
  t.like(JSON.parse(stdout), { id: waiting.id, state: 'active' });
  t.regex(stderr, /awaiting_approval\n[^]*\/approvals\//);
  t.is((await desk.campaign(waiting.id)).status, 'active');
});

test('a refusal of the API names file, line and column; a file with faults is not sent', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'heron-run-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'bad.yaml');
  const trial = readFileSync(join(EXAMPLES, 'trial.yaml'), 'utf8');
  await writeFile(file, trial.replace('connection: Shop', 'connection: Shoe').replace('America/New_York', 'Mars/Base'));
  const refused = await cli([file]);
  t.is(refused.code, 1);
  t.regex(refused.stderr, /bad\.yaml:11:3: schedule\.timezone: must be an IANA time zone/);
  t.regex(refused.stderr, /bad\.yaml:25:7: steps\.0\.app_action\.connection: is not an app connection/);
  await writeFile(file, 'intent: sometimes\n');
  const faulty = await cli([file]);
  t.is(faulty.code, 1);
  t.regex(faulty.stderr, /bad\.yaml:1:1: intent: /);
  const denied = await cli([join(EXAMPLES, 'win-back.yaml')], 'ssk_unknown');
  t.is(denied.code, 1);
  t.regex(denied.stderr, /credential is missing, invalid/);
});

test('faults have the line and column of their field, of its key, or of what should hold it', (t) => {
  const faults = (text: string) => {
    const read = readRunFile(text);
    return 'faults' in read ? faultLines('f', read.faults) : [];
  };
  t.regex(faults('name: [1, 2\nintent: draft\n')[0]!, /^f:2:\d+: /);
  t.regex(faults('name: a\nname: b\n')[0]!, /^f:2:1: Map keys must be unique/);
  t.regex(faults('name: !secret a\n').join('\n'), /^f:1:\d+: Unresolved tag/);
  t.regex(
    faults('a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n')[0]!,
    /f:\d+:/,
  );
  const text = `name: Spring
intent: launch
sender: x
senders: { mode: auto }
daily_limit: many
schedule: { mode: auto }
stop_on_reply: true
opt_out_enabled: true
steps:
  - variants:
      - body_plain: Hi
  - type: nap
`;
  t.deepEqual(
    faults(text).map((line) => line.replace(/^(f:\d+:\d+: [^:]+).*/, '$1')),
    ['f:3:1: sender', 'f:5:1: daily_limit', 'f:11:9: steps.0.variants.0.subject', 'f:12:5: steps.1.type'],
  );
  t.deepEqual(faults(''), faults('# nothing\n'));
  t.is(faults('').length, 1);
});

test('the schema for editors is that of the route, served, kept beside the examples, and they fit it', async (t) => {
  const kept = JSON.parse(readFileSync(join(EXAMPLES, 'run.schema.json'), 'utf8'));
  t.deepEqual(
    kept,
    JSON.parse(JSON.stringify(runSchema())),
    'npm run --silent heron -- run --schema > examples/runs/run.schema.json',
  );
  const served = await call(world, 'GET', '/schemas/run.json');
  t.deepEqual([served.status, served.body], [200, kept]);
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const fits = ajv.compile(kept);
  for (const file of FILES)
    t.true(fits(parse(readFileSync(join(EXAMPLES, file), 'utf8'))), ajv.errorsText(fits.errors));
  t.false(fits({ name: 'x' }));
});

test('an API that is not there is said so', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const { code, stderr } = await heron(['run', join(EXAMPLES, 'win-back.yaml')], {
    HERON_API_URL: `http://127.0.0.1:${port}`,
    HERON_API_KEY: 'ssk_x',
  });
  t.is(code, 1);
  t.regex(stderr, /does not answer: set HERON_API_URL/);
});
