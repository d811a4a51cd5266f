import type { Columns, Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { lockPeople, mergePeople } from './merge.ts';

/** Name and address of a contact. */
type Named = Columns<'contacts', 'email' | 'first_name' | 'last_name'>;

/** A conflict, with the contacts of its people. */
export interface ConflictView extends Row<'identity_conflicts'> {
  contact_id: string | null;
  other_contact_id: string | null;
  contact: Named | null;
  other_contact: Named | null;
}

type ConflictFilter = 'open' | 'dismissed' | 'all';

const TRIES = 5;
const named = (alias: string) =>
  `(select jsonb_build_object('email', n.email, 'first_name', n.first_name, 'last_name', n.last_name) from contacts n where n.id = ${alias}.contact_id)`;
const VIEW = `select c.*, p.contact_id, o.contact_id as other_contact_id, ${named('p')} as contact, ${named('o')} as other_contact
  from identity_conflicts c join people p on p.id = c.person_id left join people o on o.id = c.other_person_id`;

/**
 * Lists identity conflicts, newest first.
 * @throws AppError bad_request for a cursor of another list or filter
 */
export async function listConflicts(ctx: Ctx, status: ConflictFilter, page: PageRequest): Promise<Page<ConflictView>> {
  const after = decodeIdCursor('identity_conflicts.list', status, page.cursor);
  const rows = await reader(ctx).sql<ConflictView>(
    `${VIEW} where c.organization_id = :org ${status === 'all' ? '' : 'and c.state = :status'} ${after ? 'and c.id < :after' : ''}
     order by c.id desc limit :limit`,
    { ...(status === 'all' ? {} : { status }), ...(after ? { after } : {}), limit: page.limit + 1 },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor('identity_conflicts.list', status, [last.id]));
}

/**
 * Resolves an open conflict. `merge` merges the other person into the person that claimed the identifier. It also ends
 * other conflicts between the two, and transfers conflicts with third people. `dismiss` keeps both people separate, and
 * the conflict is not recorded again.
 * @returns the updated conflict
 * @throws AppError not_found, conflict (it was resolved before), identity_merge_contacts (both people have a contact)
 */
export async function resolveConflict(ctx: Ctx, id: string, action: 'merge' | 'dismiss'): Promise<ConflictView> {
  if (!isUuid(id)) throw notFound('identity_conflict');
  return transact(ctx, async (tx) => {
    const conflict = await lockOpenConflict(tx, id);
    const { person_id: personId, other_person_id: otherId, kind } = conflict;
    if (action === 'merge') await mergePeople(tx, personId, otherId!);
    else
      await tx.org
        .table('identity_conflicts')
        .where({ id })
        .update({ state: 'dismissed', resolved_at: tx.now, resolved_by: tx.actor.userId });
    tx.audit({
      action,
      entityType: 'identity_conflict',
      entityId: id,
      metadata: { person_id: personId, other_person_id: otherId, kind },
    });
    return (await findConflict(tx.org, id))!;
  });
}

/**
 * Opens a dismissed conflict again.
 * @throws AppError not_found, conflict (it is open or merged)
 */
export async function reopenConflict(ctx: Ctx, id: string): Promise<ConflictView> {
  if (!isUuid(id)) throw notFound('identity_conflict');
  return transact(ctx, async (tx) => {
    const changed = await tx.org
      .table('identity_conflicts')
      .where({ id, state: 'dismissed' })
      .update({ state: 'open', resolved_at: null, resolved_by: null });
    const conflict = await findConflict(tx.org, id);
    if (!conflict) throw notFound('identity_conflict');
    if (changed === 0) throw new AppError('conflict', message('audience.conflict_not_dismissed'));
    tx.audit({
      action: 'update',
      entityType: 'identity_conflict',
      entityId: id,
      changes: { state: { from: 'dismissed', to: 'open' } },
    });
    return conflict;
  });
}

/**
 * Locks the people of a conflict before the conflict, in the lock order of every writer. A concurrent merge may have
 * changed the people.
 */
async function lockOpenConflict(tx: Tx, id: string): Promise<ConflictView> {
  let conflict = await findConflict(tx.org, id);
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (!conflict) throw notFound('identity_conflict');
    if (conflict.state !== 'open') {
      throw new AppError('conflict', message('audience.conflict_resolved'), {
        fix: message('audience.conflict_resolved.fix'),
      });
    }
    const { person_id: personId, other_person_id: otherId } = conflict;
    await lockPeople(tx, [personId, otherId!]);
    conflict = await findConflict(tx.org, id);
    if (conflict?.state === 'open' && conflict.person_id === personId && conflict.other_person_id === otherId)
      return conflict;
  }
  throw new AppError('conflict', message('audience.conflict_busy'), {
    fix: message('audience.conflict_busy.fix'),
  });
}

async function findConflict(org: OrgScope, id: string): Promise<ConflictView | undefined> {
  const [conflict] = await org.sql<ConflictView>(`${VIEW} where c.organization_id = :org and c.id = :id`, { id });
  return conflict;
}
