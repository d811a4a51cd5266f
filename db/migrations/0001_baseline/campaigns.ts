/** Tables for campaigns: steps, variants and senders, requests that create campaigns (runs), and tests of campaigns. */
export const CAMPAIGNS = `
create table outreach_settings (
  organization_id uuid primary key references organizations on delete cascade,
  settings jsonb not null default '{}',
  updated_at timestamptz not null
);
comment on table outreach_settings is 'Default sending settings of an organization.';
call heron_guard_rows('outreach_settings');

create table campaigns (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid,
  name text not null,
  description text not null default '',
  status text not null default 'draft' check (status in ('draft', 'active', 'paused', 'paused_no_accounts', 'paused_trial_expired', 'paused_undeliverable', 'completed')),
  kind text not null default 'sequence' check (kind in ('sequence', 'one_time')),
  stop_on_reply boolean not null default true,
  stop_on_company_reply text not null default 'off' check (stop_on_company_reply in ('off', 'any', 'positive_or_opt_out')),
  open_tracking boolean not null default true,
  link_tracking boolean not null default true,
  text_only boolean not null default false,
  daily_limit integer not null default 50,
  unsubscribe_header boolean not null default true,
  unsubscribe_mode text not null default 'inherit' check (unsubscribe_mode in ('inherit', 'text', 'link', 'off')),
  risky_emails boolean not null default false,
  cc text[] not null default '{}',
  bcc text[] not null default '{}',
  start_date timestamptz,
  end_date timestamptz,
  timezone text not null default 'UTC',
  days integer not null default 31 check (days between 0 and 127),
  start_time text not null default '09:00',
  end_time text not null default '17:00',
  schedule_windows jsonb not null default '[]',
  email_tags uuid[] not null default '{}',
  folders uuid[] not null default '{}',
  contact_order_by text not null default 'created_at',
  contact_order_dir text not null default 'asc',
  contact_order_field text,
  leads_ordered_from uuid,
  sender_strategy text not null default 'tags' check (sender_strategy in ('tags', 'explicit')),
  rotation_mode text not null default 'round_robin',
  ramp_enabled boolean not null default false,
  ramp_start integer not null default 5,
  ramp_increment integer not null default 5,
  ramp_ceiling integer not null default 50,
  ramp_level integer not null default 0,
  ramp_day date,
  esp_match_mode text not null default 'off' check (esp_match_mode in ('off', 'prefer', 'strict')),
  max_new_leads_per_day integer not null default 0,
  prioritize_new_leads boolean not null default false,
  entry_delay_minutes integer not null default 0 check (entry_delay_minutes between 0 and 129600),
  continuous boolean not null default false,
  idle_since timestamptz,
  tracking_domain text not null default '',
  tracking_domain_verified boolean not null default false,
  tracking_domain_verified_at timestamptz,
  utm_tracking boolean not null default false,
  utm_source text not null default '',
  utm_medium text not null default '',
  utm_campaign text not null default '',
  control_epoch integer not null default 0,
  rechecks jsonb not null default '[]',
  launch_epoch integer not null default 0,
  graph_version integer not null default 0,
  had_leads boolean not null default false,
  started_at timestamptz,
  last_status_change_at timestamptz,
  blocked_reason jsonb,
  variants_compared_at timestamptz,
  approval_id uuid,
  archived boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on column campaigns.archived is 'Lists leave it out unless asked. A start takes it out of the archive.';
comment on table campaigns is 'A sequence of steps that is executed for each lead.';
comment on column campaigns.stop_on_company_reply is 'Replies of one person that end the sequence for the others at their company.';
comment on column campaigns.daily_limit is 'Maximum number of emails per campaign-local day.';
comment on column campaigns.days is 'Weekdays as a bit mask, Monday 1 to Sunday 64.';
comment on column campaigns.start_time is 'Campaign-local time, HH:MM.';
comment on column campaigns.end_time is 'Campaign-local time, HH:MM.';
comment on column campaigns.schedule_windows is 'Seven lists of windows by weekday, Sunday first. Empty: days, start_time and end_time apply.';
comment on column campaigns.leads_ordered_from is 'Leads from this id on have their order_key. Null: no lead has a key yet. The lowest id: every lead has a key.';
comment on column campaigns.ramp_start is 'Emails per day at the start of the ramp.';
comment on column campaigns.ramp_increment is 'Emails per day added by each step of the ramp.';
comment on column campaigns.ramp_ceiling is 'Emails per day at which the ramp ends.';
comment on column campaigns.ramp_level is 'Emails per day that the ramp currently permits.';
comment on column campaigns.ramp_day is 'Campaign-local day on which ramp_level was last raised.';
comment on column campaigns.max_new_leads_per_day is 'Maximum number of new leads per day. 0: no limit.';
comment on column campaigns.entry_delay_minutes is 'Minutes between the addition and the launch of a lead.';
comment on column campaigns.control_epoch is 'Increases with every pause, resume and edit that concerns runs.';
comment on column campaigns.rechecks is 'Runs that must ask again since a resume or an edit: at a step or all, by next_act, decided or signalled before an epoch.';
comment on column campaigns.launch_epoch is 'The control_epoch up to which launch_after was reset for waiting leads.';
comment on column campaigns.graph_version is 'Increases with every change of the step graph. A cached graph with a lower version is stale.';
comment on column campaigns.blocked_reason is 'Message with the reason why the launcher run keeps failing.';
comment on column campaigns.approval_id is 'Approval that started the campaign. Its emails are compared with the binding. Null: a person or a policy started it.';
comment on column campaigns.variants_compared_at is 'Time of the last comparison of the variants.';
create index campaigns_org on campaigns (organization_id, id desc);
create index campaigns_approval on campaigns (approval_id) where approval_id is not null;
create index campaigns_status on campaigns (organization_id, status, id desc);
create index campaigns_tracking_domain on campaigns (tracking_domain) where tracking_domain <> '';
call heron_guard_rows('campaigns');

create table campaign_advanced (
  campaign_id uuid primary key references campaigns on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  overrides jsonb not null default '{}',
  updated_at timestamptz not null
);
comment on table campaign_advanced is 'Settings of a campaign that override the organization''s settings.';
call heron_guard_rows('campaign_advanced');

create table campaign_steps (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null references campaigns on delete cascade,
  position integer not null,
  name text not null default '',
  kind text not null default 'email' check (kind in ('email', 'action', 'wait')),
  subject text not null default '',
  body_plain text not null default '',
  body_html text not null default '',
  body_sync boolean not null default true,
  body_code boolean not null default false,
  wait_after integer not null default 0,
  thread_reply boolean not null default true,
  conditions jsonb not null default '{"branches": []}',
  action jsonb,
  app_connection_id uuid generated always as (
    case when action ->> 'type' = 'app_action' and action ->> 'app_connection_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then (action ->> 'app_connection_id')::uuid end
  ) stored,
  offer text not null default '',
  angle text not null default '',
  cta text not null default '',
  automation_id uuid generated always as (
    case when action ->> 'type' = 'run_automation' and action ->> 'automation_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then (action ->> 'automation_id')::uuid end
  ) stored,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table campaign_steps is 'A step of a campaign: an email, an action or a wait.';
comment on column campaign_steps.wait_after is 'Days between the previous step and this step.';
comment on column campaign_steps.app_connection_id is 'Derived from the action, so that the foreign key holds for every writer.';
comment on column campaign_steps.offer is 'Name of the email''s offer, given by the author. Empty: no name. A variant overrides it.';
comment on column campaign_steps.automation_id is 'Derived from the action of a run_automation step.';
create index campaign_steps_campaign on campaign_steps (campaign_id, position);
create index campaign_steps_connection on campaign_steps (app_connection_id) where app_connection_id is not null;
create index campaign_steps_automation on campaign_steps (automation_id) where automation_id is not null;
call heron_guard_rows('campaign_steps');

create table campaign_variants (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null references campaigns on delete cascade,
  step_id uuid references campaign_steps on delete cascade,
  name text not null,
  weight integer not null default 1,
  subject text not null default '',
  body_html text not null default '',
  body_plain text not null default '',
  is_control boolean not null default false,
  is_active boolean not null default true,
  metadata jsonb not null default '{}',
  promoted_at timestamptz,
  promotion jsonb,
  offer text not null default '',
  angle text not null default '',
  cta text not null default '',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table campaign_variants is 'An alternative text of an email step, chosen by weight.';
comment on column campaign_variants.step_id is 'The step of the variant. Null: the campaign''s first email.';
comment on column campaign_variants.promoted_at is 'Time from which all further emails of the step use this variant.';
comment on column campaign_variants.promotion is 'Rule by which the variant won, with the counts of all variants at that time.';
create index campaign_variants_campaign on campaign_variants (campaign_id);
call heron_guard_rows('campaign_variants');

create table campaign_attachments (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null references campaigns on delete cascade,
  step_id uuid references campaign_steps on delete cascade,
  blob_id uuid not null references blobs on delete cascade,
  filename text not null,
  content_type text not null,
  size_bytes integer not null,
  sha256 text not null,
  created_at timestamptz not null
);
comment on table campaign_attachments is 'A file that emails of a campaign take along.';
comment on column campaign_attachments.step_id is 'The step whose emails take it along. Null: every email of the campaign.';
create index campaign_attachments_campaign on campaign_attachments (campaign_id, id);
create index campaign_attachments_step on campaign_attachments (step_id) where step_id is not null;
create index campaign_attachments_blob on campaign_attachments (blob_id);
create index campaign_attachments_organization on campaign_attachments (organization_id);
create trigger campaign_attachments_gone after delete on campaign_attachments
  for each row execute function attachment_is_gone();
call heron_guard_rows('campaign_attachments');

create table campaign_senders (
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null references campaigns on delete cascade,
  mailbox_id uuid not null references mailboxes on delete cascade,
  weight integer not null default 1,
  enabled boolean not null default true,
  last_sent_at timestamptz,
  primary key (campaign_id, mailbox_id)
);
comment on table campaign_senders is 'A mailbox that a campaign sends from.';
create index campaign_senders_mailbox on campaign_senders (mailbox_id);
call heron_guard_rows('campaign_senders');

create table campaign_logs (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null references campaigns on delete cascade,
  event_type text not null,
  message jsonb not null,
  metadata jsonb not null default '{}',
  created_at timestamptz not null
);
comment on table campaign_logs is 'A line of a campaign''s activity log.';
comment on column campaign_logs.message is 'Message code with its values, rendered when read.';
create index campaign_logs_campaign on campaign_logs (campaign_id, id desc);
call heron_guard_rows('campaign_logs');

create table removed_steps (
  step_id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null references campaigns on delete cascade,
  successor_id uuid,
  removed_at timestamptz not null
);
comment on table removed_steps is 'The successor of a removed step, for leads that were at the removed step.';
create index removed_steps_campaign on removed_steps (campaign_id);
call heron_guard_rows('removed_steps');

create table preflight_reports (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null references campaigns on delete cascade,
  passed boolean not null,
  score integer not null check (score between 0 and 100),
  checks jsonb not null,
  findings jsonb not null,
  created_at timestamptz not null
);
comment on table preflight_reports is 'Result of the checks before a launch. The newest reports of a campaign are kept.';
comment on column preflight_reports.score is 'Score from 0 to 100.';
comment on column preflight_reports.findings is 'Findings, worst first.';
create index preflight_reports_campaign on preflight_reports (campaign_id, id desc);
call heron_guard_rows('preflight_reports');

create table runs (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  state text not null check (state in ('queued', 'preflighting', 'awaiting_approval', 'launching', 'active', 'paused', 'completed', 'failed', 'denied', 'cancelled')),
  intent text not null check (intent in ('draft', 'launch')),
  input jsonb not null,
  campaign_id uuid not null,
  frozen_sender_ids uuid[] not null,
  recipient_count integer not null,
  action_count integer not null,
  policy_decision jsonb not null,
  preflight_report jsonb,
  error_details jsonb,
  approval_id uuid,
  expires_at timestamptz,
  actor_kind text not null check (actor_kind in ('session', 'api_key', 'oauth', 'system')),
  user_id uuid,
  api_key_id uuid,
  oauth_grant_id uuid,
  blocked_reason jsonb,
  event_count integer not null default 0,
  ended_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table runs is 'A campaign that an agent requested to be prepared or launched, with its progress.';
comment on column runs.input is 'The request without "leads", which are stored as contacts.';
comment on column runs.campaign_id is 'The campaign that it created or took over. No foreign key, because the record outlives the campaign.';
comment on column runs.frozen_sender_ids is 'Mailboxes chosen when the run was created.';
comment on column runs.recipient_count is 'Unfinished leads of the campaign at the last check.';
comment on column runs.action_count is 'Maximum number of app calls for these leads.';
comment on column runs.approval_id is 'The approval of the run. No foreign key, because the record outlives the approval.';
comment on column runs.expires_at is 'End of the wait for an approval.';
comment on column runs.event_count is 'Number of its events. Equals the "seq" of the last event.';
create index runs_org on runs (organization_id, id desc);
-- At most one open run per campaign.
create unique index runs_open_campaign_key on runs (campaign_id)
  where state in ('queued', 'preflighting', 'awaiting_approval', 'launching', 'active', 'paused');
-- Index of the runs that must have an open workflow.
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
comment on table run_events is 'A transition of a run. Append-only.';
call heron_guard_rows('run_events');

create function heron_append_only() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger run_events_append_only before update on run_events for each row execute function heron_append_only();

create table test_runs (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null references campaigns on delete cascade,
  contact_id uuid not null references contacts on delete cascade,
  mailbox_id uuid references mailboxes on delete set null,
  prospect_email text not null,
  state text not null check (state in ('running', 'waiting_for_event', 'completed', 'failed', 'cancelled')),
  current_step_id uuid,
  app_values jsonb not null default '{}',
  conversation jsonb not null default '{"subject": "", "messageIds": []}',
  max_wait_seconds integer,
  only_step_id uuid,
  copy jsonb not null default '{}',
  ends_at timestamptz not null,
  waiting_for text,
  waiting_until timestamptz,
  blocked_reason jsonb,
  error jsonb,
  completed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table test_runs is 'A trial of a campaign with one prospect. Sends real emails and calls, but does not count in the campaign''s leads and numbers.';
comment on column test_runs.prospect_email is 'Recipient of its emails, independent of the contact''s address.';
comment on column test_runs.max_wait_seconds is 'Maximum duration (seconds) of each wait. Null: the durations of the steps.';
comment on column test_runs.only_step_id is 'The email that it tests alone. Null: every step. No foreign key, because the row outlives the step.';
comment on column test_runs.copy is 'Parts of that email as they were written when the test began, in place of the stored ones.';
comment on column test_runs.ends_at is 'Time by which the run must finish. Otherwise it fails.';
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
  step_id uuid not null,
  contact_id uuid not null,
  variant_id uuid,
  seq integer not null,
  name text not null,
  kind text not null,
  state text not null check (state in ('running', 'waiting', 'completed', 'skipped', 'failed')),
  outcome text,
  detail jsonb,
  output_key text,
  output jsonb,
  event_name text,
  deadline timestamptz,
  event_id uuid,
  attempts integer not null default 0,
  error jsonb,
  entered_at timestamptz,
  started_at timestamptz not null,
  completed_at timestamptz,
  call_until timestamptz,
  unique (test_run_id, seq)
);
comment on table test_run_steps is 'A step that a test run executed.';
comment on column test_run_steps.entered_at is 'Set for waits: time at which the step before began its work. An event that occurred since then resumes the wait.';
comment on column test_run_steps.call_until is 'End of the claim of the call under way, by PostgreSQL''s clock. Null when none is.';
comment on column test_run_steps.id is 'Id of the step''s execution. Also the id of the email that it sends, or of the call that it makes.';
comment on column test_run_steps.step_id is 'No foreign key, because the row outlives the step.';
create index test_run_steps_waiting on test_run_steps (contact_id, event_name) where state = 'waiting';
create index test_run_steps_organization on test_run_steps (organization_id);
call heron_guard_rows('test_run_steps');
`;
