import type { RawDb } from './database.ts';

/**
 * Has PostgreSQL end the connection that is the first to do this to a row of the table, in the middle of its statement; every later one is let through.
 * @param before `update` or `delete`
 * @param where of the rows, as a condition of a trigger over `new` or `old`; all rows when left out
 * @returns `times` says how often such a row was met so far; `remove` takes the trap away
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
