import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { freePort } from '../../local/servers.ts';
import { installation, terminal } from '../harness/installation.ts';

/* Runs the commands of docs/tutorials/first-webhook.md, with free ports in place of the usual ones. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE_MS = 120_000;

test('every command of docs/tutorials/first-webhook.md does what the page says', async (t) => {
  t.timeout(3 * PATIENCE_MS);
  const page = await readFile(join(ROOT, 'docs', 'tutorials', 'first-webhook.md'), 'utf8');
  const blocks = (fence: string) =>
    [...page.matchAll(new RegExp(`^\`\`\`${fence}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code]) => code!);
  const { env, servers, withPorts } = await installation(t);
  const [start] = blocks('sh terminal=heron');
  const [, setting, value, command] = /^(\w+)=(\w+) (.*)$/m.exec(start!)!;
  const heron = terminal(t, command!, { ...env, ...servers, [setting!]: value });
  await heron.says('Heron is up.');

  const script = withPorts(blocks('sh').join('\n')).replaceAll('4200', String(await freePort()));
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: ROOT,
    env,
    timeout: PATIENCE_MS,
  });
  t.regex(stdout, /^true$/m, 'the endpoint is verified');
  t.regex(stdout, /^contact\.created \{.*"contact_email":"ada@example\.com"/m);
  t.regex(stdout, /"status":"delivered"/);
});
