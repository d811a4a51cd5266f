import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = { locks: { organizations: 'ShareRowExclusiveLock' }, secondsAtMillionRows: 0 };

/** Reply templates, and what each workspace has asked of the AI provider. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table reply_templates (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      -- Who made it; kept when they are gone.
      user_id uuid,
      name text not null,
      subject text not null default '',
      body_html text not null default '',
      body_plain text not null default '',
      -- From 1, without gaps.
      position integer not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index reply_templates_organization on reply_templates (organization_id, position);

    create table ai_usage (
      organization_id uuid not null references organizations on delete cascade,
      -- UTC.
      day date not null,
      tokens bigint not null,
      primary key (organization_id, day)
    );

    call heron_guard_rows('reply_templates');
    call heron_guard_rows('ai_usage');
  `);
}
