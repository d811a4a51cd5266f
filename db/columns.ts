import type * as Json from './json-columns.ts';

/** TypeScript type of a jsonb value, by its name in db/json-columns.ts. */
type JsonColumn = `${keyof JsonTypes}${'' | '[]' | '[][]'}` | 'Record<string, string>';

/** Type names exported by db/json-columns.ts. The list makes unknown names a compile error. */
interface JsonTypes {
  ApprovalBinding: Json.ApprovalBinding;
  ApprovalContent: Json.ApprovalContent;
  AuditChanges: Json.AuditChanges;
  AutomationFilter: Json.AutomationFilter;
  AutomationGraph: Json.AutomationGraph;
  AutomationNodeResult: Json.AutomationNodeResult;
  AutomationWaiting: Json.AutomationWaiting;
  ColumnMapping: Json.ColumnMapping;
  ErasurePosition: Json.ErasurePosition;
  GoalDefinition: Json.GoalDefinition;
  ImportOptions: Json.ImportOptions;
  JsonObject: Json.JsonObject;
  Message: Json.Message;
  OrderLine: Json.OrderLine;
  OrderedDomain: Json.OrderedDomain;
  OrderedMailbox: Json.OrderedMailbox;
  PersonName: Json.PersonName;
  PaymentLine: Json.PaymentLine;
  PolicyReason: Json.PolicyReason;
  PreflightCheck: Json.PreflightCheck;
  PreflightFinding: Json.PreflightFinding;
  SendAsAddress: Json.SendAsAddress;
  StoredActor: Json.StoredActor;
  ScheduleWindow: Json.ScheduleWindow;
  StoredRecheck: Json.StoredRecheck;
  SegmentCondition: Json.SegmentCondition;
  StoredAnswer: Json.StoredAnswer;
  StoredAttachment: Json.StoredAttachment;
  StoredConversation: Json.StoredConversation;
  StoredIssue: Json.StoredIssue;
  StoredMailService: Json.StoredMailService;
}

/**
 * Types of jsonb columns, by `table.column`. Other jsonb columns have the type JsonObject. `npm run db:types` writes
 * the types into the row types and refuses names that are not in the schema.
 */
export const COLUMNS: Record<`${string}.${string}`, JsonColumn> = {
  'approvals.binding': 'ApprovalBinding',
  'approvals.payload': 'ApprovalContent',
  'approvals.reasons': 'PolicyReason[]',
  'audit_logs.changes': 'AuditChanges',
  'automation_runs.graph': 'AutomationGraph',
  'automation_runs.node_results': 'AutomationNodeResult[]',
  'automation_runs.waiting': 'AutomationWaiting',
  'automations.filter': 'AutomationFilter',
  'automations.graph': 'AutomationGraph',
  'campaign_logs.message': 'Message',
  'approval_notices.blocked_reason': 'Message',
  'approvals.reason': 'Message',
  'automation_runs.blocked_reason': 'Message',
  'campaigns.blocked_reason': 'Message',
  'contact_imports.blocked_reason': 'Message',
  'contact_imports.error': 'Message',
  'deletions.position': 'ErasurePosition',
  'direct_sends.blocked_reason': 'Message',
  'domain_renewals.blocked_reason': 'Message',
  'goal_replays.blocked_reason': 'Message',
  'integration_connections.blocked_reason': 'Message',
  'mailbox_orders.blocked_reason': 'Message',
  'payments.blocked_reason': 'Message',
  'runs.blocked_reason': 'Message',
  'test_runs.blocked_reason': 'Message',
  'webhook_deliveries.blocked_reason': 'Message',
  'weekly_reports.blocked_reason': 'Message',
  'workspace_exports.blocked_reason': 'Message',
  'warmup_standings.run_blocked': 'Message',
  'mailbox_sync.last_error': 'Message',
  'integration_deliveries.last_error': 'Message',
  'integration_runs.detail': 'Message',
  'integration_connections.last_error': 'Message',
  'integration_connections.health_detail': 'Message',
  'automation_runs.error_detail': 'Message',
  'webhook_attempts.error_reason': 'Message',
  'webhook_deliveries.error_reason': 'Message',
  'webhook_endpoints.last_failure_reason': 'Message',
  'webhook_endpoints.disabled_reason': 'Message',
  'campaigns.rechecks': 'StoredRecheck[]',
  'campaigns.schedule_windows': 'ScheduleWindow[][]',
  'contact_imports.options': 'ImportOptions',
  'contacts.custom_fields': 'Record<string, string>',
  'dead_letters.last_error': 'Message',
  'direct_sends.error_detail': 'Message',
  'direct_sends.waiting_for': 'Message',
  'direct_sends.attachments': 'StoredAttachment[]',
  'domain_renewals.error': 'StoredIssue',
  'email_drafts.attachments': 'StoredAttachment[]',
  'enrollments.approved': 'Record<string, string>',
  'enrollments.failure_reason': 'Message',
  'enrollments.hold_reason': 'Message',
  'suppressions.reason': 'Message',
  'api_keys.revoked_reason': 'Message',
  'crm_tasks.title_message': 'Message',
  'crm_tasks.description_message': 'Message',
  'enrollments.waiting_for': 'Message',
  'enrollments.conversation': 'StoredConversation',
  'goal_revisions.definition': 'GoalDefinition',
  'idempotency_keys.headers': 'Record<string, string>',
  'inbound_messages.answer': 'StoredAnswer',
  'inbound_messages.error': 'Message',
  'integration_connections.display_fields': 'Record<string, string>',
  'integration_deliveries.source': 'Record<string, string>',
  'integration_oauth_states.actor': 'StoredActor',
  'mailbox_consents.error_message': 'Message',
  'mailbox_errors.message': 'Message',
  'mailboxes.hold_reason': 'Message',
  'mailboxes.imap_hold_reason': 'Message',
  'warmup_standings.reason': 'Message',
  'mailbox_consents.actor': 'StoredActor',
  'mailbox_orders.domains': 'OrderedDomain[]',
  'mailbox_orders.error': 'StoredIssue',
  'mailbox_orders.line_items': 'OrderLine[]',
  'mailbox_quotes.domains': 'OrderedDomain[]',
  'mailbox_quotes.line_items': 'OrderLine[]',
  'mailbox_quotes.mailboxes': 'OrderedMailbox[]',
  'mailbox_quotes.names': 'PersonName[]',
  'mailbox_tokens.send_as': 'SendAsAddress[]',
  'mailboxes.imap': 'StoredMailService',
  'mailboxes.smtp': 'StoredMailService',
  'order_mailboxes.imap': 'StoredMailService',
  'order_mailboxes.smtp': 'StoredMailService',
  'payments.error': 'StoredIssue',
  'payments.line_items': 'PaymentLine[]',
  'preflight_reports.checks': 'PreflightCheck[]',
  'preflight_reports.findings': 'PreflightFinding[]',
  'runs.error_details': 'StoredIssue',
  'segments.conditions': 'SegmentCondition[]',
  'sends.conversation': 'StoredConversation',
  'sends.error_detail': 'Message',
  'step_runs.detail': 'Message',
  'step_runs.error': 'StoredIssue',
  'test_run_steps.detail': 'Message',
  'test_run_steps.error': 'StoredIssue',
  'test_runs.conversation': 'StoredConversation',
  'test_runs.error': 'StoredIssue',
};
