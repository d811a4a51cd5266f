import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { createTestDatabase } from '../../test/harness/database.ts';
import { generateRowTypes } from './generate.ts';
import { staleReasons } from './stamp.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCHEMA = join(ROOT, 'db', 'schema');

test('db/schema is what the migrated schema makes', async (t) => {
  const database = await createTestDatabase();
  const made = join(await folder(t), 'schema');
  try {
    await generateRowTypes(database.url, made);
  } finally {
    await database.drop();
  }
  t.deepEqual(await typesIn(made), await typesIn(SCHEMA));
});

test('the check passes fresh row types, and refuses a changed migration, a new one and a row type changed by hand', async (t) => {
  const root = await folder(t);
  for (const part of ['db/migrations', 'db/schema', 'db/columns.ts', 'local/row-types/generate.ts'])
    await cp(join(ROOT, part), join(root, part), { recursive: true });
  const schema = join(root, 'db', 'schema');
  t.deepEqual(await staleReasons(root, schema), []);

  await cp(join(root, 'db/migrations/0008_inbox.ts'), join(root, 'db/migrations/9999_planted.ts'));
  t.deepEqual(await staleReasons(root, schema), [
    'db/migrations/9999_planted.ts has changed since the row types were made',
  ]);
  await rm(join(root, 'db/migrations/9999_planted.ts'));

  await appendFile(join(root, 'db/migrations/0003_outreach.ts'), '\n');
  t.regex((await staleReasons(root, schema)).join(), /0003_outreach/);
  await cp(join(ROOT, 'db/migrations/0003_outreach.ts'), join(root, 'db/migrations/0003_outreach.ts'));

  await appendFile(join(schema, 'contacts.ts'), 'export type Planted = 1;\n');
  t.deepEqual(await staleReasons(root, schema), ['the row types are not what was made']);
});

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'heron-types-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  await mkdir(join(path, 'local', 'row-types'), { recursive: true });
  return path;
}

async function typesIn(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.ts')).toSorted();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const)),
  );
}
