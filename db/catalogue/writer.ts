import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { openClient } from '../connection-options.ts';
import { CATALOGUE_INDEXES, migrateCatalogue, REPLACED_INDEXES, WRITER_LOCK } from './schema.ts';

/** A row to copy: values in the order of the columns. */
export type CopyRow = readonly (string | number | null | readonly string[])[];

/** Progress of loading one file. The counts are numbers of lines: accepted ones by kind, and refused ones. */
export interface LoadProgress {
  /** Line number at which the last stored record begins. */
  linesDone: number;
  people: number;
  companies: number;
  refused: number;
}

/** Load of one file, in the form shown by `heron catalogue status`. */
interface CatalogueLoad extends LoadProgress {
  fileName: string;
  fileBytes: number;
  beganAt: Date;
  endedAt: Date | null;
}

/** Contents of a catalogue, and its missing indexes. */
export interface CatalogueStatus {
  people: number;
  companies: number;
  source: string;
  sourcePeriod: string;
  countedAt: Date | null;
  missingIndexes: string[];
  loads: CatalogueLoad[];
}

/** Thrown while another process writes the catalogue. */
export class CatalogueBusy extends Error {
  constructor() {
    super('Another process is loading this catalogue');
    this.name = 'CatalogueBusy';
  }
}

/** Tables that accept rows, with the columns of their files. */
interface CatalogueColumns {
  person: readonly string[];
  company: readonly string[];
}

const LOADS = 20;

/**
 * Writes the catalogue as its owner, over one connection. Its lock excludes every other writer. A chunk and the
 * progress of its file commit together, so that an interrupted load continues after its last chunk.
 */
export class CatalogueWriter {
  readonly #client: pg.Client;
  readonly #columns: CatalogueColumns;

  private constructor(client: pg.Client, columns: CatalogueColumns) {
    this.#client = client;
    this.#columns = columns;
  }

  /**
   * Connects and migrates the schema.
   * @param reader name of the role for searches, which is granted read access
   * @throws CatalogueBusy while another process writes
   */
  static async open(url: string, columns: CatalogueColumns, reader?: string): Promise<CatalogueWriter> {
    const client = await openClient(url, 'heron-catalogue-load');
    try {
      const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [WRITER_LOCK]);
      if (!rows[0]!.held) throw new CatalogueBusy();
      await client.query(
        `set client_min_messages = warning; set maintenance_work_mem = '512MB'; set work_mem = '128MB'`,
      );
      await migrateCatalogue(client);
      if (reader !== undefined) await grantReading(client, reader);
      return new CatalogueWriter(client, columns);
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  /**
   * Starts or resumes the load of a file. A file that was loaded completely is loaded again from its start, because it
   * may have newer rows.
   */
  async begin(fingerprint: string, fileName: string, fileBytes: number): Promise<LoadProgress> {
    const { rows } = await this.#client.query<LoadProgress>(
      `insert into catalogue_loads as l (fingerprint, file_name, file_bytes) values ($1, $2, $3)
       on conflict (fingerprint) do update set file_name = excluded.file_name, ended_at = null,
         began_at = case when l.ended_at is null then l.began_at else now() end,
         lines_done = case when l.ended_at is null then l.lines_done else 0 end,
         people = case when l.ended_at is null then l.people else 0 end,
         companies = case when l.ended_at is null then l.companies else 0 end,
         refused = case when l.ended_at is null then l.refused else 0 end
       returning lines_done::float8 as "linesDone", people::float8 as people,
         companies::float8 as companies, refused::float8 as refused`,
      [fingerprint, fileName, fileBytes],
    );
    return rows[0]!;
  }

  /**
   * Drops the search indexes if the catalogue is empty, which makes a first load several times as fast. `finish`
   * creates them again.
   */
  async dropIndexesWhereEmpty(): Promise<boolean> {
    const { rows } = await this.#client.query<{ filled: boolean }>(
      'select exists (select from catalogue_people) or exists (select from catalogue_companies) as filled',
    );
    if (rows[0]!.filled) return false;
    await this.#client.query(
      `drop index if exists ${[...Object.keys(CATALOGUE_INDEXES), ...REPLACED_INDEXES].join(', ')}`,
    );
    return true;
  }

  /**
   * Stores one chunk and the file's progress in one transaction. If several rows have the same id, the last one is
   * stored.
   */
  async store(
    fingerprint: string,
    progress: LoadProgress,
    rows: { person: Map<string, CopyRow>; company: Map<string, CopyRow> },
  ): Promise<void> {
    await this.#client.query('begin');
    try {
      await this.#copy('company', rows.company);
      await this.#copy('person', rows.person);
      await this.#client.query(
        `update catalogue_loads set lines_done = $2, people = $3, companies = $4, refused = $5 where fingerprint = $1`,
        [fingerprint, progress.linesDone, progress.people, progress.companies, progress.refused],
      );
      await this.#client.query('commit');
    } catch (error) {
      await this.#client.query('rollback').catch(() => {});
      throw error;
    }
  }

  /**
   * Creates the missing indexes one by one, so that an interrupted call can continue, then drops the indexes that they
   * replace. Searches continue in the meantime. Returns the names of the created indexes.
   */
  async index(onStep: (what: string) => void): Promise<string[]> {
    const missing = await this.#missingIndexes();
    for (const name of missing) {
      onStep(`index ${name}`);
      await this.#client.query(`create index if not exists ${name} ${CATALOGUE_INDEXES[name]}`);
    }
    await this.#client.query(`drop index if exists ${REPLACED_INDEXES.join(', ')}`);
    onStep('statistics');
    // If indexes were created, many rows are new. Vacuum marks the rows as visible to all, which saves later visibility
    // checks.
    const how = missing.length > 0 ? 'vacuum (analyze)' : 'analyze';
    await this.#client.query(`${how} catalogue_companies`);
    await this.#client.query(`${how} catalogue_people`);
    return missing;
  }

  /** Creates the missing indexes, counts the contents of the catalogue, and marks the load as ended. */
  async finish(
    fingerprint: string,
    about: { source?: string | undefined; sourcePeriod?: string | undefined },
    onStep: (what: string) => void,
  ): Promise<void> {
    await this.index(onStep);
    onStep('counting');
    await this.#client.query(
      `update catalogue_facts set counted_at = now(), source = coalesce($1, source), source_period = coalesce($2, source_period),
         people = (select count(*) from catalogue_people), companies = (select count(*) from catalogue_companies),
         countries = ${facet('max(country)', 'country_key')}, seniorities = ${facet('seniority', 'seniority')},
         departments = ${facet('department', 'department')}`,
      [about.source ?? null, about.sourcePeriod ?? null],
    );
    await this.#client.query('update catalogue_loads set ended_at = now() where fingerprint = $1', [fingerprint]);
  }

  /** Returns the contents of the catalogue, its missing indexes, and its latest loads. */
  async status(): Promise<CatalogueStatus> {
    const facts = await this.#client.query<Omit<CatalogueStatus, 'missingIndexes' | 'loads'>>(
      `select people::float8 as people, companies::float8 as companies, source, source_period as "sourcePeriod", counted_at as "countedAt"
       from catalogue_facts`,
    );
    const loads = await this.#client.query<CatalogueLoad>(
      `select file_name as "fileName", file_bytes::float8 as "fileBytes", lines_done::float8 as "linesDone",
         people::float8 as people, companies::float8 as companies, refused::float8 as refused, began_at as "beganAt", ended_at as "endedAt"
       from catalogue_loads order by began_at desc limit ${LOADS}`,
    );
    return { ...facts.rows[0]!, missingIndexes: await this.#missingIndexes(), loads: loads.rows };
  }

  close(): Promise<void> {
    return this.#client.end();
  }

  async #missingIndexes(): Promise<string[]> {
    const { rows } = await this.#client.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_index i on i.indexrelid = c.oid
       where c.relnamespace = current_schema()::regnamespace and i.indisvalid`,
    );
    const there = new Set(rows.map(({ name }) => name));
    return Object.keys(CATALOGUE_INDEXES).filter((name) => !there.has(name));
  }

  async #copy(kind: keyof CatalogueColumns, rows: Map<string, CopyRow>): Promise<void> {
    if (rows.size === 0) return;
    const table = kind === 'person' ? 'catalogue_people' : 'catalogue_companies';
    const columns = this.#columns[kind].join(', ');
    await this.#client.query(
      `create temp table if not exists staged_${kind} as select ${columns} from ${table} with no data`,
    );
    await this.#client.query(`truncate staged_${kind}`);
    const stream = this.#client.query(copyFrom(`copy staged_${kind} (${columns}) from stdin`));
    await pipeline(Readable.from(copyText(rows.values())), stream);
    await this.#client.query(
      kind === 'person' ? mergePeople(this.#columns.person) : mergeCompanies(this.#columns.company),
    );
    if (kind === 'company') await this.#client.query(FOLLOW_COMPANIES);
  }
}

/**
 * Returns SQL for the search tags of a person: the person's own tags, and the industries and technologies of the
 * company `c`.
 */
const withCompanyTags = (ownTags: string): string =>
  `${ownTags} || coalesce((select array_agg(t) from unnest(c.tags) t where t like 'i:%' or t like 't:%'), '{}')`;

/**
 * Returns SQL that merges people into the catalogue. Rows are inserted in list order, so that the rows of a page are
 * adjacent on disk after a first load.
 */
function mergePeople(columns: readonly string[]): string {
  return `insert into catalogue_people (${columns.join(', ')}, domain, employees, tags)
    select ${columns.map((name) => `s.${name}`).join(', ')}, coalesce(c.domain, ''), c.employees, ${withCompanyTags('s.own_tags')}
    from staged_person s left join catalogue_companies c on c.id = s.company_id order by s.country_key, s.seniority, s.id
    on conflict (id) do update set ${[...columns, 'domain', 'employees', 'tags'].map((name) => `${name} = excluded.${name}`).join(', ')}`;
}

function mergeCompanies(columns: readonly string[]): string {
  return `insert into catalogue_companies (${columns.join(', ')}) select ${columns.join(', ')} from staged_company
    order by country_key, employees_order, id
    on conflict (id) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`;
}

/** SQL that updates the people who work at new and changed companies. */
const FOLLOW_COMPANIES = `
  update catalogue_people p set domain = s.domain, employees = s.employees, tags = s.tags
  from (select p.id, c.domain, c.employees, ${withCompanyTags('p.own_tags')} as tags
        from staged_company c join catalogue_people p on p.company_id = c.id) s
  where p.id = s.id and (p.domain, p.employees, p.tags) is distinct from (s.domain, s.employees, s.tags)`;

function facet(key: string, group: string): string {
  return `coalesce((select json_agg(json_build_object('key', key, 'count', people) order by people desc, key)::jsonb
    from (select ${key} as key, count(*) as people from catalogue_people group by ${group}) counted), '[]')`;
}

async function grantReading(client: pg.Client, reader: string): Promise<void> {
  const { rows } = await client.query<{ grants: string }>(
    `select format('grant usage on schema %I to %I; grant select on all tables in schema %I to %I', current_schema(), rolname, current_schema(), rolname) as grants
     from pg_roles where rolname = $1 and rolname <> current_user`,
    [reader],
  );
  if (rows[0]) await client.query(rows[0].grants);
}

const BATCH_BYTES = 256 * 1024;

/** Yields rows in the text format of COPY, in chunks. */
function* copyText(rows: Iterable<CopyRow>): Generator<string> {
  let piece = '';
  for (const row of rows) {
    piece += `${row.map(field).join('\t')}\n`;
    if (piece.length > BATCH_BYTES) {
      yield piece;
      piece = '';
    }
  }
  if (piece) yield piece;
}

function field(value: CopyRow[number]): string {
  if (value === null) return '\\N';
  if (typeof value === 'number') return String(value);
  return escaped(typeof value === 'string' ? value : `{${value.map(arrayElement).join(',')}}`);
}

function arrayElement(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}

const SPECIAL: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(text: string): string {
  return text.replace(/[\\\n\r\t]/g, (character) => SPECIAL[character]!);
}
