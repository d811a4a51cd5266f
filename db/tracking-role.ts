import type { Knex } from 'knex';
import type { Db } from './connection.ts';
import { knexOf } from './raw.ts';

/**
 * Login of the public tracking process. An operator creates it with a password; `heron migrate` grants it the following
 * rights and no others. It cannot read sealed values, because it has no grant on their columns.
 */
const TRACKING_ROLE = 'heron_tracking';

/**
 * Privileges by table, for opens, clicks, opt-outs, and the check of a host name before a certificate is issued. The
 * process only locks rows of direct_sends. A lock requires the right to update a column, here `updated_at`.
 */
const GRANTS: Readonly<Record<string, readonly string[]>> = {
  campaign_advanced: ['select (campaign_id, overrides)'],
  campaigns: ['select (id, organization_id, unsubscribe_mode, tracking_domain, tracking_domain_verified)'],
  contacts: [
    'select (id, organization_id, email, subscribed, unsubscribed_by)',
    'update (subscribed, unsubscribed_by, updated_at)',
  ],
  daily_counters: ['select', 'insert', 'update (count)'],
  direct_sends: [
    'select (id, organization_id, state, mailbox_id, approval_id, attempts, files_deleted_at)',
    'update (updated_at)',
  ],
  domain_events: ['select (id)', 'insert'],
  engagement_events: ['select', 'insert', 'update (machine, machine_reason, announce_at, times)'],
  enrollments: [
    'select (id, organization_id, campaign_id, contact_id, state, entered_at, launched_at, waiting_until, signalled_epoch)',
    'update (state, finished_at, last_activity_at, waiting_for, waiting_until, blocked, failure_reason)',
  ],
  heron_migrations: ['select'],
  installation: ['select'],
  mailboxes: [
    'select (id, organization_id, tracking_domain, tracking_domain_verified)',
    'update (next_free_at, spent_days)',
  ],
  organizations: ['select (id, name)'],
  outbox: ['select (id)', 'insert'],
  outreach_settings: ['select (organization_id, settings)'],
  sends: [
    `select (id, organization_id, campaign_id, enrollment_id, step_id, contact_id, mailbox_id, state, recipient, message_id, slot_at, slot_day,
       is_first, sent_at, opened_at, machine_opened_at, clicked_at, machine_clicked_at, unsubscribed_at, again)`,
    'update (state, opened_at, machine_opened_at, clicked_at, machine_clicked_at, unsubscribed_at, updated_at)',
    'delete',
  ],
  step_runs: ['select (organization_id, enrollment_id, state, outcome)', 'update (state, outcome, completed_at)'],
  suppressions: ['select', 'insert', 'update (reason, source, campaign_id, metadata, expires_at, updated_at)'],
  test_run_steps: ['select (id, organization_id)'],
  tracked_links: ['select'],
  tracking_domains: ['select (domain, organization_id)'],
  waits: ['select (id, organization_id, enrollment_id, state)', 'update (state, settled_at)'],
};

/**
 * Name of the policy that lets the role see rows of every organization. Tracked links contain the id of an email, but
 * no organization.
 */
const POLICY = 'tracking';
/** Key of the advisory lock that serializes the grants of concurrent migrations. The number is arbitrary. */
const GRANT_LOCK = 7_201_949;

/**
 * Grants the role of the tracking process exactly its rights in this database. Does nothing if the role does not exist.
 */
export async function grantTrackingRole(db: Db): Promise<void> {
  await knexOf(db).transaction(async (trx) => {
    const { rows } = (await trx.raw('select from pg_roles where rolname = ?', [TRACKING_ROLE])) as { rows: unknown[] };
    if (rows.length === 0) return;
    await trx.raw('select pg_advisory_xact_lock(?)', [GRANT_LOCK]);
    await trx.raw(`revoke all on all tables in schema public from ${TRACKING_ROLE}`);
    await trx.raw(`grant usage on schema public to ${TRACKING_ROLE}`);
    for (const [table, privileges] of Object.entries(GRANTS))
      await trx.raw(`grant ${privileges.join(', ')} on ?? to ${TRACKING_ROLE}`, [table]);
    await alignPolicies(trx);
  });
}

/** Creates the policy on granted tables with row-level security, and removes it from all other tables. */
async function alignPolicies(trx: Knex): Promise<void> {
  const { rows } = (await trx.raw(
    `select c.relname as name, p.polname is not null as "hasPolicy", c.relname = any(?) as wanted
     from pg_class c left join pg_policy p on p.polrelid = c.oid and p.polname = ?
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace and c.relrowsecurity
     order by c.relname`,
    [Object.keys(GRANTS), POLICY],
  )) as { rows: { name: string; hasPolicy: boolean; wanted: boolean }[] };
  for (const { name, hasPolicy, wanted } of rows) {
    if (wanted && !hasPolicy) await trx.raw(`create policy ${POLICY} on ?? to ${TRACKING_ROLE} using (true)`, [name]);
    if (!wanted && hasPolicy) await trx.raw(`drop policy ${POLICY} on ??`, [name]);
  }
}
