import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { organizations: 'AccessExclusiveLock', users: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** The report that a workspace mails its members every week: whether and when, the weeks that were, and whom each was mailed to. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table organizations add column weekly_report boolean not null default false;
    -- IANA name; decides when a week begins.
    alter table organizations add column timezone text not null default 'UTC';

    create table weekly_reports (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      -- The Monday on which the reported week began, in the time zone of the workspace.
      week date not null,
      from_at timestamptz not null,
      to_at timestamptz not null,
      state text not null default 'due' check (state in ('due', 'done')),
      blocked_reason text,
      created_at timestamptz not null,
      -- A week is reported once.
      unique (organization_id, week)
    );
    create index weekly_reports_due on weekly_reports (id) where state = 'due';

    -- The key is what keeps a person from being mailed twice.
    create table weekly_report_mails (
      id uuid primary key,
      report_id uuid not null references weekly_reports on delete cascade,
      user_id uuid not null references users on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      -- uncertain: the mail server's answer was lost.
      state text not null check (state in ('sending', 'sent', 'refused', 'uncertain')),
      claimed_at timestamptz not null,
      settled_at timestamptz,
      unique (report_id, user_id)
    );

    -- Members who do not want the report of a workspace.
    create table weekly_report_opt_outs (
      organization_id uuid not null references organizations on delete cascade,
      user_id uuid not null references users on delete cascade,
      created_at timestamptz not null,
      primary key (organization_id, user_id)
    );

    call heron_guard_rows('weekly_reports');
    call heron_guard_rows('weekly_report_mails');
    call heron_guard_rows('weekly_report_opt_outs');
  `);
}
