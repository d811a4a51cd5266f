import type { Db, Trx } from '../../db/connection.ts';
import { runStatement } from '../../db/statement.ts';

/** Runs one of the engine's statements, which serve every workspace at once and therefore name none. Returns the rows. */
export async function engineSql<Row>(
  db: Db | Trx,
  name: string,
  text: string,
  bindings: Record<string, unknown>,
): Promise<Row[]> {
  return (await runStatement<Row>(db, text, bindings, `heron_webhooks_${name}`)).rows;
}
