import type * as Json from './json-columns.ts';

interface Column {
  /** TypeScript type of a jsonb value; names are those of db/json-columns.ts. JsonObject when not given. */
  type?: `${keyof JsonTypes}${'' | '[]' | '[][]'}` | 'Record<string, string>';
  /** Unit, format or rule, where the name does not say it. */
  note?: string;
}

/** The exports of db/json-columns.ts, so that an unknown name does not compile. */
interface JsonTypes {
  ApprovalContent: Json.ApprovalContent;
  AutomationFilter: Json.AutomationFilter;
  AutomationGraph: Json.AutomationGraph;
  AutomationNodeResult: Json.AutomationNodeResult;
  AutomationWaiting: Json.AutomationWaiting;
  ColumnMapping: Json.ColumnMapping;
  GoalDefinition: Json.GoalDefinition;
  ImportOptions: Json.ImportOptions;
  JsonObject: Json.JsonObject;
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
  SegmentCondition: Json.SegmentCondition;
  StoredAttachment: Json.StoredAttachment;
  StoredConversation: Json.StoredConversation;
  StoredIssue: Json.StoredIssue;
  StoredMailService: Json.StoredMailService;
}

/**
 * What PostgreSQL cannot declare of a column, by `table.column`. `npm run db:types` writes it into the row types and refuses a
 * name that is not in the schema.
 */
export const COLUMNS: Record<`${string}.${string}`, Column> = {
  'agent_policies.capabilities': { note: 'Names of db/models/agent-policy.ts CAPABILITIES.' },
  'agent_policies.mailbox_ids': { note: 'The mailboxes that it may use without a person.' },
  'agent_policies.max_monthly_mailbox_spend_cents': {
    note: "The most that one order's monthly total may be; null: a person approves every order.",
  },
  'agent_policy_usage.credential_id': { note: 'Id of the API key or OAuth grant.' },
  'agent_policy_usage.day': { note: 'UTC day (YYYY-MM-DD).' },
  'approvals.payload': { type: 'ApprovalContent', note: 'What the approver sees, frozen.' },
  'approvals.payload_hash': { note: 'SHA-256 of the payload in canonical form, hex.' },
  'approvals.preflight': { note: 'Report of the checks when it was asked for.' },
  'approvals.reasons': { type: 'PolicyReason[]', note: 'Why a person has to decide.' },
  'approvals.requester_name': { note: 'Name of the key or application when it asked.' },
  'approvals.reason': { note: 'What the person who decided wrote, or why it ended without a decision.' },
  'api_key_usage_logs.endpoint': { note: 'Route template, such as /v1/contacts/:id.' },
  'api_keys.user_id': { note: 'The person who made it; null once their account is gone.' },
  'api_keys.secret_hash': { note: 'SHA-256 of the secret.' },
  'api_keys.permissions': { note: 'Mask of lib/permissions.ts.' },
  'api_keys.allowed_ips': { note: 'Addresses and CIDR ranges; empty means any.' },
  'api_keys.allowed_email_accounts': { note: 'Mailbox ids; empty means all.' },
  'api_keys.rate_limit_per_minute': { note: '0 means the default.' },
  'app_connections.base_url': { note: 'Without query, fragment and trailing slash.' },
  'app_connections.secret': { note: 'Sealed under `app_connections/<id>`.' },
  'automations.author_rights': {
    note: 'Of records/automation-rights.ts, of whoever saved it last; null where nobody knows who did, which counts as none.',
  },
  'automations.filter': { type: 'AutomationFilter', note: 'Which events of the trigger count.' },
  'automations.graph': { type: 'AutomationGraph' },
  'automations.trigger_event': { note: 'Of domain/connect/triggers, or automation.called.' },
  'automation_runs.cause': { note: 'event/<id>, step/<step run> or node/<run>/<node>.' },
  'automation_runs.data': { note: 'Data of the trigger; empty once its contact was erased.' },
  'automation_runs.error_detail': { note: 'Empty where nothing failed.' },
  'automation_runs.graph': { type: 'AutomationGraph', note: 'What it began with; null once it has ended.' },
  'automation_runs.node_results': { type: 'AutomationNodeResult[]' },
  'automation_runs.rights': { note: 'What it may start; null counts as none.' },
  'automation_runs.waiting': { type: 'AutomationWaiting', note: 'The nodes it waits for; null once it has ended.' },
  'blobs.store': { note: 'Who has the bytes: blob_chunks, or a store outside under store_key.' },
  'blobs.moving_to': { note: 'Where a worker is copying them to.' },
  'campaign_steps.automation_id': { note: 'Of a run_automation step; derived from its action.' },
  'campaign_steps.wait_after': { note: 'Days between the previous step and this one.' },
  'campaign_variants.step_id': { note: "Null: the campaign's first email." },
  'campaign_variants.promoted_at': { note: 'Since when all further emails of its step are written as it says.' },
  'campaign_variants.promotion': { note: 'The rule it won by, and the counts of all variants then.' },
  'campaigns.schedule_windows': {
    type: 'ScheduleWindow[][]',
    note: 'Seven lists by weekday (Sunday first); empty when days, start_time and end_time decide.',
  },
  'campaigns.ramp_day': { note: 'Campaign-local day (YYYY-MM-DD) on which ramp_level was last raised.' },
  'contact_imports.options': { type: 'ImportOptions' },
  'contact_imports.total': { note: 'Rows read so far; `imported + updated + skipped + failed`.' },
  'contact_imports.checkpoint': {
    note: 'Rows of the file that were processed, failed ones included; a restarted job continues after them.',
  },
  'contacts.email': { note: 'Lower-case.' },
  'contacts.custom_fields': { type: 'Record<string, string>' },
  'crm_deals.value_minor': { note: "In the currency's smallest unit." },
  'crm_deals.currency': { note: 'ISO 4217, upper-case.' },
  'crm_deals.assigned_to': { note: 'A member; null once they have left the workspace.' },
  'crm_tasks.type': { note: 'Name of a task type when it was written.' },
  'direct_sends.attachments': { type: 'StoredAttachment[]' },
  'email_drafts.attachments': { type: 'StoredAttachment[]' },
  'domain_renewals.cost_cents': { note: "The provider's price when the cycle was charged." },
  'domain_renewals.processing_cents': { note: 'Added to the price for the processing of the payment.' },
  'domain_renewals.error': { type: 'StoredIssue', note: 'Why a person is needed.' },
  'enrollments.conversation': { type: 'StoredConversation' },
  'goal_revisions.definition': { type: 'GoalDefinition' },
  'conversions.value_minor': { note: 'In minor units of the currency.' },
  'conversions.currency': { note: 'ISO 4217, upper-case.' },
  'idempotency_keys.headers': { type: 'Record<string, string>' },
  'integration_connections.sealed': {
    note: 'What was pasted, or the tokens; sealed under `integration_connections/<id>`.',
  },
  'integration_connections.signing_secret': { note: 'Sealed under `integration_connections/<id>/signing`.' },
  'integration_connections.display_fields': { type: 'Record<string, string>' },
  'integration_oauth_states.sealed': { note: 'PKCE verifier, sealed under `integration_oauth_states/<id>`.' },
  'integration_oauth_states.actor': { type: 'StoredActor' },
  'integration_revocations.sealed': { note: 'As it stood in the connection.' },
  'integration_deliveries.source': { type: 'Record<string, string>' },
  'integration_deliveries.lane_id': { note: 'The contact, or the connection where it is about none.' },
  'invitations.email': { note: 'Lower-case.' },
  'invitations.token_hash': { note: 'SHA-256 of the token in the mailed link.' },
  'labels.color': { note: '`#rrggbb`' },
  'labels.position': { note: '0-based, without gaps within its registry.' },
  'mailbox_consents.session_hash': { note: 'SHA-256 of the secret with which its caller asks for the result.' },
  'mailbox_consents.state_hash': { note: 'SHA-256 of the state parameter.' },
  'mailbox_consents.sealed': {
    note: 'PKCE verifier and nonce, then the tokens; sealed under `mailbox_consents/<id>`; null once it has ended.',
  },
  'mailbox_consents.actor': { type: 'StoredActor' },
  'mailbox_tokens.sealed': { note: 'Both tokens, sealed under `mailbox_tokens/<mailbox>`.' },
  'mailbox_tokens.send_as': { type: 'SendAsAddress[]' },
  'warmup_mails.slot_day': { note: 'UTC day of slot_at, whose cap it counts against.' },
  'warmup_rules.sender_match_value': { note: 'Lower-case, trimmed; empty where the type is any.' },
  'mailboxes.email': { note: 'Lower-case.' },
  'mailboxes.smtp': { type: 'StoredMailService' },
  'mailboxes.imap': { type: 'StoredMailService' },
  'mailboxes.credentials': { note: 'Both passwords, sealed under `mailboxes/<id>`.' },
  'mailboxes.credentials_version': {
    note: 'Rises with every change of servers or passwords; open connections below it are stale.',
  },
  'mailboxes.campaign_limit': { note: 'Campaign emails per UTC day.' },
  'mailboxes.min_wait_time': { note: 'Seconds between two emails.' },
  'mailbox_orders.domains': { type: 'OrderedDomain[]' },
  'mailbox_orders.line_items': { type: 'OrderLine[]' },
  'mailbox_orders.error': { type: 'StoredIssue' },
  'mailbox_orders.pay_by': { note: 'Until when it waits for the payment.' },
  'mailbox_quotes.domains': { type: 'OrderedDomain[]' },
  'mailbox_quotes.mailboxes': { type: 'OrderedMailbox[]' },
  'mailbox_quotes.names': { type: 'PersonName[]', note: 'As they were given.' },
  'mailbox_quotes.line_items': { type: 'OrderLine[]' },
  'mailbox_quotes.mailbox_monthly_cents': { note: 'Of all its mailboxes.' },
  'mailbox_quotes.warmup_monthly_cents': { note: 'Of all its mailboxes; 0 without warmup.' },
  'mailbox_quotes.domain_cents': { note: 'Registration of its new domains for a year, once.' },
  'order_mailboxes.smtp': { type: 'StoredMailService' },
  'order_mailboxes.imap': { type: 'StoredMailService' },
  'order_mailboxes.credentials': {
    note: 'Both passwords, sealed under `order_mailboxes/<order>/<position>` until the mailbox is connected; null then.',
  },
  'order_steps.step': { note: 'Its key, by the place in the order: `domain:0`, `mailbox:3`, `dns:0`, `warmup:3`.' },
  'order_steps.attempts': { note: 'Calls to the provider, those that undo it included.' },
  'oauth_applications.organization_id': { note: 'Null for a client that registered itself (RFC 7591).' },
  'oauth_applications.client_secret_hash': { note: 'SHA-256 of the secret; null for public clients.' },
  'oauth_applications.scopes': { note: 'Mask of lib/permissions.ts: the most a token of it can carry.' },
  'oauth_applications.webhook_url': { note: 'Empty: no app-level delivery.' },
  'payments.amount_cents': { note: 'The sum of its lines: what is due now.' },
  'payments.currency': { note: 'ISO 4217, lower-case.' },
  'payments.line_items': { type: 'PaymentLine[]' },
  'payments.error': { type: 'StoredIssue', note: 'Why it failed or needs a person.' },
  'payment_events.outcome': { note: 'What it did, as a code; `ignored` where it came too late to matter.' },
  'preflight_reports.checks': { type: 'PreflightCheck[]' },
  'preflight_reports.findings': { type: 'PreflightFinding[]', note: 'Worst first.' },
  'roles.permissions': { note: 'Names of lib/permissions.ts ORG_PERMISSIONS.' },
  'runs.input': { note: 'The request without `leads`, who are stored as contacts.' },
  'runs.campaign_id': { note: 'The campaign it built or took; it may be deleted.' },
  'runs.frozen_sender_ids': { note: 'The mailboxes that were chosen when it was created.' },
  'runs.recipient_count': { note: 'Leads of the campaign that are not finished, when it was last checked.' },
  'runs.action_count': { note: 'Calls to apps that these leads can lead to.' },
  'runs.expires_at': { note: 'Until when the approval waits for a person.' },
  'runs.event_count': { note: 'Number of its events, and the `seq` of the last one.' },
  'segments.conditions': { type: 'SegmentCondition[]' },
  'sends.conversation': { type: 'StoredConversation' },
  'suppressions.email': { note: 'Lower-case; the bare host when `kind` is domain.' },
  'test_runs.conversation': { type: 'StoredConversation' },
  'test_runs.error': { type: 'StoredIssue' },
  'test_run_steps.id': { note: 'Also the id of the email that it sends, and of the call that it makes.' },
  'test_run_steps.error': { type: 'StoredIssue' },
  'webhook_endpoints.application_id': {
    note: "Set when an application manages it; it is then no part of the workspace's own list.",
  },
  'webhook_endpoints.event_types': { note: 'Empty means all events that are not firehose.' },
};
