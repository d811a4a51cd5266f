/**
 * `npm run db:types`: writes db/schema.ts from the migrated schema on a temporary PostgreSQL. With `--check`, which the
 * linter uses, it only checks, without a database, if db/schema.ts is stale. It then exits with 1.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { staleReasons, writeStamp } from './stamp.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCHEMA = join(ROOT, 'db', 'schema.ts');

if (process.argv.includes('--check')) {
  const reasons = await staleReasons(ROOT, SCHEMA);
  if (reasons.length > 0) {
    console.error(
      `db/schema.ts is stale; run \`npm run db:types\`:\n${reasons.map((reason) => `  ${reason}`).join('\n')}`,
    );
    process.exitCode = 1;
  }
} else {
  const { withMigratedDatabase } = await import('./database.ts');
  const { generateRowTypes } = await import('./generate.ts');
  await withMigratedDatabase((url) => generateRowTypes(url, SCHEMA));
  await writeStamp(ROOT, SCHEMA);
  console.log('db/schema.ts is written.');
}
