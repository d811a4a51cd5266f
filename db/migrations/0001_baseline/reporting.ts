/** Tables for goals, conversions, customer attribution, and weekly reports. */
export const REPORTING = `
create table goals (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  kind text not null check (kind in ('signup', 'activation', 'paid', 'revenue', 'retention', 'custom')),
  is_primary boolean not null default false,
  revision integer not null,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table goals is 'An outcome that an organization counts, reached by a product event.';
comment on column goals.revision is 'The latest revision in goal_revisions.';
create index goals_organization on goals (organization_id, id desc);
create unique index goals_primary on goals (organization_id, kind) where is_primary and archived_at is null and kind <> 'custom';
call heron_guard_rows('goals');

create table goal_revisions (
  organization_id uuid not null references organizations on delete cascade,
  goal_id uuid not null references goals on delete cascade,
  revision integer not null,
  definition jsonb not null,
  created_by uuid,
  created_at timestamptz not null,
  primary key (goal_id, revision)
);
comment on table goal_revisions is 'A definition of a goal. Every change adds a row.';
comment on column goal_revisions.revision is 'Number from 1, without gaps.';
comment on column goal_revisions.created_by is 'Kept when the account is deleted.';
call heron_guard_rows('goal_revisions');

create table goal_replays (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  goal_id uuid not null references goals on delete cascade,
  goal_revision integer not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  state text not null check (state in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  error text,
  cursor_at timestamptz,
  cursor_id uuid,
  scanned bigint not null default 0,
  added bigint not null default 0,
  removed bigint not null default 0,
  kept bigint not null default 0,
  retained_without_event bigint not null default 0,
  started_at timestamptz,
  finished_at timestamptz,
  blocked_reason jsonb,
  created_at timestamptz not null
);
comment on table goal_replays is 'An evaluation of earlier events for a goal.';
comment on column goal_replays.goal_revision is 'Revision that is replayed. If the goal has another revision, the replay ends with goal_changed.';
comment on column goal_replays.cursor_at is 'The occurred_at of the last evaluated event. Its id is in cursor_id.';
comment on column goal_replays.blocked_reason is 'Message with the reason why its run keeps failing.';
create index goal_replays_goal on goal_replays (goal_id, id desc);
create unique index goal_replays_one on goal_replays (goal_id) where state in ('queued', 'running');
call heron_guard_rows('goal_replays');

create table conversions (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  goal_id uuid not null references goals on delete cascade,
  goal_revision integer not null,
  event_id uuid not null,
  person_id uuid not null references people on delete cascade,
  occurred_at timestamptz not null,
  value_minor bigint,
  currency text,
  created_at timestamptz not null,
  unique (goal_id, event_id),
  check ((value_minor is null) = (currency is null))
);
comment on table conversions is 'A person who reached a goal. At most one row per event and goal.';
comment on column conversions.event_id is 'No foreign key: the row outlives the event, which is pruned.';
comment on column conversions.value_minor is 'Value in the currency''s minor unit. Null if the event had no valid amount.';
comment on column conversions.currency is 'ISO 4217 code, upper-case.';
create index conversions_person on conversions (person_id, goal_id, occurred_at);
-- Serves the pages of a replay in order.
create index conversions_goal_events on conversions (organization_id, goal_id, occurred_at, event_id);
call heron_guard_rows('conversions');

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
  company_domain text,
  colleague_send_id uuid,
  colleague_sent_at timestamptz,
  colleague_id uuid references contacts on delete set null,
  primary key (person_id, goal_id)
);
comment on table acquisition_facts is 'The first time a person reached a customer goal, with the last email sent before.';
comment on column acquisition_facts.company_domain is 'Domain of the person''s company. Null without an address and for addresses of free mail providers.';
comment on column acquisition_facts.colleague_send_id is 'The last email to another contact of the same company before the acquisition.';
create index acquisition_facts_newest on acquisition_facts (organization_id, goal_id, acquired_at desc, person_id desc);
create index acquisition_facts_goal on acquisition_facts (goal_id);
create index acquisition_facts_contact on acquisition_facts (contact_id) where contact_id is not null;
create index acquisition_facts_company on acquisition_facts (organization_id, company_domain, acquired_at) where company_domain is not null;
create index acquisition_facts_colleague on acquisition_facts (colleague_id) where colleague_id is not null;
create index acquisition_facts_orphaned on acquisition_facts (organization_id) where colleague_send_id is not null and colleague_id is null;
call heron_guard_rows('acquisition_facts');

create table attribution_settings (
  organization_id uuid primary key references organizations on delete cascade,
  window_days integer not null check (window_days between 1 and 365),
  company_estimates boolean not null,
  updated_by uuid,
  updated_at timestamptz not null
);
comment on table attribution_settings is 'Rules by which an organization attributes customers to emails.';
comment on column attribution_settings.window_days is 'Attribution window (days).';
comment on column attribution_settings.updated_by is 'Kept when the account is deleted.';
call heron_guard_rows('attribution_settings');

create table attribution_corrections (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  person_id uuid not null references people on delete cascade,
  action text not null check (action in ('set', 'restored')),
  send_id uuid,
  reason text not null,
  is_current boolean not null,
  corrected_by uuid,
  created_at timestamptz not null
);
comment on table attribution_corrections is 'A person''s decision about the attribution of a customer.';
comment on column attribution_corrections.send_id is 'The credited email. Null: not acquired by an email, or the automatic attribution was restored.';
comment on column attribution_corrections.is_current is 'True while in force. Always false for a restoration of the automatic attribution.';
create index attribution_corrections_person on attribution_corrections (person_id, created_at desc, id desc);
create unique index attribution_corrections_current on attribution_corrections (person_id) where is_current;
call heron_guard_rows('attribution_corrections');

create table campaign_spend (
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null,
  amount_minor bigint not null check (amount_minor >= 0),
  currency text not null,
  updated_by uuid,
  updated_at timestamptz not null,
  primary key (organization_id, campaign_id)
);
comment on table campaign_spend is 'Costs of a campaign. Kept when the campaign is deleted.';
comment on column campaign_spend.amount_minor is 'Amount in the currency''s minor unit.';
comment on column campaign_spend.currency is 'ISO 4217 code, upper-case.';
call heron_guard_rows('campaign_spend');

create table weekly_reports (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  week date not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  state text not null default 'due' check (state in ('due', 'done')),
  blocked_reason jsonb,
  created_at timestamptz not null,
  unique (organization_id, week)
);
comment on table weekly_reports is 'A weekly report that is emailed to the members of an organization.';
comment on column weekly_reports.week is 'Monday on which the week began, in the organization''s time zone.';
create index weekly_reports_due on weekly_reports (id) where state = 'due';
call heron_guard_rows('weekly_reports');

create table weekly_report_mails (
  id uuid primary key,
  report_id uuid not null references weekly_reports on delete cascade,
  user_id uuid not null references users on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  state text not null check (state in ('sending', 'sent', 'refused', 'uncertain')),
  claimed_at timestamptz not null,
  settled_at timestamptz,
  unique (report_id, user_id)
);
comment on table weekly_report_mails is 'An email with a weekly report to one member. Its key prevents a second email.';
comment on column weekly_report_mails.state is '''uncertain'': the mail server''s answer was lost.';
call heron_guard_rows('weekly_report_mails');

create table weekly_report_opt_outs (
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid not null references users on delete cascade,
  created_at timestamptz not null,
  primary key (organization_id, user_id)
);
comment on table weekly_report_opt_outs is 'A member who does not want the weekly report.';
call heron_guard_rows('weekly_report_opt_outs');
`;
