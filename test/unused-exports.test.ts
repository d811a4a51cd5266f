import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { filesBelow } from '../local/sources.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = new Set(['.ts', '.tsx', '.mjs', '.js']);

/** Generated file, which may be missing. No source imports its types by name. */
const GENERATED = 'client/src/schema.ts';

/** Exports that are used without an import, as the beginning of `file: name`, with their users. */
const USED_OTHERWISE: Record<string, string> = {
  'bench/workflows/bare.ts: bareRun': 'Temporal finds a workflow by its name.',
  'client/src/index.ts:': 'The client is published.',
  'db/refused-queries.test.ts:': 'The compiler alone reads these functions, and refuses their queries.',
  'examples/changing-workflows/releases.ts:': 'Temporal finds workflows by their names.',
  'oxlint.config.mjs:': 'Tests and scripts import it by a computed path.',
  'test/groups/declare.ts: declareFiles': 'The files that the groups are written to import it.',
  'test/harness/probe/workflow.ts: probe': 'Temporal finds a workflow by its name.',
  'test/suites/planted-family.test.ts:': 'They stand in the text of the family that is planted.',
  'web/src/components/icon.ts: outlineIcon': 'The modules that web/icons.ts makes import it.',
  'workflows/index.ts:': 'Temporal finds workflows by their names.',
  'workflows/trace-context.ts: interceptors': 'Temporal imports it.',
};

const DECLARED = /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type) (\w+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}/gm;
const NAMED = /^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from '(\.[^']+)'/gm;
/**
 * Matches the path of a source file. If a file is used through a namespace, a dynamic import or a type query, its
 * exports are searched by name.
 */
const MENTIONED = /'(\.[^'\n]+\.(?:ts|tsx|mjs))'/g;

test('no file exports what no other file uses', async (t) => {
  const sources = new Map<string, string>();
  for (const path of await filesBelow(ROOT, SOURCES)) {
    const file = relative(ROOT, path).replaceAll('\\', '/');
    if (file !== GENERATED) sources.set(file, await readFile(path, 'utf8'));
  }
  const unused = unusedExports(sources);
  const exceptions = Object.keys(USED_OTHERWISE);
  t.deepEqual(
    unused.filter((one) => !exceptions.some((beginning) => one.startsWith(beginning))),
    [],
    'make them private, or delete them',
  );
  t.deepEqual(
    exceptions.filter((beginning) => !unused.some((one) => one.startsWith(beginning))),
    [],
    'these are no exceptions any more',
  );
});

test('an export is used by its name in a list, and by its name anywhere beside a path in any other form', (t) => {
  const sources = new Map([
    ['a.ts', 'export const one = 1;\nexport type Two = 2;\nfunction three() {}\nexport { three, one as four };\n'],
    ['b/b.ts', "import { one, type Two as T } from '../a.ts';\nexport async function five() {}\n"],
    ['c.ts', "const { five } = await import('./b/b.ts');\nexport const six = five;\n"],
    ['d.ts', "// six, three\nimport { four } from './a.ts';\n"],
  ]);
  t.deepEqual(unusedExports(sources), ['a.ts: three', 'c.ts: six']);
});

/** Returns names that a file exports and no other file uses, as `file: name`. */
function unusedExports(sources: ReadonlyMap<string, string>): string[] {
  const used = new Set<string>();
  for (const [file, text] of sources) {
    const at = (path: string) => join(dirname(file), path).replaceAll('\\', '/');
    const rest = text.replaceAll(NAMED, (_, names: string, path: string) => {
      for (const name of listed(names)) used.add(`${at(path)}: ${name.split(' as ')[0]}`);
      return '';
    });
    const paths = [...new Set([...rest.matchAll(MENTIONED)].map(([, path]) => at(path!)))];
    if (paths.length === 0) continue;
    const words = new Set(rest.match(/\w+/g));
    for (const path of paths)
      for (const name of exportedNames(sources.get(path) ?? '')) if (words.has(name)) used.add(`${path}: ${name}`);
  }
  return [...sources]
    .flatMap(([file, text]) => exportedNames(text).map((name) => `${file}: ${name}`))
    .filter((one) => !used.has(one));
}

function exportedNames(source: string): string[] {
  const names = [
    ...[...source.matchAll(DECLARED)].map(([, name]) => name!),
    ...[...source.matchAll(LISTED)].flatMap(([, names]) => listed(names!).map((name) => name.split(' as ').at(-1)!)),
  ];
  // Removes duplicates, because overloads declare one name several times.
  return [...new Set(names)];
}

function listed(names: string): string[] {
  return names
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter(Boolean);
}
