/** Tables for contact imports, address verification, and product events. */
export const AUDIENCE = `
create table contact_imports (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid,
  status text not null check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  filename text not null,
  options jsonb not null default '{}',
  blob_id uuid,
  total_bytes bigint not null default 0,
  read_bytes bigint not null default 0,
  total integer not null default 0,
  imported integer not null default 0,
  updated integer not null default 0,
  skipped integer not null default 0,
  failed integer not null default 0,
  unclear integer not null default 0,
  checkpoint bigint not null default 0,
  error jsonb,
  started_at timestamptz,
  ended_at timestamptz,
  blocked_reason jsonb,
  approval_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table contact_imports is 'An import of contacts from a file.';
comment on column contact_imports.unclear is 'Rows imported as unsubscribed because their consent cell was not understood. They also count as imported or updated.';
comment on column contact_imports.total_bytes is 'Size (bytes) of the file.';
comment on column contact_imports.read_bytes is 'Bytes read so far.';
comment on column contact_imports.total is 'Rows read so far: "imported + updated + skipped + failed".';
comment on column contact_imports.checkpoint is 'Rows of the file that were processed, including failed rows. A restarted job continues after them.';
comment on column contact_imports.approval_id is 'Approval that leads of the import wait for, or waited for. No foreign key, because approvals are deleted earlier.';
create index contact_imports_org on contact_imports (organization_id, id desc);
create index contact_imports_open on contact_imports (id) where status in ('queued', 'running');
call heron_guard_rows('contact_imports');

create table contact_import_problems (
  import_id uuid not null references contact_imports on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  line integer not null,
  email text not null default '',
  row_values text[] not null default '{}',
  reason text not null,
  primary key (import_id, line, reason)
);
comment on table contact_import_problems is 'A row of an import that could not be applied.';
call heron_guard_rows('contact_import_problems');

create table contact_verifications (
  contact_id uuid primary key references contacts on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  attempts integer not null default 0,
  due_at timestamptz not null,
  created_at timestamptz not null
);
comment on table contact_verifications is 'A contact whose address waits for verification. Deleted with the result.';
comment on column contact_verifications.attempts is 'Attempts without a result because no server answered.';
comment on column contact_verifications.due_at is 'Earliest time of the next attempt. A worker postpones it while it works on the row.';
create index contact_verifications_due on contact_verifications (due_at);
create index contact_verifications_organization on contact_verifications (organization_id);
call heron_guard_rows('contact_verifications');

create table bulk_edits (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid,
  action text not null check (action in ('add_to_campaign', 'remove_from_campaign', 'add_category', 'remove_category', 'suppress', 'verify',
    'mark_deliverable', 'mark_undeliverable')),
  target_id uuid,
  selected integer not null,
  changed integer not null,
  completed_at timestamptz,
  undone_at timestamptz,
  created_at timestamptz not null
);
comment on table bulk_edits is 'A change of many contacts that can be undone for a day.';
comment on column bulk_edits.target_id is 'Campaign or category of the action. No foreign key, because either may be deleted.';
comment on column bulk_edits.selected is 'Number of selected contacts, changed or not.';
comment on column bulk_edits.completed_at is 'Time at which no contact was left to do. Null while addresses are being verified.';
create index bulk_edits_organization on bulk_edits (organization_id);
create index bulk_edits_created on bulk_edits (created_at);
create index bulk_edits_open on bulk_edits (id) where completed_at is null;
call heron_guard_rows('bulk_edits');

create table bulk_edit_contacts (
  edit_id uuid not null references bulk_edits on delete cascade,
  contact_id uuid not null references contacts on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  suppression_id uuid,
  former_verdict jsonb,
  primary key (edit_id, contact_id)
);
comment on table bulk_edit_contacts is 'A contact that a bulk edit has changed.';
comment on column bulk_edit_contacts.former_verdict is 'Verdict on the address before a person marked it, to be restored.';
comment on column bulk_edit_contacts.suppression_id is 'Entry that the edit added for the address. No foreign key, because it may be removed.';
create index bulk_edit_contacts_contact on bulk_edit_contacts (contact_id);
create index bulk_edit_contacts_organization on bulk_edit_contacts (organization_id);
call heron_guard_rows('bulk_edit_contacts');

create table people (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  contact_id uuid unique references contacts on delete cascade,
  created_at timestamptz not null
);
comment on table people is 'A person that product events are about, with or without a contact.';
comment on column people.contact_id is 'Contact of the person. Erasing the contact erases the person, with its events and conversions.';
create index people_organization on people (organization_id, created_at desc, id desc);
create index people_without_contact on people (organization_id, id desc) where contact_id is null;
call heron_guard_rows('people');

create table person_identifiers (
  organization_id uuid not null references organizations on delete cascade,
  kind text not null check (kind in ('email', 'user_id', 'anonymous_id')),
  value text not null,
  person_id uuid not null references people on delete cascade,
  first_seen_at timestamptz not null,
  primary key (organization_id, kind, value)
);
comment on table person_identifiers is 'An identifier of one person, such as an email address or a user id.';
comment on column person_identifiers.value is 'Value of the identifier. Emails are in lower case.';
create index person_identifiers_person on person_identifiers (person_id);
call heron_guard_rows('person_identifiers');

create table identity_conflicts (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  person_id uuid not null references people on delete cascade,
  other_person_id uuid references people on delete cascade,
  kind text not null check (kind in ('email', 'user_id', 'anonymous_id')),
  value text not null,
  state text not null check (state in ('open', 'dismissed', 'merged')),
  resolved_at timestamptz,
  resolved_by uuid,
  merged_person_id uuid,
  created_at timestamptz not null,
  constraint identity_conflicts_organization_id_person_id_other_person_i_key unique (organization_id, person_id, other_person_id, kind, value)
);
comment on table identity_conflicts is 'An event of one person with an identifier that belongs to another person.';
comment on column identity_conflicts.resolved_by is 'The person who dismissed the conflict. Kept when the account is deleted.';
comment on column identity_conflicts.merged_person_id is 'The person that was merged into person_id and no longer exists.';
create index identity_conflicts_organization on identity_conflicts (organization_id, state, id desc);
create index identity_conflicts_other on identity_conflicts (other_person_id);
call heron_guard_rows('identity_conflicts');

create table product_events (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  contact_id uuid references contacts on delete cascade,
  name text not null,
  data jsonb not null default '{}',
  occurred_at timestamptz not null,
  received_at timestamptz not null,
  person_id uuid references people on delete cascade,
  named_by text,
  constraint product_events_somebody check ((contact_id is not null) or (person_id is not null))
);
comment on table product_events is 'An event of the customer''s product about a person.';
comment on column product_events.named_by is 'Field by which the event identified its person: contact, email, user_id or anonymous_id.';
create index product_events_org on product_events (organization_id, received_at desc, id desc);
create index product_events_name on product_events (organization_id, name, received_at desc, id desc);
create index product_events_contact on product_events (contact_id, received_at desc, id desc);
create index product_events_person on product_events (person_id, occurred_at) where person_id is not null;
create index product_events_occurred on product_events (organization_id, name, occurred_at, id);
create index product_events_contactless on product_events (person_id, received_at desc, id desc) where contact_id is null;
-- Index of events without a person. Empty once every event has one.
create index product_events_personless on product_events (organization_id, contact_id) where person_id is null;
call heron_guard_rows('product_events');
`;
