import { changed, created, deleted } from '../../platform/changes.ts';
import { defined } from '../../../lib/defined.ts';
import type { Columns } from '../../../db/rows.ts';
import { Labels, type LabelRegistry, type LabelRow } from '../../../db/models/label.ts';
import { AppError, notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { applyPoolChange } from '../../sending/control/reschedule.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertNotFull } from '../../platform/full-list.ts';
import { assertNotReferenced } from '../references.ts';
import { movedTo, storePositions } from '../../platform/positions.ts';

export type { LabelRegistry, LabelRow } from '../../../db/models/label.ts';

const MAX_LABELS = 100;
/** Maximum number of campaigns named in a refusal. */
const MAX_NAMED = 20;
const PALETTE = ['#0ea5e9', '#16a34a', '#f59e0b', '#ef4444', '#8b5cf6', '#ec4899', '#14b8a6', '#64748b'];
/** Columns of campaigns that contain label ids, by registry. */
const CAMPAIGN_COLUMN: Partial<Record<LabelRegistry, 'folders' | 'email_tags'>> = {
  folder: 'folders',
  tag: 'email_tags',
};

/** Lists the labels of a registry in order. */
export async function listLabels(ctx: Ctx, registry: LabelRegistry): Promise<LabelRow[]> {
  return reader(ctx).query(Labels).where({ registry }).orderBy(['position', 'id']);
}

/**
 * Adds a label at the end of its registry. Chooses a colour if none is given.
 * @throws AppError bad_request when the registry is full
 */
export async function createLabel(
  ctx: Ctx,
  registry: LabelRegistry,
  input: { title: string; color?: string | undefined },
): Promise<LabelRow> {
  return transact(ctx, async (tx) => {
    const rows = await lockRegistry(tx, registry);
    assertNotFull(rows.length, { most: MAX_LABELS, what: message(`audience.labels_${registry}`) });
    const label = await tx.org.create(Labels, {
      id: newId(),
      registry,
      title: input.title,
      color: input.color ?? PALETTE[rows.length % PALETTE.length]!,
      position: rows.length,
      created_at: tx.now,
      updated_at: tx.now,
    });
    tx.audit({ action: 'create', entityType: registry, entityId: label.id, changes: created({ title: label.title }) });
    return label;
  });
}

/**
 * Renames or recolours a label.
 * @throws AppError not_found
 */
export async function updateLabel(
  ctx: Ctx,
  registry: LabelRegistry,
  id: string,
  edit: { title?: string | undefined; color?: string | undefined },
): Promise<LabelRow> {
  return transact(ctx, async (tx) => {
    const before = await findLabel(tx, registry, id);
    const change = defined(edit);
    await tx.org
      .query(Labels)
      .where({ id })
      .patch({ ...change, updated_at: tx.now });
    tx.audit({ action: 'update', entityType: registry, entityId: id, changes: changed(before, change) });
    return findLabel(tx, registry, id);
  });
}

/**
 * Deletes a label and removes it from all records that have it. Active campaigns that used a deleted tag reserve their
 * slots again.
 * @throws AppError not_found, conflict for a tag that alone selects a campaign's mailboxes, and for a category used by
 * a condition
 */
export async function deleteLabel(ctx: Ctx, registry: LabelRegistry, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const rows = await lockRegistry(tx, registry);
    const label = await findLabel(tx, registry, id);
    // Foreign keys remove the label from contacts and mailboxes.
    const column = CAMPAIGN_COLUMN[registry];
    if (registry === 'tag') await refuseWidening(tx, id);
    if (registry === 'category') await assertNotReferenced(tx, { category: id });
    if (column) {
      const campaigns = await tx.org.sql<Columns<'campaigns', 'id'>>(
        `update campaigns set ${column} = array_remove(${column}, cast(:id as uuid))
         where organization_id = :org and ${column} @> array[cast(:id as uuid)] returning id`,
        { id },
      );
      if (registry === 'tag') for (const campaign of campaigns) await applyPoolChange(tx, campaign.id);
    }
    await tx.org.query(Labels).where({ id }).delete();
    await storePositions(
      tx,
      'labels',
      rows.map((row) => row.id).filter((other) => other !== label.id),
      0,
    );
    tx.audit({ action: 'delete', entityType: registry, entityId: id, changes: deleted({ title: label.title }) });
  });
}

/** Lists problems of a label's new position (0-based) in its registry. */
export async function newPositionProblems(
  ctx: Ctx,
  registry: LabelRegistry,
  position: number | undefined,
): Promise<Problem[]> {
  if (position === undefined) return [];
  return positionProblems(position, await reader(ctx).query(Labels).where({ registry }).resultSize());
}

function positionProblems(position: number, count: number): Problem[] {
  return position >= count
    ? [{ path: 'body.position', message: message('field.number_greater', { max: count - 1 }) }]
    : [];
}

/**
 * Moves a label to a position (0-based). Returns the whole new order.
 * @throws AppError not_found, bad_request when the position is out of range
 */
export async function moveLabel(
  ctx: Ctx,
  registry: LabelRegistry,
  id: string,
  position: number,
): Promise<{ id: string; position: number }[]> {
  return transact(ctx, async (tx) => {
    const rows = await lockRegistry(tx, registry);
    const before = await findLabel(tx, registry, id);
    refuseProblems(positionProblems(position, rows.length));
    const order = movedTo(
      rows.map((row) => row.id),
      id,
      position,
    );
    await storePositions(tx, 'labels', order, 0);
    tx.audit({ action: 'update', entityType: registry, entityId: id, changes: changed(before, { position }) });
    return order.map((labelId, index) => ({ id: labelId, position: index }));
  });
}

/**
 * Refuses to delete a tag that alone selects a campaign's mailboxes, because without it the campaign would send from
 * all mailboxes.
 * @throws AppError conflict naming the campaigns
 */
async function refuseWidening(tx: Tx, tagId: string): Promise<void> {
  const campaigns = await tx.org.sql<Columns<'campaigns', 'id' | 'name'>>(
    `select c.id, c.name from campaigns c
     where c.organization_id = :org and c.email_tags = array[cast(:id as uuid)] and c.sender_strategy = 'tags' and c.status <> 'completed'
       and not exists (select 1 from campaign_senders s where s.campaign_id = c.id)
     order by c.id limit :limit for no key update of c`,
    { id: tagId, limit: MAX_NAMED },
  );
  if (campaigns.length === 0) return;
  throw new AppError('conflict', message('audience.tag_chooses_senders'), {
    problems: campaigns.map(({ id, name }) => ({
      path: `campaigns.${id}`,
      message: message('audience.would_send_from_all', { name }),
    })),
    fix: message('audience.tag_chooses_senders.fix'),
  });
}

/** Locks the labels of a registry, so that concurrent changes leave no gaps in their positions. */
async function lockRegistry(tx: Tx, registry: LabelRegistry): Promise<LabelRow[]> {
  await tx.org.sql(`select pg_advisory_xact_lock(hashtextextended(:registry || :org, 0))`, { registry });
  return tx.org.query(Labels).where({ registry }).orderBy(['position', 'id']);
}

async function findLabel(tx: Tx, registry: LabelRegistry, id: string): Promise<LabelRow> {
  const label = isUuid(id) ? await tx.org.query(Labels).where({ registry }).findById(id) : undefined;
  if (!label) throw notFound(registry);
  return label;
}
