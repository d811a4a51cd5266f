/** Tables for leads in a campaign: executed steps, emails, responses to emails. */
export const SENDING = `
create table enrollments (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null references campaigns on delete cascade,
  contact_id uuid not null references contacts on delete cascade,
  state text not null default 'pending' check (state in ('pending', 'active', 'completed', 'replied', 'bounced', 'failed', 'unsubscribed', 'undeliverable')),
  current_step_id uuid,
  step_started_at timestamptz,
  waiting_for jsonb,
  waiting_until timestamptz,
  blocked boolean not null default false,
  failure_reason jsonb,
  mailbox_id uuid references mailboxes on delete set null,
  app_values jsonb not null default '{}',
  conversation jsonb not null default '{"subject": "", "messageIds": []}',
  hold_since timestamptz,
  hold_until timestamptz,
  hold_reason jsonb,
  hold_source text check (hold_source in ('manual', 'out_of_office', 'other_campaign', 'approval')),
  signalled_epoch integer not null default 0,
  next_act text not null generated always as (
    case when coalesce(waiting_for #>> '{values,what,code}', waiting_for ->> 'code') in ('wait.has_slot', 'wait.campaign_paused') then 'slot'
      when waiting_for #>> '{values,what,code}' like '%mailbox%' then 'mailbox'
      when waiting_for #>> '{values,what,code}' in
        ('wait.limit_campaign', 'wait.limit_new_leads', 'wait.window_closed', 'wait.other_day', 'wait.later', 'wait.no_window') then 'schedule'
      when waiting_for #>> '{values,what,code}' = 'wait.for_day' and mailbox_id is null then 'entry'
      when waiting_for #>> '{values,what,code}' = 'wait.for_outcome' then 'outcome'
      else 'other' end
  ) stored,
  entered_at timestamptz not null,
  launched_at timestamptz,
  last_activity_at timestamptz,
  finished_at timestamptz,
  launch_after timestamptz not null default 'epoch',
  source text,
  segment_id uuid,
  order_key text,
  approved jsonb,
  constraint enrollments_contact_key unique (campaign_id, contact_id)
);
comment on table enrollments is 'A lead: one contact in one campaign.';
comment on column enrollments.waiting_for is 'Current wait as a message code with values, rendered when read.';
comment on column enrollments.conversation is 'Subject and Message-IDs of the conversation so far. The next email replies to it.';
comment on column enrollments.hold_source is '"other_campaign" without hold_since: a person ended the hold, and the lead starts although another campaign is under way with the contact.';
comment on column enrollments.signalled_epoch is 'The control_epoch at which its workflow run last decided to wait, or was signalled.';
comment on column enrollments.next_act is 'Kind of fact on which the next act of a waiting run depends.';
comment on column enrollments.launch_after is 'The launcher skips the lead before this time. ''epoch'': the lead was never refused.';
comment on column enrollments.source is 'Source from which the lead was added to the campaign.';
comment on column enrollments.approved is 'Fingerprints of the approved values of the contact, by merge field. Without Email: waits for an approval. Null: needs none.';
comment on column enrollments.order_key is 'Field value by which the campaign orders its leads. Null unless it orders by a field.';
create index enrollments_contact on enrollments (contact_id);
create index enrollments_pending on enrollments (campaign_id, entered_at, id) where state = 'pending';
-- Serves the runs to signal after a resume or an edit.
create index enrollments_recheck on enrollments (campaign_id, next_act, signalled_epoch) where state = 'active';
create index enrollments_recheck_step on enrollments (current_step_id, next_act, signalled_epoch) where state = 'active';
create index enrollments_held on enrollments (campaign_id, hold_until) where state = 'pending' and hold_until is not null;
create index enrollments_waiting on enrollments (campaign_id, waiting_until) where state = 'active';
create index enrollments_campaign on enrollments (campaign_id, id desc);
create index enrollments_mailbox on enrollments (mailbox_id) where mailbox_id is not null;
-- Serves pages of the leads that must have an open run, independent of the number of ended leads.
create index enrollments_open on enrollments (campaign_id, contact_id) where state = 'active';
create index enrollments_due on enrollments (campaign_id, launch_after, entered_at, id) where state = 'pending';
-- Serves the limit on open runs without a slot, for campaigns that do not begin with an email.
create index enrollments_unmailed on enrollments (campaign_id) where state = 'active' and mailbox_id is null;
create index enrollments_ordered on enrollments (campaign_id, order_key, entered_at, id)
  where state = 'pending' and launch_after = 'epoch' and order_key is not null;
create index enrollments_unapproved on enrollments (campaign_id) where hold_source = 'approval';
call heron_guard_rows('enrollments');

-- Fingerprint of a contact's value: the first half of its SHA-256, hex. An empty value and a missing one are equal, as in a text.
create function heron_value_hash(contact contacts, field text) returns text language sql immutable as $$
  select left(encode(sha256(convert_to(coalesce(case field
    when 'Email' then contact.email when 'FirstName' then contact.first_name when 'LastName' then contact.last_name
    when 'Company' then contact.company when 'Phone' then contact.phone else contact.custom_fields ->> field end, ''), 'UTF8')), 'hex'), 32)
$$;
create function heron_lead_values(contact contacts, fields text[]) returns jsonb language sql immutable as
  $$ select jsonb_object_agg(field, heron_value_hash(contact, field)) from unnest(fields) as field $$;
-- Merge fields whose value is no longer the approved one.
create function heron_lead_changes(contact contacts, approved jsonb) returns text[] language sql immutable as $$
  select coalesce(array_agg(field order by field), '{}') from jsonb_each_text(approved) as a(field, hash)
  where hash <> heron_value_hash(contact, field)
$$;

-- Returns the value that a campaign orders a contact by: empty if the contact has none, null if the campaign orders by something else.
-- Shortened to fit an index entry.
create function heron_lead_order(order_by text, field text, contact contacts) returns text language sql immutable as $$
  select left(coalesce(case order_by
    when 'email' then contact.email when 'first_name' then contact.first_name when 'last_name' then contact.last_name when 'company' then contact.company
    when 'custom_field' then contact.custom_fields ->> field end, ''), 300)
  where order_by in ('email', 'first_name', 'last_name', 'company') or (order_by = 'custom_field' and field <> '')
$$;

-- Skips locked rows: such a lead is being launched, moved or removed, and an edit of the contact does not wait for that.
create function heron_reorder_leads() returns trigger language plpgsql as $$
begin
  update enrollments e set order_key = heron_lead_order(k.contact_order_by, k.contact_order_field, new)
  from campaigns k
  where k.id = e.campaign_id and e.id = any(array(
    select id from enrollments where contact_id = new.id and state = 'pending' and order_key is not null for update skip locked));
  return null;
end $$;
create trigger contacts_lead_order after update of email, first_name, last_name, company, custom_fields on contacts
  for each row when ((old.email, old.first_name, old.last_name, old.company, old.custom_fields)
    is distinct from (new.email, new.first_name, new.last_name, new.company, new.custom_fields))
  execute function heron_reorder_leads();

create function heron_forget_lead_order() returns trigger language plpgsql as $$
begin
  new.leads_ordered_from := null;
  return new;
end $$;
create trigger campaigns_lead_order before update of contact_order_by, contact_order_field on campaigns
  for each row when ((old.contact_order_by, old.contact_order_field) is distinct from (new.contact_order_by, new.contact_order_field))
  execute function heron_forget_lead_order();

-- Rows are locked in one order, so that two large changes wait for each other instead of failing.
create function heron_count_outreach_campaigns() returns trigger language plpgsql as $$
declare step integer := case tg_op when 'INSERT' then 1 else -1 end;
begin
  with counted as (
    select contact_id, count(*)::int * step as n from changed group by contact_id
  ), held as (
    select contact_id, c.n from contact_outreach o join counted c using (contact_id) order by contact_id for update of o
  )
  update contact_outreach o set campaigns = o.campaigns + h.n from held h where h.contact_id = o.contact_id;
  return null;
end $$;
create trigger enrollments_outreach_added after insert on enrollments referencing new table as changed
  for each statement execute function heron_count_outreach_campaigns();
create trigger enrollments_outreach_removed after delete on enrollments referencing old table as changed
  for each statement execute function heron_count_outreach_campaigns();

create table step_runs (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  enrollment_id uuid not null references enrollments on delete cascade,
  campaign_id uuid not null,
  contact_id uuid not null,
  step_id uuid not null,
  seq integer not null,
  kind text not null,
  state text not null check (state in ('running', 'waiting', 'completed', 'skipped', 'failed', 'blocked')),
  outcome text,
  detail jsonb,
  attempts integer not null default 0,
  output_key text,
  output jsonb,
  error jsonb,
  started_at timestamptz not null,
  completed_at timestamptz,
  called_at timestamptz,
  call_until timestamptz,
  constraint step_runs_seq_key unique (enrollment_id, seq)
);
comment on table step_runs is 'One execution of one step for one lead. The called app deduplicates by its id, which is the event id.';
comment on column step_runs.campaign_id is 'No foreign key: the row is deleted with its enrollment, and deleting a campaign would check it row by row.';
comment on column step_runs.called_at is 'Time of the first call of the app.';
comment on column step_runs.call_until is 'End of the claim of the call under way, by PostgreSQL''s clock. Null when none is.';
create index step_runs_blocked on step_runs (campaign_id, id desc) where state = 'blocked';
call heron_guard_rows('step_runs');

create table waits (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  enrollment_id uuid not null,
  step_run_id uuid not null unique references step_runs on delete cascade,
  campaign_id uuid not null,
  contact_id uuid not null,
  step_id uuid not null,
  event_name text not null,
  state text not null default 'open' check (state in ('open', 'resumed', 'timed_out', 'cancelled')),
  entered_at timestamptz not null,
  opened_at timestamptz not null,
  deadline timestamptz,
  event_id uuid,
  settled_at timestamptz
);
comment on table waits is 'A step that waits for a product event, until the event comes or the deadline passes.';
comment on column waits.entered_at is 'Time at which the step before began its work. An event that occurred since then resumes the wait.';
create index waits_open on waits (contact_id, event_name) where state = 'open';
create index waits_enrollment on waits (enrollment_id) where state = 'open';
-- Serves the open waits of an edited step.
create index waits_step on waits (step_id) where state = 'open';
call heron_guard_rows('waits');

create table sends (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid references campaigns on delete set null,
  enrollment_id uuid references enrollments on delete set null,
  step_id uuid,
  step_run_id uuid,
  contact_id uuid references contacts on delete set null,
  mailbox_id uuid references mailboxes on delete set null,
  variant_id uuid,
  state text not null check (state in ('reserved', 'sending', 'sent', 'uncertain', 'bounced', 'failed', 'skipped')),
  recipient text not null,
  message_id text,
  subject text not null default '',
  conversation jsonb,
  slot_at timestamptz not null,
  slot_day date not null,
  is_first boolean not null default false,
  attempts integer not null default 0,
  claim_token uuid,
  claimed_at timestamptz,
  sent_at timestamptz,
  smtp_response text,
  error_code text,
  error_detail jsonb,
  opened_at timestamptz,
  machine_opened_at timestamptz,
  clicked_at timestamptz,
  machine_clicked_at timestamptz,
  replied_at timestamptz,
  bounced_at timestamptz,
  complained_at timestamptz,
  unsubscribed_at timestamptz,
  handover text check (handover in ('pending', 'begun')),
  again boolean not null default false,
  assigned_id text,
  dimensions jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table sends is 'An email to one recipient. The row is written before the network call, so that no step is sent twice.';
comment on column sends.conversation is 'State of the conversation after this email is sent.';
comment on column sends.slot_day is 'Day of slot_at, campaign-local for campaigns and UTC otherwise. The email counts towards the caps of this day.';
comment on column sends.handover is '''pending'': claimed by a worker that records the moment before the end of the message is sent. ''begun'': this moment has passed.';
comment on column sends.again is 'True for an uncertain email that a person wants to send again. It has no slot yet.';
comment on column sends.assigned_id is 'The Message-ID by which a relay replaced ours, if its answer named one.';
comment on column sends.dimensions is 'Labels, text and audience at the time when the email was claimed for sending.';
create unique index sends_once on sends (enrollment_id, step_id) where enrollment_id is not null;
create unique index sends_message_id on sends (organization_id, message_id) where message_id is not null;
create index sends_campaign on sends (campaign_id, state);
create index sends_contact on sends (contact_id, id desc);
create index sends_mailbox_open on sends (mailbox_id, slot_at) where state in ('reserved', 'sending');
-- Serves the search for workflows that must settle an email (activities/).
create index sends_claimed on sends (enrollment_id) where state = 'sending';
create index sends_org on sends (organization_id, id desc);
-- Rolling bounce and complaint rates. Not partial: the planner does not see that the comparison implies "is not null".
create index sends_campaign_left on sends (campaign_id, coalesce(sent_at, bounced_at));
-- Serves the time of a mailbox's last sent email, for the minimum gap, and the removal of a mailbox.
create index sends_mailbox on sends (mailbox_id, sent_at);
-- Serves the caps of a mailbox within one campaign, which are counted from the sends.
create index sends_campaign_day on sends (campaign_id, slot_day, mailbox_id);
create index sends_assigned_id on sends (organization_id, assigned_id) where assigned_id is not null;
create index sends_uncertain on sends (organization_id, mailbox_id, claimed_at) where state = 'uncertain';
create index sends_variant on sends (variant_id) include (sent_at, bounced_at, opened_at, clicked_at, replied_at) where variant_id is not null;
create index sends_attempted on sends (mailbox_id, claimed_at) where sent_at is null and state in ('uncertain', 'bounced');
call heron_guard_rows('sends');

create table sent_copies (
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  copy_hash text not null,
  content text not null,
  primary key (organization_id, name)
);
comment on table sent_copies is 'The text of a step version without values of a person, which the contents of its emails are packed against.';
comment on column sent_copies.name is 'First half of the SHA-256 of the content, hex.';
comment on column sent_copies.copy_hash is 'Hash of the step version alone, as in send_facts.';
create index sent_copies_copy on sent_copies (organization_id, copy_hash);
call heron_guard_rows('sent_copies');

create table sent_contents (
  send_id uuid primary key references sends on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  copy_name text,
  packed bytea not null,
  created_at timestamptz not null
);
comment on table sent_contents is 'An email as it left: subject, both bodies before tracking, and the headers that a person sees.';
comment on column sent_contents.copy_name is 'The row of sent_copies that it is packed against; null: none.';
comment on column sent_contents.packed is 'Raw deflate of its JSON (domain/sending/control/sent-content.ts).';
create index sent_contents_age on sent_contents (organization_id, created_at);
create index sent_contents_copy on sent_contents (organization_id, copy_name);
call heron_guard_rows('sent_contents');

create table daily_counters (
  organization_id uuid not null references organizations on delete cascade,
  scope text not null check (scope in ('campaign', 'campaign_new', 'mailbox', 'org_campaigns')),
  scope_id uuid not null,
  day date not null,
  count integer not null default 0,
  primary key (scope_id, scope, day)
);
comment on table daily_counters is 'Emails reserved or sent per scope and day. The allocator checks its caps against these counts.';
comment on column daily_counters.day is 'Day in campaign-local time for campaigns, in UTC for mailboxes.';
call heron_guard_rows('daily_counters');

create table tracking_domains (
  domain text primary key,
  organization_id uuid not null references organizations on delete cascade,
  fault text check (fault in ('dns', 'no_answer', 'certificate', 'other_instance')),
  is_reported boolean not null default true,
  check_due_at timestamptz not null default now(),
  created_at timestamptz not null
);
comment on table tracking_domains is 'A domain for tracked links. Belongs to the one organization that verified it.';
comment on column tracking_domains.fault is 'Cause for which the last check failed and links do not use the domain. Null after a check that passed.';
comment on column tracking_domains.is_reported is 'False until the owners of the organization have been mailed about the fault.';
create index tracking_domains_organization on tracking_domains (organization_id);
create index tracking_domains_due on tracking_domains (check_due_at);
create index tracking_domains_unreported on tracking_domains (domain) where not is_reported;
call heron_guard_rows('tracking_domains');

create table tracked_links (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  send_id uuid not null,
  campaign_id uuid,
  step_id uuid,
  contact_id uuid,
  url text not null,
  label text not null default '',
  position integer not null,
  created_at timestamptz not null
);
comment on table tracked_links is 'A link in an email that counts clicks.';
comment on column tracked_links.position is 'Position in the text from 1.';
create index tracked_links_send on tracked_links (send_id);
call heron_guard_rows('tracked_links');

create table engagement_events (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  type text not null check (type in ('open', 'click', 'unsubscribe', 'reply', 'bounce', 'complaint')),
  send_id uuid,
  campaign_id uuid,
  step_id uuid,
  contact_id uuid,
  mailbox_id uuid,
  link_id uuid,
  machine boolean not null default false,
  machine_reason text,
  source text,
  user_agent text not null default '',
  client text,
  device_type text,
  country_code text,
  detail jsonb not null default '{}',
  times integer not null default 1,
  announce_at timestamptz,
  at timestamptz not null
);
comment on column engagement_events.times is 'Number of opens in this row: repetitions by the same program within a minute share it.';
comment on table engagement_events is 'A response to an email: an open, click, reply, bounce, complaint or unsubscribe.';
comment on column engagement_events.announce_at is 'Time at which a click is announced, unless it turns out to be automatic. Null once decided.';
create index engagement_events_announce on engagement_events (announce_at) where announce_at is not null;
create index engagement_events_send on engagement_events (send_id, type);
create index engagement_events_campaign on engagement_events (campaign_id, at desc);
create index engagement_events_contact on engagement_events (contact_id, at desc);
-- Index of responses that match no email, for the deliverability report.
create index engagement_events_unassigned on engagement_events (organization_id, at) where send_id is null;
call heron_guard_rows('engagement_events');

create table deliverability_events (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  event_type text not null check (event_type in ('bounce', 'complaint', 'unsubscribe', 'open', 'click', 'reply')),
  recipient_email text not null,
  campaign_id uuid,
  send_id uuid,
  contact_id uuid,
  provider text not null default '',
  reason text not null default '',
  idempotency_key text,
  metadata jsonb not null default '{}',
  created_at timestamptz not null
);
comment on table deliverability_events is 'A signal about an email, reported by a client through the API. Its key makes a retry harmless.';
create index deliverability_events_org on deliverability_events (organization_id, created_at desc);
create unique index deliverability_events_key on deliverability_events (organization_id, idempotency_key) where idempotency_key is not null;
create index deliverability_events_reported on deliverability_events (organization_id, event_type, created_at);
call heron_guard_rows('deliverability_events');

create table campaign_flow_counts (
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null,
  step_id uuid,
  state text,
  from_step_id uuid,
  leads integer not null,
  is_folded boolean not null default false
);
comment on table campaign_flow_counts is 'Counts of leads by step and by the step before. Writers insert differences; the sum of the rows is the count.';
comment on column campaign_flow_counts.campaign_id is 'No foreign key: it would lock the campaign whenever a lead moves.';
comment on column campaign_flow_counts.step_id is 'The step. Null for leads that have reached no step.';
comment on column campaign_flow_counts.state is 'State of the leads whose last step is step_id. Null in rows that count entries into the step.';
comment on column campaign_flow_counts.from_step_id is 'The step before. Null for the first step of a lead.';
create index campaign_flow_counts_campaign on campaign_flow_counts (campaign_id);
create index campaign_flow_counts_new on campaign_flow_counts (organization_id) where not is_folded;
call heron_guard_rows('campaign_flow_counts');

-- One statement, so that the removed and added rows are of one moment.
create function heron_fold_campaign_flow(workspace uuid) returns void language plpgsql as $$
begin
  if random() > 0.01 then return; end if;
  if (select count(*) from (select from campaign_flow_counts where organization_id = workspace and not is_folded limit 2000) new) < 2000 then return; end if;
  if not pg_try_advisory_xact_lock(hashtextextended('campaign-flow/' || workspace, 0)) then return; end if;
  with changed as (
    select distinct campaign_id from campaign_flow_counts where organization_id = workspace and not is_folded
  ), taken as (
    delete from campaign_flow_counts c using changed d where c.organization_id = workspace and c.campaign_id = d.campaign_id returning c.*
  )
  insert into campaign_flow_counts (organization_id, campaign_id, step_id, state, from_step_id, leads, is_folded)
  select organization_id, campaign_id, step_id, state, from_step_id, sum(leads), true from taken
  group by 1, 2, 3, 4, 5 having sum(leads) <> 0;
end $$;

-- Many leads come and go in one statement. Rows of an organization that is being deleted are skipped: its own row is gone already.
create function heron_count_leads_at_steps() returns trigger language plpgsql as $$
declare sign integer := case tg_op when 'INSERT' then 1 else -1 end;
begin
  insert into campaign_flow_counts (organization_id, campaign_id, step_id, state, leads)
  select l.organization_id, l.campaign_id, l.current_step_id, l.state, sign * count(*)::int from changed l
  where exists (select from organizations g where g.id = l.organization_id) group by 1, 2, 3, 4;
  perform heron_fold_campaign_flow((select organization_id from changed limit 1));
  return null;
end $$;
create trigger enrollments_flow_added after insert on enrollments referencing new table as changed
  for each statement execute function heron_count_leads_at_steps();
create trigger enrollments_flow_removed after delete on enrollments referencing old table as changed
  for each statement execute function heron_count_leads_at_steps();

-- One lead moves at a time, and most updates do not move it.
create function heron_move_lead_at_step() returns trigger language plpgsql security definer set search_path from current as $$
begin
  insert into campaign_flow_counts (organization_id, campaign_id, step_id, state, leads)
  values (old.organization_id, old.campaign_id, old.current_step_id, old.state, -1),
    (new.organization_id, new.campaign_id, new.current_step_id, new.state, 1);
  perform heron_fold_campaign_flow(new.organization_id);
  return null;
end $$;
create trigger enrollments_flow_moved after update of current_step_id, state on enrollments for each row
  when ((old.current_step_id, old.state) is distinct from (new.current_step_id, new.state)) execute function heron_move_lead_at_step();

create function heron_count_entered_steps() returns trigger language plpgsql as $$
begin
  insert into campaign_flow_counts (organization_id, campaign_id, step_id, from_step_id, leads)
  select r.organization_id, r.campaign_id, r.step_id, b.step_id, count(*)::int
  from added r left join step_runs b on b.enrollment_id = r.enrollment_id and b.seq = r.seq - 1 group by 1, 2, 3, 4;
  return null;
end $$;
create trigger step_runs_flow_added after insert on step_runs referencing new table as added
  for each statement execute function heron_count_entered_steps();

-- The steps of a lead are deleted together, so the one before is among the deleted rows.
create function heron_discount_entered_steps() returns trigger language plpgsql as $$
begin
  insert into campaign_flow_counts (organization_id, campaign_id, step_id, from_step_id, leads)
  select r.organization_id, r.campaign_id, r.step_id, b.step_id, -count(*)::int
  from removed r left join removed b on b.enrollment_id = r.enrollment_id and b.seq = r.seq - 1
  where exists (select from organizations g where g.id = r.organization_id) group by 1, 2, 3, 4;
  return null;
end $$;
create trigger step_runs_flow_removed after delete on step_runs referencing old table as removed
  for each statement execute function heron_discount_entered_steps();
`;
