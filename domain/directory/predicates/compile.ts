import { foldCase } from '../../../lib/fold-case.ts';
import { Conditions } from '../../platform/conditions.ts';
import type { Predicate, Scalar } from './predicate.ts';

/** An SQL condition with its bindings. */
interface CompiledPredicates {
  /** Boolean expression, in parentheses. */
  sql: string;
  bindings: Conditions['bindings'];
}

/**
 * Compiles predicates to an SQL condition on a jsonb expression, with the meaning of `meetsAll` (evaluate.ts); every
 * value is bound. The condition is true, false, or null if PostgreSQL cannot decide. It is null for `contains` on
 * non-ASCII text: PostgreSQL folds case by the database's locale, JavaScript by Unicode. Callers evaluate such rows
 * with `meetsAll`; {@link mayBeUndecided} returns true if such rows are possible.
 * @param data the jsonb expression, such as `e.data`
 * @param prefix prefix of the binding names, so that one statement can contain several conditions
 */
export function compilePredicates(predicates: readonly Predicate[], data: string, prefix = 'p'): CompiledPredicates {
  const where = new Conditions(prefix);
  for (const predicate of predicates) where.add(compile(where, predicate, compilePath(where, data, predicate.path)));
  return { sql: `(${where.all()})`, bindings: where.bindings };
}

/** Returns true if the condition of these predicates can be null. */
export function mayBeUndecided(predicates: readonly Predicate[]): boolean {
  return predicates.some(({ op }) => op === 'contains');
}

/**
 * Returns SQL for the property at a path of a jsonb expression. The value is null if there is no such property. As in
 * `propertyAt`, only properties of objects are found, because `->` with a text ignores array elements.
 */
export function compilePath(where: Conditions, data: string, path: string): string {
  return [data, ...path.split('.').map((segment) => where.bind(segment, 'text'))].join(' -> ');
}

function compile(where: Conditions, predicate: Predicate, found: string): string {
  switch (predicate.op) {
    case 'eq':
      return equals(where, found, [predicate.value]);
    case 'neq':
      return `not ${equals(where, found, [predicate.value])}`;
    case 'in':
      return equals(where, found, predicate.value);
    case 'not_in':
      return `not ${equals(where, found, predicate.value)}`;
    case 'gt':
      return compare(where, found, '>', predicate.value);
    case 'gte':
      return compare(where, found, '>=', predicate.value);
    case 'lt':
      return compare(where, found, '<', predicate.value);
    case 'lte':
      return compare(where, found, '<=', predicate.value);
    case 'contains':
      return contains(where, found, predicate.value);
    case 'exists':
      return `(${found}) is not null`;
    case 'not_exists':
      return `(${found}) is null`;
  }
}

/**
 * Returns the SQL condition that a value equals one of `values`. jsonb scalars are equal only if they have the same
 * type, and numbers are compared by value.
 */
function equals(where: Conditions, found: string, values: readonly Scalar[]): string {
  const bound = values.map((value) => `${where.bind(JSON.stringify(value), 'text')}::jsonb`);
  return `coalesce((${found}) in (${bound.join(', ')}), false)`;
}

/**
 * Returns the SQL condition that compares a value with a number. jsonb compares all numbers as numeric, and the bound
 * value is written as in JSON.
 */
function compare(where: Conditions, found: string, operator: string, value: number): string {
  const bound = `${where.bind(JSON.stringify(value), 'text')}::jsonb`;
  return `coalesce(jsonb_typeof(${found}) = 'number' and (${found}) ${operator} ${bound}, false)`;
}

function contains(where: Conditions, found: string, value: string): string {
  const folded = where.bind(foldCase(value), 'text');
  const text = `((${found}) #>> '{}')`;
  return `case when jsonb_typeof(${found}) = 'string'
    then case when octet_length(${text}) = length(${text}) then position(${folded} in lower(${text} collate "C")) > 0 end
    else false end`;
}
