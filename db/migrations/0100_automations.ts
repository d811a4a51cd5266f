import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    organizations: 'ShareRowExclusiveLock',
    contacts: 'ShareRowExclusiveLock',
    app_connections: 'ShareRowExclusiveLock',
    campaign_steps: 'AccessExclusiveLock',
  },
  secondsAtMillionRows: 15,
};

/** Flows that start from triggers, and their runs. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table automations (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      name text not null,
      enabled boolean not null,
      trigger_event text not null,
      filter jsonb not null,
      graph jsonb not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (organization_id, id)
    );
    create index automations_organization on automations (organization_id, id desc);
    create index automations_trigger on automations (organization_id, trigger_event) where enabled;

    -- What the graph of an automation needs: none of it can be deleted meanwhile.
    create table automation_references (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      automation_id uuid not null references automations on delete cascade,
      used_automation_id uuid references automations,
      app_connection_id uuid references app_connections
    );
    create index automation_references_automation on automation_references (automation_id);
    create index automation_references_used on automation_references (used_automation_id) where used_automation_id is not null;
    create index automation_references_app on automation_references (app_connection_id) where app_connection_id is not null;

    create table automation_runs (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      automation_id uuid not null references automations on delete cascade,
      -- What started it: an automation has one run for each.
      cause text not null,
      trigger_event text not null,
      contact_id uuid references contacts on delete set null,
      status text not null check (status in ('running', 'success', 'error')),
      data jsonb not null,
      node_results jsonb not null,
      error_detail text not null,
      -- Reactions in a row that led to it.
      hops integer not null,
      -- While it runs: the graph that it began with, and the nodes that wait.
      graph jsonb,
      waiting jsonb,
      blocked_reason text,
      started_at timestamptz not null,
      finished_at timestamptz,
      constraint automation_runs_cause_key unique (automation_id, cause)
    );
    create index automation_runs_newest on automation_runs (automation_id, id desc);
    create index automation_runs_open on automation_runs (id) where status = 'running';
    create index automation_runs_contact on automation_runs (contact_id) where contact_id is not null;
    create index automation_runs_finished on automation_runs (organization_id, finished_at) where finished_at is not null;

    -- PostgreSQL derives it from the action, so that a step that is saved meanwhile keeps its automation.
    alter table campaign_steps add column automation_id uuid generated always as (
      case when action ->> 'type' = 'run_automation' and action ->> 'automation_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        then (action ->> 'automation_id')::uuid end
    ) stored;
    alter table campaign_steps add constraint campaign_steps_automation_fkey
      foreign key (organization_id, automation_id) references automations (organization_id, id);
    create index campaign_steps_automation on campaign_steps (automation_id) where automation_id is not null;

    call heron_guard_rows('automations');
    call heron_guard_rows('automation_references');
    call heron_guard_rows('automation_runs');
  `);
}
