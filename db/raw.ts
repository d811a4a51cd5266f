import type { Knex } from 'knex';
import type { Handle } from './connection.ts';

/** The knex object of a pool or transaction. Only db/ imports this (the linter checks it); everything else uses a scope. */
export function knexOf(handle: Handle): Knex {
  return handle as unknown as Knex;
}
