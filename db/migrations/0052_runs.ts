import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { organizations: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** Agent runs: what an agent asked to be prepared or launched, how far it is, and everything that happened to it. Only new tables. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table runs (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      state text not null check (state in ('queued', 'preflighting', 'awaiting_approval', 'launching', 'active', 'paused', 'completed', 'failed', 'denied', 'cancelled')),
      intent text not null check (intent in ('draft', 'launch')),
      input jsonb not null,
      -- No reference: the record outlives the campaign.
      campaign_id uuid not null,
      frozen_sender_ids uuid[] not null,
      recipient_count integer not null,
      action_count integer not null,
      policy_decision jsonb not null,
      preflight_report jsonb,
      error_details jsonb,
      -- No reference: the record outlives both.
      approval_id uuid,
      expires_at timestamptz,
      -- Who asked. No references: the record outlives the credential.
      actor_kind text not null check (actor_kind in ('session', 'api_key', 'oauth', 'system')),
      user_id uuid,
      api_key_id uuid,
      oauth_grant_id uuid,
      blocked_reason text,
      event_count integer not null default 0,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      ended_at timestamptz
    );
    create index runs_org on runs (organization_id, id desc);
    -- A campaign follows one run at a time.
    create unique index runs_open_campaign_key on runs (campaign_id)
      where state in ('queued', 'preflighting', 'awaiting_approval', 'launching', 'active', 'paused');
    -- The runs that must have an open workflow.
    create index runs_under_way on runs (id) where state in ('queued', 'preflighting', 'awaiting_approval', 'launching');
    call heron_guard_rows('runs');

    create table run_events (
      run_id uuid not null references runs on delete cascade,
      seq integer not null,
      organization_id uuid not null references organizations on delete cascade,
      type text not null,
      state text not null,
      previous_state text,
      data jsonb not null default '{}',
      actor_kind text not null,
      user_id uuid,
      created_at timestamptz not null,
      primary key (run_id, seq)
    );
    call heron_guard_rows('run_events');

    create function heron_append_only() returns trigger language plpgsql as $$
    begin
      raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
    end $$;
    create trigger run_events_append_only before update on run_events for each row execute function heron_append_only();
  `);
}
