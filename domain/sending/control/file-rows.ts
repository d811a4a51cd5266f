import type { OrgScope } from '../../../db/tenancy.ts';
import { unpackContent } from './sent-content.ts';

/** Rows of one table for a file that people get. */
interface FileRows {
  part: string;
  table: string;
  /** SQL: condition on the table's rows `t`. */
  where: string;
  /** SQL: further columns. */
  more?: string | undefined;
  omit?: readonly string[] | undefined;
}

/** A row as the database returns it. */
export interface FileRow {
  part: string;
  row: Record<string, unknown>;
  /** Packed content of a sent email, and the text of its shared copy. */
  packed: Buffer | null;
  copy: string | null;
}

/** Returns SQL for the rows as objects, without the organization and the omitted columns. Sent emails have their content. */
export function fileRowsSql({ part, table, where, more, omit = [] }: FileRows): Parameters<OrgScope['sql']>[0] {
  const isSent = table === 'sends';
  const removed = ['organization_id', ...omit].map((column) => ` - '${column}'`).join('');
  const content = isSent ? 'e.packed, c.content' : 'null::bytea as packed, null::text';
  const joined = `left join sent_contents e on e.organization_id = :org and e.send_id = r.id
    left join sent_copies c on c.organization_id = :org and c.name = e.copy_name`;
  return `select '${part}' as part, to_jsonb(r)${removed} as row, ${content} as copy
    from (select t.*${more ? `, ${more}` : ''} from ${table} t where t.organization_id = :org and ${where}) r ${isSent ? joined : ''}`;
}

/** Returns a row as it is written into the file; a sent email with its text in `content`. */
export function toFileObject({ row, packed, copy }: FileRow): Record<string, unknown> {
  return packed ? { ...row, content: unpackContent(packed, copy) } : row;
}
