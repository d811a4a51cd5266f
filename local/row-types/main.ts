/**
 * `npm run db:types`: writes db/schema/ from the migrated schema, on a PostgreSQL of its own. With `--check` it says
 * whether db/schema/ is fresh, without a database, and exits with 1 when it is not; the linter runs that.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { staleReasons, writeStamp } from './stamp.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCHEMA = join(ROOT, 'db', 'schema');

if (process.argv.includes('--check')) {
  const reasons = await staleReasons(ROOT, SCHEMA);
  if (reasons.length > 0) {
    console.error(
      `db/schema is stale; run \`npm run db:types\`:\n${reasons.map((reason) => `  ${reason}`).join('\n')}`,
    );
    process.exitCode = 1;
  }
} else {
  const { withMigratedDatabase } = await import('./database.ts');
  const { generateRowTypes } = await import('./generate.ts');
  await withMigratedDatabase((url) => generateRowTypes(url, SCHEMA));
  await writeStamp(ROOT, SCHEMA);
  console.log('db/schema is written.');
}
