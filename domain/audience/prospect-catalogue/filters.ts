import { bodyCursorProblems } from '../../../lib/cursor.ts';
import { BRACKET_OF_ROW, bracketOf } from '../../../db/catalogue/schema.ts';
import { refuseProblems, type ErrorCode, type Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { Conditions, likeLiteral } from '../../platform/conditions.ts';
import { domainKey, tagOf } from './records.ts';

/** Filters of companies, combined by AND. Text is trimmed and in lower case. */
export interface CompanyFilters {
  /** Part of the name or of the domain. */
  q?: string | undefined;
  country?: string | undefined;
  state?: string | undefined;
  city?: string | undefined;
  /** The primary domain; a leading `www.` is ignored. */
  domain?: string | undefined;
  industry?: string | undefined;
  technology?: string | undefined;
  /** Inclusive bounds of the number of employees. A company of unknown size does not match if a bound is given. */
  min_employees?: number | undefined;
  max_employees?: number | undefined;
  company_id?: string | undefined;
}

/** Filters of people and of their companies. */
export interface PeopleFilters extends CompanyFilters {
  /** Part of the name. With an `@`, the whole email address. */
  q?: string | undefined;
  /** Part of the title. */
  title?: string | undefined;
  seniority?: string | undefined;
  department?: string | undefined;
  email?: 'present' | 'missing' | 'valid' | undefined;
}

/** Returns the error code for an invalid search, according to its first problem. */
export function filterRefusal({ path }: Problem): ErrorCode {
  const [, field] = path.split('.');
  if (field === 'limit') return 'invalid_limit';
  return field === 'cursor' ? 'invalid_cursor' : 'invalid_b2b_filter';
}

/** Lists every problem of a search that its schema does not detect. */
export function searchProblems({
  min_employees: least,
  max_employees: most,
  cursor,
}: CompanyFilters & { cursor?: string | undefined }): Problem[] {
  return [
    ...(least !== undefined && most !== undefined && least > most
      ? [{ path: 'body.max_employees', message: message('audience.fewer_than_min') }]
      : []),
    ...bodyCursorProblems(cursor),
  ];
}

/** Throws if a search has problems. @throws AppError invalid_b2b_filter or invalid_cursor, naming every problem */
export function refuseSearch(search: Parameters<typeof searchProblems>[0]): void {
  const problems = searchProblems(search);
  if (problems[0]) refuseProblems(problems, filterRefusal(problems[0]));
}

/** Returns the non-empty filters in a fixed order. A cursor is valid only for the same filters. */
export function definedFilters<F extends CompanyFilters>(filters: F): F {
  return Object.fromEntries(
    Object.entries(filters)
      .filter(([, value]) => value !== undefined && value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ) as F;
}

/** Groups of filters that narrow a search and for which the list order does not help. An index can combine them. */
const NARROWING = [
  ['q'],
  ['title'],
  ['department'],
  ['industry'],
  ['technology'],
  ['min_employees', 'max_employees'],
] as const;
/**
 * Number of NARROWING filters from which hardly any row matches, because each usually matches at most a tenth of the
 * rows.
 */
const MANY = 4;

/**
 * Returns true if many filters narrow a search. The place and seniority, with which the list order begins, are not
 * counted.
 */
export function isNarrow(filters: PeopleFilters): boolean {
  return NARROWING.filter((names) => names.some((name) => filters[name] !== undefined)).length >= MANY;
}

/** The compiled conditions of a search. */
interface CompiledFilters {
  /** All conditions of the search. */
  where: Conditions;
  /**
   * Additional conditions that follow from `where` and let PostgreSQL find rows by an index. They use the bindings of
   * `where`.
   */
  lookup: readonly string[];
}

/** Compiles the conditions of a search over one of the tables. */
export function compileFilters(filters: PeopleFilters, table: 'people' | 'companies'): CompiledFilters {
  const where = new Conditions('f');
  const tags = (['country', 'state', 'city', 'industry', 'technology', 'seniority', 'department'] as const).flatMap(
    (name) => (filters[name] ? [tagOf[name](filters[name])] : []),
  );
  if (tags.length > 0) where.add(`tags @> ${where.bind(tags, 'text[]')}`);
  const contains = (column: string, part: string) =>
    where.add(`${column} like ${where.bind(`%${likeLiteral(part)}%`, 'text')}`);
  if (filters.q) {
    if (table === 'companies') contains('search_key', filters.q);
    else if (filters.q.includes('@')) where.add(`email <> '' and email = ${where.bind(filters.q, 'text')}`);
    else contains('name_key', filters.q);
  }
  if (filters.title) contains('title_key', filters.title);
  if (filters.domain) where.add(`domain <> '' and domain = ${where.bind(domainKey(filters.domain), 'text')}`);
  if (filters.company_id)
    where.add(`${table === 'people' ? 'company_id' : 'id'} = ${where.bind(filters.company_id, 'text')}`);
  const hasOther = tags.length > 0 || Boolean(filters.title) || (Boolean(filters.q) && !filters.q!.includes('@'));
  const lookup = addSize(where, filters, hasOther);
  if (filters.email === 'valid') where.add('email_state = 2');
  else if (filters.email) where.add(filters.email === 'present' ? 'email_state > 0' : 'email_state = 0');
  return { where, lookup };
}

/**
 * Adds the bounds of the number of employees, and returns the condition for the index lookup. For a narrow range, or
 * one without other filters, the index on employees is used. A wide range matches many rows there, so its size brackets
 * are looked up with the other filters in their index. `+ 0` then prevents PostgreSQL from using the index on
 * employees, which would take hundreds of milliseconds.
 */
function addSize(
  where: Conditions,
  { min_employees: least, max_employees: most }: CompanyFilters,
  hasOther: boolean,
): string[] {
  if (least === undefined && most === undefined) return [];
  const bounds = [
    ...(least === undefined ? [] : [`>= ${where.bind(least, 'bigint')}`]),
    ...(most === undefined ? [] : [`<= ${where.bind(most, 'bigint')}`]),
  ];
  for (const bound of bounds) where.add(`employees + 0 ${bound}`);
  const isNarrow = most !== undefined && least !== undefined && most < 2 * least;
  if (isNarrow || !hasOther) return bounds.map((bound) => `employees ${bound}`);
  const first = bracketOf(least ?? 0);
  const last = bracketOf(most ?? Infinity);
  const brackets = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return [`${BRACKET_OF_ROW} && ${where.bind(brackets, 'smallint[]')}`];
}
