import type { Message } from '../../messages/index.ts';
import type { LabelRegistry } from '../../db/models/label.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { Problem } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';

/** Returns problems of ids that must refer to rows of the organization. */
export async function idProblems(
  org: OrgScope,
  table: ReferenceTable,
  ids: readonly string[],
  path: string,
  message: Message,
): Promise<Problem[]> {
  return unknownIdProblems(ids, await existingIds(org, table, ids), (index) => `${path}.${index}`, message);
}

export type ReferenceTable =
  | 'automations'
  | 'campaigns'
  | 'labels'
  | 'mailboxes'
  | 'app_connections'
  | 'contacts'
  | 'segments'
  | 'crm_pipelines'
  | 'crm_stages'
  | 'memberships';

/** Returns the ids that refer to rows of the organization. For memberships, returns user ids. */
export async function existingIds(
  org: OrgScope,
  table: ReferenceTable,
  ids: readonly string[],
  where: { registry?: LabelRegistry } = {},
): Promise<Set<string>> {
  const uuids = [...new Set(ids.filter(isUuid))];
  if (uuids.length === 0) return new Set();
  const registry = where.registry === undefined ? '' : ' and registry = :registry';
  const column = table === 'memberships' ? 'user_id' : 'id';
  const rows = await org.sql<{ id: string }>(
    `select ${column} as id from ${table} where organization_id = :org and ${column} = any(:ids::uuid[])${registry}` as `${string}:org${string}`,
    { ids: uuids, ...where },
  );
  return new Set(rows.map((row) => row.id));
}

/** Returns a problem for each unknown id. `path` is the path of the ids in the request. */
export function unknownIdProblems(
  ids: readonly string[],
  known: ReadonlySet<string>,
  path: (index: number) => string,
  message: Message,
): Problem[] {
  return ids.flatMap((id, index) => (known.has(id.toLowerCase()) ? [] : [{ path: path(index), message }]));
}
