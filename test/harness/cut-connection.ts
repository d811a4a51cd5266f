import type { RawDb } from './database.ts';

/**
 * Makes PostgreSQL end the first connection that changes a matching row, in the middle of its statement. Later
 * connections proceed.
 * @param before `update` or `delete`
 * @param where condition of a trigger on `new` or `old`; default: all rows
 * @returns `times` returns how often such a row was changed so far; `remove` removes the trigger
 */
export async function cutConnectionOnce(
  db: RawDb,
  { table, before, where = 'true' }: { table: string; before: 'update' | 'delete'; where?: string },
): Promise<{ times(): Promise<number>; remove(): Promise<void> }> {
  const row = before === 'delete' ? 'old' : 'new';
  const name = `cut_${table}`;
  await db.raw(`
    create sequence ${name};
    create function ${name}() returns trigger language plpgsql security definer set search_path from current as $$
    begin
      if nextval('${name}') = 1 then perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); end if;
      return ${row};
    end $$;
    create trigger ${name} before ${before} on ${table} for each row when (${where}) execute function ${name}()`);
  return {
    times: async () => Number((await db(name).first()).last_value),
    remove: async () => {
      await db.raw(`drop function ${name} cascade; drop sequence ${name}`);
    },
  };
}
