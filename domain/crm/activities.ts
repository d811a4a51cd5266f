import { json } from '../../db/connection.ts';
import type { Columns } from '../../db/rows.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import { notFound } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, type Tx } from '../platform/kernel/transact.ts';

export const ACTIVITY_TYPES = [
  'deal_created',
  'deal_stage_changed',
  'deal_won',
  'deal_lost',
  'task_created',
  'task_completed',
  'meeting_booked',
  'meeting_rescheduled',
  'meeting_canceled',
  'note_added',
  'note_updated',
] as const;
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

/** A logged activity, with the contact, deal or task for which it is shown. */
export interface Activity {
  type: ActivityType;
  contactId: string | null;
  dealId: string | null;
  taskId?: string;
  /** Details of the activity. They contain only ids and kinds. */
  metadata: Record<string, unknown>;
}

export type ActivityRow = Columns<
  'crm_activities',
  'id' | 'organization_id' | 'user_id' | 'metadata' | 'created_at'
> & { contact_id: string; activity_type: ActivityType; first_name: string | null; last_name: string | null };

/** Stores log entries about deals, tasks and meetings. Call it in the transaction that makes the change. */
export async function recordActivities(tx: Tx, activities: readonly Activity[]): Promise<void> {
  if (activities.length === 0) return;
  await tx.org.insert(
    'crm_activities',
    activities.map(({ type, contactId, dealId, taskId, metadata }) => ({
      id: newId(),
      contact_id: contactId,
      deal_id: dealId,
      task_id: taskId ?? null,
      user_id: tx.actor.userId,
      activity_type: type,
      metadata: json(metadata),
      created_at: tx.now,
    })),
  );
}

/** Checks that the organization has a contact. @throws AppError not_found */
export async function assertContact(org: OrgScope, contactId: string): Promise<void> {
  const [contact] = isUuid(contactId)
    ? await org.sql('select 1 from contacts where organization_id = :org and id = :id', { id: contactId })
    : [];
  if (!contact) throw notFound('contact');
}

const LIST = 'crm.activities';

/**
 * Lists the activities of a contact, newest first.
 * @throws AppError not_found, bad_request for the cursor of another list
 */
export async function listActivities(ctx: Ctx, contactId: string, page: PageRequest): Promise<Page<ActivityRow>> {
  const org = reader(ctx);
  await assertContact(org, contactId);
  const after = decodeIdCursor(LIST, contactId, page.cursor);
  const rows = await org.sql<ActivityRow>(
    `select a.id, a.contact_id, a.organization_id, a.user_id, a.activity_type, a.metadata, a.created_at, u.first_name, u.last_name
     from crm_activities a left join users u on u.id = a.user_id
     where a.organization_id = :org and a.contact_id = :contact ${after ? 'and a.id < :after' : ''}
     order by a.id desc limit :limit`,
    { contact: contactId, limit: page.limit + 1, ...(after ? { after } : {}) },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor(LIST, contactId, [last.id]));
}
