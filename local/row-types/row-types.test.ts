import { appendFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { createTestDatabase } from '../../test/harness/database.ts';
import { generateRowTypes } from './generate.ts';
import { staleReasons, withoutStamp } from './stamp.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCHEMA = join(ROOT, 'db', 'schema.ts');

test('db/schema.ts is what the migrated schema makes', async (t) => {
  const database = await createTestDatabase();
  const made = join(await folder(t), 'schema.ts');
  try {
    await generateRowTypes(database.url, made);
  } finally {
    await database.drop();
  }
  t.is(await readFile(made, 'utf8'), withoutStamp(await readFile(SCHEMA, 'utf8')));
});

test('the check passes fresh row types, and refuses a changed migration, a new one and a row type changed by hand', async (t) => {
  const root = await folder(t);
  for (const part of ['db/migrations', 'db/schema.ts', 'db/columns.ts', 'local/row-types/generate.ts'])
    await cp(join(ROOT, part), join(root, part), { recursive: true });
  const schema = join(root, 'db', 'schema.ts');
  t.deepEqual(await staleReasons(root, schema), []);

  const changed = ['db/migrations, db/columns.ts, local/row-types/generate.ts: changed since the row types were made'];
  const planted = join(root, 'db/migrations/9999_planted.ts');
  await cp(join(ROOT, 'db/migrations/index.ts'), planted);
  t.deepEqual(await staleReasons(root, schema), changed);
  await rm(planted);
  t.deepEqual(await staleReasons(root, schema), []);

  const part = 'db/migrations/0001_baseline/crm.ts';
  await appendFile(join(root, part), '\n');
  t.deepEqual(await staleReasons(root, schema), changed);
  await cp(join(ROOT, part), join(root, part));

  await appendFile(schema, 'export type Planted = 1;\n');
  t.deepEqual(await staleReasons(root, schema), ['the row types are not what was made']);
});

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'heron-types-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  await mkdir(join(path, 'local', 'row-types'), { recursive: true });
  return path;
}
