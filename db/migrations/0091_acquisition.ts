import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    organizations: 'ShareRowExclusiveLock',
    contacts: 'ShareRowExclusiveLock',
    people: 'ShareRowExclusiveLock',
    goals: 'ShareRowExclusiveLock',
    campaign_steps: 'AccessExclusiveLock',
    campaign_variants: 'AccessExclusiveLock',
    enrollments: 'AccessExclusiveLock',
    sends: 'AccessExclusiveLock',
    send_facts: 'AccessExclusiveLock',
    product_events: 'AccessExclusiveLock',
  },
  secondsAtMillionRows: 8,
};

/** What a send was like when it left, what became of people after it, and whom a customer is credited to. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What an email offers, says and asks for, as its author names it; empty: unnamed. A variant's replaces its step's.
    alter table campaign_steps add column offer text not null default '', add column angle text not null default '', add column cta text not null default '';
    alter table campaign_variants add column offer text not null default '', add column angle text not null default '', add column cta text not null default '';

    -- How the lead came into the campaign; null: before this release.
    alter table enrollments add column source text, add column segment_id uuid;

    -- Labels, copy and audience as they were when the email was claimed for sending.
    alter table sends add column dimensions jsonb;

    -- By what the event named its person: contact, email, user_id or anonymous_id; null: before this release.
    alter table product_events add column named_by text;

    alter table send_facts
      add column offer text, add column angle text, add column cta text,
      -- Begin of the SHA-256 of subject and bodies before they are filled in.
      add column copy_hash text,
      add column audience_source text, add column segment_id uuid,
      add column category_ids uuid[] not null default '{}';
    create index send_facts_timeline on send_facts (contact_id, sent_at desc, send_id desc) where contact_id is not null;
    create index send_facts_replied on send_facts (organization_id, sent_at) where replied_at is not null;
    -- Replaced by send_facts_timeline.
    drop index send_facts_contact;

    -- Contacts that emails were sent to: one row for each campaign, and one with the nil UUID for all together.
    create table prospect_facts (
      organization_id uuid not null references organizations on delete cascade,
      contact_id uuid not null references contacts on delete cascade,
      campaign_id uuid not null,
      sends integer not null,
      first_sent_at timestamptz not null,
      last_sent_at timestamptz not null,
      replied_at timestamptz,
      positive_at timestamptz,
      -- The latest confirmed send, first or positive reply to an email, and conversion of the person.
      activity_at timestamptz not null,
      -- Goals that the person has reached.
      goal_ids uuid[] not null default '{}',
      primary key (contact_id, campaign_id)
    ) with (fillfactor = 80);
    create index prospect_facts_newest on prospect_facts (organization_id, campaign_id, activity_at desc, contact_id desc);
    create index prospect_facts_interested on prospect_facts (organization_id, campaign_id, activity_at desc, contact_id desc) where positive_at is not null;
    create index prospect_facts_reached on prospect_facts (organization_id, campaign_id, activity_at desc, contact_id desc) where goal_ids <> '{}';

    -- When a person first reached a goal of a stage at which customers are counted, and the last email before it, however long before.
    create table acquisition_facts (
      organization_id uuid not null references organizations on delete cascade,
      person_id uuid not null references people on delete cascade,
      goal_id uuid not null references goals on delete cascade,
      contact_id uuid references contacts on delete cascade,
      conversion_id uuid not null,
      event_id uuid not null,
      acquired_at timestamptz not null,
      match_method text not null check (match_method in ('contact', 'email', 'linked_identity', 'website_visitor', 'unknown', 'none')),
      send_id uuid,
      sent_at timestamptz,
      -- Null for people without an email address, and for addresses of providers that give one to everybody.
      company_domain text,
      -- The last email to another contact of the same company before the acquisition.
      colleague_send_id uuid,
      colleague_sent_at timestamptz,
      colleague_id uuid references contacts on delete set null,
      primary key (person_id, goal_id)
    );
    create index acquisition_facts_newest on acquisition_facts (organization_id, goal_id, acquired_at desc, person_id desc);
    create index acquisition_facts_goal on acquisition_facts (goal_id);
    create index acquisition_facts_contact on acquisition_facts (contact_id) where contact_id is not null;
    create index acquisition_facts_company on acquisition_facts (organization_id, company_domain, acquired_at) where company_domain is not null;
    create index acquisition_facts_colleague on acquisition_facts (colleague_id) where colleague_id is not null;
    create index acquisition_facts_orphaned on acquisition_facts (organization_id) where colleague_send_id is not null and colleague_id is null;

    create table attribution_settings (
      organization_id uuid primary key references organizations on delete cascade,
      window_days integer not null check (window_days between 1 and 365),
      company_estimates boolean not null,
      -- Kept when they are gone.
      updated_by uuid,
      updated_at timestamptz not null
    );

    -- What a campaign cost; stays when the campaign is deleted, as its figures do.
    create table campaign_spend (
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null,
      amount_minor bigint not null check (amount_minor >= 0),
      currency text not null,
      updated_by uuid,
      updated_at timestamptz not null,
      primary key (organization_id, campaign_id)
    );

    -- What people decided about the credit of a customer, and took back.
    create table attribution_corrections (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      person_id uuid not null references people on delete cascade,
      action text not null check (action in ('set', 'restored')),
      -- Null: not acquired by an email; also where the automatic credit was restored.
      send_id uuid,
      reason text not null,
      -- In force. The restored never are.
      is_current boolean not null,
      corrected_by uuid,
      created_at timestamptz not null
    );
    create index attribution_corrections_person on attribution_corrections (person_id, created_at desc, id desc);
    create unique index attribution_corrections_current on attribution_corrections (person_id) where is_current;

    call heron_guard_rows('prospect_facts');
    call heron_guard_rows('acquisition_facts');
    call heron_guard_rows('attribution_settings');
    call heron_guard_rows('campaign_spend');
    call heron_guard_rows('attribution_corrections');
  `);
}
