import { changed, created } from '../../platform/changes.ts';
import { defined } from '../../../lib/defined.ts';
import { Segments, type SegmentCondition, type SegmentRow } from '../../../db/models/segment.ts';
import { decodeIdCursor, encodeCursor, type Page, type PageRequest } from '../../../lib/cursor.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { message, type Message } from '../../../messages/index.ts';
import { unknownIdProblems } from '../../platform/references.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { assertUnchanged } from '../../platform/assert-unchanged.ts';
import { conditionProblems } from '../../directory/segments/compile.ts';
import { customField, SEGMENT_FIELDS, type SegmentField } from '../../directory/segments/fields.ts';

export type { SegmentCondition, SegmentRow } from '../../../db/models/segment.ts';

/**
 * Number of newest contacts that are searched for custom fields, because searching all contacts of a large workspace
 * would be slow.
 */
const SAMPLED_CONTACTS = 2000;

/**
 * Number of characters of conditions at which a page of segments ends. One segment may have 100,000, so a page of 100
 * segments could have 10 MB.
 */
const PAGE_CHARACTERS = 1_000_000;

interface SegmentInput {
  name: string;
  match: 'all' | 'any';
  conditions: SegmentCondition[];
}

/** Lists the fields that conditions may use, including the custom fields of recent contacts. */
export async function listSegmentFields(ctx: Ctx): Promise<SegmentField[]> {
  const rows = await reader(ctx).sql<{ key: string }>(
    `select distinct k.key from (select custom_fields from contacts where organization_id = :org order by id desc limit :sample) recent,
       lateral jsonb_object_keys(recent.custom_fields) as k(key) order by 1 limit 200`,
    { sample: SAMPLED_CONTACTS },
  );
  return [...SEGMENT_FIELDS, ...rows.map((row) => customField(row.key))];
}

/** Lists saved segments, newest first. A page ends early when its conditions reach {@link PAGE_CHARACTERS}. */
export async function listSegments(ctx: Ctx, page: PageRequest): Promise<Page<SegmentRow>> {
  const after = decodeIdCursor('segments.list', null, page.cursor);
  const rows = await reader(ctx).sql<SegmentRow & { found: number }>(
    `with found as materialized (
       select * from segments where organization_id = :org and (:after::uuid is null or id < :after::uuid)
       order by id desc limit :limit::int + 1
     ), sized as (
       select id, row_number() over (order by id desc) as number,
         sum(length(conditions::text)) over (order by id desc) - length(conditions::text) as characters_before
       from found
     )
     select f.*, (select count(*)::int from found) as found
     from found f join sized s on s.id = f.id
     where s.number <= :limit::int and s.characters_before < ${PAGE_CHARACTERS}
     order by f.id desc`,
    { after: after ?? null, limit: page.limit },
  );
  const last = rows.at(-1);
  const isCut = last !== undefined && last.found > rows.length;
  return { rows, nextCursor: isCut ? encodeCursor('segments.list', null, [last.id]) : null };
}

/** Returns one segment. @throws AppError not_found */
export async function getSegment(ctx: Ctx, id: string): Promise<SegmentRow> {
  const segment = isUuid(id) ? await reader(ctx).query(Segments).findById(id) : undefined;
  if (!segment) throw notFound('segment');
  return segment;
}

/** Stores a new segment. @throws AppError bad_request naming every faulty condition */
export async function createSegment(ctx: Ctx, input: SegmentInput): Promise<SegmentRow> {
  return transact(ctx, async (tx) => {
    await refuseFaulty(tx.org, input.conditions);
    const segment = await tx.org.create(Segments, { id: newId(), ...input, created_at: tx.now, updated_at: tx.now });
    tx.audit({
      action: 'create',
      entityType: 'segment',
      entityId: segment.id,
      changes: created({ name: segment.name }),
    });
    return segment;
  });
}

/** Changes a segment. @throws AppError not_found, bad_request naming every faulty condition */
export async function updateSegment(
  ctx: Ctx,
  id: string,
  edit: { [K in keyof SegmentInput]?: SegmentInput[K] | undefined },
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<SegmentRow> {
  return transact(ctx, async (tx) => {
    if (edit.conditions) await refuseFaulty(tx.org, edit.conditions);
    const before = isUuid(id) ? await tx.org.query(Segments).findById(id).forUpdate() : undefined;
    if (!before) throw notFound('segment');
    assertUnchanged('segment', before.updated_at, expectedUpdatedAt);
    const change = defined(edit);
    const segment = await tx.org.query(Segments).patchAndFetchById(id, { ...change, updated_at: tx.now });
    tx.audit({ action: 'update', entityType: 'segment', entityId: id, changes: changed(before, change) });
    return segment!;
  });
}

/** Deletes a segment. @throws AppError not_found */
export async function deleteSegment(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const deleted = isUuid(id) ? await tx.org.query(Segments).deleteById(id) : 0;
    if (!deleted) throw notFound('segment');
    tx.audit({ action: 'delete', entityType: 'segment', entityId: id });
  });
}

/**
 * Throws if a condition is faulty, for example by an unknown category or campaign.
 * @throws AppError bad_request naming every faulty condition
 */
async function refuseFaulty(org: OrgScope, conditions: readonly SegmentCondition[]): Promise<void> {
  const faulty = conditionProblems(conditions, 'body.conditions');
  refuseProblems(faulty.length > 0 ? faulty : await unknownNames(org, conditions));
}

/** Error messages for unknown ids, by the segment field whose values are ids. */
const NAMING: Readonly<Record<string, Message>> = {
  category: message('segments.no_category'),
  emailed_by_campaign: message('segments.no_campaign'),
};

/**
 * Lists conditions with unknown ids. Categories are locked until the transaction ends; one that was deleted
 * concurrently is reported as unknown. A deleted campaign is allowed, because it may have mailed contacts.
 */
async function unknownNames(org: OrgScope, conditions: readonly SegmentCondition[]): Promise<Problem[]> {
  const idsOf = (name: string) => conditions.flatMap(({ field, values }) => (field === name ? values : []));
  const named = { categories: idsOf('category'), campaigns: idsOf('emailed_by_campaign') };
  if (named.categories.length + named.campaigns.length === 0) return [];
  const rows = await org.sql<{ id: string }>(
    `with held as materialized (
       select id from labels where organization_id = :org and registry = 'category' and id = any(cast(:categories as uuid[])) for key share)
     select id from held union all
     select id from unnest(cast(:campaigns as uuid[])) as asked(id)
     where exists (select 1 from campaigns c where c.organization_id = :org and c.id = asked.id)
       or exists (select 1 from send_facts f where f.organization_id = :org and f.campaign_id = asked.id)`,
    named,
  );
  const known = new Set(rows.map(({ id }) => id));
  return conditions.flatMap(({ field, values }, at) => {
    const fault = NAMING[field];
    return fault ? unknownIdProblems(values, known, (index) => `body.conditions.${at}.values.${index}`, fault) : [];
  });
}
