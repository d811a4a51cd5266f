import { across } from '../../../db/across.ts';
import type { Handle } from '../../../db/connection.ts';
import type { Bindings } from '../../../db/statement.ts';

/** Runs one of the engine's statements, which serve all workspaces and name none. Returns the rows. */
export async function engineSql<Row>(db: Handle, name: string, text: string, bindings: Bindings): Promise<Row[]> {
  return (await across(db, 'engine').run<Row>(text, bindings, `heron_webhooks_${name}`)).rows;
}
