import { asciiAddress } from '../../lib/address.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import { foldCase } from '../../lib/fold-case.ts';
import { isUuid } from '../../lib/ids.ts';
import { message } from '../../messages/index.ts';
import { Conditions, likeLiteral } from '../platform/conditions.ts';
import { cleanText } from './contact-fields.ts';
import { refuseVerdicts, statedStatus, verdictProblems, type StatedVerdict } from './verification-words.ts';

export const LEAD_STATUSES = [
  'pending',
  'active',
  'completed',
  'replied',
  'bounced',
  'failed',
  'unsubscribed',
  'paused',
  'undeliverable',
] as const;
export type LeadStatus = (typeof LEAD_STATUSES)[number];

/** Values of the engagement filter: reactions of a contact to a campaign's emails, and their absence. */
export const ENGAGEMENTS = [
  'opened',
  'not_opened',
  'clicked',
  'not_clicked',
  'replied',
  'not_replied',
  'bounced',
] as const;

/** Filters of a contact search. A contact must match all given filters. */
export interface ContactFilters extends StatedVerdict {
  query?: string | undefined;
  custom_field_filters?:
    | readonly { name: string; value: string; type: 'equal' | 'starts_with' | 'ends_with' | 'contains' }[]
    | undefined;
  campaign_ids?: readonly string[] | undefined;
  category_ids?: readonly string[] | undefined;
  min_campaigns?: number | undefined;
  max_campaigns?: number | undefined;
  subscribed?: boolean | undefined;
  lead_status?: string | undefined;
  engagement?: string | undefined;
  created_after?: Date | undefined;
  created_before?: Date | undefined;
  updated_after?: Date | undefined;
  updated_before?: Date | undefined;
}

/** SQL for the number of campaigns that a contact `c` is in. */
export const CAMPAIGN_COUNT = '(select count(*) from enrollments x where x.contact_id = c.id)';

const ENGAGED: Record<string, string> = {
  opened: 'opened_at',
  clicked: 'clicked_at',
  replied: 'replied_at',
  bounced: 'bounced_at',
};
const PATTERN = {
  equal: (value: string) => value,
  starts_with: (value: string) => `${value}%`,
  ends_with: (value: string) => `%${value}`,
  contains: (value: string) => `%${value}%`,
} as const;

/** Returns SQL for the state of an enrollment `e` as the API shows it. A held enrollment is `paused`. */
export function leadStatusSql(where: Conditions, now: Date): string {
  const at = where.bind(now, 'timestamptz');
  return `(case when e.state in ('pending', 'active') and e.hold_since is not null and (e.hold_until is null or e.hold_until > ${at})
    then 'paused' else e.state end)`;
}

/**
 * Compiles filters to conditions on `contacts c`; all values are bound. Text is compared ignoring case. Times "after"
 * are inclusive, "before" exclusive. Malformed ids match no contact.
 * @throws AppError invalid_lead_status, invalid_engagement, lead_filter_requires_campaign, unknown_verification_status,
 * unknown_verification_provider
 */
export function compileFilters(filters: ContactFilters, now: Date): Conditions {
  assertFilters(filters);
  const where = new Conditions('f');
  addTextSearch(where, filters.query);
  for (const filter of filters.custom_field_filters ?? []) {
    const pattern = PATTERN[filter.type](likeLiteral(foldCase(cleanText(filter.value))));
    const value = `c.custom_fields ->> ${where.bind(cleanText(filter.name), 'text')}`;
    where.add(`heron_fold(${value}) like ${where.bind(pattern, 'text')}`);
  }
  addMemberships(where, filters, now);
  if (filters.min_campaigns !== undefined)
    where.add(`${CAMPAIGN_COUNT} >= ${where.bind(filters.min_campaigns, 'integer')}`);
  if (filters.max_campaigns !== undefined)
    where.add(`${CAMPAIGN_COUNT} <= ${where.bind(filters.max_campaigns, 'integer')}`);
  if (filters.subscribed !== undefined) where.add(`c.subscribed = ${where.bind(filters.subscribed, 'boolean')}`);
  const verdict = statedStatus(filters);
  if (verdict) where.add(`c.verification_status = ${where.bind(verdict, 'text')}`);
  if (filters.created_after) where.add(`c.created_at >= ${where.bind(filters.created_after, 'timestamptz')}`);
  if (filters.created_before) where.add(`c.created_at < ${where.bind(filters.created_before, 'timestamptz')}`);
  if (filters.updated_after) where.add(`c.updated_at >= ${where.bind(filters.updated_after, 'timestamptz')}`);
  if (filters.updated_before) where.add(`c.updated_at < ${where.bind(filters.updated_before, 'timestamptz')}`);
  return where;
}

/**
 * Adds a condition for contacts `c` whose name, email or company contains a text, ignoring case. An empty text adds no
 * condition.
 */
export function addTextSearch(where: Conditions, query: string | undefined): void {
  const text = cleanText(query ?? '');
  if (!text) return;
  // Must be the same expression as in the trigram index contacts_search, so that PostgreSQL uses the index.
  const searched = `heron_fold(c.email || ' ' || c.first_name || ' ' || c.last_name || ' ' || c.company)`;
  // Also searches with the domain in ASCII form (A-labels), because addresses are stored in this form.
  const texts = new Set([foldCase(text), foldCase(/[^\0-\x7f]/.test(text) ? asciiAddress(text) : text)]);
  const found = [...texts].map((each) => `${searched} like ${where.bind(`%${likeLiteral(each)}%`, 'text')}`);
  where.add(found.length === 1 ? found[0]! : `(${found.join(' or ')})`);
}

function addMemberships(where: Conditions, filters: ContactFilters, now: Date): void {
  addAll(where, filters.category_ids, 'contact_categories', 'label_id');
  const campaignIds = filters.campaign_ids ?? [];
  if (campaignIds.length !== 1) return addAll(where, campaignIds, 'enrollments', 'campaign_id');
  if (!isUuid(campaignIds[0]!)) return where.add('false');
  const campaign = where.bind(campaignIds[0]!, 'uuid');
  const status = filters.lead_status
    ? ` and ${leadStatusSql(where, now)} = ${where.bind(filters.lead_status, 'text')}`
    : '';
  where.add(`exists (select 1 from enrollments e where e.contact_id = c.id and e.campaign_id = ${campaign}${status})`);
  if (filters.engagement) {
    const negated = filters.engagement.startsWith('not_');
    const column = ENGAGED[filters.engagement.replace('not_', '')]!;
    where.add(`${negated ? 'not ' : ''}exists (
        select 1 from sends s where s.contact_id = c.id and s.campaign_id = ${campaign} and s.${column} is not null)`);
  }
}

/**
 * Adds a condition for contacts `c` that belong to all of several groups. The first group has its own condition, so
 * that PostgreSQL can use its index. The memberships in the other groups are counted, because PostgreSQL would need
 * seconds to plan a hundred subqueries.
 */
function addAll(where: Conditions, ids: readonly string[] = [], table: string, column: string): void {
  const distinct = [...new Set(ids.map((id) => id.toLowerCase()))];
  if (!distinct.every(isUuid)) return where.add('false');
  const [first] = distinct;
  if (!first) return;
  where.add(
    `exists (select 1 from ${table} f where f.contact_id = c.id and f.${column} = ${where.bind(first, 'uuid')})`,
  );
  if (distinct.length > 1)
    where.add(
      `(select count(*) from ${table} f where f.contact_id = c.id and f.${column} = any(${where.bind(distinct, 'uuid[]')})) = ${distinct.length}`,
    );
}

/** Returns problems of filters that their types cannot detect. */
export function filterProblems(filters: ContactFilters): Problem[] {
  const { lead_status: status, engagement } = filters;
  const problems: Problem[] = [];
  if (status !== undefined && !(LEAD_STATUSES as readonly string[]).includes(status))
    problems.push({ path: 'body.lead_status', message: message('field.choice', { choices: LEAD_STATUSES }) });
  if (engagement !== undefined && !(ENGAGEMENTS as readonly string[]).includes(engagement))
    problems.push({ path: 'body.engagement', message: message('field.choice', { choices: ENGAGEMENTS }) });
  if ((status !== undefined || engagement !== undefined) && filters.campaign_ids?.length !== 1)
    problems.push({ path: 'body.campaign_ids', message: message('directory.one_campaign') });
  return [...problems, ...verdictProblems(filters, 'body')];
}

/** Throws an error with the code of the first problem, listing all of them. */
function assertFilters(filters: ContactFilters): void {
  const problems = filterProblems(filters);
  switch (problems[0]?.path) {
    case undefined:
      return;
    case 'body.lead_status':
      throw new AppError('invalid_lead_status', message('directory.unknown_lead_status'), { problems });
    case 'body.engagement':
      throw new AppError('invalid_engagement', message('directory.unknown_engagement'), { problems });
    case 'body.verification_status':
    case 'body.verification_provider':
      return refuseVerdicts(problems);
    default:
      throw new AppError('lead_filter_requires_campaign', message('directory.lead_filter_campaign'), {
        fix: message('directory.lead_filter_campaign.fix'),
        problems,
      });
  }
}
