/**
 * `npm run record-examples`: writes api/http/examples.json, the examples of the API reference, from the requests and
 * answers of the routes' suites. Examples that still fit their schemas are kept; `-- --all` replaces all. Further
 * arguments name other suites to run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXAMPLES, EXAMPLES_FILE } from '../../api/http/examples.ts';
import { routes } from '../../api/routes.ts';
import { RECORD_SETTING, type RecordedCall } from '../harness/recorded-calls.ts';
import { chooseExamples, hasJsonAnswer, hasJsonBody } from './choose.ts';
import { TYPESCRIPT } from '../../local/typescript.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SUITES = ['api', 'test/suites/walk-access.test.ts', 'test/examples'];

const args = process.argv.slice(2);
const suites = args.filter((argument) => !argument.startsWith('--'));
const folder = await mkdtemp(join(tmpdir(), 'heron-calls-'));
try {
  const run = spawn(
    process.execPath,
    [...TYPESCRIPT, join(ROOT, 'test', 'run.ts'), ...(suites.length > 0 ? suites : SUITES)],
    { cwd: ROOT, env: { ...process.env, [RECORD_SETTING]: folder }, stdio: 'inherit' },
  );
  await once(run, 'exit');
  const calls = await recorded(folder);
  const kept = args.includes('--all') ? { operations: {}, errors: {} } : EXAMPLES;
  const examples = chooseExamples(routes, calls, kept);
  await writeFile(EXAMPLES_FILE, `${JSON.stringify(examples, null, 1)}\n`);
  const missing = routes.filter(
    (spec) => (hasJsonBody(spec) || hasJsonAnswer(spec)) && !examples.operations[spec.operationId],
  );
  console.log(
    `${calls.length} calls: examples of ${Object.keys(examples.operations).length} operations and ${Object.keys(examples.errors).length} errors`,
  );
  if (missing.length > 0) console.log(`no example of ${missing.map((spec) => spec.operationId).join(', ')}`);
} finally {
  await rm(folder, { recursive: true });
}

/** Returns the recorded calls, sorted so that the same calls give the same examples. */
async function recorded(from: string): Promise<RecordedCall[]> {
  const lines: string[] = [];
  for (const name of await readdir(from)) lines.push(...(await readFile(join(from, name), 'utf8')).split('\n'));
  return lines.filter(Boolean).map((line) => JSON.parse(line) as RecordedCall);
}
