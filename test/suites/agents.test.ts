import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { startEngine, type Engine } from '../harness/engine.ts';
import { createMailbox } from '../harness/factories.ts';
import { connectMcp } from '../harness/mcp.ts';
import { createWorld, type World } from '../harness/world.ts';

/*
 * Runs the commands of docs/tutorials/first-agent.md as written, except for the API's address. The tutorial's mailbox
 * is created directly in the database.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ADDRESS = 'http://127.0.0.1:8080';

let world: World;
let engine: Engine;
test.before(async () => {
  world = await createWorld();
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

test('from the settings of an MCP client to a run that a person has approved', async (t) => {
  const page = (await readFile(`${ROOT}/docs/tutorials/first-agent.md`, 'utf8')).replaceAll(ADDRESS, world.url);
  const blocks = (language: string) =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code]) => code!);
  const [account, ...rest] = blocks('sh');
  const env = { ...process.env, PRIMARY_DB: world.databaseUrl, HERON_DATA_DIR: '/nonexistent' };
  const bash = async (script: string, more = {}) =>
    promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: ROOT, env: { ...env, ...more } });
  const { stdout: exported } = await bash(`${account}\necho "$HERON_ADMIN_KEY $HERON_SESSION"`);
  const [HERON_ADMIN_KEY, HERON_SESSION] = exported.trim().split(' ');
  const { db } = world.deps;
  const organization = await db('organizations').first();
  await createMailbox(world.deps, organization.id, 'you@ours.test');

  const told = await bash(`${rest.join('\n')}\necho "KEY $HERON_API_KEY"`, {
    HERON_API_URL: world.url,
    HERON_ADMIN_KEY,
    HERON_SESSION,
  });
  const lines = told.stdout.trim().split('\n');
  for (const line of ['create_run', 'approved', 'cancelled', 'completed'])
    t.true(lines.includes(line), `${line} in\n${told.stdout}`);
  t.true(lines.some((line) => line.includes('/approvals/')));
  const states = await db('runs').orderBy('id').pluck('state');
  t.deepEqual(states, ['active', 'cancelled', 'completed']);

  const { heron } = JSON.parse(blocks('json')[0]!).mcpServers;
  const key = lines.at(-1)!.replace('KEY ', '');
  const program = await connectMcp(heron.url, heron.headers.Authorization.replace('Bearer ${HERON_API_KEY}', key));
  t.teardown(() => program.close());
  t.is((await program.call('list_runs', {})).data.data.length, 3);
});
