import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

/** Every table whose rows belong to an organization, or to somebody in one. */
const GUARDED = [
  'api_key_usage_logs',
  'api_key_usage_minutes',
  'api_keys',
  'app_connections',
  'audit_logs',
  'blob_chunks',
  'blobs',
  'campaign_advanced',
  'campaign_logs',
  'campaign_senders',
  'campaign_steps',
  'campaign_variants',
  'campaigns',
  'contact_categories',
  'contact_import_problems',
  'contact_imports',
  'contacts',
  'daily_counters',
  'dead_letters',
  'deliverability_events',
  'domain_events',
  'engagement_events',
  'enrollments',
  'idempotency_keys',
  'inbound_messages',
  'invitations',
  'labels',
  'mailbox_checks',
  'mailbox_errors',
  'mailbox_sync',
  'mailbox_tags',
  'mailboxes',
  'memberships',
  'oauth_applications',
  'oauth_codes',
  'oauth_grants',
  'oauth_tokens',
  'organizations',
  'outreach_settings',
  'product_events',
  'reaction_parked_events',
  'reaction_streams',
  'removed_steps',
  'roles',
  'segments',
  'sends',
  'sessions',
  'step_runs',
  'suppressions',
  'tracked_links',
  'tracking_domains',
  'users',
  'waits',
  'webhook_attempts',
  'webhook_counts',
  'webhook_deliveries',
  'webhook_endpoints',
  'webhook_payloads',
  'webhook_secrets',
  'webhook_throttle_drops',
];

export const impact: MigrationImpact = {
  locks: Object.fromEntries(GUARDED.map((table) => [table, 'AccessExclusiveLock'])),
  secondsAtMillionRows: 0.2,
  rowsDoNotMatter: true,
};

/**
 * A policy on every table whose rows belong to an organization, by which a role that does not own the tables sees and writes
 * the rows of one organization, or none where none is set. The owner is not bound: nothing changes until statements run
 * in another role (ROW_SECURITY). Changes the catalogue alone, and locks every table for the moment.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The organization of the transaction; null where none is set. A plain expression, so that indexes can use it.
    create function heron_organization() returns uuid language sql stable parallel safe as
      $$ select nullif(current_setting('heron.organization_id', true), '')::uuid $$;

    -- For migrations: puts a table under the policy.
    create procedure heron_guard_rows(guarded regclass, condition text default 'organization_id = heron_organization()') language plpgsql as $$
    begin
      execute format('alter table %s enable row level security', guarded);
      execute format('create policy organization on %s using (%s)', guarded, condition);
    end $$;

    do $$
    declare guarded regclass;
    begin
      for guarded in
        select c.oid from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
        where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by c.relname
      loop
        call heron_guard_rows(guarded);
      end loop;
    end $$;

    call heron_guard_rows('organizations', 'id = heron_organization()');
    -- Rows that belong to an organization through their parent.
    call heron_guard_rows('blob_chunks',
      'exists (select from blobs b where b.id = blob_id and b.organization_id = heron_organization())');
    call heron_guard_rows('oauth_codes',
      'exists (select from oauth_grants g where g.id = grant_id and g.organization_id = heron_organization())');
    call heron_guard_rows('oauth_tokens',
      'exists (select from oauth_grants g where g.id = grant_id and g.organization_id = heron_organization())');
    call heron_guard_rows('webhook_secrets',
      'exists (select from webhook_endpoints e where e.id = endpoint_id and e.organization_id = heron_organization())
       or exists (select from oauth_applications a where a.id = application_id and a.organization_id = heron_organization())');
    -- A person belongs to themselves; an organization sees those who are its members.
    call heron_guard_rows('users',
      'exists (select from memberships m where m.user_id = users.id and m.organization_id = heron_organization())');
  `);
}
