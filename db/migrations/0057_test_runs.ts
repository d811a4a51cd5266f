import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    campaigns: 'ShareRowExclusiveLock',
    contacts: 'ShareRowExclusiveLock',
    mailboxes: 'ShareRowExclusiveLock',
    organizations: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 0.1,
  rowsDoNotMatter: true,
};

/**
 * Test runs of campaigns: one prospect on the way through the steps, with real emails and calls, and no part of the campaign's
 * leads or numbers. An email of one is a row of sends with the id of its step, from the moment it has a slot, so that mailbox
 * caps, gaps, claims and reconciliation are those of campaign emails.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table test_runs (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null references campaigns on delete cascade,
      contact_id uuid not null references contacts on delete cascade,
      mailbox_id uuid references mailboxes on delete set null,
      -- Where its emails go, whatever the address of the contact.
      prospect_email text not null,
      state text not null check (state in ('running', 'waiting_for_event', 'completed', 'failed', 'cancelled')),
      current_step_id uuid,
      app_values jsonb not null default '{}',
      conversation jsonb not null default '{"subject": "", "messageIds": []}',
      -- No wait of it lasts longer; null: as long as the steps say.
      max_wait_seconds integer,
      -- Every wait has an end: it fails when it has not finished by then.
      ends_at timestamptz not null,
      waiting_for text,
      waiting_until timestamptz,
      blocked_reason text,
      error jsonb,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      completed_at timestamptz
    );
    create index test_runs_campaign on test_runs (campaign_id, id desc);
    create index test_runs_open on test_runs (id) where state in ('running', 'waiting_for_event');
    create index test_runs_contact on test_runs (contact_id);
    create index test_runs_mailbox on test_runs (mailbox_id);
    create index test_runs_organization on test_runs (organization_id);
    call heron_guard_rows('test_runs');

    create table test_run_steps (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      test_run_id uuid not null references test_runs on delete cascade,
      -- No foreign key: it stays as it was when the step is removed.
      step_id uuid not null,
      contact_id uuid not null,
      variant_id uuid,
      seq integer not null,
      name text not null,
      kind text not null,
      state text not null check (state in ('running', 'waiting', 'completed', 'skipped', 'failed')),
      outcome text,
      detail text,
      output_key text,
      output jsonb,
      event_name text,
      deadline timestamptz,
      event_id uuid,
      attempts integer not null default 0,
      error jsonb,
      started_at timestamptz not null,
      completed_at timestamptz,
      unique (test_run_id, seq)
    );
    create index test_run_steps_waiting on test_run_steps (contact_id, event_name) where state = 'waiting';
    create index test_run_steps_organization on test_run_steps (organization_id);
    call heron_guard_rows('test_run_steps');
  `);
}
