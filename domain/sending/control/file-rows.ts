import type { OrgScope } from '../../../db/tenancy.ts';
import { unpackContent } from './sent-content.ts';

/** Selection of a table's rows for an export file. */
interface FileRows {
  part: string;
  table: string;
  /** SQL condition on the rows of the table, whose alias is `t`. */
  where: string;
  /** Further columns to select, as SQL. */
  more?: string | undefined;
  omit?: readonly string[] | undefined;
}

/** A row as the database returns it. */
export interface FileRow {
  part: string;
  row: Record<string, unknown>;
  /** Compressed content of a sent email, and the shared text used as its dictionary. Null for other rows. */
  packed: Buffer | null;
  copy: string | null;
}

/**
 * Returns SQL that selects the rows as JSON objects, without the organization and the omitted columns. Rows of sent
 * emails include their content.
 */
export function fileRowsSql({ part, table, where, more, omit = [] }: FileRows): Parameters<OrgScope['sql']>[0] {
  const isSent = table === 'sends';
  const removed = ['organization_id', ...omit].map((column) => ` - '${column}'`).join('');
  const content = isSent ? 'e.packed, c.content' : 'null::bytea as packed, null::text';
  const joined = `left join sent_contents e on e.organization_id = :org and e.send_id = r.id
    left join sent_copies c on c.organization_id = :org and c.name = e.copy_name`;
  return `select '${part}' as part, to_jsonb(r)${removed} as row, ${content} as copy
    from (select t.*${more ? `, ${more}` : ''} from ${table} t where t.organization_id = :org and ${where}) r ${isSent ? joined : ''}`;
}

/** Returns a row as an object for the file. A sent email has its text in `content`. */
export function toFileObject({ row, packed, copy }: FileRow): Record<string, unknown> {
  return packed ? { ...row, content: unpackContent(packed, copy) } : row;
}
