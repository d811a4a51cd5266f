import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    integration_revocations: 'AccessExclusiveLock',
    integration_connections: 'ShareLock',
    integration_deliveries: 'ShareLock',
  },
  secondsAtMillionRows: 8,
};

/** Whose consent a revocation would end, and which actions runs of automations have queued. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Empty for connections that were removed before it was noted.
    alter table integration_revocations add column external_account_id text not null default '';
    create index integration_connections_account on integration_connections (provider, external_account_id);
    -- By the run that asked for an action, so that it can be taken back.
    create index integration_deliveries_run on integration_deliveries ((source ->> 'run_id')) where source is not null;
  `);
}
