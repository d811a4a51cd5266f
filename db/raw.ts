import type { Knex } from 'knex';
import type { Handle } from './connection.ts';

/**
 * Returns the knex object of a pool or transaction. Only db/ may import this (the linter checks it). All other code
 * uses a scope.
 */
export function knexOf(handle: Handle): Knex {
  return handle as unknown as Knex;
}
