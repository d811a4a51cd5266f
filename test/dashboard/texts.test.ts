import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { de } from '../../web/src/text/de.ts';
import { en } from '../../web/src/text/en.ts';

const SOURCES = fileURLToPath(new URL('../../web/src', import.meta.url));
const placeholders = (text: string) => [...text.matchAll(/\{(\w+)/g)].map(([, name]) => name!).toSorted();

test('both languages have every text, with the same values in it', (t) => {
  t.deepEqual(Object.keys(de), Object.keys(en));
  for (const key of Object.keys(en) as (keyof typeof en)[]) {
    t.not(en[key].trim(), '', key);
    t.not(de[key].trim(), '', key);
    t.deepEqual([...new Set(placeholders(de[key]))], [...new Set(placeholders(en[key]))], key);
  }
});

test('every text is used, and no page has words of its own', async (t) => {
  const names = (await readdir(SOURCES, { recursive: true })).filter(
    (name) => /\.tsx?$/.test(name) && !name.startsWith('text/'),
  );
  const sources = await Promise.all(
    names.map(async (name) => [name, await readFile(join(SOURCES, name), 'utf8')] as const),
  );
  const all = sources.map(([, source]) => source).join('\n');
  // A key that is put together has its beginning in the source.
  const begins = [...all.matchAll(/(?:t|text)\(\s*`([\w.]+)\.\$\{/g), ...all.matchAll(/textOf\(\s*'([\w.]+)'/g)].map(
    ([, start]) => `${start}.`,
  );
  const unused = Object.keys(en).filter(
    (key) => !all.includes(`'${key}'`) && !begins.some((start) => key.startsWith(start)),
  );
  t.deepEqual(unused, []);
  for (const [name, source] of sources) {
    const words = [...source.matchAll(/>\s*([A-Z][a-z]+ [a-z]+[^<>{}]*)</g)].map(([, found]) => found);
    t.deepEqual(words, [], name);
  }
});
