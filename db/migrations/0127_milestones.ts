import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { prospect_facts: 'AccessExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** When each of these first happened with a prospect. `heron facts rebuild` fills them for emails that left before. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table prospect_facts
      -- By a person.
      add column opened_at timestamptz,
      add column clicked_at timestamptz,
      -- For good.
      add column bounced_at timestamptz,
      add column complained_at timestamptz,
      add column unsubscribed_at timestamptz;
  `);
}
