/**
 * `node bundle/run.mjs test/mutants/costs.ts`: adds a statement to a code path in a copy of this source, one path at a
 * time, and runs the test that must detect the statement. Prints the test's output as a Markdown table. Exits with 1 if
 * a change is not detected. Not part of `npm test`.
 */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBackingServices } from '../../local/backing.ts';

interface Mutant {
  what: string;
  /** Source file that is changed, the text to replace and its replacement. */
  file: string;
  from: string;
  to: string;
  /** Test to run, and the output that it must have. */
  test: string;
  says: RegExp;
}

const PLAYS = 'test/costs/costs.test.ts';
const ROUTES = 'test/suites/walk-costs.test.ts';
const ALLOCATE = '  const level = await rampToday(tx, campaign, on);\n';
const LIST = 'presentPage(await listContacts(ctx, { limit, cursor }, narrow), presentContact)';

const MUTANTS: Mutant[] = [
  {
    what: 'the allocator reads the workspace again',
    file: 'domain/sending/allocate.ts',
    from: ALLOCATE,
    to: `${ALLOCATE}  await tx.org.sql('select name from organizations where id = :org');\n`,
    test: PLAYS,
    says: /campaign > statements > allocate > select organizations: none -> 2/,
  },
  {
    what: 'the list of contacts reads each of them again',
    file: 'api/audience/contacts/routes.ts',
    from: LIST,
    to: `listContacts(ctx, { limit, cursor }, narrow).then(async (page) => {
        for (const { id } of page.rows) await getContact(ctx, id);
        return presentPage(page, presentContact);
      })`,
    test: ROUTES,
    says: /contacts\.list \(GET \/contacts\): \d+ statements for 2 rows, \d+ for 20/,
  },
];

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MODULES = ['node_modules', 'client/node_modules', 'web/node_modules'];

const folder = mkdtempSync(join(tmpdir(), 'heron-mutants-'));
const backing = await startBackingServices({ persistent: false, inMemory: true, log: () => {} });
const env = { ...process.env, HERON_TEST_PG: backing.databaseUrl, HERON_TEST_TEMPORAL: backing.temporalAddress };
let survived = 0;
process.stdout.write('| edit | what the test says |\n|---|---|\n');
try {
  for (const path of execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter(Boolean))
    cpSync(join(ROOT, path), join(folder, path));
  for (const path of MODULES) symlinkSync(join(ROOT, path), join(folder, path));
  for (const mutant of MUTANTS) {
    const said = await outcomeOf(mutant);
    if (said === undefined) survived += 1;
    process.stdout.write(`| ${mutant.what} | ${said ?? '**nothing**'} |\n`);
  }
} finally {
  await backing.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`\n${survived} of ${MUTANTS.length} survived\n`);
process.exit(survived > 0 ? 1 : 0);

/** Runs the test on the changed copy. Returns the output line that reports the change; undefined if there is none. */
async function outcomeOf({ file, from, to, test, says }: Mutant): Promise<string | undefined> {
  const path = join(folder, file);
  const source = readFileSync(path, 'utf8');
  if (!source.includes(from)) throw new Error(`${file} has no such text: ${from}`);
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  try {
    const output = await new Promise<string>((resolve) => {
      execFile('npm', ['test', '--', test], { cwd: folder, env, maxBuffer: 2 ** 26 }, (error, stdout) =>
        resolve(error ? stdout : ''),
      );
    });
    return output
      .split('\n')
      .find((line) => says.test(line))
      ?.trim();
  } finally {
    writeFileSync(path, source);
  }
}
