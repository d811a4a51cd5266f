import type { SegmentCondition } from '../../../db/models/segment.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { patternComparisons } from './compile.ts';

/**
 * Maximum number of comparisons of a contact's text with a pattern. `question`: in a search or a count; it takes about
 * two seconds. `audience`: when the contacts of segments are added to a campaign.
 */
const MAX_COMPARISONS = { question: 20_000_000, audience: 50_000_000 };
/**
 * Assumed maximum number of contacts. If conditions are within the limit for this number, the contacts are not counted.
 */
const ASSUMED_CONTACTS = 1_000_000;

/**
 * Returns a problem if conditions need too many comparisons, which is the number of patterns times the number of
 * contacts. Counts contacts only if the conditions have many patterns.
 */
export async function comparisonProblems(
  org: OrgScope,
  conditions: readonly SegmentCondition[],
  path: string,
  kind: keyof typeof MAX_COMPARISONS = 'question',
): Promise<Problem[]> {
  const patterns = patternComparisons(conditions);
  const contacts = Math.floor(MAX_COMPARISONS[kind] / Math.max(1, patterns));
  if (contacts >= ASSUMED_CONTACTS) return [];
  const [found] = await org.sql<{ contacts: number }>(
    `select count(*)::int as contacts from (select from contact_outreach where organization_id = :org limit :most) counted`,
    { most: contacts + 1 },
  );
  if (found!.contacts <= contacts) return [];
  return [{ path, message: message('directory.too_many_patterns', { patterns, contacts }) }];
}
