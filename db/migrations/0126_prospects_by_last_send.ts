import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { prospect_facts: 'ShareLock' },
  secondsAtMillionRows: 2,
};

/** Prospects of a campaign, or of all, whose last email was sent in a range: reports count them without reading the emails. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'create index prospect_facts_last_sent on prospect_facts (organization_id, campaign_id, last_sent_at)',
  );
}
