import { divided } from './divided.ts';

/** Count columns of the fact tables. The columns from opens to machine_clicks count events, the others count emails. */
const COUNTS = `sent integer not null default 0,
  bounced integer not null default 0,
  opened integer not null default 0,
  opened_by_person integer not null default 0,
  opened_by_machine integer not null default 0,
  clicked integer not null default 0,
  clicked_by_machine integer not null default 0,
  replied integer not null default 0,
  replied_positively integer not null default 0,
  complained integer not null default 0,
  unsubscribed integer not null default 0,
  opens integer not null default 0,
  machine_opens integer not null default 0,
  clicks integer not null default 0,
  machine_clicks integer not null default 0,
  bounced_softly integer not null default 0,
  replied_negatively integer not null default 0,
  replied_with_question integer not null default 0,
  replied_neutrally integer not null default 0`;

/** Tables for outcomes of campaign emails, and for their counts, which reports read. */
export const FACTS = `
create table send_facts (
  send_id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  contact_id uuid references contacts on delete set null,
  campaign_id uuid not null,
  step_id uuid,
  variant_id uuid,
  mailbox_id uuid,
  sent_at timestamptz,
  bounced_at timestamptz,
  opened_at timestamptz,
  machine_opened_at timestamptz,
  clicked_at timestamptz,
  machine_clicked_at timestamptz,
  replied_at timestamptz,
  positive_at timestamptz,
  complained_at timestamptz,
  unsubscribed_at timestamptz,
  hits jsonb not null default '[]',
  offer text,
  angle text,
  cta text,
  copy_hash text,
  audience_source text,
  segment_id uuid,
  category_ids uuid[] not null default '{}',
  soft_bounced_at timestamptz,
  negative_at timestamptz,
  question_at timestamptz,
  neutral_at timestamptz,
  visitor uuid
) with (fillfactor = 80);
comment on table send_facts is 'Outcome of a campaign email as included in the counts. It outlives campaign, step and mailbox.';
comment on column send_facts.sent_at is 'Time of submission to the server. Null if the email was refused at once.';
comment on column send_facts.hits is 'Opens and clicks by hour: [{"hour", "metric", "count"}].';
comment on column send_facts.copy_hash is 'Prefix of the SHA-256 of subject and bodies before placeholders are filled in.';
comment on column send_facts.soft_bounced_at is 'First soft bounce.';
comment on column send_facts.visitor is 'The first email to the contact in the campaign that a person opened. Null before that. Kept when the contact is deleted.';
create index send_facts_mailbox on send_facts (mailbox_id, sent_at);
create index send_facts_campaign on send_facts (campaign_id, sent_at);
create index send_facts_organization on send_facts (organization_id, sent_at);
create index send_facts_timeline on send_facts (contact_id, sent_at desc, send_id desc) where contact_id is not null;
create index send_facts_visitor on send_facts (visitor) where visitor is not null;
-- Reports count each figure by the time of its outcome.
create index send_facts_opened on send_facts (organization_id, opened_at) where opened_at is not null;
create index send_facts_opened_by_any on send_facts (organization_id, (least(opened_at, machine_opened_at))) where least(opened_at, machine_opened_at) is not null;
create index send_facts_clicked on send_facts (organization_id, clicked_at) where clicked_at is not null;
create index send_facts_answered on send_facts (organization_id, replied_at) where replied_at is not null;
create index send_facts_positive on send_facts (organization_id, positive_at) where positive_at is not null;
create index send_facts_bounced on send_facts (organization_id, bounced_at) where bounced_at is not null;
create index send_facts_replied on send_facts (organization_id, sent_at) include (contact_id, replied_at, positive_at) where replied_at is not null;
create index send_facts_campaign_replied on send_facts (campaign_id, sent_at) include (organization_id, contact_id, replied_at, positive_at)
  where replied_at is not null;
call heron_guard_rows('send_facts');

-- Locks the rows before reading the emails, so that the second of two changes of one contact sees the first.
create function heron_recount_outreach(ids uuid[]) returns void language plpgsql as $$
begin
  perform from contact_outreach where contact_id = any(ids) order by contact_id for update;
  update contact_outreach o set emails_received = f.received, last_contacted_at = f.contacted, last_replied_at = f.replied,
    positive_at = f.positive, bounced_at = f.bounced
  from (
    select i.id, count(s.sent_at) filter (where s.bounced_at is null)::int as received, max(s.sent_at) filter (where s.bounced_at is null) as contacted,
      max(s.replied_at) as replied, min(s.positive_at) as positive, max(s.bounced_at) as bounced
    from unnest(ids) as i(id) left join send_facts s on s.contact_id = i.id group by i.id
  ) f where f.id = o.contact_id;
end $$;

create function heron_recount_outreach_of_sends() returns trigger language plpgsql as $$
declare ids uuid[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(distinct v.id) into ids from before b join after a using (send_id) cross join lateral (values (b.contact_id), (a.contact_id)) v(id)
    where v.id is not null and (b.contact_id, b.sent_at, b.bounced_at, b.replied_at, b.positive_at)
      is distinct from (a.contact_id, a.sent_at, a.bounced_at, a.replied_at, a.positive_at);
  elsif tg_op = 'INSERT' then
    select array_agg(distinct contact_id) into ids from after where contact_id is not null;
  else
    select array_agg(distinct contact_id) into ids from before where contact_id is not null;
  end if;
  if ids is not null then perform heron_recount_outreach(ids); end if;
  return null;
end $$;
create trigger send_facts_outreach_added after insert on send_facts referencing new table as after
  for each statement execute function heron_recount_outreach_of_sends();
create trigger send_facts_outreach_changed after update on send_facts referencing old table as before new table as after
  for each statement execute function heron_recount_outreach_of_sends();
create trigger send_facts_outreach_removed after delete on send_facts referencing old table as before
  for each statement execute function heron_recount_outreach_of_sends();

create table fact_campaign_hours (
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null,
  hour timestamptz not null,
  ${COUNTS},
  primary key (campaign_id, hour)
) partition by range (hour);
comment on table fact_campaign_hours is 'Counts of a campaign per UTC hour.';
create index fact_campaign_hours_organization on fact_campaign_hours (organization_id, hour);
${divided('fact_campaign_hours', 'moment', 80)}
call heron_guard_rows('fact_campaign_hours');

create table fact_campaign_days (
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null,
  day date not null,
  ${COUNTS},
  primary key (campaign_id, day)
) with (fillfactor = 80);
comment on table fact_campaign_days is 'Counts of a campaign per day.';
comment on column fact_campaign_days.day is 'UTC day.';
create index fact_campaign_days_organization on fact_campaign_days (organization_id, day);
call heron_guard_rows('fact_campaign_days');

create table fact_steps (
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null,
  step_id uuid not null,
  variant_id uuid not null,
  ${COUNTS},
  primary key (campaign_id, step_id, variant_id)
) with (fillfactor = 80);
comment on table fact_steps is 'Counts of a campaign per step and variant.';
comment on column fact_steps.variant_id is 'Id of the variant. The nil UUID stands for the step''s own text.';
call heron_guard_rows('fact_steps');

create table fact_mailbox_hours (
  organization_id uuid not null references organizations on delete cascade,
  mailbox_id uuid not null,
  hour timestamptz not null,
  ${COUNTS},
  primary key (mailbox_id, hour)
) partition by range (hour);
comment on table fact_mailbox_hours is 'Counts of a mailbox per UTC hour.';
create index fact_mailbox_hours_organization on fact_mailbox_hours (organization_id, hour);
${divided('fact_mailbox_hours', 'moment', 80)}
call heron_guard_rows('fact_mailbox_hours');

create table fact_mailbox_days (
  organization_id uuid not null references organizations on delete cascade,
  mailbox_id uuid not null,
  day date not null,
  ${COUNTS},
  primary key (mailbox_id, day)
) with (fillfactor = 80);
comment on table fact_mailbox_days is 'Counts of a mailbox per day.';
comment on column fact_mailbox_days.day is 'UTC day.';
create index fact_mailbox_days_organization on fact_mailbox_days (organization_id, day);
call heron_guard_rows('fact_mailbox_days');

create table visit_facts (
  organization_id uuid not null references organizations on delete cascade,
  visitor uuid not null,
  part text not null check (part in ('countries', 'clients', 'devices')),
  key text not null,
  campaign_id uuid not null,
  first_at timestamptz not null,
  primary key (visitor, part, key)
) with (fillfactor = 90);
comment on table visit_facts is 'The first visit of a reader in a campaign, per country, mail program or device.';
comment on column visit_facts.key is 'A country, a mail program or a kind of device. Empty: unknown.';
create index visit_facts_campaign on visit_facts (campaign_id, part, key, first_at, visitor);
create index visit_facts_organization on visit_facts (organization_id);
call heron_guard_rows('visit_facts');

create table fact_visits (
  organization_id uuid not null references organizations on delete cascade,
  campaign_id uuid not null,
  part text not null,
  key text not null,
  visitors integer not null,
  primary key (campaign_id, part, key)
) with (fillfactor = 80);
comment on table fact_visits is 'Counts of a campaign''s readers per country, mail program or device.';
create index fact_visits_organization on fact_visits (organization_id);
call heron_guard_rows('fact_visits');

create table prospect_facts (
  organization_id uuid not null references organizations on delete cascade,
  contact_id uuid not null references contacts on delete cascade,
  campaign_id uuid not null,
  sends integer not null,
  first_sent_at timestamptz not null,
  last_sent_at timestamptz not null,
  replied_at timestamptz,
  positive_at timestamptz,
  activity_at timestamptz not null,
  goal_ids uuid[] not null default '{}',
  opened_at timestamptz,
  clicked_at timestamptz,
  bounced_at timestamptz,
  complained_at timestamptz,
  unsubscribed_at timestamptz,
  primary key (contact_id, campaign_id)
) with (fillfactor = 80);
comment on table prospect_facts is 'Outcomes of a contact that emails were sent to, per campaign. The row with the nil UUID covers all campaigns.';
comment on column prospect_facts.activity_at is 'Time of the latest confirmed send, first or positive reply, or conversion.';
comment on column prospect_facts.goal_ids is 'Goals that the person has reached.';
comment on column prospect_facts.opened_at is 'First open by a person, not by a machine.';
comment on column prospect_facts.bounced_at is 'First permanent bounce.';
create index prospect_facts_newest on prospect_facts (organization_id, campaign_id, activity_at desc, contact_id desc);
create index prospect_facts_interested on prospect_facts (organization_id, campaign_id, activity_at desc, contact_id desc) where positive_at is not null;
create index prospect_facts_reached on prospect_facts (organization_id, campaign_id, activity_at desc, contact_id desc) where goal_ids <> '{}';
call heron_guard_rows('prospect_facts');

create table send_groups (
  send_id uuid primary key references send_facts on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  sent_at timestamptz not null,
  next_days date[] not null
) with (fillfactor = 85);
comment on table send_groups is 'Report groups that count a confirmed send, with the next send to the same contact in each group.';
comment on column send_groups.next_days is 'UTC days of the next send, by group. infinity: no next email. -infinity: the contact is deleted.';
create index send_groups_organization on send_groups (organization_id, sent_at);
call heron_guard_rows('send_groups');

create table fact_groups (
  organization_id uuid not null references organizations on delete cascade,
  dimension text not null,
  key text,
  day date not null,
  next_day date not null,
  sends integer not null,
  is_folded boolean not null default false
) with (fillfactor = 85);
comment on table fact_groups is 'Counts of sends by group, day, and day of the next send. Their sum gives the distinct prospects of any range.';
comment on column fact_groups.key is 'Key of the group. Null: emails without a value in this dimension.';
comment on column fact_groups.day is 'UTC day.';
comment on column fact_groups.next_day is 'UTC day of the next send to the same contact.';
comment on column fact_groups.is_folded is 'False for a difference that was added by the deletion of a contact and is not folded in yet.';
create unique index fact_groups_folded on fact_groups (organization_id, dimension, day, key, next_day) nulls not distinct where is_folded;
create index fact_groups_new on fact_groups (organization_id, dimension, day) where not is_folded;
call heron_guard_rows('fact_groups');

-- The groups of an email, each at its place in next_days: eleven that every email has, then its categories.
-- The reports use the same keys (domain/reporting/acquisition/dimensions.ts).
create function heron_send_groups(
  campaign_id uuid, step_id uuid, variant_id uuid, offer text, angle text, cta text, mailbox_id uuid, audience_source text, segment_id uuid, copy_hash text, category_ids uuid[]
) returns table(place bigint, dimension text, key text) language sql immutable parallel safe as $$
  select g.place, g.dimension, g.key from unnest(
    array['all', 'campaign', 'step', 'variant', 'offer', 'angle', 'cta', 'mailbox', 'audience_source', 'segment', 'copy']
      || array_fill('category'::text, array[greatest(cardinality(category_ids), 1)]),
    array['all', campaign_id::text, step_id::text, variant_id::text, offer, angle, cta, mailbox_id::text, audience_source, segment_id::text, copy_hash]
      || case when category_ids = '{}' then array[null::text] else category_ids::text[] end
  ) with ordinality g(dimension, key, place)
$$;

-- Removes a deleted contact from the prospect counts at once, but not from the email counts. Inserts differences, so it waits for no reaction.
create function heron_uncount_prospect() returns trigger language plpgsql as $$
begin
  if not exists (select from send_facts where contact_id = old.id) or not exists (select from organizations where id = old.organization_id) then
    return old;
  end if;
  insert into fact_groups (organization_id, dimension, key, day, next_day, sends)
  select old.organization_id, g.dimension, g.key, (s.sent_at at time zone 'UTC')::date, v.next_day, sum(v.sends)
  from send_facts f join send_groups s on s.send_id = f.send_id
  cross join lateral heron_send_groups(f.campaign_id, f.step_id, f.variant_id, f.offer, f.angle, f.cta, f.mailbox_id,
    f.audience_source, f.segment_id, f.copy_hash, f.category_ids) g
  cross join lateral (values (s.next_days[g.place], -1), ('-infinity', 1)) v(next_day, sends)
  where f.contact_id = old.id group by 1, 2, 3, 4, 5;
  update send_groups s set next_days = array_fill('-infinity'::date, array[cardinality(s.next_days)])
  from send_facts f where f.contact_id = old.id and s.send_id = f.send_id;
  return old;
end $$;
create trigger contacts_uncount_prospect before delete on contacts for each row execute function heron_uncount_prospect();

create table stale_groups (
  organization_id uuid primary key references organizations on delete cascade
);
comment on table stale_groups is 'An organization whose fact_groups are incomplete until "heron facts rebuild" is run.';
call heron_guard_rows('stale_groups');
`;
