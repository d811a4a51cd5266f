import type { Knex } from 'knex';
import type { Handle } from './connection.ts';

/** What stands behind a pool or transaction. Only db/ imports this (the linter holds it): everything else has a scope. */
export function knexOf(handle: Handle): Knex {
  return handle as unknown as Knex;
}
