import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    domain_events: 'AccessExclusiveLock',
    organizations: 'AccessExclusiveLock',
    webhook_attempts: 'AccessExclusiveLock',
    webhook_deliveries: 'AccessExclusiveLock',
    webhook_endpoints: 'AccessExclusiveLock',
    webhook_payloads: 'AccessExclusiveLock',
  },
  secondsAtMillionRows: 4,
};

/**
 * What is kept for EVENT_RETENTION_DAYS is divided by month, by the time in its ids, so that a month goes by dropping its partition instead of deleting its rows. The table that was there
 * becomes the partition of all that is before next month, as it is: its rows are read once, to see that they belong there. Another partition takes what comes after; the sweep
 * takes months from it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create procedure heron_divide(divided text, key text) language plpgsql as $$
    declare
      before text := divided || '_before';
      rest text := divided || '_rest';
      -- The least id of next month, as ids begin with their milliseconds.
      since text := lpad(to_hex((extract(epoch from date_trunc('month', now() at time zone 'UTC') + interval '1 month') * 1000)::bigint), 12, '0');
      bound uuid := (left(since, 8) || '-' || right(since, 4) || '-7000-8000-000000000000')::uuid;
      indexes text[] := (select array_agg(indexdef) from pg_indexes where tablename = divided and schemaname = current_schema()
        and indexname not in (select conname from pg_constraint where conrelid = divided::regclass and contype = 'p'));
      keys text[] := (select array_agg(format('alter table %I add constraint %I %s', divided, conname, pg_get_constraintdef(oid)) order by contype desc)
        from pg_constraint where conrelid = divided::regclass and contype in ('p', 'f'));
      statement text;
      name text;
    begin
      for name in select indexname from pg_indexes where tablename = divided and schemaname = current_schema() loop
        execute format('alter index %I rename to %I', name, replace(name, divided, before));
      end loop;
      execute format('alter table %I rename to %I', divided, before);
      execute format('create table %I (like %I including defaults including constraints including comments) partition by range (%I)', divided, before, key);
      foreach statement in array keys || coalesce(indexes, '{}') loop
        execute statement;
      end loop;
      execute format('create table %I partition of %I for values from (%L) to (maxvalue)', rest, divided, bound);
      execute format('with late as (delete from %I where %I >= %L returning *) insert into %I select * from late', before, key, bound, rest);
      execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', divided, before, bound);
      call heron_guard_rows(divided::regclass);
      call heron_guard_rows(rest::regclass);
    end $$;

    -- Deliveries are referred to by their attempts, whose key is made anew by dividing them.
    create temporary table attempts_key on commit drop as
      select conname, pg_get_constraintdef(oid) as definition from pg_constraint where conrelid = 'webhook_attempts'::regclass and contype = 'f';
    do $$ declare name text; begin
      for name in select conname from attempts_key loop execute format('alter table webhook_attempts drop constraint %I', name); end loop;
    end $$;
    call heron_divide('domain_events', 'id');
    call heron_divide('webhook_payloads', 'event_id');
    call heron_divide('webhook_deliveries', 'id');
    call heron_divide('webhook_attempts', 'delivery_id');
    do $$ declare key record; begin
      for key in select * from attempts_key loop execute format('alter table webhook_attempts add constraint %I %s', key.conname, key.definition); end loop;
    end $$;
    drop procedure heron_divide;
  `);
}
