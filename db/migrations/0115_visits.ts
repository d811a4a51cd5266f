import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    organizations: 'ShareRowExclusiveLock',
    send_facts: 'AccessExclusiveLock',
    fact_campaign_hours: 'AccessExclusiveLock',
    fact_campaign_days: 'AccessExclusiveLock',
    fact_steps: 'AccessExclusiveLock',
    fact_mailbox_hours: 'AccessExclusiveLock',
    fact_mailbox_days: 'AccessExclusiveLock',
  },
  secondsAtMillionRows: 6,
};

const COUNTED = [
  'fact_campaign_hours',
  'fact_campaign_days',
  'fact_steps',
  'fact_mailbox_hours',
  'fact_mailbox_days',
] as const;

/**
 * Kept counts of where people read campaigns, of replies by intent, and of soft bounces. `heron facts rebuild` fills them for emails that left before.
 */
export async function up(knex: Knex): Promise<void> {
  for (const table of COUNTED)
    await knex.raw(`
      alter table ${table}
        add column bounced_softly integer not null default 0,
        add column replied_negatively integer not null default 0,
        add column replied_with_question integer not null default 0,
        add column replied_neutrally integer not null default 0
    `);
  await knex.raw(`
    alter table send_facts
      -- First reports and replies of the kind.
      add column soft_bounced_at timestamptz, add column negative_at timestamptz, add column question_at timestamptz, add column neutral_at timestamptz,
      -- Whom an open or click of the email is counted as: the first email to the contact in the campaign that a person opened. Stays when the contact is
      -- deleted; null while no person has opened the email or clicked in it.
      add column visitor uuid;
    create index send_facts_visitor on send_facts (visitor) where visitor is not null;

    -- What a figure of a report counts, by the time at which it counts.
    create index send_facts_opened on send_facts (organization_id, opened_at) where opened_at is not null;
    create index send_facts_opened_by_any on send_facts (organization_id, (least(opened_at, machine_opened_at))) where least(opened_at, machine_opened_at) is not null;
    create index send_facts_clicked on send_facts (organization_id, clicked_at) where clicked_at is not null;
    create index send_facts_answered on send_facts (organization_id, replied_at) where replied_at is not null;
    create index send_facts_positive on send_facts (organization_id, positive_at) where positive_at is not null;
    create index send_facts_bounced on send_facts (organization_id, bounced_at) where bounced_at is not null;

    -- Where somebody opened or clicked in emails of a campaign, and when first. The key is a country, a mail program or a kind of device; empty: unknown.
    create table visit_facts (
      organization_id uuid not null references organizations on delete cascade,
      visitor uuid not null,
      part text not null check (part in ('countries', 'clients', 'devices')),
      key text not null,
      campaign_id uuid not null,
      first_at timestamptz not null,
      primary key (visitor, part, key)
    ) with (fillfactor = 90);
    create index visit_facts_campaign on visit_facts (campaign_id, part, key, first_at, visitor);
    create index visit_facts_organization on visit_facts (organization_id);

    create table fact_visits (
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null,
      part text not null,
      key text not null,
      visitors integer not null,
      primary key (campaign_id, part, key)
    ) with (fillfactor = 80);
    create index fact_visits_organization on fact_visits (organization_id);

    call heron_guard_rows('visit_facts');
    call heron_guard_rows('fact_visits');
  `);
}
