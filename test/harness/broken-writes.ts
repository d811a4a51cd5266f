import { randomSecret } from './secrets.ts';
import type { World } from './world.ts';

/** Text that the errors quote, like personal data in a real error of PostgreSQL. */
export const QUOTED = `${randomSecret('person')}@example.org`;

/**
 * Makes every write to a table fail if the new row meets a condition.
 * @returns a function that removes the failure
 */
export async function breakWrites(
  { deps: { db } }: Pick<World, 'deps'>,
  table: string,
  operation: 'insert' | 'update',
  condition: string,
): Promise<() => Promise<void>> {
  const name = `broken_${table}`;
  await db.raw(
    `create function ${name}() returns trigger language plpgsql as $$ begin raise exception '${QUOTED} is in the way'; end $$`,
  );
  await db.raw(
    `create trigger ${name} before ${operation} on ${table} for each row when (${condition}) execute function ${name}()`,
  );
  return async () => {
    await db.raw(`drop function ${name} cascade`);
  };
}
