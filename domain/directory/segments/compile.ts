import { z } from 'zod';
import type { SegmentCondition } from '../../../db/models/segment.ts';
import type { Problem } from '../../../lib/errors.ts';
import { foldCase } from '../../../lib/fold-case.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message, type Message } from '../../../messages/index.ts';
import { Conditions, likeLiteral } from '../../platform/conditions.ts';
import { cleanText } from '../contact-fields.ts';
import { CUSTOM_PREFIX, segmentField, type SegmentField } from './fields.ts';

/**
 * SQL join for the conditions of segments: contacts `c` with their outreach history `o`. PostgreSQL omits the join if a
 * statement uses no column of `o`.
 */
export const SEGMENT_CONTACTS = 'contacts c left join contact_outreach o on o.contact_id = c.id';

/** SQL for text fields of a contact, never null. A missing custom field is empty. */
const TEXT_SQL: Record<string, string> = {
  email: 'c.email',
  email_domain: `split_part(c.email, '@', 2)`,
  first_name: 'c.first_name',
  last_name: 'c.last_name',
  company: 'c.company',
  phone: 'c.phone',
  company_domain: 'o.company_domain',
  job_title: 'o.job_title',
  seniority: 'o.seniority',
  department: 'o.department',
};
/** Fields stored in lower case, so that an index supports equality. */
const LOWERED: ReadonlySet<string> = new Set(['company_domain', 'seniority', 'department']);
const EMAILED = 'select 1 from send_facts f where f.contact_id = c.id and f.sent_at is not null';
/** Schema of a day or time. Rejects values that do not exist, such as 30 February and 24:00. */
const TIME = z.iso.date().or(z.iso.datetime({ offset: true }));
const FILED = 'select 1 from contact_categories f where f.contact_id = c.id';

/**
 * Maximum number of characters of all values of a set of conditions. The limit keeps lists of segments small, because
 * they contain all values.
 */
const MAX_CHARACTERS = 100_000;

/**
 * Returns all problems of a set of conditions; an empty list means that the conditions can be compiled. Paths start at
 * `path`.
 */
export function conditionProblems(conditions: readonly SegmentCondition[], path: string): Problem[] {
  const characters = conditions.flatMap(({ values }) => values).reduce((sum, { length }) => sum + length, 0);
  if (characters > MAX_CHARACTERS)
    return [{ path, message: message('directory.conditions_too_long', { most: MAX_CHARACTERS }) }];
  return conditions.flatMap((condition, index) => {
    const at = `${path}.${index}`;
    const field = segmentField(condition.field);
    if (!field) return [{ path: `${at}.field`, message: message('directory.unknown_field') }];
    if (!(field.operators as readonly string[]).includes(condition.operator)) {
      return [{ path: `${at}.operator`, message: message('field.choice', { choices: field.operators }) }];
    }
    return valueProblems(field, condition, at);
  });
}

function valueProblems(field: SegmentField, { operator, values }: SegmentCondition, at: string): Problem[] {
  if (operator === 'exists' || operator === 'not_exists') {
    return values.length === 0 ? [] : [{ path: `${at}.values`, message: message('directory.no_values') }];
  }
  if (values.length === 0) return [{ path: `${at}.values`, message: message('field.list_shorter', { min: 1 }) }];
  if ((field.type === 'time' || field.type === 'flag') && values.length > 1)
    return [{ path: `${at}.values`, message: message('directory.one_value') }];
  return values.flatMap((value, index) => {
    const problem = valueProblem(field, value);
    return problem ? [{ path: `${at}.values.${index}`, message: problem }] : [];
  });
}

function valueProblem(field: SegmentField, value: string): Message | undefined {
  if (field.values && !field.values.includes(value)) return message('field.choice', { choices: field.values });
  if (field.type === 'label' && !isUuid(value)) return message('directory.not_id');
  if (field.type === 'campaign' && !isUuid(value)) return message('directory.not_id');
  if (field.type === 'time' && !TIME.safeParse(value).success) return message('directory.time_value');
  if (field.type === 'text' && !cleanText(value)) return message('field.text_empty');
  return undefined;
}

/**
 * Compiles the valid conditions of a segment on {@link SEGMENT_CONTACTS}; every value is bound. Text is compared
 * ignoring case. A condition with several values matches any of them, or with a negated operator none of them. Without
 * conditions every contact matches.
 */
export function compileSegment(
  match: 'all' | 'any',
  conditions: readonly SegmentCondition[],
  prefix = 's',
): { sql: string; bindings: Conditions['bindings'] } {
  const where = new Conditions(prefix);
  for (const condition of conditions) where.add(compileCondition(where, condition));
  return { sql: match === 'all' || conditions.length === 0 ? where.all() : where.any(), bindings: where.bindings };
}

function compileCondition(where: Conditions, condition: SegmentCondition): string {
  const field = segmentField(condition.field)!;
  const { operator, values } = condition;
  const negated = operator.startsWith('not_');
  const not = negated ? 'not ' : '';
  switch (field.type) {
    case 'flag':
      return `c.subscribed = ${where.bind((values[0] === 'true') !== negated, 'boolean')}`;
    case 'time':
      return `c.created_at ${operator === 'before' ? '<' : '>='} ${where.bind(new Date(values[0]!), 'timestamptz')}`;
    case 'label':
      return operator.endsWith('exists')
        ? `${not}exists (${FILED})`
        : `${not}exists (${FILED} and f.label_id = any(${where.bind(values, 'uuid[]')}))`;
    case 'campaign':
      return operator.endsWith('exists')
        ? `${not}exists (${EMAILED})`
        : `${not}exists (${EMAILED} and f.campaign_id = any(${where.bind(values, 'uuid[]')}))`;
    case 'choice':
      return `${not}(o.${condition.field} = any(${where.bind(values, 'text[]')}))`;
    case 'text':
      if (LOWERED.has(condition.field) && /equal$|in$/.test(operator)) {
        const lowered = values.map((value) => cleanText(value).toLowerCase());
        return `${not}(o.${condition.field} = any(${where.bind(lowered, 'text[]')}))`;
      }
      return `${not}(${compileText(where, textOf(where, condition.field), operator.replace('not_', ''), values)})`;
  }
}

/** Operators that compare a text with each of their values, one after the other. */
const PATTERNS = /(contains|starts_with|ends_with)$/;

/**
 * Returns the maximum number of comparisons with a pattern that conditions need per contact. Values of `equal` and `in`
 * are not counted, because they are compared together by their hash.
 */
export function patternComparisons(conditions: readonly SegmentCondition[]): number {
  return conditions.reduce((sum, { operator, values }) => sum + (PATTERNS.test(operator) ? values.length : 0), 0);
}

function textOf(where: Conditions, name: string): string {
  return TEXT_SQL[name] ?? `coalesce(c.custom_fields ->> ${where.bind(name.slice(CUSTOM_PREFIX.length), 'text')}, '')`;
}

function compileText(where: Conditions, text: string, operator: string, values: readonly string[]): string {
  if (operator === 'exists') return `${text} <> ''`;
  const folded = values.map((value) => foldCase(cleanText(value)));
  // Without patterns PostgreSQL finds the text among all values by its hash. Patterns are compared one by one.
  if (!PATTERNS.test(operator)) return `heron_fold(${text}) = any(${where.bind(folded, 'text[]')})`;
  const patterns = folded.map(likeLiteral).map((literal) => {
    if (operator === 'contains') return `%${literal}%`;
    return operator === 'starts_with' ? `${literal}%` : `%${literal}`;
  });
  return `heron_fold(${text}) like any(${where.bind(patterns, 'text[]')})`;
}
