import { defined } from '../../../lib/defined.ts';
import { Segments, type SegmentCondition, type SegmentRow } from '../../../db/models/segment.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { notFound, refuseProblems } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { assertAsSeen } from '../../platform/as-seen.ts';
import { conditionProblems } from '../../directory/segments/compile.ts';
import { customField, SEGMENT_FIELDS, type SegmentField } from '../../directory/segments/fields.ts';

export type { SegmentCondition, SegmentRow } from '../../../db/models/segment.ts';

/** Newest contacts whose custom fields are listed; reading all contacts of a large workspace would be slow. */
const SAMPLED_CONTACTS = 2000;

interface SegmentInput {
  name: string;
  match: 'all' | 'any';
  conditions: SegmentCondition[];
}

/** The fields conditions may use, with the custom fields of recent contacts. */
export async function listSegmentFields(ctx: Ctx): Promise<SegmentField[]> {
  const rows = await reader(ctx).sql<{ key: string }>(
    `select distinct k.key from (select custom_fields from contacts where organization_id = :org order by id desc limit :sample) recent,
       lateral jsonb_object_keys(recent.custom_fields) as k(key) order by 1 limit 200`,
    { sample: SAMPLED_CONTACTS },
  );
  return [...SEGMENT_FIELDS, ...rows.map((row) => customField(row.key))];
}

/** Saved audiences, newest first. */
export async function listSegments(ctx: Ctx, page: PageRequest): Promise<Page<SegmentRow>> {
  const after = decodeIdCursor('segments.list', null, page.cursor);
  const query = reader(ctx)
    .query(Segments)
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (after) void query.where('id', '<', after);
  return pageOf(await query, page.limit, (last) => encodeCursor('segments.list', null, [last.id]));
}

/** @throws AppError not_found */
export async function getSegment(ctx: Ctx, id: string): Promise<SegmentRow> {
  const segment = isUuid(id) ? await reader(ctx).query(Segments).findById(id) : undefined;
  if (!segment) throw notFound('segment');
  return segment;
}

/** @throws AppError bad_request naming every faulty condition */
export async function createSegment(ctx: Ctx, input: SegmentInput): Promise<SegmentRow> {
  refuseFaulty(input.conditions);
  return transact(ctx, async (tx) => {
    const segment = await tx.org.create(Segments, { id: newId(), ...input, created_at: tx.now, updated_at: tx.now });
    tx.audit({ action: 'create', entityType: 'segment', entityId: segment.id, changes: { name: segment.name } });
    return segment;
  });
}

/** @throws AppError not_found, bad_request naming every faulty condition */
export async function updateSegment(
  ctx: Ctx,
  id: string,
  edit: { [K in keyof SegmentInput]?: SegmentInput[K] | undefined },
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<SegmentRow> {
  if (edit.conditions) refuseFaulty(edit.conditions);
  return transact(ctx, async (tx) => {
    const before = isUuid(id) ? await tx.org.query(Segments).findById(id).forUpdate() : undefined;
    if (!before) throw notFound('segment');
    assertAsSeen('segment', before.updated_at, expectedUpdatedAt);
    const change = defined(edit);
    const segment = await tx.org.query(Segments).patchAndFetchById(id, { ...change, updated_at: tx.now });
    tx.audit({ action: 'update', entityType: 'segment', entityId: id, changes: { fields: Object.keys(change) } });
    return segment!;
  });
}

/** @throws AppError not_found */
export async function deleteSegment(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const deleted = isUuid(id) ? await tx.org.query(Segments).deleteById(id) : 0;
    if (!deleted) throw notFound('segment');
    tx.audit({ action: 'delete', entityType: 'segment', entityId: id });
  });
}

function refuseFaulty(conditions: readonly SegmentCondition[]): void {
  refuseProblems(conditionProblems(conditions, 'body.conditions'));
}
