import type { RawDb } from '../harness/database.ts';

/** Written rows by table and kind of write. */
export type RowCounts = Record<string, number>;

const LOG = 'cost_rows';
/** Tables of presence and leases, which processes renew at intervals. */
const BY_CLOCK = ['workers', 'sync_workers', 'mailbox_sync'];

/**
 * Installs triggers that count the rows written in every table, including those that other triggers and functions of
 * the schema write. The counts commit with the rows, so rolled back rows are not counted, and counting makes no
 * statement wait for another.
 */
export async function countRows(db: RawDb): Promise<void> {
  await db.raw(`
    create unlogged table ${LOG} (name text not null, rows int not null);
    create function cost_note() returns trigger language plpgsql security definer as $$
    declare written int;
    begin
      select count(*) into written from changed;
      if written > 0 then insert into ${LOG} values (tg_table_name || ' ' || lower(tg_op), written); end if;
      return null;
    end $$;
    do $$
    declare
      table_name text;
      kind text;
    begin
      for table_name in
        select c.oid::regclass::text from pg_class c
        where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace and c.relname not in (${[LOG, ...BY_CLOCK].map((name) => `'${name}'`).join()})
      loop
        foreach kind in array array['insert', 'update', 'delete'] loop
          execute format(
            'create trigger cost_%s after %s on %s referencing %s table as changed for each statement execute function cost_note()',
            kind, kind, table_name, case kind when 'delete' then 'old' else 'new' end);
        end loop;
      end loop;
    end $$`);
}

/** Returns the counts of {@link countRows} so far. */
export async function readRows(db: RawDb): Promise<RowCounts> {
  const { rows } = (await db.raw(`select name, sum(rows)::int as rows from ${LOG} group by name order by name`)) as {
    rows: { name: string; rows: number }[];
  };
  return Object.fromEntries(rows.map(({ name, rows: written }) => [name, written]));
}
