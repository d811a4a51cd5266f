import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    organizations: 'ShareRowExclusiveLock',
    memberships: 'ShareRowExclusiveLock',
    contacts: 'ShareRowExclusiveLock',
    campaigns: 'ShareRowExclusiveLock',
    mailboxes: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 0,
};

/**
 * Pipelines with stages, deals, tasks with their types, teams, and what happened to contacts. How many deals and tasks there are of each
 * kind is kept beside them, so that a search can say how many match without reading them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(TEAMS);
  await knex.raw(DEALS);
  await knex.raw(TASKS);
  await knex.raw(COUNTS);
}

const TEAMS = `
  create table teams (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    name text not null,
    color text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  );
  create index teams_organization on teams (organization_id, id);
  create table team_members (
    organization_id uuid not null references organizations on delete cascade,
    team_id uuid not null references teams on delete cascade,
    user_id uuid not null,
    added_at timestamptz not null,
    primary key (team_id, user_id),
    -- Who leaves the workspace leaves its teams.
    foreign key (organization_id, user_id) references memberships on delete cascade
  );
  create index team_members_user on team_members (organization_id, user_id);
  call heron_guard_rows('teams');
  call heron_guard_rows('team_members');
`;

const DEALS = `
  create table crm_pipelines (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    name text not null,
    -- From 1, without gaps.
    position integer not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  );
  create index crm_pipelines_organization on crm_pipelines (organization_id, position);
  create table crm_stages (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    pipeline_id uuid not null references crm_pipelines on delete cascade,
    name text not null,
    color text not null,
    -- From 1 in its pipeline, without gaps.
    position integer not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint crm_stages_of_pipeline unique (pipeline_id, id)
  );
  create index crm_stages_order on crm_stages (organization_id, pipeline_id, position);

  create table crm_deals (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    pipeline_id uuid not null,
    stage_id uuid not null,
    -- A deal outlives its contact, campaign and mailbox.
    contact_id uuid constraint crm_deals_contact references contacts on delete set null,
    name text not null,
    value_minor bigint,
    currency text not null,
    -- The value in ten-thousandths of the currency's unit: compares amounts of currencies with other decimal places as numbers.
    value_scaled bigint,
    status text not null default 'open' check (status in ('open', 'won', 'lost')),
    expected_close_date timestamptz,
    won_at timestamptz,
    lost_at timestamptz,
    lost_reason text,
    assigned_to uuid,
    campaign_id uuid constraint crm_deals_campaign references campaigns on delete set null,
    source_mailbox_id uuid constraint crm_deals_mailbox references mailboxes on delete set null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    check ((value_minor is null) = (value_scaled is null)),
    check ((won_at is not null) = (status = 'won')),
    check ((lost_at is not null) = (status = 'lost')),
    -- A pipeline or stage with deals is not deleted; with the workspace both go.
    constraint crm_deals_stage foreign key (pipeline_id, stage_id) references crm_stages (pipeline_id, id) deferrable initially immediate,
    constraint crm_deals_assignee foreign key (organization_id, assigned_to) references memberships on delete set null (assigned_to)
  );
  create index crm_deals_list on crm_deals (organization_id, id);
  create index crm_deals_created on crm_deals (organization_id, created_at, id);
  create index crm_deals_updated on crm_deals (organization_id, updated_at, id);
  create index crm_deals_value on crm_deals (organization_id, coalesce(value_scaled, -1), id);
  create index crm_deals_close on crm_deals (organization_id, coalesce(expected_close_date, '-infinity'), id);
  create index crm_deals_name on crm_deals (organization_id, lower(name) collate "C", id);
  create index crm_deals_stage on crm_deals (stage_id, id);
  create index crm_deals_assignee on crm_deals (organization_id, assigned_to, id) where assigned_to is not null;
  create index crm_deals_contact on crm_deals (contact_id, id) where contact_id is not null;
  create index crm_deals_campaign on crm_deals (campaign_id, id) where campaign_id is not null;
  create index crm_deals_mailbox on crm_deals (source_mailbox_id) where source_mailbox_id is not null;
  create index crm_deals_search on crm_deals using gin (name gin_trgm_ops);

  call heron_guard_rows('crm_pipelines');
  call heron_guard_rows('crm_stages');
  call heron_guard_rows('crm_deals');
`;

const TASKS = `
  create table crm_task_types (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    name text not null,
    color text not null,
    -- From 1, without gaps.
    position integer not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  );
  create unique index crm_task_types_name on crm_task_types (organization_id, lower(name));
  create index crm_task_types_order on crm_task_types (organization_id, position);
  -- Workspaces that have been given the first task types; one that has deleted them all keeps none.
  create table crm_seeds (
    organization_id uuid primary key references organizations on delete cascade,
    created_at timestamptz not null
  );

  create table crm_tasks (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    -- A task outlives its contact and deal.
    contact_id uuid constraint crm_tasks_contact references contacts on delete set null,
    deal_id uuid constraint crm_tasks_deal references crm_deals on delete set null,
    assigned_to uuid,
    assigned_team_id uuid constraint crm_tasks_team references teams on delete set null,
    -- Kept when they are gone; null for one that a reply made.
    created_by uuid,
    title text not null,
    description text,
    due_date timestamptz,
    priority text not null check (priority in ('low', 'medium', 'high', 'urgent')),
    priority_rank smallint not null generated always as (case priority when 'low' then 1 when 'medium' then 2 when 'high' then 3 else 4 end) stored,
    -- The name of a task type when it was written; the type may be gone.
    type text not null,
    status text not null default 'pending' check (status in ('pending', 'in_progress', 'completed', 'cancelled')),
    completed_at timestamptz,
    -- What made it where no person did, such as the hash of a reply's Message-ID: there is one task for each.
    source text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    check ((completed_at is not null) = (status = 'completed')),
    constraint crm_tasks_assignee foreign key (organization_id, assigned_to) references memberships on delete set null (assigned_to)
  );
  create unique index crm_tasks_source on crm_tasks (organization_id, source) where source is not null;
  create index crm_tasks_list on crm_tasks (organization_id, id);
  create index crm_tasks_created on crm_tasks (organization_id, created_at, id);
  create index crm_tasks_updated on crm_tasks (organization_id, updated_at, id);
  create index crm_tasks_due on crm_tasks (organization_id, coalesce(due_date, '-infinity'), id);
  create index crm_tasks_overdue on crm_tasks (organization_id, due_date) where status in ('pending', 'in_progress');
  create index crm_tasks_priority on crm_tasks (organization_id, priority_rank, id);
  create index crm_tasks_title on crm_tasks (organization_id, lower(title) collate "C", id);
  create index crm_tasks_assignee on crm_tasks (organization_id, assigned_to, id) where assigned_to is not null;
  create index crm_tasks_team on crm_tasks (assigned_team_id, id) where assigned_team_id is not null;
  create index crm_tasks_contact on crm_tasks (contact_id, id) where contact_id is not null;
  create index crm_tasks_deal on crm_tasks (deal_id, id) where deal_id is not null;
  create index crm_tasks_search on crm_tasks using gin (title gin_trgm_ops);

  -- What was done about contacts and deals, by people and by Heron. Goes with its contact.
  create table crm_activities (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    contact_id uuid references contacts on delete cascade,
    deal_id uuid,
    task_id uuid,
    -- Kept when they are gone.
    user_id uuid,
    activity_type text not null,
    metadata jsonb not null,
    created_at timestamptz not null
  );
  create index crm_activities_contact on crm_activities (contact_id, id) where contact_id is not null;
  create index crm_activities_deal on crm_activities (organization_id, deal_id, id) where deal_id is not null;

  call heron_guard_rows('crm_task_types');
  call heron_guard_rows('crm_seeds');
  call heron_guard_rows('crm_tasks');
  call heron_guard_rows('crm_activities');
`;

/**
 * A row of counts is a difference: the sum over the rows of a kind is the number of its deals or tasks, in every snapshot. Writers only add
 * rows, so none waits for another; now and then one of them folds the rows of its workspace together.
 */
const COUNTS = `
  create table crm_deal_counts (
    organization_id uuid not null references organizations on delete cascade,
    pipeline_id uuid not null,
    stage_id uuid not null,
    status text not null,
    currency text not null,
    assigned_to uuid,
    campaign_id uuid,
    deals bigint not null,
    value_minor numeric not null,
    is_folded boolean not null default false
  );
  create index crm_deal_counts_organization on crm_deal_counts (organization_id);
  create index crm_deal_counts_new on crm_deal_counts (organization_id) where not is_folded;
  create table crm_task_counts (
    organization_id uuid not null references organizations on delete cascade,
    status text not null,
    priority text not null,
    type text not null,
    assigned_to uuid,
    assigned_team_id uuid,
    tasks bigint not null,
    is_folded boolean not null default false
  );
  create index crm_task_counts_organization on crm_task_counts (organization_id);
  create index crm_task_counts_new on crm_task_counts (organization_id) where not is_folded;
  call heron_guard_rows('crm_deal_counts');
  call heron_guard_rows('crm_task_counts');

  create function crm_fold_deal_counts(workspace uuid) returns void language plpgsql as $$
  begin
    if not pg_try_advisory_xact_lock(hashtextextended('crm-deal-counts/' || workspace, 0)) then return; end if;
    with taken as (delete from crm_deal_counts where organization_id = workspace returning *)
    insert into crm_deal_counts
    select organization_id, pipeline_id, stage_id, status, currency, assigned_to, campaign_id, sum(deals), sum(value_minor), true
    from taken group by 1, 2, 3, 4, 5, 6, 7 having sum(deals) <> 0;
  end $$;
  create function crm_fold_task_counts(workspace uuid) returns void language plpgsql as $$
  begin
    if not pg_try_advisory_xact_lock(hashtextextended('crm-task-counts/' || workspace, 0)) then return; end if;
    with taken as (delete from crm_task_counts where organization_id = workspace returning *)
    insert into crm_task_counts
    select organization_id, status, priority, type, assigned_to, assigned_team_id, sum(tasks), true
    from taken group by 1, 2, 3, 4, 5, 6 having sum(tasks) <> 0;
  end $$;

  -- Rows of a workspace that is being deleted count for nothing: its own row is gone already.
  create function crm_deals_counted() returns trigger language plpgsql as $$
  declare workspace uuid;
  begin
    if tg_op = 'INSERT' then
      insert into crm_deal_counts (organization_id, pipeline_id, stage_id, status, currency, assigned_to, campaign_id, deals, value_minor)
      select organization_id, pipeline_id, stage_id, status, currency, assigned_to, campaign_id, count(*), coalesce(sum(value_minor), 0)
      from added group by 1, 2, 3, 4, 5, 6, 7;
      select organization_id into workspace from added limit 1;
    elsif tg_op = 'DELETE' then
      insert into crm_deal_counts (organization_id, pipeline_id, stage_id, status, currency, assigned_to, campaign_id, deals, value_minor)
      select organization_id, pipeline_id, stage_id, status, currency, assigned_to, campaign_id, -count(*), -coalesce(sum(value_minor), 0)
      from removed r where exists (select from organizations o where o.id = r.organization_id) group by 1, 2, 3, 4, 5, 6, 7;
      select organization_id into workspace from removed limit 1;
    else
      insert into crm_deal_counts (organization_id, pipeline_id, stage_id, status, currency, assigned_to, campaign_id, deals, value_minor)
      select organization_id, pipeline_id, stage_id, status, currency, assigned_to, campaign_id, sum(n), sum(n * coalesce(value_minor, 0))
      from (select a.*, 1 as n from added a union all select r.*, -1 from removed r) changed
      where exists (select from organizations o where o.id = changed.organization_id)
      group by 1, 2, 3, 4, 5, 6, 7 having sum(n) <> 0 or sum(n * coalesce(value_minor, 0)) <> 0;
      select organization_id into workspace from added limit 1;
    end if;
    if random() < 0.01 and (select count(*) from (select from crm_deal_counts where organization_id = workspace and not is_folded limit 500) new) = 500 then
      perform crm_fold_deal_counts(workspace);
    end if;
    return null;
  end $$;
  create trigger crm_deals_added after insert on crm_deals referencing new table as added for each statement execute function crm_deals_counted();
  create trigger crm_deals_changed after update on crm_deals referencing old table as removed new table as added for each statement execute function crm_deals_counted();
  create trigger crm_deals_removed after delete on crm_deals referencing old table as removed for each statement execute function crm_deals_counted();

  create function crm_tasks_counted() returns trigger language plpgsql as $$
  declare workspace uuid;
  begin
    if tg_op = 'INSERT' then
      insert into crm_task_counts (organization_id, status, priority, type, assigned_to, assigned_team_id, tasks)
      select organization_id, status, priority, type, assigned_to, assigned_team_id, count(*) from added group by 1, 2, 3, 4, 5, 6;
      select organization_id into workspace from added limit 1;
    elsif tg_op = 'DELETE' then
      insert into crm_task_counts (organization_id, status, priority, type, assigned_to, assigned_team_id, tasks)
      select organization_id, status, priority, type, assigned_to, assigned_team_id, -count(*)
      from removed r where exists (select from organizations o where o.id = r.organization_id) group by 1, 2, 3, 4, 5, 6;
      select organization_id into workspace from removed limit 1;
    else
      insert into crm_task_counts (organization_id, status, priority, type, assigned_to, assigned_team_id, tasks)
      select organization_id, status, priority, type, assigned_to, assigned_team_id, sum(n)
      from (select a.*, 1 as n from added a union all select r.*, -1 from removed r) changed
      where exists (select from organizations o where o.id = changed.organization_id)
      group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0;
      select organization_id into workspace from added limit 1;
    end if;
    if random() < 0.01 and (select count(*) from (select from crm_task_counts where organization_id = workspace and not is_folded limit 500) new) = 500 then
      perform crm_fold_task_counts(workspace);
    end if;
    return null;
  end $$;
  create trigger crm_tasks_added after insert on crm_tasks referencing new table as added for each statement execute function crm_tasks_counted();
  create trigger crm_tasks_changed after update on crm_tasks referencing old table as removed new table as added for each statement execute function crm_tasks_counted();
  create trigger crm_tasks_removed after delete on crm_tasks referencing old table as removed for each statement execute function crm_tasks_counted();
`;
