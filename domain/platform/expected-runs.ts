import { across } from '../../db/across.ts';
import type { Db } from '../../db/connection.ts';
import type { OrgTable } from '../../db/rows.ts';
import type { Bindings } from '../../db/statement.ts';
import { ZERO_UUID } from '../../lib/ids.ts';
import { signal, start, type Attributes, type Intent } from '../../temporal/dispatch.ts';
import type { SignalPayload, WorkflowContract } from '../../workflows/contract.ts';
import type { ExpectedRuns } from './kernel/tx.ts';

/**
 * Table with rows that need a workflow of a family. Each row that meets the SQL condition `open` must have an open
 * workflow.
 */
export interface RunRows {
  table: OrgTable;
  /**
   * Column of the id. Default: `id`. If the workflow id has several parts, each part is the value of the column with
   * the same name.
   */
  key?: string;
  open: string;
  /**
   * SQL select of few further workflows that must be open: the organization's id, and the parts of the workflow id. Must
   * not repeat rows that meet `open`. A separate select can use its own index.
   */
  further?: string;
  /** Columns with the values of search attributes that are not workflow arguments. */
  attributes?: Readonly<Partial<Record<keyof Attributes, string>>>;
}

/** Custom query for the workflows of a family that must be open. */
export interface RunQuery {
  /**
   * SQL query that selects the workflows' arguments. It must end with a WHERE clause, because `and`, a condition on the
   * key and `order by` are appended.
   */
  rows: string;
  /** Columns whose values are the parts of the workflow id, in order. */
  keys: readonly string[];
  /** See {@link RunRows}. */
  further?: string | undefined;
  /** Query of one page. Defaults to `rows` with a limit. `:after` and `:limit` are bound. */
  pageSql?: string;
  /** Signal with which the workflow is started. Defaults to a start without a signal. */
  signal?: { name: string; payload: SignalPayload };
}

interface Found {
  attributes?: Attributes;
}

/** Returns the queries for the workflows of a contract that must be open, in the order of their workflow ids. */
export function expectedRuns<Args>(contract: WorkflowContract<Args, any>, rows: RunRows | RunQuery): ExpectedRuns {
  const query = 'table' in rows ? queryOf(contract, rows) : rows;
  const keys = query.keys.join(', ');
  const open = (args: Args, attributes: Attributes | undefined): Intent =>
    query.signal
      ? signal(contract, args, query.signal.name, query.signal.payload)
      : start(contract, args, { attributes });
  const after = partsOf(':after', query.keys);
  const given = `select ${partsOf('p', query.keys)} from unnest(cast(:positions as text[])) p`;
  const pageOfRows = `${query.rows} and (${keys}) > (${after}) order by ${keys} limit :limit`;
  const rowsOnly = `${query.rows} and (${keys}) in (${given})`;
  const withFurther = (found: string, condition: string) => {
    const parts = contract.parts.map((part) => `expected."${part}"`).join(', ');
    return `select expected.* from ((${found}) union all ${query.further}) expected
      where (${parts}) ${condition} order by ${parts}`;
  };
  const pageSql =
    query.pageSql ?? (query.further ? `${withFurther(pageOfRows, `> (${after})`)} limit :limit` : pageOfRows);
  const onlySql = query.further ? withFurther(rowsOnly, `in (${given})`) : `${rowsOnly} order by ${keys}`;
  const read = async (db: Db, sql: string, bindings: Bindings) => {
    const expected = await across(db, 'maintenance').sql<Args & Found>(sql, bindings);
    return expected.map((row) => {
      const args = contract.args(row);
      return {
        position: contract.parts.map((part) => String(args[part])).join('/'),
        intent: open(args, row.attributes),
      };
    });
  };
  return {
    pageSql,
    page: (db, after, limit) => read(db, pageSql, { after, limit }),
    only: (db, positions) => read(db, onlySql, { positions: [...positions] }),
  };
}

/**
 * Returns SQL that splits a position into the parts of a workflow id. A missing part becomes the lowest possible id.
 */
function partsOf(position: string, keys: readonly string[]): string {
  return keys
    .map(
      (_key, index) =>
        `cast(coalesce(nullif(split_part(cast(${position} as text), '/', ${index + 1}), ''), '${ZERO_UUID}') as uuid)`,
    )
    .join(', ');
}

function queryOf<Args>(
  { parts }: WorkflowContract<Args, any>,
  { table, key = 'id', open, further, attributes = {} }: RunRows,
): RunQuery {
  const keys = parts.map((part) => `${table}.${parts.length === 1 ? key : inSnakeCase(part)}`);
  const columns = parts.map((part, index) => `${keys[index]} as "${part}"`);
  const shown = Object.entries(attributes).map(([name, column]) => `'${name}', ${table}.${column}`);
  if (shown.length > 0) columns.push(`json_build_object(${shown.join(', ')}) as attributes`);
  return {
    rows: `select ${table}.organization_id as "organizationId", ${columns.join(', ')}
     from ${table}
     where (${open})`,
    keys,
    further,
  };
}

function inSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
