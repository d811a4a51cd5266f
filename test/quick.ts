/**
 * `npm run test:quick`: the tests nearest to the changes since main (or since the revision in the argument), for daily
 * work. "Nearest" means in the same folder, of the same area, or a few imports away. `npm test` runs all tests.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chooseTests } from './quick-choice.ts';
import { TYPESCRIPT } from '../local/typescript.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Total time (s) of all chosen files. Several files run in parallel, so the tests take at most 90 s on two cores. */
const MOST_SECONDS = 120;
/** Time (s) of a file that is not in `test/times.json`. */
const UNKNOWN_SECONDS = 2;

const base = mergeBase(process.argv[2] ?? 'main');
const changed = lines(['diff', '--name-only', base]).concat(lines(['ls-files', '--others', '--exclude-standard']));
const sources = lines(['ls-files', '--cached', '--others', '--exclude-standard', '*.ts']);
const imports = new Map(sources.map((file) => [file, importsOf(file)]));
const chosen = chooseTests(changed, imports);
const times = JSON.parse(readFileSync(join(ROOT, 'test', 'times.json'), 'utf8')) as Record<string, number>;
let seconds = 0;
const run = chosen.filter((file) => {
  const took = times[file] ?? UNKNOWN_SECONDS;
  if (seconds + took > MOST_SECONDS) return false;
  seconds += took;
  return true;
});
console.log(`${changed.length} files changed; running ${run.length} of ${chosen.length} test files they reach`);
for (const left of chosen.filter((file) => !run.includes(file))) console.log(`  left to npm test: ${left}`);
process.exit(
  spawnSync(process.execPath, [...TYPESCRIPT, join(ROOT, 'test', 'run.ts'), ...run], { stdio: 'inherit' }).status ?? 1,
);

/** Returns the commit at which this branch left the other one; on that branch itself, the second-last commit. */
function mergeBase(revision: string): string {
  const head = lines(['rev-parse', 'HEAD'])[0]!;
  const [found] = lines(['merge-base', revision, 'HEAD']);
  return found === head ? 'HEAD~1' : found!;
}

function lines(args: string[]): string[] {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
}

function importsOf(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(join(ROOT, file), 'utf8');
  } catch {
    return []; // The file was deleted and the deletion is not committed yet.
  }
  return [...text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, target]) => join(dirname(file), target!));
}
