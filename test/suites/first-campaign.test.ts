import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { eventually } from '../harness/eventually.ts';
import { installation, terminal } from '../harness/installation.ts';
import { assertStatus, call } from '../harness/world.ts';
import { TYPESCRIPT } from '../../local/typescript.ts';

/*
 * First steps of a newcomer: runs the commands of docs/tutorials/first-campaign.md as written, but with free ports.
 * PostgreSQL and Temporal are those of the tests.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE_MS = 120_000;

interface Block {
  language: string;
  terminal: string | undefined;
  code: string;
}

async function blocksOfThePage(): Promise<Block[]> {
  const page = await readFile(join(ROOT, 'docs', 'tutorials', 'first-campaign.md'), 'utf8');
  return [...page.matchAll(/^```(\w+)(?: terminal=(\w+))?\n([\s\S]*?)^```$/gm)].map(([, language, terminal, code]) => ({
    language: language!,
    terminal,
    code: code!,
  }));
}

/** Returns the pids of the processes that an installation has reported as started. */
function pidsIn(text: string): number[] {
  return [...text.matchAll(/\(pid (\d+)\)/g)].map((match) => Number(match[1]));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function ends(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

test.serial('every command of docs/tutorials/first-campaign.md does what the page says', async (t) => {
  t.timeout(4 * PATIENCE_MS);
  const blocks = await blocksOfThePage();
  const { env, servers, withPorts, api } = await installation(t);
  const command = (name: string) => blocks.find((block) => block.terminal === name)!.code;

  const heron = terminal(t, command('heron'), { ...env, ...servers });
  const mailbox = terminal(t, command('mailbox'), env);
  await heron.says('Heron is up.');
  await mailbox.says('The mailbox is up.');

  const commands = blocks.filter((block) => block.language === 'sh' && block.terminal === undefined);
  t.true(commands.length >= 10);
  const script = commands.map(({ code }, index) => `echo "# block ${index + 1}" >&2\n${withPorts(code)}`).join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: ROOT,
    env,
    timeout: 2 * PATIENCE_MS,
    maxBuffer: 16 * 1024 * 1024,
  });
  t.regex(stdout, /"ready":true/);
  t.regex(stdout, /"status":"replied"/);
  t.regex(stdout, /I do\. Call me on Thursday\?/, 'the reply is in the unified inbox');
  t.regex(stdout, /Grace is replied/, 'the example has come to its end');
  const example = await readFile(join(ROOT, 'examples', 'first-campaign.ts'), 'utf8');
  for (const { code } of blocks.filter((block) => block.language === 'ts'))
    t.true(example.includes(code), `not in the example:\n${code}`);

  // The operator's command line uses the running installation's secrets.
  const again = await promisify(execFile)(
    'npm',
    ['run', '--silent', 'heron', '--', 'bootstrap', '--email', 'you@example.com', '--organization', 'Example'],
    { cwd: ROOT, env },
  );
  const { session } = JSON.parse(again.stdout) as { session: { access_token: string } };
  assertStatus(t, await call(api, 'GET', '/v1/auth/me', { token: session.access_token }), 200);

  const said = heron.said();
  t.regex(said, /Warning: MAIL_TRANSPORT is log/);
  t.notRegex(said, /No workflows registered|Activity failed/);
  const pids = pidsIn(said);
  t.is(pids.length, 2, said);
  t.true(pids.every(isAlive));
  heron.child.kill('SIGTERM');
  await ends(heron.child);
  // Waits for the last line of output, because npm may end before the processes that it started.
  await heron.says('Stopped.');
  t.false(pids.some(isAlive));
});

test.serial('an npm that is killed outright leaves no process behind', async (t) => {
  t.timeout(2 * PATIENCE_MS);
  const { env, servers } = await installation(t);
  const heron = terminal(t, 'npm start', { ...env, ...servers });
  await heron.says('Heron is up.');
  const pids = pidsIn(heron.said());
  heron.child.kill('SIGKILL');
  t.is(pids.length, 2);
  await eventually(async () => !pids.some(isAlive), PATIENCE_MS);
});

test('a port that was set and is taken is an error, and nothing is started', async (t) => {
  const { env, servers } = await installation(t);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const failed = await promisify(execFile)(process.execPath, [...TYPESCRIPT, 'local/start.ts'], {
    cwd: ROOT,
    env: { ...env, ...servers, API_PORT: String(port), HERON_TEMPORAL_UI_PORT: 'soon' },
  }).then(
    () => t.fail('it started'),
    (error: { code: number; stdout: string }) => error,
  );
  t.like(failed, { code: 1 });
  t.regex((failed as { stdout: string }).stdout, /HERON_TEMPORAL_UI_PORT: needs a port/);
  const taken = await promisify(execFile)(process.execPath, [...TYPESCRIPT, 'local/start.ts'], {
    cwd: ROOT,
    env: { ...env, ...servers, API_PORT: String(port) },
  }).then(
    () => t.fail('it started'),
    (error: { code: number; stdout: string }) => error,
  );
  t.like(taken, { code: 1 });
  t.regex((taken as { stdout: string }).stdout, new RegExp(`Port ${port} is taken by another program \\(API_PORT\\)`));
});
