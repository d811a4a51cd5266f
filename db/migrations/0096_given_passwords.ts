import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { users: 'AccessExclusiveLock' },
  secondsAtMillionRows: 0,
  rowsDoNotMatter: true,
};

/** Whether an account still has the password that an operator gave it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table users add column has_given_password boolean not null default false');
}
