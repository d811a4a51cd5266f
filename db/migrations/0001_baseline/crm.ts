/** Tables for deals, tasks, activities and meetings. */
export const CRM = `
create table crm_pipelines (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  position integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table crm_pipelines is 'A sequence of stages for deals.';
comment on column crm_pipelines.position is 'Position from 1, without gaps.';
create index crm_pipelines_organization on crm_pipelines (organization_id, position);
call heron_guard_rows('crm_pipelines');

create table crm_stages (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  pipeline_id uuid not null references crm_pipelines on delete cascade,
  name text not null,
  color text not null,
  position integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint crm_stages_of_pipeline unique (pipeline_id, id)
);
comment on table crm_stages is 'A stage of a pipeline.';
comment on column crm_stages.position is 'Position in the pipeline from 1, without gaps.';
create index crm_stages_order on crm_stages (organization_id, pipeline_id, position);
call heron_guard_rows('crm_stages');

create table crm_deals (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  pipeline_id uuid not null,
  stage_id uuid not null,
  contact_id uuid,
  name text not null,
  value_minor bigint,
  currency text not null,
  value_scaled bigint,
  status text not null default 'open' check (status in ('open', 'won', 'lost')),
  expected_close_date timestamptz,
  won_at timestamptz,
  lost_at timestamptz,
  lost_reason text,
  assigned_to uuid,
  campaign_id uuid,
  source_mailbox_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint crm_deals_assignee foreign key (organization_id, assigned_to) references memberships on delete set null (assigned_to),
  constraint crm_deals_campaign foreign key (campaign_id) references campaigns on delete set null,
  constraint crm_deals_contact foreign key (contact_id) references contacts on delete set null,
  constraint crm_deals_mailbox foreign key (source_mailbox_id) references mailboxes on delete set null,
  constraint crm_deals_stage foreign key (pipeline_id, stage_id) references crm_stages (pipeline_id, id) deferrable,
  check ((value_minor is null) = (value_scaled is null)),
  check ((won_at is not null) = (status = 'won')),
  check ((lost_at is not null) = (status = 'lost'))
);
comment on table crm_deals is 'A possible sale to a contact. It outlives its contact, campaign and mailbox.';
comment on column crm_deals.value_minor is 'Value in the currency''s minor unit.';
comment on column crm_deals.currency is 'ISO 4217 code, upper-case.';
comment on column crm_deals.value_scaled is 'Value in ten-thousandths of the currency''s major unit, comparable across currencies with different decimal places.';
comment on column crm_deals.assigned_to is 'Responsible member. Null once the member has left the organization.';
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
create index crm_deals_search on crm_deals using gin (heron_fold(name) gin_trgm_ops);
call heron_guard_rows('crm_deals');

create table crm_task_types (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  color text not null,
  position integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table crm_task_types is 'A type of tasks.';
comment on column crm_task_types.position is 'Position from 1, without gaps.';
create unique index crm_task_types_name on crm_task_types (organization_id, lower(name));
create index crm_task_types_order on crm_task_types (organization_id, position);
call heron_guard_rows('crm_task_types');

create table crm_seeds (
  organization_id uuid primary key references organizations on delete cascade,
  created_at timestamptz not null
);
comment on table crm_seeds is 'An organization that was given the default task types. They are not created again if it deletes them.';
call heron_guard_rows('crm_seeds');

create table crm_tasks (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  contact_id uuid,
  deal_id uuid,
  assigned_to uuid,
  assigned_team_id uuid,
  created_by uuid,
  title text not null,
  title_message jsonb,
  description text,
  description_message jsonb,
  due_date timestamptz,
  priority text not null check (priority in ('low', 'medium', 'high', 'urgent')),
  priority_rank smallint not null generated always as (case priority when 'low' then 1 when 'medium' then 2 when 'high' then 3 else 4 end) stored,
  type text not null,
  status text not null default 'pending' check (status in ('pending', 'in_progress', 'completed', 'cancelled')),
  completed_at timestamptz,
  source text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint crm_tasks_assignee foreign key (organization_id, assigned_to) references memberships on delete set null (assigned_to),
  constraint crm_tasks_contact foreign key (contact_id) references contacts on delete set null,
  constraint crm_tasks_deal foreign key (deal_id) references crm_deals on delete set null,
  constraint crm_tasks_team foreign key (assigned_team_id) references teams on delete set null,
  check ((completed_at is not null) = (status = 'completed'))
);
comment on table crm_tasks is 'A task of a member or team. It outlives its contact and deal.';
comment on column crm_tasks.created_by is 'Kept when the account is deleted. Null for a task created by a reply.';
comment on column crm_tasks.title is 'Words of a person, or the English text of "title_message", by which tasks are searched and sorted.';
comment on column crm_tasks.title_message is 'Message, rendered when read, for a title that no person wrote.';
comment on column crm_tasks.description_message is 'Message, rendered when read, for a description that no person wrote.';
comment on column crm_tasks.type is 'Name of the task type when the task was written. The type may be deleted since.';
comment on column crm_tasks.source is 'Source of a task that no person created, such as the hash of a Message-ID. At most one task per source.';
create unique index crm_tasks_source on crm_tasks (organization_id, source) where source is not null;
create index crm_tasks_list on crm_tasks (organization_id, id);
create index crm_tasks_created on crm_tasks (organization_id, created_at, id);
create index crm_tasks_updated on crm_tasks (organization_id, updated_at, id);
create index crm_tasks_due on crm_tasks (organization_id, coalesce(due_date, '-infinity'), id);
create index crm_tasks_priority on crm_tasks (organization_id, priority_rank, id);
create index crm_tasks_title on crm_tasks (organization_id, lower(title) collate "C", id);
create index crm_tasks_assignee on crm_tasks (organization_id, assigned_to, id) where assigned_to is not null;
create index crm_tasks_team on crm_tasks (assigned_team_id, id) where assigned_team_id is not null;
create index crm_tasks_contact on crm_tasks (contact_id, id) where contact_id is not null;
create index crm_tasks_deal on crm_tasks (deal_id, id) where deal_id is not null;
create index crm_tasks_search on crm_tasks using gin (heron_fold(title) gin_trgm_ops);
create index crm_tasks_open_due on crm_tasks (organization_id, coalesce(due_date, '-infinity'), id) include (due_date, assigned_to)
  where status in ('pending', 'in_progress');
call heron_guard_rows('crm_tasks');

create table crm_activities (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  contact_id uuid references contacts on delete cascade,
  deal_id uuid,
  task_id uuid,
  user_id uuid,
  activity_type text not null,
  metadata jsonb not null,
  created_at timestamptz not null
);
comment on table crm_activities is 'A record of an action on a contact or deal. Deleted with the contact.';
comment on column crm_activities.user_id is 'Kept when the account is deleted.';
create index crm_activities_contact on crm_activities (contact_id, id) where contact_id is not null;
create index crm_activities_deal on crm_activities (organization_id, deal_id, id) where deal_id is not null;
call heron_guard_rows('crm_activities');

create table contact_notes (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  contact_id uuid not null references contacts on delete cascade,
  user_id uuid,
  content text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table contact_notes is 'A note about a contact, for the people of the organization. Deleted with the contact.';
comment on column contact_notes.user_id is 'Author. Kept when the account is deleted.';
create index contact_notes_contact on contact_notes (contact_id, id);
call heron_guard_rows('contact_notes');

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
comment on table crm_deal_counts is 'Counts of deals. Writers insert differences; the sum of the rows is the count.';
comment on column crm_deal_counts.value_minor is 'Value in the currency''s minor unit.';
create index crm_deal_counts_organization on crm_deal_counts (organization_id);
create index crm_deal_counts_new on crm_deal_counts (organization_id) where not is_folded;
call heron_guard_rows('crm_deal_counts');

create function crm_fold_deal_counts(workspace uuid) returns void language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtextextended('crm-deal-counts/' || workspace, 0)) then return; end if;
  with taken as (delete from crm_deal_counts where organization_id = workspace returning *)
  insert into crm_deal_counts
  select organization_id, pipeline_id, stage_id, status, currency, assigned_to, campaign_id, sum(deals), sum(value_minor), true
  from taken group by 1, 2, 3, 4, 5, 6, 7 having sum(deals) <> 0;
end $$;

-- Rows of an organization that is being deleted are skipped: its own row is gone already.
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
comment on table crm_task_counts is 'Counts of tasks. Writers insert differences; the sum of the rows is the count.';
create index crm_task_counts_organization on crm_task_counts (organization_id);
create index crm_task_counts_new on crm_task_counts (organization_id) where not is_folded;
call heron_guard_rows('crm_task_counts');

create function crm_fold_task_counts(workspace uuid) returns void language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtextextended('crm-task-counts/' || workspace, 0)) then return; end if;
  with taken as (delete from crm_task_counts where organization_id = workspace returning *)
  insert into crm_task_counts
  select organization_id, status, priority, type, assigned_to, assigned_team_id, sum(tasks), true
  from taken group by 1, 2, 3, 4, 5, 6 having sum(tasks) <> 0;
end $$;

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

create table meetings (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  source text not null,
  connection_id uuid references integration_connections on delete set null,
  external_event_id text not null,
  replaced_ids text[] not null default '{}',
  status text not null check (status in ('booked', 'rescheduled', 'canceled', 'completed', 'no_show')),
  invitee_email text not null,
  invitee_name text not null,
  event_name text not null,
  event_type text not null,
  scheduled_for timestamptz,
  end_time timestamptz,
  join_url text not null,
  location text not null,
  cancel_url text not null,
  reschedule_url text not null,
  canceled_reason text not null,
  contact_id uuid references contacts on delete cascade,
  campaign_id uuid references campaigns on delete set null,
  news_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table meetings is 'A booking reported by a provider. It outlives its connection and campaign, and is deleted with its contact.';
comment on column meetings.replaced_ids is 'Ids of the booking at the provider before it was rebooked.';
comment on column meetings.news_at is 'Time of the state by the provider''s clock. Older reports change nothing.';
create unique index meetings_external on meetings (organization_id, source, external_event_id) where external_event_id <> '';
create index meetings_replaced on meetings using gin (replaced_ids) where replaced_ids <> '{}';
create index meetings_created on meetings (organization_id, created_at desc, id desc);
create index meetings_scheduled on meetings (organization_id, scheduled_for, id);
create index meetings_contact on meetings (contact_id, created_at) where contact_id is not null;
create index meetings_connection on meetings (connection_id) where connection_id is not null;
create index meetings_campaign on meetings (campaign_id) where campaign_id is not null;
create index meetings_email on meetings (organization_id, invitee_email) where contact_id is null;
call heron_guard_rows('meetings');

-- Sets meeting_at of a contact while the contact has a meeting that is not cancelled.
create function heron_note_meeting() returns trigger language plpgsql as $$
declare ids uuid[];
begin
  if tg_op = 'INSERT' then
    select array_agg(distinct contact_id) into ids from added where contact_id is not null;
  elsif tg_op = 'DELETE' then
    select array_agg(distinct contact_id) into ids from removed where contact_id is not null;
  else
    select array_agg(distinct v.id) into ids from removed r join added a using (id) cross join lateral (values (r.contact_id), (a.contact_id)) v(id)
    where v.id is not null and (r.contact_id, r.status) is distinct from (a.contact_id, a.status);
  end if;
  if ids is not null then
    perform from contact_outreach where contact_id = any(ids) order by contact_id for update;
    update contact_outreach o set meeting_at =
      (select min(m.created_at) from meetings m where m.contact_id = o.contact_id and m.status <> 'canceled')
    where o.contact_id = any(ids);
  end if;
  return null;
end $$;
create trigger meetings_added after insert on meetings referencing new table as added for each statement execute function heron_note_meeting();
create trigger meetings_changed after update on meetings referencing old table as removed new table as added for each statement execute function heron_note_meeting();
create trigger meetings_removed after delete on meetings referencing old table as removed for each statement execute function heron_note_meeting();
`;
