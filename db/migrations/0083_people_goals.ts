import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    organizations: 'ShareRowExclusiveLock',
    contacts: 'ShareRowExclusiveLock',
    product_events: 'AccessExclusiveLock',
  },
  secondsAtMillionRows: 2,
};

/** Who product events are of, and what an organization counts as reaching a goal. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Somebody that product events are of: a contact, or a person that no contact stands for.
    create table people (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      -- Erasing a contact erases the person, with its events and conversions.
      contact_id uuid unique references contacts on delete cascade,
      created_at timestamptz not null
    );
    create index people_organization on people (organization_id, created_at desc, id desc);

    -- What a person is known by. An identifier is of one person.
    create table person_identifiers (
      organization_id uuid not null references organizations on delete cascade,
      kind text not null check (kind in ('email', 'user_id', 'anonymous_id')),
      -- Emails in lower case.
      value text not null,
      person_id uuid not null references people on delete cascade,
      first_seen_at timestamptz not null,
      primary key (organization_id, kind, value)
    );
    create index person_identifiers_person on person_identifiers (person_id);

    -- An event of one person named an identifier that another one has.
    create table identity_conflicts (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      person_id uuid not null references people on delete cascade,
      other_person_id uuid not null references people on delete cascade,
      kind text not null check (kind in ('email', 'user_id', 'anonymous_id')),
      value text not null,
      state text not null check (state in ('open', 'dismissed')),
      created_at timestamptz not null,
      resolved_at timestamptz,
      -- Who dismissed it; kept when they are gone.
      resolved_by uuid,
      unique (organization_id, person_id, other_person_id, kind, value)
    );
    create index identity_conflicts_organization on identity_conflicts (organization_id, state, id desc);
    create index identity_conflicts_other on identity_conflicts (other_person_id);

    -- Events from before people have none until their contact's next event; events of a person without a contact have no contact.
    alter table product_events add column person_id uuid references people on delete cascade;
    alter table product_events alter column contact_id drop not null;
    alter table product_events add constraint product_events_somebody check (contact_id is not null or person_id is not null) not valid;
    create index product_events_person on product_events (person_id, occurred_at) where person_id is not null;
    create index product_events_occurred on product_events (organization_id, name, occurred_at, id);

    create table goals (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      name text not null,
      kind text not null check (kind in ('signup', 'activation', 'paid', 'revenue', 'retention', 'custom')),
      is_primary boolean not null default false,
      -- The latest of goal_revisions.
      revision integer not null,
      archived_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index goals_organization on goals (organization_id, id desc);
    create unique index goals_primary on goals (organization_id, kind) where is_primary and archived_at is null and kind <> 'custom';

    create table goal_revisions (
      organization_id uuid not null references organizations on delete cascade,
      goal_id uuid not null references goals on delete cascade,
      -- From 1, without gaps.
      revision integer not null,
      definition jsonb not null,
      created_at timestamptz not null,
      -- Who made it; kept when they are gone.
      created_by uuid,
      primary key (goal_id, revision)
    );

    -- A person reached a goal by an event: once per event and goal, also when the event comes again.
    create table conversions (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      goal_id uuid not null references goals on delete cascade,
      goal_revision integer not null,
      -- Outlives the event, which is pruned.
      event_id uuid not null,
      person_id uuid not null references people on delete cascade,
      occurred_at timestamptz not null,
      -- Null when the event had no valid amount.
      value_minor bigint,
      currency text,
      created_at timestamptz not null,
      unique (goal_id, event_id),
      check ((value_minor is null) = (currency is null))
    );
    create index conversions_person on conversions (person_id, goal_id, occurred_at);
    create index conversions_goal on conversions (organization_id, goal_id, occurred_at);

    create table goal_replays (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      goal_id uuid not null references goals on delete cascade,
      -- A replay of another revision than the goal's ends with goal_changed.
      goal_revision integer not null,
      from_at timestamptz not null,
      to_at timestamptz not null,
      state text not null check (state in ('queued', 'running', 'completed', 'failed', 'cancelled')),
      error text,
      -- The last event that was evaluated: occurred_at and id.
      cursor_at timestamptz,
      cursor_id uuid,
      scanned bigint not null default 0,
      added bigint not null default 0,
      removed bigint not null default 0,
      kept bigint not null default 0,
      retained_without_event bigint not null default 0,
      created_at timestamptz not null,
      started_at timestamptz,
      finished_at timestamptz
    );
    create index goal_replays_goal on goal_replays (goal_id, id desc);
    create unique index goal_replays_one on goal_replays (goal_id) where state in ('queued', 'running');

    call heron_guard_rows('people');
    call heron_guard_rows('person_identifiers');
    call heron_guard_rows('identity_conflicts');
    call heron_guard_rows('goals');
    call heron_guard_rows('goal_revisions');
    call heron_guard_rows('conversions');
    call heron_guard_rows('goal_replays');
  `);
}
