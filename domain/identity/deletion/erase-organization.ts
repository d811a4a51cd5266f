import { across } from '../../../db/across.ts';
import type { Db, Trx } from '../../../db/connection.ts';

/** Rows erased by one statement. */
const PAGE = 500;
/** Time (ms) after which a worker reports its progress and is asked again. */
const TURN_MS = 20_000;

/** Table with rows of organizations, its partitions, and the tables that refer to it. */
interface OwnedTable {
  name: string;
  leaves: string[];
  /** Tables of organizations whose rows refer to rows of this one. */
  referrers: string[];
}

/**
 * Lists every table with a column `organization_id`, from the catalog, so that no table can be forgotten. A reference
 * that is set to null when the organization goes does not make the row the organization's: a session stays.
 */
const OWNED = `
  with owned as (
    select c.oid from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and k.confdeltype = 'n'
        and k.confrelid = 'organizations'::regclass and a.attnum = any(k.conkey))
  )
  select o.oid::regclass::text as name,
    (select array_agg(t.relid::regclass::text) from pg_partition_tree(o.oid) t where t.isleaf) as partitions,
    array(select distinct k.conrelid::regclass::text from pg_constraint k
      where k.contype = 'f' and k.conparentid = 0 and k.confrelid = o.oid and k.conrelid <> o.oid and k.conrelid in (select oid from owned)
      order by 1) as referrers
  from owned o order by 1`;

/**
 * Erases rows of an organization in pages, referring tables first, for some seconds. Each page is its own transaction,
 * so an interrupted erasure continues where it stopped.
 * @returns true when a whole pass found no row; the organization's own row is left
 */
export async function erasePages(db: Db, organizationId: string, signal: AbortSignal): Promise<boolean> {
  const began = performance.now();
  let erased = 0;
  for (const { leaves } of await ownedTables(db))
    for (const leaf of leaves)
      for (let full = true; full;) {
        if (signal.aborted || performance.now() - began > TURN_MS) return false;
        const count = await erasePage(db, leaf, organizationId);
        erased += count;
        full = count === PAGE;
      }
  return erased === 0;
}

/**
 * Erases the row of an organization, with rows that work under way has written since the last page. The lock keeps
 * further rows from being written; intents for its runs go too.
 */
export async function eraseOrganizationRow(trx: Trx, organizationId: string): Promise<void> {
  await across(trx, 'maintenance').sql('select id from organizations where id = :organizationId for update', {
    organizationId,
  });
  for (const { leaves } of await ownedTables(trx))
    for (const leaf of leaves) while ((await erasePage(trx, leaf, organizationId)) === PAGE);
  await across(trx, 'maintenance').table('outbox').where({ tenant: organizationId }).delete();
  await across(trx, 'maintenance').table('organizations').where({ id: organizationId }).delete();
}

async function erasePage(handle: Db | Trx, leaf: string, organizationId: string): Promise<number> {
  const { rowCount } = await across(handle, 'maintenance').run(
    `delete from ${leaf} where ctid = any(array(select ctid from ${leaf} where organization_id = :organizationId limit ${PAGE}))`,
    { organizationId },
  );
  return rowCount;
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
    // Tables that refer to each other have references that are deleted or set to null, so any of them can be first.
    const next = tables.find(({ referrers }) => !referrers.some((name) => left.has(name))) ?? tables[0]!;
    left.delete(next.name);
    ordered.push(next);
  }
  return ordered;
}
