/** Tables for actions of API keys and applications: policies that permit actions without a person, and approvals. */
export const APPROVALS = `
create table agent_policies (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  api_key_id uuid references api_keys on delete cascade,
  oauth_grant_id uuid references oauth_grants on delete cascade,
  name text not null,
  enabled boolean not null,
  capabilities text[] not null,
  mailbox_ids uuid[] not null,
  max_recipients_per_run integer not null,
  max_recipients_per_day integer not null,
  max_actions_per_day integer not null,
  max_monthly_mailbox_spend_cents integer,
  expires_at timestamptz not null,
  created_by uuid references users on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (num_nonnulls(api_key_id, oauth_grant_id) = 1)
);
comment on table agent_policies is 'Limits within which an API key or OAuth grant acts without a person.';
comment on column agent_policies.capabilities is 'Permitted actions, by their names in CAPABILITIES of db/models/agent-policy.ts.';
comment on column agent_policies.mailbox_ids is 'Mailboxes that may be used without a person.';
comment on column agent_policies.max_monthly_mailbox_spend_cents is 'Maximum monthly total (cents) of one mailbox order. Null: a person approves every order.';
create unique index agent_policies_api_key_key on agent_policies (api_key_id) where api_key_id is not null;
create unique index agent_policies_oauth_grant_key on agent_policies (oauth_grant_id) where oauth_grant_id is not null;
create index agent_policies_org on agent_policies (organization_id, id desc);
call heron_guard_rows('agent_policies');

create table agent_policy_usage (
  organization_id uuid not null references organizations on delete cascade,
  credential_id uuid not null,
  day date not null,
  actions integer not null,
  recipients integer not null,
  primary key (credential_id, day)
);
comment on table agent_policy_usage is 'Used part of a credential''s limits on one day. A new policy does not reset it.';
comment on column agent_policy_usage.credential_id is 'Id of the API key or OAuth grant.';
comment on column agent_policy_usage.day is 'UTC day.';
create index agent_policy_usage_day on agent_policy_usage (day);
call heron_guard_rows('agent_policy_usage');

create table approvals (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  action_type text not null check (action_type in ('campaign.launch', 'email.compose', 'inbox.reply', 'mailbox.provision')),
  subject_type text not null check (subject_type in ('run', 'campaign', 'campaign_leads', 'direct_send', 'mailbox_order')),
  subject_id uuid not null,
  api_key_id uuid,
  oauth_grant_id uuid,
  requester_name text not null,
  status text not null default 'pending' check (status in ('pending', 'approved', 'denied', 'expired', 'executed')),
  reasons jsonb not null,
  payload jsonb not null,
  payload_hash text not null,
  binding jsonb,
  preflight jsonb,
  expires_at timestamptz not null,
  decided_by uuid references users on delete set null,
  decided_at timestamptz,
  reason jsonb,
  executed_at timestamptz,
  created_at timestamptz not null,
  check (num_nonnulls(api_key_id, oauth_grant_id) = 1)
);
comment on table approvals is 'An action of a credential that waits for a person''s decision, stored as requested.';
comment on column approvals.api_key_id is 'The API key that made the request. No foreign key, because the record outlives the key.';
comment on column approvals.requester_name is 'Name of the key or application at the time of the request.';
comment on column approvals.reasons is 'Reasons why a person has to decide.';
comment on column approvals.payload is 'Content shown to the approver. It never changes.';
comment on column approvals.payload_hash is 'SHA-256 (hex) of the payload in canonical form.';
comment on column approvals.binding is 'Fingerprints of the approved senders, texts and settings. Each claim of an email compares them. Null until the action is executed.';
comment on column approvals.preflight is 'Report of the preflight checks at the time of the request.';
comment on column approvals.reason is 'Message: the note of the person who decided, or why the approval ended without a decision. Null if its time has passed.';
create index approvals_org on approvals (organization_id, id desc);
create index approvals_subject on approvals (subject_id, id desc);
-- At most one pending approval per subject.
create unique index approvals_pending on approvals (subject_type, subject_id) where status = 'pending';
create index approvals_due on approvals (expires_at) where status = 'pending';
create index approvals_state on approvals (organization_id, status, id desc);
call heron_guard_rows('approvals');

create table lead_allowances (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null references campaigns on delete cascade,
  api_key_id uuid references api_keys on delete cascade,
  oauth_grant_id uuid references oauth_grants on delete cascade,
  credential_name text not null,
  leads_per_day integer not null check (leads_per_day > 0),
  used_on date,
  used integer not null default 0,
  granted_by uuid references users on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (num_nonnulls(api_key_id, oauth_grant_id) = 1)
);
comment on table lead_allowances is 'Leads that a credential may add to one sending campaign each day without a person, beyond its policy.';
comment on column lead_allowances.credential_name is 'Name of the key or application when a person granted it.';
comment on column lead_allowances.used_on is 'Day of the last use, in the time zone of the workspace.';
comment on column lead_allowances.used is 'Leads added on the day of the last use.';
create unique index lead_allowances_api_key_key on lead_allowances (api_key_id, campaign_id) where api_key_id is not null;
create unique index lead_allowances_oauth_grant_key on lead_allowances (oauth_grant_id, campaign_id) where oauth_grant_id is not null;
create index lead_allowances_campaign on lead_allowances (campaign_id);
create index lead_allowances_org on lead_allowances (organization_id, id desc);
call heron_guard_rows('lead_allowances');

create table approval_notices (
  approval_id uuid primary key references approvals on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  state text not null default 'due' check (state in ('due', 'done')),
  blocked_reason jsonb
);
comment on table approval_notices is 'Progress of the emails to people about an approval.';
create index approval_notices_due on approval_notices (approval_id) where state = 'due';
call heron_guard_rows('approval_notices');

create table approval_mails (
  approval_id uuid not null references approvals on delete cascade,
  user_id uuid not null references users on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  state text not null check (state in ('sending', 'sent', 'left_out', 'refused', 'uncertain')),
  claimed_at timestamptz not null,
  settled_at timestamptz,
  primary key (approval_id, user_id)
);
comment on table approval_mails is 'An email to one person about an approval. Its key prevents a second email.';
comment on column approval_mails.state is '''left_out'': the person''s hourly limit was reached. ''uncertain'': the mail server''s answer was lost.';
create index approval_mails_of_person on approval_mails (organization_id, user_id, claimed_at desc);
call heron_guard_rows('approval_mails');
`;
