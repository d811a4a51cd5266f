import { across } from '../../db/across.ts';
import type { Db } from '../../db/connection.ts';
import type { OrgTable } from '../../db/rows.ts';
import type { Bindings } from '../../db/statement.ts';
import { signal, start, type Attributes, type Intent } from '../../temporal/dispatch.ts';
import type { SignalPayload, WorkflowContract } from '../../workflows/contract.ts';
import type { ExpectedRuns } from './kernel/tx.ts';

/** Table of a family's runs. Each row that meets the SQL condition `open` must have an open run. */
export interface RunRows {
  table: OrgTable;
  /**
   * Column of the id. Default: `id`. A workflow id with several parts takes each part from the column of the same name.
   */
  key?: string;
  open: string;
  /** Columns of search attributes that do not follow from the arguments. */
  attributes?: Readonly<Partial<Record<keyof Attributes, string>>>;
}

/** A custom query for the runs that must be open. */
export interface RunQuery {
  /**
   * Selects a row's id as `position`, and the arguments of the contract. Must end so that `and` with a condition on the
   * id, and then `order by`, can follow.
   */
  rows: string;
  /** Column of the position. */
  key: string;
  /** Query of one page, if it is not `rows` with a limit. `:after` and `:limit` are bound. */
  pageSql?: string;
  /** Signal that opens the run, instead of a plain start. */
  signal?: { name: string; payload: SignalPayload };
}

interface Found {
  position: string;
  attributes?: Attributes;
}

/** Returns the queries for the runs of a contract that must be open. */
export function expectedRuns<Args>(contract: WorkflowContract<Args, any>, rows: RunRows | RunQuery): ExpectedRuns {
  const query = 'table' in rows ? queryOf(contract, rows) : rows;
  const key = query.key;
  const open = (args: Args, attributes: Attributes | undefined): Intent =>
    query.signal
      ? signal(contract, args, query.signal.name, query.signal.payload)
      : start(contract, args, { attributes });
  const pageSql = query.pageSql ?? `${query.rows} and ${key} > cast(:after as uuid) order by ${key} limit :limit`;
  const read = async (db: Db, sql: string, bindings: Bindings) => {
    const expected = await across(db, 'maintenance').sql<Args & Found>(sql, bindings);
    return expected.map((row) => ({ position: row.position, intent: open(contract.args(row), row.attributes) }));
  };
  return {
    pageSql,
    page: (db, after, limit) => read(db, pageSql, { after, limit }),
    only: (db, positions) =>
      read(db, `${query.rows} and ${key} = any(cast(:positions as uuid[])) order by ${key}`, {
        positions: [...positions],
      }),
  };
}

function queryOf<Args>(
  { parts }: WorkflowContract<Args, any>,
  { table, key = 'id', open, attributes = {} }: RunRows,
): RunQuery {
  const columns = parts.map((part) => `${table}.${parts.length === 1 ? key : inSnakeCase(part)} as "${part}"`);
  const shown = Object.entries(attributes).map(([name, column]) => `'${name}', ${table}.${column}`);
  if (shown.length > 0) columns.push(`json_build_object(${shown.join(', ')}) as attributes`);
  return {
    rows: `select ${table}.${key} as position, ${table}.organization_id as "organizationId", ${columns.join(', ')}
     from ${table}
     where (${open})`,
    key: `${table}.${key}`,
  };
}

function inSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
