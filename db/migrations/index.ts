import type { Knex } from 'knex';
import type { Db } from '../connection.ts';
import type { MigrationImpact } from '../migration-impact.ts';
import { knexOf } from '../raw.ts';
import * as foundation from './0001_foundation.ts';
import * as audience from './0002_audience.ts';
import * as outreach from './0003_outreach.ts';
import * as apiKeyUsage from './0004_api_key_usage.ts';
import * as oauth from './0005_oauth.ts';
import * as webhooks from './0006_webhooks.ts';
import * as engine from './0007_engine.ts';
import * as inbox from './0008_inbox.ts';
import * as runs from './0009_runs.ts';
import * as reactions from './0010_reactions.ts';
import * as blockedRuns from './0013_blocked_runs.ts';
import * as rateLimits from './0014_rate_limits.ts';
import * as freeTime from './0015_free_time.ts';
import * as handover from './0016_handover.ts';
import * as winners from './0017_engine.ts';
import * as trackingDomains from './0018_tracking_domains.ts';
import * as rowSecurity from './0019_row_security.ts';
import * as seats from './0030_seats.ts';
import * as refused from './0031_refused.ts';
import * as approvals from './0050_approvals.ts';
import * as agentRuns from './0052_runs.ts';
import * as directSends from './0054_direct_sends.ts';
import * as inboxWork from './0055_inbox_work.ts';
import * as preflight from './0056_preflight.ts';
import * as testRuns from './0057_test_runs.ts';
import * as mailboxConsents from './0058_mailbox_consents.ts';
import * as warmup from './0059_warmup.ts';
import * as mailboxOrders from './0060_mailbox_orders.ts';
import * as payments from './0062_payments.ts';
import * as approvalMails from './0064_approval_mails.ts';
import * as approvalsByState from './0065_approvals_by_state.ts';
import * as inboxSearch from './0066_inbox_search.ts';
import * as receivedContent from './0067_received_content.ts';
import * as warmupFates from './0071_warmup_fates.ts';
import * as mailboxRevocations from './0072_mailbox_revocations.ts';
import * as spentDays from './0073_spent_days.ts';
import * as facts from './0080_facts.ts';
import * as auditTrail from './0081_audit.ts';
import * as replyTemplates from './0082_templates.ts';
import * as peopleAndGoals from './0083_people_goals.ts';
import * as orderMonths from './0087_order_months.ts';
import * as inboxCounts from './0088_inbox_counts.ts';
import * as goalReplays from './0089_goal_replays.ts';
import * as mergedConflicts from './0090_merged_conflicts.ts';
import * as acquisition from './0091_acquisition.ts';
import * as contactOutreach from './0093_contact_outreach.ts';
import * as weeklyReports from './0093_weekly_reports.ts';
import * as crm from './0094_crm.ts';
import * as givenPasswords from './0096_given_passwords.ts';
import * as draftFiles from './0097_draft_files.ts';
import * as integrations from './0098_integrations.ts';
import * as automations from './0100_automations.ts';
import * as verifications from './0102_verifications.ts';
import * as sentMail from './0104_sent_mail.ts';
import * as leadCompanies from './0105_lead_companies.ts';
import * as freeMail from './0106_free_mail.ts';
import * as consentsAndQueuedActions from './0107_consents_and_queued_actions.ts';
import * as automationRunIndexes from './0108_automation_run_indexes.ts';
import * as blobStores from './0110_blob_stores.ts';
import * as visits from './0115_visits.ts';
import * as automationBudgets from './0134_automation_budgets.ts';
import * as leadOrder from './0120_lead_order.ts';
import * as spentSeats from './0121_spent_seats.ts';
import * as campaignFlow from './0125_campaign_flow.ts';
import * as prospectsByLastSend from './0126_prospects_by_last_send.ts';
import * as milestones from './0127_milestones.ts';
import * as authorRights from './0129_author_rights.ts';
import * as sendGroups from './0138_send_groups.ts';
import * as tasksDue from './0142_tasks_due.ts';
import * as automationAuthors from './0143_automation_authors.ts';
import * as eventsByMonth from './0146_events_by_month.ts';
import * as repliesIndex from './0147_replies_index.ts';
import * as upgrades from './0148_upgrades.ts';

export interface Migration {
  name: string;
  up: (knex: Knex) => Promise<void>;
  /** Of every migration after 0008: what it does to an installation that has data. */
  impact?: MigrationImpact;
}

/** All migrations in order. Names are part of the record in every database: never rename, only append. */
export const MIGRATIONS: Migration[] = [
  { name: '0001_foundation', up: foundation.up },
  { name: '0002_audience', up: audience.up },
  { name: '0003_outreach', up: outreach.up },
  { name: '0004_api_key_usage', up: apiKeyUsage.up },
  { name: '0005_oauth', up: oauth.up },
  { name: '0006_webhooks', up: webhooks.up },
  { name: '0007_engine', up: engine.up },
  { name: '0008_inbox', up: inbox.up },
  { name: '0009_runs', ...runs },
  { name: '0010_reactions', ...reactions },
  { name: '0013_blocked_runs', ...blockedRuns },
  { name: '0014_rate_limits', ...rateLimits },
  { name: '0015_free_time', ...freeTime },
  { name: '0016_handover', ...handover },
  { name: '0017_engine', ...winners },
  { name: '0018_tracking_domains', ...trackingDomains },
  { name: '0019_row_security', ...rowSecurity },
  { name: '0030_seats', ...seats },
  { name: '0031_refused', ...refused },
  { name: '0050_approvals', ...approvals },
  { name: '0052_runs', ...agentRuns },
  { name: '0054_direct_sends', ...directSends },
  { name: '0055_inbox_work', ...inboxWork },
  { name: '0056_preflight', ...preflight },
  { name: '0057_test_runs', ...testRuns },
  { name: '0058_mailbox_consents', ...mailboxConsents },
  { name: '0059_warmup', ...warmup },
  { name: '0060_mailbox_orders', ...mailboxOrders },
  { name: '0062_payments', ...payments },
  { name: '0064_approval_mails', ...approvalMails },
  { name: '0065_approvals_by_state', ...approvalsByState },
  { name: '0066_inbox_search', ...inboxSearch },
  { name: '0067_received_content', ...receivedContent },
  { name: '0071_warmup_fates', ...warmupFates },
  { name: '0072_mailbox_revocations', ...mailboxRevocations },
  { name: '0073_spent_days', ...spentDays },
  { name: '0080_facts', ...facts },
  { name: '0081_audit', ...auditTrail },
  { name: '0082_templates', ...replyTemplates },
  { name: '0083_people_goals', ...peopleAndGoals },
  { name: '0087_order_months', ...orderMonths },
  { name: '0088_inbox_counts', ...inboxCounts },
  { name: '0089_goal_replays', ...goalReplays },
  { name: '0090_merged_conflicts', ...mergedConflicts },
  { name: '0091_acquisition', ...acquisition },
  { name: '0093_contact_outreach', ...contactOutreach },
  { name: '0093_weekly_reports', ...weeklyReports },
  { name: '0094_crm', ...crm },
  { name: '0096_given_passwords', ...givenPasswords },
  { name: '0097_draft_files', ...draftFiles },
  { name: '0098_integrations', ...integrations },
  { name: '0100_automations', ...automations },
  { name: '0102_verifications', ...verifications },
  { name: '0104_sent_mail', ...sentMail },
  { name: '0105_lead_companies', ...leadCompanies },
  { name: '0106_free_mail', ...freeMail },
  { name: '0107_consents_and_queued_actions', ...consentsAndQueuedActions },
  { name: '0108_automation_run_indexes', ...automationRunIndexes },
  { name: '0110_blob_stores', ...blobStores },
  { name: '0115_visits', ...visits },
  { name: '0134_automation_budgets', ...automationBudgets },
  { name: '0120_lead_order', ...leadOrder },
  { name: '0121_spent_seats', ...spentSeats },
  { name: '0125_campaign_flow', ...campaignFlow },
  { name: '0126_prospects_by_last_send', ...prospectsByLastSend },
  { name: '0127_milestones', ...milestones },
  { name: '0129_author_rights', ...authorRights },
  { name: '0138_send_groups', ...sendGroups },
  { name: '0142_tasks_due', ...tasksDue },
  { name: '0143_automation_authors', ...automationAuthors },
  { name: '0146_events_by_month', ...eventsByMonth },
  { name: '0147_replies_index', ...repliesIndex },
  { name: '0148_upgrades', ...upgrades },
];

/**
 * Brings the database to this build's schema; safe to run from several processes at once. Returns the names applied.
 * @param upTo the last one to apply, for tests of a schema that was released
 */
export async function migrate(db: Db, upTo?: string): Promise<string[]> {
  const [, applied] = (await knexOf(db).migrate.latest({
    migrationSource: sourceUpTo(upTo),
    tableName: 'heron_migrations',
  })) as [number, string[]];
  return applied;
}

/**
 * Migrations of the list that this build does not know: a later release made them.
 */
export function unknownMigrations(names: readonly string[]): string[] {
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  return names.filter((name) => !known.has(name));
}

/** Gives an empty database the schema that these migrations make, and no other: that of an earlier release. */
export async function migrateTo(db: Db, names: readonly string[]): Promise<void> {
  const { getMigrationName, getMigration } = sourceUpTo(undefined);
  await knexOf(db).migrate.latest({
    migrationSource: {
      getMigrations: async () => MIGRATIONS.filter(({ name }) => names.includes(name)),
      getMigrationName,
      getMigration,
    },
    tableName: 'heron_migrations',
  });
}

function sourceUpTo(upTo: string | undefined): Knex.MigrationSource<Migration> {
  const end = upTo === undefined ? MIGRATIONS.length : MIGRATIONS.findIndex(({ name }) => name === upTo) + 1;
  return {
    getMigrations: async () => MIGRATIONS.slice(0, end),
    getMigrationName: (migration) => migration.name,
    getMigration: async (migration) => ({
      up: migration.up,
      down: () => Promise.reject(new Error('migrations only go forward')),
    }),
  };
}

/** Names of migrations this build has and the database lacks. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const knex = knexOf(db);
  const exists = await knex.schema.hasTable('heron_migrations');
  const done = exists ? await knex('heron_migrations').pluck('name') : [];
  return MIGRATIONS.map((m) => m.name).filter((name) => !done.includes(name));
}
