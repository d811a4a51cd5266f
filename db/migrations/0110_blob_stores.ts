import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  // Columns with constant defaults; the index is built over rows of a few bytes.
  locks: { blobs: 'AccessExclusiveLock', workers: 'AccessExclusiveLock' },
  secondsAtMillionRows: 5,
};

/** Where the bytes of files are, and what each worker says of the stores and keys that it has. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table blobs
      -- Who has the bytes: blob_chunks, or a store outside of PostgreSQL under its key.
      add column store text not null default 'postgres' check (store in ('postgres', 'disk', 's3')),
      add column store_key text,
      -- Where a worker is copying them to. What stands there without a blob is deleted.
      add column moving_to text check (moving_to in ('postgres', 'disk', 's3')),
      add column moving_key text,
      add column moving_since timestamptz;
    create index blobs_store on blobs (store, created_at);

    -- Bytes outside of PostgreSQL whose blob is gone, until their store has deleted them.
    create table blob_removals (
      id bigint primary key generated always as identity,
      store text not null check (store in ('disk', 's3')),
      store_key text not null,
      attempts integer not null default 0,
      due_at timestamptz not null default now(),
      last_error text,
      created_at timestamptz not null default now()
    );
    create index blob_removals_due on blob_removals (due_at);

    -- However a blob goes, with its file, its contact or its organization.
    create function blob_is_gone() returns trigger language plpgsql security definer set search_path from current as $$
    begin
      insert into blob_removals (store, store_key)
      select store, key from (values (old.store, old.store_key), (old.moving_to, old.moving_key)) as left_over(store, key)
      where key is not null;
      return null;
    end $$;
    create trigger blobs_gone after delete on blobs
      for each row when (old.store_key is not null or old.moving_key is not null) execute function blob_is_gone();

    alter table workers
      -- The one place of files that it sees; null while it keeps them in PostgreSQL.
      add column blob_place text,
      -- Ids of the keys for what Temporal keeps that it has.
      add column codec_keys text[] not null default '{}';
  `);
}
