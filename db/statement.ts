import type { Db, Trx } from './connection.ts';
import { statementName } from './tenancy.ts';

export interface StatementResult<Row> {
  rows: Row[];
  /** Rows returned or written. */
  rowCount: number;
}

/**
 * Runs SQL with named bindings about rows that are found by something only their holder knows (a secret's hash) and not
 * through an organization; for everything else there is `OrgScope.sql`. Frequent texts keep their plan.
 */
export async function runStatement<Row = Record<string, any>>(db: Db | Trx, text: string, bindings: Record<string, string | number | Date | null>): Promise<StatementResult<Row>> {
  const query = db.raw(text, bindings as never);
  const name = db.userParams.prepared ? statementName(text) : undefined;
  return (await (name ? query.options({ name }) : query)) as unknown as StatementResult<Row>;
}
