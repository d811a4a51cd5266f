import type pg from 'pg';

/*
 * This file defines the schema of the prospect catalogue: a database separate from PRIMARY_DB, shared by all
 * workspaces. Heron only reads it; `heron catalogue load` writes it. Keys (`*_key`) are the normalized texts that
 * searches compare, written by the loader. They sort by bytes, so that the order is the same on every server.
 */

/**
 * One migration of the catalogue. Every catalogue records the names of its migrations, so append new ones and never
 * edit an old one.
 */
interface CatalogueMigration {
  name: string;
  sql: string;
}

const MIGRATIONS: readonly CatalogueMigration[] = [
  {
    name: '0001_catalogue',
    sql: `
      create extension if not exists pg_trgm;
      create table catalogue_companies (
        id text collate "C" primary key check (id ~ '^[0-9a-z]{24}$'),
        name text not null,
        domain text collate "C" not null,
        industries text[] not null,
        technologies text[] not null,
        employees integer check (employees >= 0),
        country text not null,
        state text not null,
        city text not null,
        website text not null,
        linkedin_url text not null,
        phone text not null,
        founded_year integer,
        source_updated_at text not null,
        country_key text collate "C" not null,
        state_key text collate "C" not null,
        city_key text collate "C" not null,
        search_key text collate "C" not null,
        employees_order integer not null,
        tags text[] collate "C" not null
      );
      create table catalogue_people (
        id text collate "C" primary key check (id ~ '^[0-9a-z]{24}$'),
        first_name text not null,
        last_name text not null,
        email text collate "C" not null,
        email_state smallint not null check (email_state in (0, 1, 2)),
        email_status text not null,
        phone text not null,
        title text not null,
        seniority text collate "C" not null,
        department text collate "C" not null,
        country text not null,
        state text not null,
        city text not null,
        linkedin_url text not null,
        company_id text collate "C",
        source_updated_at text not null,
        country_key text collate "C" not null,
        state_key text collate "C" not null,
        city_key text collate "C" not null,
        name_key text collate "C" not null,
        title_key text collate "C" not null,
        own_tags text[] collate "C" not null,
        -- Of the company, so that one table answers every search.
        domain text collate "C" not null default '',
        employees integer,
        tags text[] collate "C" not null
      );
      alter table catalogue_people alter column tags set statistics 1000;
      alter table catalogue_companies alter column tags set statistics 1000;
      create table catalogue_facts (
        only_row boolean primary key default true check (only_row),
        people bigint not null default 0,
        companies bigint not null default 0,
        countries jsonb not null default '[]',
        seniorities jsonb not null default '[]',
        departments jsonb not null default '[]',
        source text not null default '',
        source_period text not null default '',
        counted_at timestamptz
      );
      insert into catalogue_facts default values;
      create table catalogue_loads (
        fingerprint text primary key,
        file_name text not null,
        file_bytes bigint not null,
        lines_done bigint not null default 0,
        people bigint not null default 0,
        companies bigint not null default 0,
        refused bigint not null default 0,
        began_at timestamptz not null default now(),
        ended_at timestamptz
      );
    `,
  },
  {
    name: '0002_places',
    // The planner needs the number of rows per town. It chooses between an index scan and a sort of all rows of the
    // town.
    sql: `
      alter table catalogue_people alter column city_key set statistics 1000, alter column state_key set statistics 1000;
      alter table catalogue_companies alter column city_key set statistics 1000, alter column state_key set statistics 1000;
    `,
  },
];

/**
 * Lower bounds of the brackets of employee numbers: round numbers and their successors. So both `1 to 50` and `from 50`
 * consist of whole brackets. The indexes contain the bounds, so a change of the bounds needs indexes with new names.
 */
const BRACKETS_FROM = [
  1, 2, 5, 10, 11, 20, 50, 51, 100, 200, 201, 500, 501, 1_000, 1_001, 2_000, 5_000, 5_001, 10_000, 10_001, 20_000,
  50_000, 100_000, 200_000, 500_000, 1_000_000,
];

/** Returns the index of the bracket that contains a number of employees, from 0. */
export function bracketOf(employees: number): number {
  return BRACKETS_FROM.filter((from) => from <= employees).length;
}

/**
 * SQL for the bracket of a row, as an array of one element. The element is NULL if the number is unknown. PostgreSQL
 * uses the index only if a search contains exactly this expression.
 */
export const BRACKET_OF_ROW = `array[cast(width_bucket(employees, cast('{${BRACKETS_FROM.join(',')}}' as integer[])) as smallint)]`;

/**
 * Search indexes by name. They are dropped before a first load and created after it. Each list order has an index that
 * starts with the columns fixed by a filter, so that every page costs the same. `…_exact` is for conditions on exact
 * values and brackets; a search costs as much as its rarest condition. `…_text` is also for conditions on parts of
 * texts, and reads far less than separate indexes (docs/guides/prospect-catalogue.md). If the text of a search is too
 * short for `…_text`, `…_exact` is used.
 */
export const CATALOGUE_INDEXES: Readonly<Record<string, string>> = {
  catalogue_people_order: 'on catalogue_people (country_key, seniority, id)',
  catalogue_people_seniority: 'on catalogue_people (seniority, country_key, id)',
  catalogue_people_state: 'on catalogue_people (state_key, country_key, seniority, id)',
  catalogue_people_city: 'on catalogue_people (city_key, country_key, seniority, id)',
  catalogue_people_company: 'on catalogue_people (company_id) where company_id is not null',
  catalogue_people_domain: `on catalogue_people (domain) where domain <> ''`,
  catalogue_people_email: `on catalogue_people (email) where email <> ''`,
  catalogue_people_employees: 'on catalogue_people (employees) where employees is not null',
  catalogue_people_exact: `on catalogue_people using gin (tags, (${BRACKET_OF_ROW})) with (fastupdate = off)`,
  catalogue_people_text: `on catalogue_people
    using gin (tags, (${BRACKET_OF_ROW}), name_key gin_trgm_ops, title_key gin_trgm_ops) with (fastupdate = off)`,
  catalogue_companies_order: 'on catalogue_companies (country_key, employees_order, id)',
  catalogue_companies_state: 'on catalogue_companies (state_key, country_key, employees_order, id)',
  catalogue_companies_city: 'on catalogue_companies (city_key, country_key, employees_order, id)',
  catalogue_companies_domain: 'on catalogue_companies (domain)',
  catalogue_companies_employees: 'on catalogue_companies (employees) where employees is not null',
  catalogue_companies_exact: `on catalogue_companies using gin (tags, (${BRACKET_OF_ROW})) with (fastupdate = off)`,
  catalogue_companies_text: `on catalogue_companies
    using gin (tags, (${BRACKET_OF_ROW}), search_key gin_trgm_ops) with (fastupdate = off)`,
};

/**
 * Indexes of earlier versions, replaced by the indexes above. Searches still use them in a catalogue without the new
 * indexes.
 */
export const REPLACED_INDEXES = [
  'catalogue_people_name',
  'catalogue_people_title',
  'catalogue_people_tags',
  'catalogue_companies_search',
  'catalogue_companies_tags',
];

/** Key of the advisory lock that admits one writer of a catalogue at a time. */
export const WRITER_LOCK = 0x6361_7461;

/**
 * Migrates a catalogue to this build's schema. The caller holds the writer lock. Returns the names of the applied
 * migrations.
 */
export async function migrateCatalogue(client: pg.ClientBase): Promise<string[]> {
  await client.query(
    'create table if not exists catalogue_migrations (name text primary key, applied_at timestamptz not null default now())',
  );
  const { rows } = await client.query<{ name: string }>('select name from catalogue_migrations');
  const done = new Set(rows.map(({ name }) => name));
  const applied: string[] = [];
  for (const { name, sql } of MIGRATIONS) {
    if (done.has(name)) continue;
    await client.query('begin');
    try {
      await client.query(sql);
      await client.query('insert into catalogue_migrations (name) values ($1)', [name]);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
    applied.push(name);
  }
  return applied;
}
