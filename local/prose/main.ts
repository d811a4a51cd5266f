/**
 * `npm run prose`: checks the comments of all sources (rules.ts) and the documents (markdown.ts). A file may have as
 * many findings as allowed.json states for it, or none, so that the total only decreases. `--lower` writes the lower
 * numbers. With paths it lists the findings of these files. `--draw comments` or `--draw texts` with `--seed` and
 * `--count` prints texts for a reader who judges them by rubric.md.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { dashboard } from '../../messages/en/dashboard/index.ts';
import { filesBelow } from '../sources.ts';
import { commentsOf, draw, type Drawn } from './draw.ts';
import { findingsInMarkdown } from './markdown.ts';
import { compare, lowered, type Counts } from './ratchet.ts';
import { findingsIn, type Finding } from './rules.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ALLOWED = fileURLToPath(new URL('allowed.json', import.meta.url));
const GENERATED = new Set(['client/src/schema.ts', 'db/schema.ts']);
/** Records of measurements and of failures, which are read as tables. */
const RECORDS = /^(?:bench\/(?:RESULTS|fuzz|reporting-plans)|test\/FLAKES)\.md$/;

const { values, positionals } = parseArgs({
  options: {
    lower: { type: 'boolean' },
    draw: { type: 'string' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
  },
  allowPositionals: true,
});
const sources = new Map<string, string>();
await Promise.all(
  (await filesBelow(ROOT, new Set(['.ts', '.tsx', '.mjs', '.js', '.md']))).map(async (path) => {
    const file = relative(ROOT, path).replaceAll('\\', '/');
    if (!GENERATED.has(file) && !RECORDS.test(file)) sources.set(file, await readFile(path, 'utf8'));
  }),
);
if (values.draw) {
  printDrawn(
    values.draw === 'texts'
      ? textsOfDashboard()
      : commentsOf(new Map([...sources].filter(([file]) => !file.endsWith('.md')).toSorted())),
  );
  process.exit();
}
const findings = new Map<string, Finding[]>();
for (const [file, text] of sources)
  findings.set(file, file.endsWith('.md') ? findingsInMarkdown(text, file.startsWith('docs/')) : findingsIn(text));
const counts: Counts = Object.fromEntries([...findings].map(([file, found]) => [file, found.length]));

if (positionals.length > 0) for (const file of positionals) print(file);
else if (values.lower) {
  const text = await readFile(ALLOWED, 'utf8').catch(() => undefined);
  const next = lowered(counts, text === undefined ? counts : (JSON.parse(text) as Counts));
  await writeFile(ALLOWED, `${JSON.stringify(next, null, 2)}\n`);
} else {
  const { above, below } = compare(counts, JSON.parse(await readFile(ALLOWED, 'utf8')) as Counts);
  for (const { file, found, allowed } of above) {
    print(file);
    console.error(
      `${file}: ${found} findings, at most ${allowed}. A file that was moved takes its number along in allowed.json.`,
    );
  }
  for (const { file, found, allowed } of below)
    console.error(`${file}: ${found} findings instead of ${allowed}: run \`npm run prose -- --lower\`.`);
  if (above.length + below.length > 0) process.exitCode = 1;
}

function print(file: string): void {
  for (const { line, message } of findings.get(file) ?? []) console.log(`${file}:${line}: ${message}`);
}

function textsOfDashboard(): Drawn[] {
  return Object.values(dashboard)
    .flatMap((area) => Object.entries(area))
    .map(([place, text]) => ({ place, text, context: '' }));
}

function printDrawn(from: readonly Drawn[]): void {
  for (const { place, text, context } of draw(from, Number(values.count), Number(values.seed)))
    console.log(`${place}\n  ${text.replaceAll('\n', '\n  ')}${context && `\n    | ${context}`}\n`);
}
