import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = { locks: { audit_logs: 'AccessExclusiveLock' }, secondsAtMillionRows: 4 };

/** The audit trail is read newest first, of everything, of one entity and of one person. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index audit_logs_newest on audit_logs (organization_id, created_at desc, id desc);
    create index audit_logs_entity on audit_logs (organization_id, entity_id, created_at desc, id desc) where entity_id is not null;
    create index audit_logs_actor on audit_logs (organization_id, user_id, created_at desc, id desc) where user_id is not null;
    -- Replaced by the first of them.
    drop index audit_logs_org;
  `);
}
