import type { Db, Trx } from '../../../db/connection.ts';

/**
 * Runs one of the engine's statements, which serve every workspace at once and therefore name none; where the
 * installation keeps plans, it is prepared under `name`. Returns the rows.
 */
export async function engineSql<Row>(db: Db | Trx, name: string, text: string, bindings: Record<string, unknown>): Promise<Row[]> {
  const query = db.raw(text, bindings as never);
  const result = await (db.userParams.prepared ? query.options({ name: `heron_webhooks_${name}` }) : query);
  return (result as { rows: Row[] }).rows;
}
