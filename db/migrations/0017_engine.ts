import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    campaign_variants: 'AccessExclusiveLock',
    campaigns: 'AccessExclusiveLock',
    enrollments: 'ShareLock',
    sends: 'ShareLock',
  },
  secondsAtMillionRows: 2,
};

/**
 * Which variant has won, and an index of runs that have no mailbox yet. The indexes are built under a lock that lets nobody
 * write enrollments and sends meanwhile: about a second per million rows.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- When the variant was chosen for all further emails of its step, and what spoke for it (rule, counts).
    alter table campaign_variants add column promoted_at timestamptz, add column promotion jsonb;
    -- When the variants of a campaign were last compared.
    alter table campaigns add column variants_compared_at timestamptz;
    create index sends_variant on sends (variant_id) include (sent_at, bounced_at, opened_at, clicked_at, replied_at) where variant_id is not null;

    -- Runs that have had no slot: a campaign that begins with something else than an email keeps few of them open.
    create index enrollments_unmailed on enrollments (campaign_id) where state = 'active' and mailbox_id is null;
  `);
}
