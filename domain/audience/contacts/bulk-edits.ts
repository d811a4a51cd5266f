import type { Columns, Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { AppError, notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { announceUpdates } from '../../directory/announce-contact.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { lockCampaign } from '../../sending/control/status.ts';
import { leaveCampaigns, unknownProblems } from '../../sending/leads/membership.ts';
import { addLeads, type HeldLeads } from '../leads/add.ts';
import { liftSuppressions, suppressContacts } from '../suppressions/of-contacts.ts';
import { announceVerification } from '../verification/complete.ts';
import { markAddresses, restoreVerdicts, type Mark } from '../verification/mark.ts';
import { scheduleVerification } from '../verification/schedule.ts';
import { assertVerificationOn } from './bulk.ts';
import { resolveSelection, type Selection } from './selection.ts';
import { addToCategories, removeFromCategories } from './upsert.ts';

/** Time (ms) for which a bulk edit can be undone. */
export const UNDO_MS = DAY_MS;

/** Action that a bulk edit applies to a selection of contacts. */
type BulkAction =
  | { type: 'add_to_campaign' | 'remove_from_campaign'; campaign_id: string }
  | { type: 'add_category' | 'remove_category'; category_id: string }
  | { type: 'suppress'; reason?: string | undefined }
  /** If `again` is true, addresses that already have a verdict are verified too. */
  | { type: 'verify'; again?: boolean | undefined }
  | { type: Mark };

/** A bulk edit. `pending` is the number of its contacts whose addresses are not verified yet. */
export type BulkEditView = Row<'bulk_edits'> & { pending: number };

/** A contact changed by the action, with the suppression entry that was added or the verdict that was replaced. */
interface Changed {
  contact_id: string;
  suppression_id?: string;
  former_verdict?: Record<string, unknown>;
}

/**
 * Applies one action to a selection of contacts, and stores which of them were changed, so that the edit can be undone.
 * Contacts that already have the wanted state are not counted as changed. contact.updated is emitted once. Addresses to
 * verify are checked one after the other in the background. {@link getBulkEdit} returns the progress, and
 * bulk_operation.completed is emitted at the end.
 * @throws AppError too_many_contacts, selection_too_large, bad_request (nothing selected, verification is off)
 * @throws AppError bad_request for an unknown category or campaign; forbidden as {@link addLeads}
 */
export async function applyBulkEdit(
  ctx: Ctx,
  selection: Selection,
  action: BulkAction,
  { onHeld, ifNone }: HeldLeads & { ifNone?: 'no_contacts' | undefined } = {},
): Promise<BulkEditView> {
  if (action.type === 'verify') assertVerificationOn(ctx);
  return transact(ctx, async (tx) => {
    refuseProblems(await actionProblems(tx.org, action));
    const ids = await resolveSelection(tx.org, selection, tx.now, ifNone);
    const changed = await apply(ctx, tx, ids, action, { onHeld });
    const edit = await store(tx, action, ids.length, changed);
    announceUpdates(tx, changed.length);
    tx.audit({
      action: 'update',
      entityType: 'contact',
      metadata: {
        bulk: true,
        count: changed.length,
        bulk_edit_id: edit.id,
        edit: action.type,
        target_id: edit.target_id,
      },
    });
    return edit;
  });
}

/**
 * Returns a bulk edit with its progress.
 * @throws AppError not_found, also for a completed edit older than a day
 */
export async function getBulkEdit(ctx: Ctx, id: string): Promise<BulkEditView> {
  const [edit] = isUuid(id)
    ? await reader(ctx).sql<BulkEditView>(
        `select e.*, case when e.completed_at is null then
           (select count(*)::int from bulk_edit_contacts b join contact_verifications v on v.contact_id = b.contact_id where b.edit_id = e.id)
         else 0 end as pending from bulk_edits e where e.organization_id = :org and e.id = :id`,
        { id },
      )
    : [];
  if (!edit) throw notFound('bulk_edit');
  return edit;
}

/** Returns a problem if the organization does not have the category or campaign that an action names. */
export async function actionProblems(org: OrgScope, action: BulkAction): Promise<Problem[]> {
  const [unknown] =
    'campaign_id' in action
      ? await unknownProblems(org, { campaigns: [{ path: '', ids: [action.campaign_id] }] })
      : 'category_id' in action
        ? await unknownProblems(org, { categories: [{ path: '', ids: [action.category_id] }] })
        : [];
  const field = 'campaign_id' in action ? 'campaign_id' : 'category_id';
  return unknown ? [{ ...unknown, path: `body.action.${field}` }] : [];
}

async function apply(
  ctx: Ctx,
  tx: Tx,
  ids: readonly string[],
  action: BulkAction,
  { onHeld }: HeldLeads,
): Promise<Changed[]> {
  switch (action.type) {
    case 'add_to_campaign': {
      await lockCampaign(tx, action.campaign_id);
      const before = await leadsAmong(tx, action.campaign_id, ids);
      const { held } = await addLeads(tx, ctx.config, action.campaign_id, ids);
      if (held) onHeld?.(held);
      return without(ids, before);
    }
    case 'remove_from_campaign': {
      const leads = await leadsAmong(tx, action.campaign_id, ids);
      await leaveCampaigns(tx, leads, [action.campaign_id], message('ended.removed'));
      return toChanged(leads);
    }
    case 'add_category': {
      const before = await membersAmong(tx, action.category_id, ids);
      await addToCategories(tx.org, ids, [action.category_id]);
      return without(ids, before);
    }
    case 'remove_category': {
      const members = await membersAmong(tx, action.category_id, ids);
      await removeFromCategories(tx.org, members, [action.category_id]);
      return toChanged(members);
    }
    case 'suppress':
      return suppressContacts(tx, ids, action.reason ?? '');
    case 'verify':
      return toChanged(await scheduleVerification(tx, ids, action));
    case 'mark_deliverable':
    case 'mark_undeliverable':
      return markAddresses(tx, ids, action.type);
  }
}

/**
 * Undoes a bulk edit within a day. Restores the previous state of each change, unless it was changed again since.
 * Emails sent in the meantime cannot be undone.
 * @throws AppError not_found; conflict when it was undone before or is older than a day
 */
export async function undoBulkEdit(ctx: Ctx, id: string, { onHeld }: HeldLeads = {}): Promise<BulkEditView> {
  return transact(ctx, async (tx) => {
    const edit = await lockEdit(tx, id);
    const rows = await tx.org.sql<Columns<'bulk_edit_contacts', 'contact_id' | 'suppression_id'>>(
      'select contact_id, suppression_id from bulk_edit_contacts where organization_id = :org and edit_id = :id order by contact_id',
      { id },
    );
    const ids = rows.map(({ contact_id: contactId }) => contactId);
    if (ids.length > 0)
      await revert(
        ctx,
        tx,
        edit,
        ids,
        rows.flatMap(({ suppression_id: entry }) => entry ?? []),
        { onHeld },
      );
    const ended = { undone_at: tx.now, completed_at: edit.completed_at ?? tx.now };
    await tx.org.table('bulk_edits').where({ id }).update(ended);
    if (!edit.completed_at) announceVerification(tx, edit, 'cancelled');
    announceUpdates(tx, ids.length);
    tx.audit({
      action: 'update',
      entityType: 'contact',
      metadata: {
        bulk: true,
        count: ids.length,
        undone_bulk_edit_id: id,
        edit: edit.action,
        target_id: edit.target_id,
      },
    });
    return { ...edit, ...ended, pending: 0 };
  });
}

async function lockEdit(tx: Tx, id: string): Promise<Row<'bulk_edits'>> {
  const [edit] = isUuid(id)
    ? await tx.org.sql<Row<'bulk_edits'>>(
        'select * from bulk_edits where organization_id = :org and id = :id for update',
        {
          id,
        },
      )
    : [];
  if (!edit) throw notFound('bulk_edit');
  if (edit.undone_at) throw new AppError('conflict', message('audience.bulk_edit_undone'));
  if (edit.created_at.getTime() + UNDO_MS <= tx.now.getTime())
    throw new AppError('conflict', message('audience.bulk_edit_too_old'));
  return edit;
}

async function revert(
  ctx: Ctx,
  tx: Tx,
  { id, action, target_id: target, created_at: at }: Row<'bulk_edits'>,
  ids: readonly string[],
  suppressions: readonly string[],
  { onHeld }: HeldLeads,
): Promise<void> {
  switch (action) {
    case 'add_to_campaign':
      return leaveCampaigns(tx, ids, [target!], message('ended.removed'));
    case 'remove_from_campaign': {
      const { held } = await addLeads(tx, ctx.config, target!, ids);
      if (held) onHeld?.(held);
      return;
    }
    case 'add_category':
      return removeFromCategories(tx.org, ids, [target!]);
    case 'remove_category':
      if ((await actionProblems(tx.org, { type: action, category_id: target! })).length > 0) throw notFound('category');
      return addToCategories(tx.org, ids, [target!]);
    case 'suppress':
      return liftSuppressions(tx, suppressions);
    case 'verify':
      await tx.org.sql(
        'delete from contact_verifications where organization_id = :org and contact_id = any(cast(:ids as uuid[]))',
        { ids },
      );
      return;
    case 'mark_deliverable':
    case 'mark_undeliverable':
      return restoreVerdicts(tx, { id, at, mark: action });
  }
}

async function store(tx: Tx, action: BulkAction, selected: number, changed: readonly Changed[]): Promise<BulkEditView> {
  const pending = action.type === 'verify' ? changed.length : 0;
  const edit: Row<'bulk_edits'> = {
    id: newId(),
    organization_id: tx.org.organizationId,
    user_id: tx.actor.userId,
    action: action.type,
    target_id: 'campaign_id' in action ? action.campaign_id : 'category_id' in action ? action.category_id : null,
    selected,
    changed: changed.length,
    completed_at: pending > 0 ? null : tx.now,
    undone_at: null,
    created_at: tx.now,
  };
  await tx.org.insert('bulk_edits', edit);
  await tx.org.sql(
    `insert into bulk_edit_contacts (edit_id, contact_id, organization_id, suppression_id, former_verdict)
     select :edit, c.id, :org, c.suppression, cast(c.verdict as jsonb)
     from unnest(cast(:ids as uuid[]), cast(:suppressions as uuid[]), cast(:verdicts as text[])) as c(id, suppression, verdict)`,
    {
      edit: edit.id,
      ids: changed.map(({ contact_id: contactId }) => contactId),
      suppressions: changed.map(({ suppression_id: entry }) => entry ?? null),
      verdicts: changed.map(({ former_verdict: verdict }) => (verdict ? JSON.stringify(verdict) : null)),
    },
  );
  return { ...edit, pending };
}

async function leadsAmong(tx: Tx, campaignId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.org.sql<Columns<'enrollments', 'contact_id'>>(
    'select contact_id from enrollments where organization_id = :org and campaign_id = :campaign and contact_id = any(cast(:ids as uuid[]))',
    { campaign: campaignId, ids },
  );
  return rows.map(({ contact_id: id }) => id);
}

async function membersAmong(tx: Tx, categoryId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.org.sql<Columns<'contact_categories', 'contact_id'>>(
    'select contact_id from contact_categories where organization_id = :org and label_id = :label and contact_id = any(cast(:ids as uuid[]))',
    { label: categoryId, ids },
  );
  return rows.map(({ contact_id: id }) => id);
}

function without(ids: readonly string[], before: readonly string[]): Changed[] {
  const known = new Set(before);
  return toChanged(ids.filter((id) => !known.has(id)));
}

function toChanged(ids: readonly string[]): Changed[] {
  return ids.map((id) => ({ contact_id: id }));
}
