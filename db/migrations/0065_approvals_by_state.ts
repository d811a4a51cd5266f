import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = { locks: { approvals: 'ShareLock' }, secondsAtMillionRows: 3 };

/** Lists of approvals in one state: without it, a state that few are in is looked for among all. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create index approvals_state on approvals (organization_id, status, id desc)');
}
