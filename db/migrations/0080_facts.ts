import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    contacts: 'ShareRowExclusiveLock',
    organizations: 'ShareRowExclusiveLock',
    engagement_events: 'ShareLock',
    deliverability_events: 'ShareLock',
    inbound_messages: 'ShareLock',
    warmup_mails: 'ShareLock',
  },
  secondsAtMillionRows: 3,
};

/** Counts, by name; those from `opens` on count events, the others emails. */
const COUNTS = `
      sent integer not null default 0,
      bounced integer not null default 0,
      opened integer not null default 0,
      opened_by_person integer not null default 0,
      opened_by_machine integer not null default 0,
      clicked integer not null default 0,
      clicked_by_machine integer not null default 0,
      replied integer not null default 0,
      replied_positively integer not null default 0,
      complained integer not null default 0,
      unsubscribed integer not null default 0,
      opens integer not null default 0,
      machine_opens integer not null default 0,
      clicks integer not null default 0,
      machine_clicks integer not null default 0`;

/** What reports read: what became of each email of a campaign, and counts of it that are kept as it happens. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- One row per email of a campaign that left, or was refused at once. It says what the counts contain of the email, and
    -- outlives campaign, step and mailbox; of a deleted contact it forgets the contact.
    create table send_facts (
      send_id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      contact_id uuid references contacts on delete set null,
      campaign_id uuid not null,
      step_id uuid,
      variant_id uuid,
      mailbox_id uuid,
      -- When it was handed over; null for one that was refused at once.
      sent_at timestamptz,
      bounced_at timestamptz,
      opened_at timestamptz,
      machine_opened_at timestamptz,
      clicked_at timestamptz,
      machine_clicked_at timestamptz,
      replied_at timestamptz,
      positive_at timestamptz,
      complained_at timestamptz,
      unsubscribed_at timestamptz,
      -- Opens and clicks by hour: [{"hour", "metric", "count"}].
      hits jsonb not null default '[]'
    ) with (fillfactor = 80);
    create index send_facts_contact on send_facts (contact_id) where contact_id is not null;
    create index send_facts_mailbox on send_facts (mailbox_id, sent_at);
    create index send_facts_campaign on send_facts (campaign_id, sent_at);
    create index send_facts_organization on send_facts (organization_id, sent_at);

    create table fact_campaign_hours (
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null,
      hour timestamptz not null,${COUNTS},
      primary key (campaign_id, hour)
    ) with (fillfactor = 80);
    create index fact_campaign_hours_organization on fact_campaign_hours (organization_id, hour);

    create table fact_campaign_days (
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null,
      -- UTC.
      day date not null,${COUNTS},
      primary key (campaign_id, day)
    ) with (fillfactor = 80);
    create index fact_campaign_days_organization on fact_campaign_days (organization_id, day);

    create table fact_steps (
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null,
      step_id uuid not null,
      -- The nil UUID stands for the step's own text.
      variant_id uuid not null,${COUNTS},
      primary key (campaign_id, step_id, variant_id)
    ) with (fillfactor = 80);

    create table fact_mailbox_hours (
      organization_id uuid not null references organizations on delete cascade,
      mailbox_id uuid not null,
      hour timestamptz not null,${COUNTS},
      primary key (mailbox_id, hour)
    ) with (fillfactor = 80);
    create index fact_mailbox_hours_organization on fact_mailbox_hours (organization_id, hour);

    create table fact_mailbox_days (
      organization_id uuid not null references organizations on delete cascade,
      mailbox_id uuid not null,
      -- UTC.
      day date not null,${COUNTS},
      primary key (mailbox_id, day)
    ) with (fillfactor = 80);
    create index fact_mailbox_days_organization on fact_mailbox_days (organization_id, day);

    -- What no email is known of, for the report of deliverability; and what came in, was reported or landed in a time.
    create index engagement_events_unassigned on engagement_events (organization_id, at) where send_id is null;
    create index deliverability_events_reported on deliverability_events (organization_id, event_type, created_at);
    create index inbound_messages_judged on inbound_messages (organization_id, created_at) include (kind, intent);
    create index warmup_mails_placed on warmup_mails (organization_id, landed_at) where landed_at is not null;
    create index warmup_mails_sent_at on warmup_mails (organization_id, sent_at) where sent_at is not null;

    call heron_guard_rows('send_facts');
    call heron_guard_rows('fact_campaign_hours');
    call heron_guard_rows('fact_campaign_days');
    call heron_guard_rows('fact_steps');
    call heron_guard_rows('fact_mailbox_hours');
    call heron_guard_rows('fact_mailbox_days');
  `);
}
