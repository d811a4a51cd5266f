/** Tables for mailboxes: servers and credentials, read state of IMAP folders, and warmup. */
export const MAILBOXES = `
create table mailboxes (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  is_test boolean not null default false,
  user_id uuid,
  email text not null check (email = lower(email)),
  name text not null default '',
  provider text not null default 'smtp_imap' check (provider in ('gmail', 'outlook', 'smtp_imap')),
  status text not null default 'active' check (status in ('active', 'inactive', 'revoked')),
  smtp jsonb not null,
  smtp_max_bytes integer,
  imap jsonb,
  credentials bytea not null,
  credentials_version integer not null default 1,
  campaign_limit integer not null default 50,
  min_wait_time integer not null default 600,
  reply_to text not null default '',
  save_to_sent boolean not null default false,
  send_as_email text not null default '',
  signature_plain text not null default '',
  signature_html text not null default '',
  signature_sync boolean not null default true,
  signature_code boolean not null default false,
  timezone text not null default 'UTC',
  tracking_domain text not null default '',
  tracking_domain_verified boolean not null default false,
  tracking_domain_verified_at timestamptz,
  warmup timestamptz,
  warmup_paused_at timestamptz,
  warmup_base integer not null default 5,
  warmup_max integer not null default 40,
  warmup_increase integer not null default 2,
  warmup_reply_rate integer not null default 30,
  warmup_tag text not null default '',
  warmup_pool_type text not null default 'free',
  warmup_start_time text not null default '09:00',
  warmup_end_time text not null default '17:00',
  warmup_days integer not null default 31,
  hold_code text,
  hold_reason jsonb,
  hold_until timestamptz,
  imap_hold_code text,
  imap_hold_reason jsonb,
  imap_hold_until timestamptz,
  next_free_at timestamptz not null default 'epoch',
  spent_days uuid[] not null default '{}',
  last_slot_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint mailboxes_email_key unique (organization_id, email),
  foreign key (organization_id, is_test) references organizations (id, is_test) on delete cascade,
  constraint mailboxes_of_test_workspace check (is_test = (smtp ->> 'host' = 'test-mode.invalid') and not (is_test and imap is not null))
);
comment on table mailboxes is 'An email account that Heron sends from and reads.';
comment on column mailboxes.email is 'Email address in lower case.';
comment on column mailboxes.is_test is 'True in a test workspace. The mailbox then has no servers, and no other workspace can have such a mailbox.';
comment on column mailboxes.smtp_max_bytes is 'Largest message (bytes) that the SMTP server took in its last answered test (SIZE). Null if it named no limit.';
comment on column mailboxes.credentials is 'SMTP and IMAP password, sealed under "mailboxes/<id>".';
comment on column mailboxes.credentials_version is 'Increases with every change of servers or passwords. Open connections with a lower version are stale.';
comment on column mailboxes.campaign_limit is 'Maximum number of campaign emails per UTC day.';
comment on column mailboxes.min_wait_time is 'Minimum time (seconds) between two emails.';
comment on column mailboxes.warmup is 'Day from which the ramp counts, moved forward by pauses. Null while warmup is off.';
comment on column mailboxes.warmup_base is 'Warmup emails on the first UTC day.';
comment on column mailboxes.warmup_max is 'Maximum number of warmup emails per UTC day.';
comment on column mailboxes.warmup_increase is 'Warmup emails added per day.';
comment on column mailboxes.warmup_reply_rate is 'Share of warmup emails that get a reply (percent).';
comment on column mailboxes.warmup_days is 'Weekdays as a bit mask, Monday 1 to Sunday 64.';
comment on column mailboxes.hold_code is 'Reason code of a hold that stops sending without changing the status, such as refused credentials or a throttle of the provider.';
comment on column mailboxes.imap_hold_code is 'Reason code of a hold that stops reading.';
comment on column mailboxes.next_free_at is 'No slot is free before this time. The next free slot may be later.';
comment on column mailboxes.spent_days is 'Keys of campaign, day and share whose allowance is used up. For a day without a key, the emails are counted.';
comment on column mailboxes.last_slot_at is 'Time of the latest reserved slot.';
create index mailboxes_org on mailboxes (organization_id, id desc);
create index mailboxes_free on mailboxes (organization_id, next_free_at) include (id, spent_days) where status = 'active';
create index mailboxes_free_provider on mailboxes (organization_id, provider, next_free_at) include (id, spent_days) where status = 'active';
create index mailboxes_tracking_domain on mailboxes (tracking_domain) where tracking_domain <> '';
call heron_guard_rows('mailboxes');

-- A change that may free a mailbox earlier resets next_free_at, at most to the end of its holds.
create function mailbox_changes_free_time() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (old.campaign_limit, old.min_wait_time, old.status, old.hold_code, old.hold_until, old.imap_hold_code, old.imap_hold_until)
    is distinct from (new.campaign_limit, new.min_wait_time, new.status, new.hold_code, new.hold_until, new.imap_hold_code, new.imap_hold_until) then
    new.next_free_at := 'epoch';
  end if;
  new.next_free_at := greatest(new.next_free_at,
    case when new.campaign_limit <= 0 then 'infinity'::timestamptz end,
    case when new.hold_code is not null then coalesce(new.hold_until, 'infinity'::timestamptz) end,
    case when new.imap_hold_code is not null then coalesce(new.imap_hold_until, 'infinity'::timestamptz) end);
  return new;
end $$;
create trigger mailboxes_free_time before insert
    or update of campaign_limit, min_wait_time, status, hold_code, hold_until, imap_hold_code, imap_hold_until, next_free_at
  on mailboxes for each row execute function mailbox_changes_free_time();

create table mailbox_tags (
  organization_id uuid not null references organizations on delete cascade,
  mailbox_id uuid not null references mailboxes on delete cascade,
  label_id uuid not null references labels on delete cascade,
  primary key (mailbox_id, label_id)
);
comment on table mailbox_tags is 'A tag of a mailbox.';
create index mailbox_tags_label on mailbox_tags (label_id);
call heron_guard_rows('mailbox_tags');

create table mailbox_errors (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  mailbox_id uuid not null references mailboxes on delete cascade,
  error_code text not null,
  severity text not null check (severity in ('warning', 'error')),
  message jsonb not null,
  resolved_at timestamptz,
  created_at timestamptz not null
);
comment on table mailbox_errors is 'A fault of a mailbox that people should know about.';
create index mailbox_errors_mailbox on mailbox_errors (mailbox_id, id desc);
call heron_guard_rows('mailbox_errors');

create table mailbox_checks (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  request bytea not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
comment on table mailbox_checks is 'A credential that a worker tests before it is stored. Deleted once the result is there.';
comment on column mailbox_checks.request is 'Servers and passwords, sealed.';
call heron_guard_rows('mailbox_checks');

create table mailbox_consents (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  provider text not null check (provider in ('gmail', 'outlook')),
  status text not null default 'pending' check (status in ('pending', 'exchanging', 'confirming', 'connecting', 'done', 'failed')),
  session_hash text not null unique,
  state_hash text not null unique,
  sealed bytea,
  actor jsonb not null,
  email text not null default '',
  mailbox_id uuid references mailboxes on delete set null,
  error_code text,
  error_message jsonb,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
comment on table mailbox_consents is 'An OAuth consent to access a mailbox that is in progress at its provider.';
comment on column mailbox_consents.session_hash is 'SHA-256 of the secret with which the caller requests the result.';
comment on column mailbox_consents.state_hash is 'SHA-256 of the state parameter.';
comment on column mailbox_consents.sealed is 'PKCE verifier and nonce, later the tokens, sealed under "mailbox_consents/<id>". Null once the consent has ended.';
create index mailbox_consents_organization on mailbox_consents (organization_id, expires_at);
create index mailbox_consents_mailbox on mailbox_consents (mailbox_id) where mailbox_id is not null;
call heron_guard_rows('mailbox_consents');

create table mailbox_tokens (
  mailbox_id uuid primary key references mailboxes on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  sealed bytea not null,
  access_expires_at timestamptz not null,
  refreshed_at timestamptz not null,
  lease_token uuid,
  lease_until timestamptz,
  failures integer not null default 0,
  retry_at timestamptz,
  send_as jsonb not null default '[]',
  send_as_synced_at timestamptz
);
comment on table mailbox_tokens is 'The OAuth tokens of a mailbox.';
comment on column mailbox_tokens.sealed is 'Access and refresh token, sealed under "mailbox_tokens/<mailbox>".';
comment on column mailbox_tokens.lease_token is 'Lease of the one process that refreshes the access token.';
create index mailbox_tokens_organization on mailbox_tokens (organization_id);
create index mailbox_tokens_expiry on mailbox_tokens (access_expires_at);
call heron_guard_rows('mailbox_tokens');

create table mailbox_revocations (
  mailbox_id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  provider text not null check (provider in ('gmail', 'outlook')),
  email text not null,
  sealed bytea not null,
  attempts integer not null default 0,
  due_at timestamptz not null,
  created_at timestamptz not null
);
comment on table mailbox_revocations is 'An OAuth consent of a removed mailbox that still has to be revoked at its provider.';
comment on column mailbox_revocations.mailbox_id is 'Id of the removed mailbox.';
comment on column mailbox_revocations.sealed is 'Access and refresh token, sealed as in mailbox_tokens.';
create index mailbox_revocations_organization on mailbox_revocations (organization_id);
create index mailbox_revocations_due on mailbox_revocations (due_at);
call heron_guard_rows('mailbox_revocations');

create table mailbox_sync (
  mailbox_id uuid not null references mailboxes on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  folder text not null default 'INBOX',
  uid_validity bigint,
  last_uid bigint not null default 0,
  owner text,
  lease_until timestamptz,
  last_synced_at timestamptz,
  failures integer not null default 0,
  retry_at timestamptz,
  last_error jsonb,
  activity double precision not null default 0,
  standing boolean not null default true,
  primary key (mailbox_id, folder)
);
comment on table mailbox_sync is 'Progress of reading one IMAP folder of a mailbox, with the lease of the watching worker.';
comment on column mailbox_sync.last_uid is 'Highest IMAP UID read.';
comment on column mailbox_sync.last_synced_at is 'Time at which the folder was last read to its end.';
comment on column mailbox_sync.activity is 'Binary logarithm of the number of messages read, each weighted by 2 to the power of its day since 1970. The weights halve from day to day, and values of different days compare.';
comment on column mailbox_sync.standing is 'The mailbox is among the most active ones, which have a connection all the time. Others are visited.';
create index mailbox_sync_free on mailbox_sync (lease_until);
call heron_guard_rows('mailbox_sync');

create table sync_workers (
  id text primary key,
  alive_until timestamptz not null
);
comment on table sync_workers is 'A process that watches mailboxes. Each process takes its share of the mailboxes.';

create table warmup_rules (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  priority integer not null default 0,
  sender_match_type text not null check (sender_match_type in ('any', 'domain', 'tld', 'provider')),
  sender_match_value text not null default '',
  recipient_match_type text not null check (recipient_match_type in ('any', 'domain', 'tld', 'provider')),
  recipient_match_value text not null default '',
  weight double precision not null default 1 check (weight >= 0),
  enabled boolean not null default true,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table warmup_rules is 'A rule that determines which mailboxes exchange warmup emails.';
comment on column warmup_rules.sender_match_value is 'Value to match, in lower case and trimmed. Empty if the type is any.';
comment on column warmup_rules.weight is 'Relative weight, 0 or more.';
create index warmup_rules_organization on warmup_rules (organization_id, priority, id);
call heron_guard_rows('warmup_rules');

create table warmup_standings (
  mailbox_id uuid primary key references mailboxes on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  health_state text not null default 'healthy' check (health_state in ('healthy', 'watch', 'throttled', 'quarantined', 'blocked')),
  score integer not null default 100,
  reason jsonb,
  blocked_until timestamptz,
  evaluated_at timestamptz,
  planned_day date,
  run_blocked jsonb
);
comment on table warmup_standings is 'Warmup state of a mailbox for which warmup was ever enabled.';
comment on column warmup_standings.planned_day is 'The last UTC day whose emails are planned.';
create index warmup_standings_organization on warmup_standings (organization_id, planned_day);
call heron_guard_rows('warmup_standings');

create table warmup_mails (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  mailbox_id uuid not null references mailboxes on delete cascade,
  partner_id uuid not null,
  answers uuid unique references warmup_mails on delete cascade,
  state text not null default 'reserved' check (state in ('reserved', 'sending', 'sent', 'uncertain', 'failed')),
  slot_at timestamptz not null,
  slot_day date not null,
  attempts integer not null default 0,
  claim_token uuid,
  claimed_at timestamptz,
  handover text check (handover in ('pending', 'begun')),
  message_id text,
  subject text not null default '',
  sent_at timestamptz,
  error text,
  landed text check (landed in ('inbox', 'spam', 'bounced')),
  landed_at timestamptz,
  created_at timestamptz not null
);
comment on table warmup_mails is 'A warmup email from one mailbox to another.';
comment on column warmup_mails.answers is 'The email that it replies to.';
comment on column warmup_mails.slot_day is 'UTC day of slot_at. The email counts towards the cap of this day.';
create index warmup_mails_open on warmup_mails (mailbox_id, slot_at) where state in ('reserved', 'sending');
create index warmup_mails_sent on warmup_mails (mailbox_id, claimed_at) where claimed_at is not null;
create index warmup_mails_message on warmup_mails (organization_id, message_id) where message_id is not null;
create index warmup_mails_landed on warmup_mails (mailbox_id, landed_at) where landed_at is not null;
create index warmup_mails_placed on warmup_mails (organization_id, landed_at) where landed_at is not null;
create index warmup_mails_sent_at on warmup_mails (organization_id, sent_at) where sent_at is not null;
call heron_guard_rows('warmup_mails');
`;
