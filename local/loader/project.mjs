import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { ROOT } from './kept.mjs';
import { joinPackages } from './packages.mjs';

const run = promisify(execFile);
const FOLDER = fileURLToPath(ROOT);

/** What most test files import, each with about a thousand modules: the API with all it stands on, and a worker. */
const ROOTS = { world: 'test/harness/world.ts', engine: 'test/harness/engine.ts' };

/**
 * Joins the modules of a world and of an engine, as they are now, into a few files for the processes of one test run: to load them one by one
 * costs more than the tests of most files. Processes use them by HERON_JOINED; whoever calls this removes them after the run.
 * @returns the folder and what removes it
 */
export async function joinProject() {
  const cache = join(FOLDER, '.heron/cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'project-'));
  const packages = await joinPackages();
  const world = await closure(ROOTS.world);
  const engine = (await closure(ROOTS.engine)).filter((file) => !world.includes(file));
  const modules = [
    ...world.map((file, at) => ({ file, root: 'world', name: `w${at}` })),
    ...engine.map((file, at) => ({ file, root: 'engine', name: `e${at}` })),
  ];
  const { metafile } = await build({
    ...SHAPE,
    entryPoints: Object.fromEntries(Object.keys(ROOTS).map((root) => [root, root])),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'shared-[hash]',
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
    plugins: [roots(modules), outside(packages), places()],
  });
  for (const output of Object.keys(metafile.outputs)) if (output.endsWith('.mjs')) writeLines(join(FOLDER, output));
  const names = await exportedNames(folder);
  const found = modules.map(({ file, root, name }) => [pathToFileURL(file).href, { root, name, names: names[name] }]);
  writeFileSync(join(folder, 'modules.json'), JSON.stringify(Object.fromEntries(found)));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

const SHAPE = {
  absWorkingDir: FOLDER,
  bundle: true,
  splitting: true,
  treeShaking: false,
  format: 'esm',
  platform: 'node',
  target: `node${process.versions.node}`,
  // As modules are compiled one by one.
  tsconfigRaw: {},
  logLevel: 'error',
};

/** The modules that a module imports, and they, and so on; what is imported while the program runs is not among them. */
async function closure(root) {
  const options = { outdir: FOLDER, write: false, metafile: true, packages: 'external' };
  const { metafile } = await build({ ...SHAPE, ...options, entryPoints: [root] });
  const found = new Set([root]);
  // A set that grows while it is gone through is gone through to its end.
  for (const file of found)
    for (const { path, kind, external } of metafile.inputs[file].imports)
      if (kind === 'import-statement' && !external) found.add(path);
  return [...found].map((file) => join(FOLDER, file));
}

/** The two entries: each exports all modules of a root, one by one. */
function roots(modules) {
  return {
    name: 'roots',
    setup(on) {
      on.onResolve({ filter: /^(world|engine)$/ }, ({ path }) => ({ path, namespace: 'root' }));
      on.onLoad({ filter: /./, namespace: 'root' }, ({ path }) => ({
        contents: modules
          .filter(({ root }) => root === path)
          .map(({ file, name }) => `export * as ${name} from ${JSON.stringify(file)};`)
          .join('\n'),
        resolveDir: FOLDER,
      }));
    },
  };
}

/** Packages stay outside, and so does what is imported while the program runs. */
function outside(packages) {
  return {
    name: 'outside',
    setup(on) {
      on.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
        kind === 'entry-point' ? undefined : { path: packages[path] ?? path, external: true },
      );
      on.onResolve({ filter: /^\./ }, ({ path, kind, importer }) =>
        kind === 'dynamic-import' ? { path: new URL(path, pathToFileURL(importer)).href, external: true } : undefined,
      );
    },
  };
}

/** Modules that read files beside them still find them. */
function places() {
  return {
    name: 'places',
    setup(on) {
      on.onLoad({ filter: /\.ts$/, namespace: 'file' }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        const contents = text.replaceAll('import.meta.url', () => JSON.stringify(pathToFileURL(path).href));
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** Keeps, for each line of a joined file, the module and the line that it comes from (see stacks.mjs), in place of its source map, which takes much longer to read. */
function writeLines(file) {
  const { sources, ...map } = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  const entries = new SourceMap({ ...map, sources: sources.map((_source, at) => String(at)) });
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .map((text, line) => {
      const { generatedLine, originalSource, originalLine } = entries.findEntry(line, Math.max(0, text.search(/\S/)));
      return generatedLine === line ? [Number(originalSource), originalLine + 1] : [];
    });
  const places = sources.map((source) => new URL(source, pathToFileURL(file)).href);
  writeFileSync(`${file}.lines`, JSON.stringify({ places, lines }));
  rmSync(`${file}.map`);
}

/** What each module exports, as Node shows it: in a process of its own, since all of them are run for that. */
async function exportedNames(folder) {
  const urls = Object.keys(ROOTS).map((root) => pathToFileURL(join(folder, `${root}.mjs`)).href);
  const lines = [
    `const all = Object.assign({}, ...(await Promise.all(${JSON.stringify(urls)}.map((url) => import(url)))));`,
    'const names = Object.entries(all).map(([name, module]) => [name, Object.keys(module)]);',
    'process.stdout.write(JSON.stringify(Object.fromEntries(names)), () => process.exit());',
  ];
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', lines.join('\n')], {
    cwd: FOLDER,
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout);
}
