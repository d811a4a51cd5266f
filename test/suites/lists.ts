import type { AnyRoute } from '../../api/http/route.ts';
import type { Answer } from '../harness/world.ts';
import { ROWS, type Place } from './foreign-ids.ts';
import { LISTS, NOT_ROWS } from './list-rows.ts';

/** Counts the rows in the answer of a list; undefined if it is no list. */
export function rowsIn({ body }: Pick<Answer, 'body'>): number | undefined {
  if (Array.isArray(body)) return body.length;
  const lists = Object.values((body ?? {}) as object).filter(Array.isArray);
  return lists.length === 1 ? lists[0]!.length : undefined;
}

/** Returns a function that creates one row of a list; undefined for other routes, or if no such function is known. */
export function rowOf(spec: AnyRoute): ((place: Place) => Promise<unknown>) | undefined {
  const ofPath = Object.keys(ROWS).find((path) => path.replace(/\/:[A-Za-z]+$/, '') === spec.path);
  return LISTS[spec.operationId] ?? (isList(spec) && ofPath ? ROWS[ofPath] : undefined);
}

/** Returns true for a route that lists rows. A list that is part of a single record does not count. */
export function isList({ operationId, method, path }: AnyRoute): boolean {
  return (method === 'get' && !/:[A-Za-z]+$/.test(path) && !NOT_ROWS.has(operationId)) || operationId in LISTS;
}
