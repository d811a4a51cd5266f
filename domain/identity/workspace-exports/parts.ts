import { fileRowsSql } from '../../sending/control/file-rows.ts';

/** Definition of the rows of one table in an export file. */
interface ExportPart {
  /** Value of the field `type` on each line. */
  type: string;
  table: string;
  /** SQL condition that selects the rows of the table (alias `t`). Default: all rows. */
  where?: string;
  /** SQL of additional columns. */
  more?: string;
  /** Columns that are left out, because they hold secrets or internal values. */
  omit?: readonly string[];
}

/**
 * Tables of a workspace's export, in the order of the file. Tables and columns that hold secrets are never exported.
 * `test/engine/workspace-export.test.ts` names the tables that are left out, with the reason.
 */
export const EXPORT_PARTS: readonly ExportPart[] = [
  { type: 'outreach_settings', table: 'outreach_settings' },
  { type: 'attribution_settings', table: 'attribution_settings' },
  { type: 'role', table: 'roles' },
  {
    type: 'member',
    table: 'memberships',
    more: `(select u.email from users u where u.id = t.user_id) as email,
      (select concat_ws(' ', u.first_name, u.last_name) from users u where u.id = t.user_id) as name`,
  },
  { type: 'invitation', table: 'invitations', omit: ['token_hash'] },
  { type: 'team', table: 'teams' },
  { type: 'team_member', table: 'team_members' },
  { type: 'label', table: 'labels' },
  { type: 'segment', table: 'segments' },

  { type: 'contact', table: 'contacts' },
  { type: 'contact_category', table: 'contact_categories' },
  { type: 'contact_note', table: 'contact_notes' },
  { type: 'contact_import', table: 'contact_imports', omit: ['blob_id'] },
  { type: 'suppression', table: 'suppressions' },
  { type: 'opt_out_question', table: 'opt_out_questions' },
  { type: 'person', table: 'people' },
  { type: 'person_identifier', table: 'person_identifiers' },
  { type: 'product_event', table: 'product_events' },
  { type: 'goal', table: 'goals' },
  { type: 'goal_revision', table: 'goal_revisions' },
  { type: 'conversion', table: 'conversions' },
  { type: 'attribution_correction', table: 'attribution_corrections' },
  { type: 'campaign_spend', table: 'campaign_spend' },

  { type: 'mailbox', table: 'mailboxes', omit: ['credentials', 'credentials_version'] },
  { type: 'mailbox_tag', table: 'mailbox_tags' },
  { type: 'tracking_domain', table: 'tracking_domains' },
  { type: 'warmup_rule', table: 'warmup_rules' },

  { type: 'campaign', table: 'campaigns' },
  { type: 'campaign_advanced', table: 'campaign_advanced' },
  { type: 'campaign_step', table: 'campaign_steps' },
  { type: 'campaign_variant', table: 'campaign_variants' },
  { type: 'campaign_sender', table: 'campaign_senders' },
  { type: 'campaign_attachment', table: 'campaign_attachments', omit: ['blob_id'] },
  { type: 'campaign_log', table: 'campaign_logs' },
  { type: 'reply_template', table: 'reply_templates' },
  { type: 'enrollment', table: 'enrollments' },
  { type: 'step_run', table: 'step_runs' },
  { type: 'sent_email', table: 'sends', where: 't.sent_at is not null', omit: ['claim_token', 'handover'] },
  { type: 'tracked_link', table: 'tracked_links' },
  { type: 'engagement_event', table: 'engagement_events' },
  { type: 'deliverability_event', table: 'deliverability_events', omit: ['idempotency_key'] },

  {
    type: 'received_email',
    table: 'inbound_messages',
    omit: ['words', 'uid', 'uid_validity', 'tries', 'retry_at'],
  },
  { type: 'received_file', table: 'inbound_attachments', omit: ['blob_id'] },
  { type: 'written_email', table: 'direct_sends' },
  { type: 'email_draft', table: 'email_drafts' },
  { type: 'thread', table: 'inbox_threads' },
  { type: 'thread_label', table: 'thread_labels' },

  { type: 'pipeline', table: 'crm_pipelines' },
  { type: 'stage', table: 'crm_stages' },
  { type: 'deal', table: 'crm_deals' },
  { type: 'task_type', table: 'crm_task_types' },
  { type: 'task', table: 'crm_tasks' },
  { type: 'crm_activity', table: 'crm_activities' },
  { type: 'meeting', table: 'meetings' },

  { type: 'automation', table: 'automations' },
  { type: 'automation_run', table: 'automation_runs', omit: ['graph'] },
  { type: 'run', table: 'runs' },
  { type: 'agent_policy', table: 'agent_policies' },
  { type: 'audit_log', table: 'audit_logs' },
];

/** SQL of each part, in the order of {@link EXPORT_PARTS}. */
export const PART_SQL = EXPORT_PARTS.map(({ type, table, where = 'true', more, omit }) =>
  fileRowsSql({ part: type, table, where, more, omit }),
);
