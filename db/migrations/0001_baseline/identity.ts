/** Tables for people, workspaces, and the credentials that act for them. */
export const IDENTITY = `
create table users (
  id uuid primary key,
  email text not null unique check (email = lower(email)),
  password_hash text not null,
  first_name text not null default '',
  last_name text not null default '',
  language text,
  is_platform_admin boolean not null default false,
  has_given_password boolean not null default false,
  deletion_scheduled_at timestamptz,
  deletion_scheduled_for timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table users is 'A person with an account. A person can be a member of several organizations.';
comment on column users.email is 'Email address in lower case.';
comment on column users.language is 'BCP 47 language tag for emails to the person. Null until a browser has sent it.';
comment on column users.password_hash is 'Argon2id hash in PHC format.';
comment on column users.has_given_password is 'True while the account has the password that an operator set.';
comment on column users.deletion_scheduled_for is 'Time at which the account is erased. Null unless its deletion was requested.';

create table organizations (
  id uuid primary key,
  name text not null,
  plan text not null default 'free' check (plan in ('free', 'paid')),
  created_by uuid references users on delete set null,
  weekly_report boolean not null default false,
  timezone text not null default 'UTC',
  is_test boolean not null default false,
  deletion_scheduled_at timestamptz,
  deletion_scheduled_for timestamptz,
  language text,
  logo_blob_id uuid,
  logo_type text,
  member_email_domains text[] not null default '{}',
  session_max_hours integer check (session_max_hours > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (id, is_test)
);
comment on table organizations is 'A workspace: the tenant to which nearly every other row belongs.';
comment on column organizations.timezone is 'IANA time zone. Determines when a week begins.';
comment on column organizations.is_test is 'True for a test workspace, whose emails never leave. Set once.';
comment on column organizations.deletion_scheduled_for is 'Time at which the workspace is erased. Until it is called back, a workspace with such a time starts and sends nothing.';
comment on column organizations.language is 'Language of emails to people who have chosen none.';
comment on column organizations.logo_type is 'Media type of the logo.';
comment on column organizations.member_email_domains is 'Domains (A-labels, lower case) of addresses that may join. Empty: any.';
comment on column organizations.session_max_hours is 'Age (hours) from which a session may not act in the organization. Null: any.';
call heron_guard_rows('organizations', 'id = heron_organization()');

create table roles (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  permissions text[] not null,
  is_owner boolean not null default false,
  is_system boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint roles_name_key unique (organization_id, name)
);
comment on table roles is 'A named set of permissions within one organization.';
comment on column roles.permissions is 'Permissions by their names in ORG_PERMISSIONS of lib/permissions.ts.';
call heron_guard_rows('roles');

create table memberships (
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid not null references users on delete cascade,
  role_id uuid not null references roles,
  created_at timestamptz not null,
  primary key (organization_id, user_id)
);
comment on table memberships is 'Membership of a person in an organization, with one role.';
create index memberships_user on memberships (user_id);
call heron_guard_rows('memberships');
-- A person belongs to no organization. An organization sees the rows of its members.
call heron_guard_rows('users',
  'exists (select from memberships m where m.user_id = users.id and m.organization_id = heron_organization())');

create table invitations (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  email text not null,
  role_id uuid not null references roles on delete cascade,
  token_hash text not null unique,
  invited_by uuid references users on delete set null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  cancelled_at timestamptz,
  created_at timestamptz not null
);
comment on table invitations is 'An invitation of an email address to an organization. Open until accepted, cancelled or expired.';
comment on column invitations.email is 'Email address in lower case.';
comment on column invitations.token_hash is 'SHA-256 of the token in the emailed link.';
create unique index invitations_open on invitations (organization_id, email) where accepted_at is null and cancelled_at is null;
create index invitations_list on invitations (organization_id, id desc) where accepted_at is null and cancelled_at is null;
call heron_guard_rows('invitations');

create table teams (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  color text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table teams is 'A named group of members of an organization.';
create index teams_organization on teams (organization_id, id);
call heron_guard_rows('teams');

create table team_members (
  organization_id uuid not null references organizations on delete cascade,
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null,
  added_at timestamptz not null,
  primary key (team_id, user_id),
  foreign key (organization_id, user_id) references memberships on delete cascade
);
comment on table team_members is 'A member of a team. Leaving the organization ends the membership.';
create index team_members_user on team_members (organization_id, user_id);
call heron_guard_rows('team_members');

create table workspace_exports (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid references users on delete set null,
  status text not null default 'queued' check (status in ('queued', 'running', 'completed')),
  parts_done integer not null default 0,
  row_count bigint not null default 0,
  blob_id uuid,
  size_bytes bigint,
  mail text not null default 'due' check (mail in ('due', 'sending', 'sent', 'refused', 'uncertain', 'left_out')),
  blocked_reason jsonb,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  expires_at timestamptz
);
comment on table workspace_exports is 'A file with the data of the workspace, which a member asked for.';
comment on column workspace_exports.parts_done is 'Tables written so far.';
comment on column workspace_exports.row_count is 'Rows written so far.';
comment on column workspace_exports.mail is 'State of the email to the member. "left_out": nobody to write to.';
comment on column workspace_exports.expires_at is 'Time at which the file is deleted, with this row. Null until the file exists.';
create unique index workspace_exports_open on workspace_exports (organization_id) where status in ('queued', 'running');
create index workspace_exports_unfinished on workspace_exports (id) where status in ('queued', 'running') or mail in ('due', 'sending');
create index workspace_exports_list on workspace_exports (organization_id, id desc);
create index workspace_exports_expiry on workspace_exports (expires_at) where expires_at is not null;
call heron_guard_rows('workspace_exports');

create table sessions (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  organization_id uuid references organizations on delete set null,
  refresh_hash text not null unique,
  previous_refresh_hash text unique,
  device_hash text,
  ip_address text not null default '',
  user_agent text not null default '',
  last_active_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  created_at timestamptz not null
);
comment on table sessions is 'A sign-in of a person in one browser.';
comment on column sessions.refresh_hash is 'SHA-256 of the refresh token.';
comment on column sessions.previous_refresh_hash is 'SHA-256 of the previous refresh token, which stays valid for a short time.';
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);
call heron_guard_rows('sessions');

create table auth_challenges (
  id uuid primary key,
  kind text not null check (kind in ('login', 'register', 'reset')),
  handle_hash text not null unique,
  code_hash text,
  email text not null,
  user_id uuid references users on delete cascade,
  payload jsonb not null default '{}',
  attempts integer not null default 0,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  created_at timestamptz not null
);
comment on table auth_challenges is 'A pending proof by email for sign-in, sign-up or a password reset.';
comment on column auth_challenges.handle_hash is 'SHA-256 of the handle that the client holds. For a password reset the handle itself is sent by email.';
comment on column auth_challenges.code_hash is 'HMAC-SHA-256 of the emailed code under AUTH_SECRET. Null for a password reset.';
create index auth_challenges_expiry on auth_challenges (expires_at);

create table auth_throttles (
  key text primary key,
  attempts integer not null,
  window_ends timestamptz not null
);
comment on table auth_throttles is 'Attempts per account, address or organization within a window, counted across all processes.';
comment on column auth_throttles.key is 'SHA-256 of the limited account, address or organization.';
create index auth_throttles_expiry on auth_throttles (window_ends);

create table setup_links (
  id uuid primary key,
  token_hash text not null unique,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null
);
comment on table setup_links is 'A link that creates the first account of an installation.';
comment on column setup_links.token_hash is 'SHA-256 of the token in the link.';

create table api_keys (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid references users on delete set null,
  made_by_key_id uuid,
  made_by_application_id uuid,
  made_by_grant_id uuid,
  name text not null,
  description text not null default '',
  secret_hash text not null unique,
  key_prefix text not null,
  key_suffix text not null,
  permissions bigint not null,
  allowed_ips text[] not null default '{}',
  allowed_email_accounts uuid[] not null default '{}',
  rate_limit_per_minute integer not null default 0,
  status text not null default 'active' check (status in ('active', 'revoked')),
  last_used_at timestamptz,
  last_request_ip text,
  expires_at timestamptz,
  revoked_at timestamptz,
  revoked_reason jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table api_keys is 'A secret by which a program acts in one organization.';
comment on column api_keys.user_id is 'The person who made it or took it over; null once their account is gone.';
comment on column api_keys.made_by_key_id is 'The key that made it, and takes it along when it is revoked; kept when that key is gone.';
comment on column api_keys.made_by_application_id is 'The application whose token made it; kept when that is gone.';
comment on column api_keys.made_by_grant_id is 'The grant of that token, whose end revokes the key.';
comment on column api_keys.secret_hash is 'SHA-256 of the secret.';
comment on column api_keys.permissions is 'Bit mask of lib/permissions.ts.';
comment on column api_keys.allowed_ips is 'Permitted IP addresses and CIDR ranges. Empty: any.';
comment on column api_keys.allowed_email_accounts is 'Permitted mailboxes (ids). Empty: all.';
comment on column api_keys.revoked_reason is 'Message: the words of the person who revoked it, or the cause.';
comment on column api_keys.rate_limit_per_minute is 'Maximum requests per minute. 0: the default limit.';
create index api_keys_org on api_keys (organization_id, id desc);
create index api_keys_made_by_key on api_keys (made_by_key_id) where made_by_key_id is not null;
create index api_keys_made_by_application on api_keys (made_by_application_id) where made_by_application_id is not null;
create index api_keys_made_by_grant on api_keys (made_by_grant_id) where made_by_grant_id is not null;
call heron_guard_rows('api_keys');

create table api_key_usage_logs (
  id uuid primary key,
  organization_id uuid not null,
  api_key_id uuid not null references api_keys on delete cascade,
  endpoint text not null,
  method text not null,
  ip_address text not null,
  user_agent text not null,
  response_code smallint not null,
  response_time_ms integer not null,
  request_id text not null,
  created_at timestamptz not null
);
comment on table api_key_usage_logs is 'One request made with an API key.';
comment on column api_key_usage_logs.endpoint is 'Route template, such as /v1/contacts/:id.';
comment on column api_key_usage_logs.response_time_ms is 'Duration (ms) of the request.';
comment on column api_key_usage_logs.request_id is 'Id in the X-Request-Id header of the answer.';
create index api_key_usage_logs_request on api_key_usage_logs (organization_id, request_id);
create index api_key_usage_logs_key on api_key_usage_logs (api_key_id, id desc);
create index api_key_usage_logs_age on api_key_usage_logs (created_at);
call heron_guard_rows('api_key_usage_logs');

create table api_key_usage_minutes (
  organization_id uuid not null,
  api_key_id uuid not null references api_keys on delete cascade,
  minute timestamptz not null,
  endpoint text not null,
  method text not null,
  count integer not null,
  success integer not null,
  client_errors integer not null,
  server_errors integer not null,
  latency_ms bigint not null,
  last_at timestamptz not null,
  primary key (api_key_id, minute, endpoint, method)
) with (fillfactor = 80);
comment on table api_key_usage_minutes is 'Requests per API key and minute. Summaries use these counts instead of single requests.';
comment on column api_key_usage_minutes.latency_ms is 'Total duration (ms) of the requests.';
create index api_key_usage_minutes_org on api_key_usage_minutes (organization_id, minute);
create index api_key_usage_minutes_age on api_key_usage_minutes (minute);
call heron_guard_rows('api_key_usage_minutes');

create table oauth_applications (
  id uuid primary key,
  organization_id uuid references organizations on delete cascade,
  created_by uuid references users on delete set null,
  client_id text not null unique,
  client_secret_hash text,
  self_registered boolean not null default false,
  name text not null,
  description text not null default '',
  logo_url text not null default '',
  website_url text not null default '',
  redirect_uris text[] not null,
  scopes bigint not null,
  allowed_webhook_domains text[] not null default '{}',
  webhook_url text not null default '',
  webhook_events text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (self_registered = (organization_id is null))
);
comment on table oauth_applications is 'An OAuth 2.1 client, registered by an organization or by itself.';
comment on column oauth_applications.organization_id is 'Null for a client that registered itself (RFC 7591).';
comment on column oauth_applications.client_secret_hash is 'SHA-256 of the secret. Null for public clients.';
comment on column oauth_applications.scopes is 'Bit mask of lib/permissions.ts: the maximum scopes of its tokens.';
comment on column oauth_applications.webhook_url is 'URL for events of all its organizations. Empty: none.';
create index oauth_applications_org on oauth_applications (organization_id, id desc);
-- Registrations that nobody ever used are deleted.
create index oauth_applications_unowned on oauth_applications (created_at) where self_registered;
call heron_guard_rows('oauth_applications');

create table oauth_grants (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  application_id uuid not null references oauth_applications on delete cascade,
  user_id uuid not null references users on delete cascade,
  scopes bigint not null,
  last_used_at timestamptz,
  last_request_ip text,
  revoked_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table oauth_grants is 'Permissions that one person granted an application in one organization. Revoking the grant ends all its tokens.';
comment on column oauth_grants.scopes is 'Bit mask of lib/permissions.ts.';
create unique index oauth_grants_active on oauth_grants (application_id, organization_id, user_id) where revoked_at is null;
create index oauth_grants_application on oauth_grants (application_id);
create index oauth_grants_org on oauth_grants (organization_id, id desc);
create index oauth_grants_user on oauth_grants (user_id, id desc);
-- Serves the list of all grants in an organization, which its owners see.
create index oauth_grants_organization on oauth_grants (organization_id) where revoked_at is null;
call heron_guard_rows('oauth_grants');

create table oauth_codes (
  id uuid primary key,
  code_hash text not null unique,
  grant_id uuid not null references oauth_grants on delete cascade,
  scopes bigint not null,
  redirect_uri text not null,
  code_challenge text,
  resource text,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  created_at timestamptz not null
);
comment on table oauth_codes is 'An authorization code that has not been exchanged for tokens yet.';
comment on column oauth_codes.scopes is 'Bit mask of lib/permissions.ts.';
comment on column oauth_codes.code_challenge is 'PKCE code challenge (S256). Null if a confidential client sent none.';
create index oauth_codes_grant on oauth_codes (grant_id);
create index oauth_codes_expiry on oauth_codes (expires_at);
call heron_guard_rows('oauth_codes',
  'exists (select from oauth_grants g where g.id = grant_id and g.organization_id = heron_organization())');

create table oauth_tokens (
  id uuid primary key,
  grant_id uuid not null references oauth_grants on delete cascade,
  family_id uuid not null,
  kind text not null check (kind in ('access', 'refresh')),
  token_hash text not null unique,
  scopes bigint not null,
  resource text,
  expires_at timestamptz not null,
  replaced_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null
);
comment on table oauth_tokens is 'An access or refresh token. All tokens that come from one code form a family, and a replay ends the whole family.';
comment on column oauth_tokens.scopes is 'Bit mask of lib/permissions.ts.';
comment on column oauth_tokens.replaced_at is 'Time at which a refresh token was exchanged for the next pair.';
create index oauth_tokens_grant on oauth_tokens (grant_id);
create index oauth_tokens_family on oauth_tokens (family_id);
create index oauth_tokens_expiry on oauth_tokens (expires_at);
call heron_guard_rows('oauth_tokens',
  'exists (select from oauth_grants g where g.id = grant_id and g.organization_id = heron_organization())');

create table idempotency_keys (
  organization_id uuid not null references organizations on delete cascade,
  actor_id text not null,
  key text not null,
  operation text not null,
  request_hash text not null,
  status integer,
  headers jsonb,
  body bytea,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  primary key (organization_id, actor_id, operation, key)
);
comment on table idempotency_keys is 'The first response to a request with an Idempotency-Key. Repeated requests get the same response.';
comment on column idempotency_keys.request_hash is 'SHA-256 of the request.';
comment on column idempotency_keys.status is 'HTTP status of the response. Null while the request runs.';
create index idempotency_keys_expiry on idempotency_keys (expires_at);
call heron_guard_rows('idempotency_keys');

create table deletions (
  id uuid primary key,
  kind text not null check (kind in ('workspace', 'account')),
  subject_id uuid not null,
  with_account uuid references deletions,
  requested_by uuid,
  state text not null default 'scheduled' check (state in ('scheduled', 'erasing', 'called_back', 'done')),
  scheduled_at timestamptz not null,
  scheduled_for timestamptz not null,
  is_reminded boolean not null default false,
  position jsonb,
  erased_at timestamptz
);
comment on table deletions is 'A requested deletion of a workspace or an account. Stays as the record of the deletion, and has ids and times only.';
comment on column deletions.subject_id is 'Id of the workspace or the person; kept when the subject is erased.';
comment on column deletions.with_account is 'The deletion of the account with which this workspace is deleted.';
comment on column deletions.is_reminded is 'True once the mails of the day before are stored.';
comment on column deletions.position is 'Place at which the erasure of a workspace goes on. Null until it begins, and after a complete pass.';
create unique index deletions_open on deletions (subject_id) where state in ('scheduled', 'erasing');
create index deletions_runs on deletions (id) where state in ('scheduled', 'erasing');
create index deletions_with_account on deletions (with_account) where with_account is not null;

create table deletion_mails (
  id uuid primary key,
  deletion_id uuid not null references deletions on delete cascade,
  moment text not null check (moment in ('scheduled', 'reminder', 'done')),
  email text not null,
  language text,
  name text not null,
  state text not null default 'due' check (state in ('due', 'sending', 'sent', 'refused', 'uncertain')),
  settled_at timestamptz,
  unique (deletion_id, moment, email)
);
comment on table deletion_mails is 'A mail about a deletion to one person. Deleted once the mail of the end was sent.';
comment on column deletion_mails.name is 'Name of the workspace, which is erased before the last mail. Empty for an account.';

create unlogged table rate_limit_counts (
  key text primary key,
  points integer not null default 0,
  expire bigint
);
comment on table rate_limit_counts is 'A counter of the rate limiter for RATE_LIMIT_STORE=postgres, with the columns of rate-limiter-flexible. Unlogged, so a crash may lose a minute of counts.';
comment on column rate_limit_counts.expire is 'Time of expiry (epoch ms).';
create index rate_limit_counts_expiry on rate_limit_counts (expire);
`;
