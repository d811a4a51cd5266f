import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { domain_events: 'AccessExclusiveLock', organizations: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 2.5,
};

/**
 * Reactions: who follows the domain events, how far each has come in each organization, and events it gave up on.
 *
 * Locks on `domain_events`: the new column is a change of the catalogue alone; the index takes a SHARE lock while it is
 * built (writers of events wait, readers do not): 1.3 s for a million events on a busy machine of two cores.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Reactions between this event and what came from outside; null stands for 0. A chain that grows without end is a loop.
    alter table domain_events add column hops smallint;
    -- The stream of the whole installation, in commit order.
    create index domain_events_stream on domain_events (position) where position is not null;

    create table reaction_subscribers (
      name text primary key,
      -- What it takes; only processes whose build says the same work for it.
      types text[] not null,
      -- Events up to here are entered in reaction_streams.
      position bigint not null,
      -- When a process last said that its build has this subscriber.
      seen_at timestamptz not null,
      created_at timestamptz not null
    );

    -- How far a subscriber has come in an organization. There is a row once the organization had an event that it takes.
    create table reaction_streams (
      organization_id uuid not null references organizations on delete cascade,
      subscriber text not null references reaction_subscribers on delete cascade,
      -- Of the last event that was applied or passed; written in the transaction of its effects.
      position bigint not null,
      -- Of the last event there is to apply.
      head bigint not null,
      -- How often the next event has failed, and when it is tried again.
      attempts integer not null default 0,
      next_attempt_at timestamptz,
      last_error text,
      -- The parked event that has to be replayed or discarded before the stream goes on.
      waits_for uuid,
      primary key (organization_id, subscriber)
    ) with (fillfactor = 80);
    create index reaction_streams_behind on reaction_streams (subscriber, organization_id) where head > position;

    -- Events a subscriber gave up on: dead letters that can be replayed.
    create table reaction_parked_events (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      subscriber text not null references reaction_subscribers on delete cascade,
      event_id uuid not null,
      event_type text not null,
      position bigint not null,
      attempts integer not null,
      last_error text not null,
      state text not null check (state in ('parked', 'replayed', 'discarded')),
      parked_at timestamptz not null,
      settled_at timestamptz
    );
    create unique index reaction_parked_events_open on reaction_parked_events (event_id, subscriber) where state = 'parked';
    create index reaction_parked_events_settled on reaction_parked_events (settled_at) where settled_at is not null;
    create index reaction_parked_events_org on reaction_parked_events (organization_id, id desc);
  `);
}
