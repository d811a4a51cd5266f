import { across } from '../../db/across.ts';
import type { Db } from '../../db/connection.ts';
import type { Columns } from '../../db/rows.ts';

/** Returns the id of this installation. The tracking process reports the id at /health. */
export async function readInstallationId(db: Db): Promise<string> {
  const [row] = await across(db, 'maintenance').sql<Columns<'installation', 'id'>>('select id from installation');
  return row!.id;
}
