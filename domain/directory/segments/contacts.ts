import type { Columns } from '../../../db/rows.ts';
import { Segments, type SegmentRow } from '../../../db/models/segment.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Problem } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { suppressedNow } from '../suppression-check.ts';
import { comparisonProblems } from './bound.ts';
import { compileSegment, SEGMENT_CONTACTS } from './compile.ts';

const MAILABLE = `and c.subscribed and c.verification_status not in ('invalid', 'risky') and not ${suppressedNow(':org', 'c.email')}`;

/**
 * Returns one page of the ids of a segment's contacts, ascending. Start without `after`, and continue with the last id
 * until a page has fewer rows than `limit`. An unknown segment has no contacts.
 */
export async function segmentContactIds(
  org: OrgScope,
  segmentId: string,
  page: { after?: string | undefined; limit: number },
): Promise<string[]> {
  const [segment] = await loadSegments(org, [segmentId]);
  if (!segment) return [];
  const { sql, bindings } = compileSegment(segment.match, segment.conditions);
  const rows = await org.sql<Columns<'contacts', 'id'>>(
    `select c.id from ${SEGMENT_CONTACTS} where c.organization_id = :org and (${sql}) and (cast(:after as uuid) is null or c.id > cast(:after as uuid))
     order by c.id limit :limit`,
    { ...bindings, after: page.after ?? null, limit: page.limit },
  );
  return rows.map((row) => row.id);
}

/**
 * Counts the contacts in at least one of the segments, each once. With `mailableAt` counts only contacts that may be
 * emailed at that time: subscribed, not suppressed, and by verification neither invalid nor risky.
 */
export async function countSegmentContacts(
  org: OrgScope,
  segmentIds: readonly string[],
  { mailableAt }: { mailableAt?: Date } = {},
): Promise<number> {
  const segments = await loadSegments(org, segmentIds);
  if (segments.length === 0) return 0;
  const compiled = segments.map((segment, index) => compileSegment(segment.match, segment.conditions, `s${index}x`));
  const [row] = await org.sql<{ count: number }>(
    `select count(*) from ${SEGMENT_CONTACTS}
     where c.organization_id = :org and (${compiled.map(({ sql }) => `(${sql})`).join(' or ')}) ${mailableAt ? MAILABLE : ''}`,
    Object.assign(mailableAt ? { now: mailableAt } : {}, ...compiled.map(({ bindings }) => bindings)),
  );
  return row!.count;
}

/** Returns a problem if segments together need too many text comparisons with the contacts of the workspace. */
export async function segmentProblems(
  org: OrgScope,
  segmentIds: readonly string[],
  kind: Parameters<typeof comparisonProblems>[3],
): Promise<Problem[]> {
  const segments = await loadSegments(org, segmentIds);
  return comparisonProblems(
    org,
    segments.flatMap(({ conditions }) => conditions),
    'body.segment_ids',
    kind,
  );
}

/** Returns the segments of these ids. Unknown and malformed ids are omitted. */
export async function loadSegments(org: OrgScope, ids: readonly string[]): Promise<SegmentRow[]> {
  const known = ids.filter(isUuid);
  return known.length === 0 ? [] : org.query(Segments).findByIds([...new Set(known)]);
}
