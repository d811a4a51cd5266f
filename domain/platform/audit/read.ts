import { DAY_MS } from '../../../lib/clock.ts';
import { badCursor, type Page } from '../../../lib/cursor.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Row } from '../../../db/rows.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader } from '../kernel/transact.ts';

/** An audit entry with its actor. `actor` is null when no person acted, or when the person was deleted. */
export type AuditEntryRow = Row<'audit_logs'> & {
  actor: { id: string; first_name: string; last_name: string; email: string } | null;
};

/** Filter of audit entries. `before` is exclusive. */
export interface AuditFilter {
  actorId?: string | undefined;
  entityId?: string | undefined;
  entityType?: string | undefined;
  action?: string | undefined;
  requestId?: string | undefined;
  since?: Date | undefined;
  before?: Date | undefined;
}

/** Returns the start of a UTC day (YYYY-MM-DD), or the given instant. */
export function beginOf(dayOrMoment: string): Date {
  return new Date(isDay(dayOrMoment) ? `${dayOrMoment}T00:00:00Z` : dayOrMoment);
}

/** Returns the exclusive end of a filter: the end of a UTC day, or one millisecond after an instant. */
export function endOf(dayOrMoment: string): Date {
  return new Date(beginOf(dayOrMoment).getTime() + (isDay(dayOrMoment) ? DAY_MS : 1));
}

function isDay(text: string): boolean {
  return text.length === 'YYYY-MM-DD'.length;
}

/**
 * Returns a page of the audit trail, newest first (GET /audit-logs). The cursor is the id of the previous page's last
 * entry.
 * @throws AppError bad_request for a cursor that is not an entry of the organization
 */
export async function listAuditLogs(
  ctx: Ctx,
  filter: AuditFilter,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Page<AuditEntryRow>> {
  const org = reader(ctx);
  if (cursor && !(await org.table('audit_logs').where({ id: cursor }).first('id'))) throw badCursor();
  const rows = await readEntries(org, filter, cursor ?? null, limit + 1);
  const more = rows.length > limit;
  return { rows: rows.slice(0, limit), nextCursor: more ? rows[limit - 1]!.id : null };
}

/** Yields all entries of a filter in pages, newest first. For exports of any length. */
export async function* eachAuditPage(ctx: Ctx, filter: AuditFilter): AsyncGenerator<AuditEntryRow[]> {
  const size = 1_000;
  for (let after: string | null = null; ;) {
    const rows = await readEntries(reader(ctx), filter, after, size);
    if (rows.length > 0) yield rows;
    if (rows.length < size) return;
    after = rows.at(-1)!.id;
  }
}

function readEntries(
  org: OrgScope,
  filter: AuditFilter,
  after: string | null,
  limit: number,
): Promise<AuditEntryRow[]> {
  const conditions = [
    filter.actorId && 'a.user_id = :actorId',
    filter.entityId && 'a.entity_id = :entityId',
    filter.entityType && 'a.entity_type = :entityType',
    filter.action && 'a.action = :action',
    filter.requestId && 'a.request_id = :requestId',
    filter.since && 'a.created_at >= :since',
    filter.before && 'a.created_at < :before',
    // Reads the position from the row, because a JavaScript Date would lose the microseconds.
    after && '(a.created_at, a.id) < (select p.created_at, p.id from audit_logs p where p.id = :after)',
  ].filter(Boolean);
  return org.sql<AuditEntryRow>(
    `select a.*, case when u.id is not null then
         json_build_object('id', u.id, 'first_name', u.first_name, 'last_name', u.last_name, 'email', u.email) end as actor
     from audit_logs a left join users u on u.id = a.user_id
     where a.organization_id = :org ${conditions.map((condition) => `and ${condition}`).join(' ')}
     order by a.created_at desc, a.id desc limit ${limit}`,
    { ...definedOf(filter), ...(after ? { after } : {}) },
  );
}

function definedOf(filter: AuditFilter): Record<string, string | Date> {
  return Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]: [string, string | Date | undefined]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}
