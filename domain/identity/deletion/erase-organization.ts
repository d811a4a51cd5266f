import { across } from '../../../db/across.ts';
import type { Db, Trx } from '../../../db/connection.ts';
import type { ErasurePosition } from '../../../db/json-columns.ts';

/** Number of rows erased by one statement. */
const PAGE = 500;
/** Number of blocks that one statement reads in a table without an index on the organization. */
const BLOCKS = 128;
/** Time (ms) after which the erasure stores its position and the workflow calls it again. */
const TURN_MS = 20_000;

/** A table with rows of organizations, its partitions, and the tables that refer to it. */
interface OwnedTable {
  name: string;
  /** True if the table has an index with which the rows of an organization are found. */
  isIndexed: boolean;
  leaves: string[];
  /** Names of the tables with rows of organizations that refer to this table. */
  referrers: string[];
}

/**
 * Lists every table with a column `organization_id` from the database catalog, so that new tables are included
 * automatically. Excludes columns that are set to null when the organization is deleted, such as the one of sessions:
 * those rows are kept.
 */
const OWNED = `
  with owned as (
    select c.oid, a.attnum from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and k.confdeltype = 'n'
        and k.confrelid = 'organizations'::regclass and a.attnum = any(k.conkey))
  )
  select o.oid::regclass::text as name,
    exists (select from pg_index i where i.indrelid = o.oid and i.indkey[0] = o.attnum and i.indpred is null) as "isIndexed",
    (select array_agg(t.relid::regclass::text order by t.relid) from pg_partition_tree(o.oid) t where t.isleaf) as partitions,
    array(select distinct k.conrelid::regclass::text from pg_constraint k
      where k.contype = 'f' and k.conparentid = 0 and k.confrelid = o.oid and k.conrelid <> o.oid and k.conrelid in (select oid from owned)
      order by 1) as referrers
  from owned o order by 1`;

/**
 * Erases rows of an organization in pages, referring tables first. Stops after {@link TURN_MS}. Each page is its own
 * transaction, so an interrupted erasure continues where it stopped.
 * @param from position at which an earlier call stopped; null to begin
 * @returns the position of the next call; null when the pass is complete
 */
export async function erasePages(
  db: Db,
  organizationId: string,
  from: ErasurePosition | null,
  signal: AbortSignal,
): Promise<ErasurePosition | null> {
  const began = performance.now();
  const leaves = (await ownedTables(db)).flatMap(({ leaves: names, isIndexed }) =>
    names.map((leaf) => ({ leaf, isIndexed })),
  );
  // Begins again with the first table if the partition of the position was dropped in the meantime.
  const first = Math.max(0, from ? leaves.findIndex(({ leaf }) => leaf === from.leaf) : 0);
  for (const { leaf, isIndexed } of leaves.slice(first)) {
    const end = isIndexed ? 1 : await blocksOf(db, leaf);
    for (let block = from?.leaf === leaf ? from.block : 0; block < end;) {
      if (signal.aborted || performance.now() - began > TURN_MS) return { leaf, block };
      if (!isIndexed) {
        await eraseBlocks(db, leaf, organizationId, block);
        block += BLOCKS;
      } else if ((await erasePage(db, leaf, organizationId)) < PAGE) block = end;
    }
  }
  return null;
}

/**
 * Erases the row of an organization. Before that, erases rows that triggers or unfinished requests have written after
 * {@link erasePages}. The lock on the row prevents further ones. Also erases the organization's rows in the outbox.
 */
export async function eraseOrganizationRow(trx: Trx, organizationId: string): Promise<void> {
  const all = across(trx, 'maintenance');
  await all.sql('select id from organizations where id = :organizationId for update', { organizationId });
  for (const { name } of await ownedTables(trx))
    await all.run(`delete from ${name} where organization_id = :organizationId`, { organizationId });
  await all.table('outbox').where({ tenant: organizationId }).delete();
  await all.table('organizations').where({ id: organizationId }).delete();
}

async function erasePage(db: Db, leaf: string, organizationId: string): Promise<number> {
  const { rowCount } = await across(db, 'maintenance').run(
    `delete from ${leaf} where ctid = any(array(select ctid from ${leaf} where organization_id = :organizationId limit ${PAGE}))`,
    { organizationId },
  );
  return rowCount;
}

/**
 * Erases the organization's rows in a range of blocks. In this way a table without an index on the organization is read
 * only once.
 */
async function eraseBlocks(db: Db, leaf: string, organizationId: string, block: number): Promise<void> {
  await across(db, 'maintenance').run(
    `delete from ${leaf} where organization_id = :organizationId
       and ctid >= cast(:from as text)::tid and ctid < cast(:to as text)::tid`,
    { organizationId, from: `(${block},0)`, to: `(${block + BLOCKS},0)` },
  );
}

async function blocksOf(db: Db, leaf: string): Promise<number> {
  const [row] = await across(db, 'maintenance').sql<{ blocks: number }>(
    `select (pg_relation_size(cast(:leaf as text)::regclass) / current_setting('block_size')::bigint)::int as blocks`,
    { leaf },
  );
  return row!.blocks;
}

/** Returns the tables in the order of their erasure: a table comes after the tables that refer to it. */
async function ownedTables(handle: Db | Trx): Promise<OwnedTable[]> {
  const rows = await across(handle, 'maintenance').sql<Omit<OwnedTable, 'leaves'> & { partitions: string[] | null }>(
    OWNED,
  );
  const left = new Map(
    rows.map(({ partitions, ...table }) => [table.name, { ...table, leaves: partitions ?? [table.name] }]),
  );
  const ordered: OwnedTable[] = [];
  while (left.size > 0) {
    const tables = [...left.values()];
    // Tables that refer to each other have references that are deleted or set to null, so any of them can come first.
    const next = tables.find(({ referrers }) => !referrers.some((name) => left.has(name))) ?? tables[0]!;
    left.delete(next.name);
    ordered.push(next);
  }
  return ordered;
}
