import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = { locks: { send_facts: 'AccessExclusiveLock' }, secondsAtMillionRows: 1 };

/** Replies to the emails of a range, of all campaigns or of one, with what reports count of them in the index itself. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index send_facts_replied;
    create index send_facts_replied on send_facts (organization_id, sent_at) include (contact_id, replied_at, positive_at) where replied_at is not null;
    create index send_facts_campaign_replied on send_facts (campaign_id, sent_at) include (organization_id, contact_id, replied_at, positive_at)
      where replied_at is not null;
  `);
}
