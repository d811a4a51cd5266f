import { foldCase } from '../../../lib/fold-case.ts';
import type { Predicate, Scalar } from './predicate.ts';

/**
 * Returns true if the data of an event meets all predicates. A missing property equals no value, so `neq` and `not_in`
 * hold for it. Numbers are compared by value, and the string "1" does not equal the number 1. This is the reference
 * implementation; the SQL form (compile.ts) gives the same results.
 */
export function meetsAll(predicates: readonly Predicate[], data: unknown): boolean {
  return predicates.every((predicate) => meets(predicate, data));
}

function meets(predicate: Predicate, data: unknown): boolean {
  const found = propertyAt(data, predicate.path);
  switch (predicate.op) {
    case 'eq':
      return found === predicate.value;
    case 'neq':
      return found !== predicate.value;
    case 'in':
      return isOneOf(predicate.value, found);
    case 'not_in':
      return !isOneOf(predicate.value, found);
    case 'gt':
      return typeof found === 'number' && found > predicate.value;
    case 'gte':
      return typeof found === 'number' && found >= predicate.value;
    case 'lt':
      return typeof found === 'number' && found < predicate.value;
    case 'lte':
      return typeof found === 'number' && found <= predicate.value;
    case 'contains':
      return typeof found === 'string' && foldCase(found).includes(foldCase(predicate.value));
    case 'exists':
      return found !== undefined;
    case 'not_exists':
      return found === undefined;
  }
}

/**
 * Returns the property at a path, or undefined. Finds only own properties of objects: no inherited ones, and no array
 * elements. A property with the value null exists.
 */
export function propertyAt(data: unknown, path: string): unknown {
  let found = data;
  for (const segment of path.split('.')) {
    if (typeof found !== 'object' || found === null || Array.isArray(found) || !Object.hasOwn(found, segment))
      return undefined;
    found = (found as Record<string, unknown>)[segment];
  }
  return found;
}

function isOneOf(values: readonly Scalar[], found: unknown): boolean {
  return values.some((value) => value === found);
}
