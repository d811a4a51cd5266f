import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    product_events: 'ShareLock',
    people: 'ShareLock',
    identity_conflicts: 'AccessExclusiveLock',
  },
  secondsAtMillionRows: 1,
};

/** Conflicts that were merged are kept; lists and sweeps of people read indexes of their own. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table identity_conflicts alter column other_person_id drop not null;
    -- Who was folded into person_id, and is gone.
    alter table identity_conflicts add column merged_person_id uuid;
    alter table identity_conflicts drop constraint identity_conflicts_state_check;
    alter table identity_conflicts add constraint identity_conflicts_state_check check (state in ('open', 'dismissed', 'merged'));

    create index people_without_contact on people (organization_id, id desc) where contact_id is null;
    create index product_events_contactless on product_events (person_id, received_at desc, id desc) where contact_id is null;
    -- Events from before there were people; empty once they have theirs.
    create index product_events_personless on product_events (organization_id, contact_id) where person_id is null;
  `);
}
