import type { OrgScope } from '../../../db/tenancy.ts';
import type { SegmentCondition } from '../../../db/models/segment.ts';
import { bodyCursorProblems } from '../../../lib/cursor.ts';
import { refuseProblems, type ErrorCode, type Problem } from '../../../lib/errors.ts';
import { Conditions } from '../../platform/conditions.ts';
import { addTextSearch } from '../../directory/contact-filters.ts';
import { comparisonProblems } from '../../directory/segments/bound.ts';
import { compileSegment, conditionProblems } from '../../directory/segments/compile.ts';
import { loadSegments } from '../../directory/segments/contacts.ts';

/** Selects contacts that match the conditions, are in the segment, and contain `q` in name, email or company. */
export interface LeadQuery {
  conditions: readonly SegmentCondition[];
  match: 'all' | 'any';
  /** Segment id; an unknown segment has no contacts. */
  segment_id?: string | undefined;
  q?: string | undefined;
}

/**
 * SQL join of contacts `c` and their outreach history `o`. PostgreSQL does not read contacts in statements that use
 * none of their columns.
 */
export const LEADS = 'contact_outreach o left join contacts c on c.id = o.contact_id';
/** Variant of {@link LEADS} that starts with contacts, for orders that an index on contacts provides. */
export const LEADS_BY_CONTACT = 'contacts c join contact_outreach o on o.contact_id = c.id';

/** Returns true if a query selects all contacts. */
export function isUnfiltered({ conditions, segment_id: segmentId, q }: LeadQuery): boolean {
  return conditions.length === 0 && segmentId === undefined && (q ?? '').trim() === '';
}

/** Returns the error code for an invalid query, according to its first problem. */
export function leadRefusal({ path }: Problem): ErrorCode {
  const [, field] = path.split('.');
  if (field === 'sort') return 'invalid_sort';
  if (field === 'limit') return 'invalid_limit';
  return field === 'cursor' ? 'invalid_cursor' : 'invalid_lead_query';
}

/** Lists every problem of a query that its schema does not detect. */
export function leadProblems(query: Partial<LeadQuery>, cursor?: string): Problem[] {
  return [...conditionProblems(query.conditions ?? [], 'body.conditions'), ...bodyCursorProblems(cursor)];
}

/**
 * Compiles a query to conditions on {@link LEADS}, without the organization; all values are bound.
 * @throws AppError invalid_lead_query or invalid_cursor, naming every problem; also for a query that needs too many
 * text comparisons
 */
export async function compileLeadQuery(org: OrgScope, query: LeadQuery, cursor?: string): Promise<Conditions> {
  const problems = leadProblems(query, cursor);
  if (problems[0]) refuseProblems(problems, leadRefusal(problems[0]));
  const where = new Conditions('l');
  addCompiled(where, query.match, query.conditions, 'k');
  const [segment] = query.segment_id === undefined ? [] : await loadSegments(org, [query.segment_id]);
  const conditions = [...query.conditions, ...(segment?.conditions ?? [])];
  refuseProblems(await comparisonProblems(org, conditions, 'body.conditions'), 'invalid_lead_query');
  if (query.segment_id !== undefined) {
    if (segment) addCompiled(where, segment.match, segment.conditions, 's');
    else where.add('false');
  }
  addTextSearch(where, query.q);
  return where;
}

function addCompiled(where: Conditions, match: 'all' | 'any', conditions: readonly SegmentCondition[], prefix: string) {
  if (conditions.length === 0) return;
  const { sql, bindings } = compileSegment(match, conditions, prefix);
  Object.assign(where.bindings, bindings);
  where.add(sql);
}
