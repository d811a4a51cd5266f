import { across } from '../../../db/across.ts';
import type { Handle } from '../../../db/connection.ts';
import type { Bindings } from '../../../db/statement.ts';

/** Runs a statement of the delivery engine over all workspaces, and returns its rows. */
export async function engineSql<Row>(db: Handle, name: string, text: string, bindings: Bindings): Promise<Row[]> {
  return (await across(db, 'engine').run<Row>(text, bindings, `heron_webhooks_${name}`)).rows;
}
