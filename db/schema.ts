/* Written by `npm run db:types`; do not edit. Sources: 5860a052782b282e. Types: 16bd4598bceeeced. */

import type {
  ApprovalBinding,
  ApprovalContent,
  AuditChanges,
  AutomationFilter,
  AutomationGraph,
  AutomationNodeResult,
  AutomationWaiting,
  ErasurePosition,
  GoalDefinition,
  ImportOptions,
  JsonObject,
  Message,
  OrderLine,
  OrderedDomain,
  OrderedMailbox,
  PaymentLine,
  PersonName,
  PolicyReason,
  PreflightCheck,
  PreflightFinding,
  ScheduleWindow,
  SegmentCondition,
  SendAsAddress,
  StoredActor,
  StoredAnswer,
  StoredAttachment,
  StoredConversation,
  StoredIssue,
  StoredMailService,
  StoredRecheck,
} from './json-columns.ts';

/** Every table by its name: `row` as it is read, `insert` as it is written. */
export interface Tables {
  acquisition_facts: { row: AcquisitionFactsRow; insert: AcquisitionFactsInsert };
  agent_policies: { row: AgentPoliciesRow; insert: AgentPoliciesInsert };
  agent_policy_usage: { row: AgentPolicyUsageRow; insert: AgentPolicyUsageInsert };
  ai_usage: { row: AiUsageRow; insert: AiUsageInsert };
  answer_corrections: { row: AnswerCorrectionsRow; insert: AnswerCorrectionsInsert };
  api_key_usage_logs: { row: ApiKeyUsageLogsRow; insert: ApiKeyUsageLogsInsert };
  api_key_usage_minutes: { row: ApiKeyUsageMinutesRow; insert: ApiKeyUsageMinutesInsert };
  api_keys: { row: ApiKeysRow; insert: ApiKeysInsert };
  app_connections: { row: AppConnectionsRow; insert: AppConnectionsInsert };
  approval_mails: { row: ApprovalMailsRow; insert: ApprovalMailsInsert };
  approval_notices: { row: ApprovalNoticesRow; insert: ApprovalNoticesInsert };
  approvals: { row: ApprovalsRow; insert: ApprovalsInsert };
  attribution_corrections: { row: AttributionCorrectionsRow; insert: AttributionCorrectionsInsert };
  attribution_settings: { row: AttributionSettingsRow; insert: AttributionSettingsInsert };
  audit_logs: { row: AuditLogsRow; insert: AuditLogsInsert };
  auth_challenges: { row: AuthChallengesRow; insert: AuthChallengesInsert };
  auth_throttles: { row: AuthThrottlesRow; insert: AuthThrottlesInsert };
  automation_budgets: { row: AutomationBudgetsRow; insert: AutomationBudgetsInsert };
  automation_references: { row: AutomationReferencesRow; insert: AutomationReferencesInsert };
  automation_runs: { row: AutomationRunsRow; insert: AutomationRunsInsert };
  automations: { row: AutomationsRow; insert: AutomationsInsert };
  blob_chunks: { row: BlobChunksRow; insert: BlobChunksInsert };
  blob_removals: { row: BlobRemovalsRow; insert: BlobRemovalsInsert };
  blobs: { row: BlobsRow; insert: BlobsInsert };
  bulk_edit_contacts: { row: BulkEditContactsRow; insert: BulkEditContactsInsert };
  bulk_edits: { row: BulkEditsRow; insert: BulkEditsInsert };
  campaign_advanced: { row: CampaignAdvancedRow; insert: CampaignAdvancedInsert };
  campaign_attachments: { row: CampaignAttachmentsRow; insert: CampaignAttachmentsInsert };
  campaign_flow_counts: { row: CampaignFlowCountsRow; insert: CampaignFlowCountsInsert };
  campaign_logs: { row: CampaignLogsRow; insert: CampaignLogsInsert };
  campaign_senders: { row: CampaignSendersRow; insert: CampaignSendersInsert };
  campaign_spend: { row: CampaignSpendRow; insert: CampaignSpendInsert };
  campaign_steps: { row: CampaignStepsRow; insert: CampaignStepsInsert };
  campaign_variants: { row: CampaignVariantsRow; insert: CampaignVariantsInsert };
  campaigns: { row: CampaignsRow; insert: CampaignsInsert };
  contact_categories: { row: ContactCategoriesRow; insert: ContactCategoriesInsert };
  contact_import_problems: { row: ContactImportProblemsRow; insert: ContactImportProblemsInsert };
  contact_imports: { row: ContactImportsRow; insert: ContactImportsInsert };
  contact_notes: { row: ContactNotesRow; insert: ContactNotesInsert };
  contact_outreach: { row: ContactOutreachRow; insert: ContactOutreachInsert };
  contact_verifications: { row: ContactVerificationsRow; insert: ContactVerificationsInsert };
  contacts: { row: ContactsRow; insert: ContactsInsert };
  conversions: { row: ConversionsRow; insert: ConversionsInsert };
  crm_activities: { row: CrmActivitiesRow; insert: CrmActivitiesInsert };
  crm_deal_counts: { row: CrmDealCountsRow; insert: CrmDealCountsInsert };
  crm_deals: { row: CrmDealsRow; insert: CrmDealsInsert };
  crm_pipelines: { row: CrmPipelinesRow; insert: CrmPipelinesInsert };
  crm_seeds: { row: CrmSeedsRow; insert: CrmSeedsInsert };
  crm_stages: { row: CrmStagesRow; insert: CrmStagesInsert };
  crm_task_counts: { row: CrmTaskCountsRow; insert: CrmTaskCountsInsert };
  crm_task_types: { row: CrmTaskTypesRow; insert: CrmTaskTypesInsert };
  crm_tasks: { row: CrmTasksRow; insert: CrmTasksInsert };
  daily_counters: { row: DailyCountersRow; insert: DailyCountersInsert };
  dead_letters: { row: DeadLettersRow; insert: DeadLettersInsert };
  deletion_mails: { row: DeletionMailsRow; insert: DeletionMailsInsert };
  deletions: { row: DeletionsRow; insert: DeletionsInsert };
  deliverability_events: { row: DeliverabilityEventsRow; insert: DeliverabilityEventsInsert };
  direct_sends: { row: DirectSendsRow; insert: DirectSendsInsert };
  domain_events: { row: DomainEventsRow; insert: DomainEventsInsert };
  domain_renewals: { row: DomainRenewalsRow; insert: DomainRenewalsInsert };
  email_drafts: { row: EmailDraftsRow; insert: EmailDraftsInsert };
  engagement_events: { row: EngagementEventsRow; insert: EngagementEventsInsert };
  enrollments: { row: EnrollmentsRow; insert: EnrollmentsInsert };
  fact_campaign_days: { row: FactCampaignDaysRow; insert: FactCampaignDaysInsert };
  fact_campaign_hours: { row: FactCampaignHoursRow; insert: FactCampaignHoursInsert };
  fact_groups: { row: FactGroupsRow; insert: FactGroupsInsert };
  fact_mailbox_days: { row: FactMailboxDaysRow; insert: FactMailboxDaysInsert };
  fact_mailbox_hours: { row: FactMailboxHoursRow; insert: FactMailboxHoursInsert };
  fact_steps: { row: FactStepsRow; insert: FactStepsInsert };
  fact_visits: { row: FactVisitsRow; insert: FactVisitsInsert };
  free_mail_domains: { row: FreeMailDomainsRow; insert: FreeMailDomainsInsert };
  goal_replays: { row: GoalReplaysRow; insert: GoalReplaysInsert };
  goal_revisions: { row: GoalRevisionsRow; insert: GoalRevisionsInsert };
  goals: { row: GoalsRow; insert: GoalsInsert };
  idempotency_keys: { row: IdempotencyKeysRow; insert: IdempotencyKeysInsert };
  identity_conflicts: { row: IdentityConflictsRow; insert: IdentityConflictsInsert };
  inbound_attachments: { row: InboundAttachmentsRow; insert: InboundAttachmentsInsert };
  inbound_bodies: { row: InboundBodiesRow; insert: InboundBodiesInsert };
  inbound_messages: { row: InboundMessagesRow; insert: InboundMessagesInsert };
  inbox_count_changes: { row: InboxCountChangesRow; insert: InboxCountChangesInsert };
  inbox_counts: { row: InboxCountsRow; insert: InboxCountsInsert };
  inbox_threads: { row: InboxThreadsRow; insert: InboxThreadsInsert };
  installation: { row: InstallationRow; insert: InstallationInsert };
  integration_connections: { row: IntegrationConnectionsRow; insert: IntegrationConnectionsInsert };
  integration_deliveries: { row: IntegrationDeliveriesRow; insert: IntegrationDeliveriesInsert };
  integration_field_mappings: { row: IntegrationFieldMappingsRow; insert: IntegrationFieldMappingsInsert };
  integration_inbound: { row: IntegrationInboundRow; insert: IntegrationInboundInsert };
  integration_lanes: { row: IntegrationLanesRow; insert: IntegrationLanesInsert };
  integration_oauth_states: { row: IntegrationOauthStatesRow; insert: IntegrationOauthStatesInsert };
  integration_pace: { row: IntegrationPaceRow; insert: IntegrationPaceInsert };
  integration_records: { row: IntegrationRecordsRow; insert: IntegrationRecordsInsert };
  integration_revocations: { row: IntegrationRevocationsRow; insert: IntegrationRevocationsInsert };
  integration_runs: { row: IntegrationRunsRow; insert: IntegrationRunsInsert };
  integration_subscriptions: { row: IntegrationSubscriptionsRow; insert: IntegrationSubscriptionsInsert };
  invitations: { row: InvitationsRow; insert: InvitationsInsert };
  labels: { row: LabelsRow; insert: LabelsInsert };
  lead_allowances: { row: LeadAllowancesRow; insert: LeadAllowancesInsert };
  lead_company_counts: { row: LeadCompanyCountsRow; insert: LeadCompanyCountsInsert };
  legal_threat_mails: { row: LegalThreatMailsRow; insert: LegalThreatMailsInsert };
  mailbox_checks: { row: MailboxChecksRow; insert: MailboxChecksInsert };
  mailbox_consents: { row: MailboxConsentsRow; insert: MailboxConsentsInsert };
  mailbox_errors: { row: MailboxErrorsRow; insert: MailboxErrorsInsert };
  mailbox_orders: { row: MailboxOrdersRow; insert: MailboxOrdersInsert };
  mailbox_quotes: { row: MailboxQuotesRow; insert: MailboxQuotesInsert };
  mailbox_revocations: { row: MailboxRevocationsRow; insert: MailboxRevocationsInsert };
  mailbox_sync: { row: MailboxSyncRow; insert: MailboxSyncInsert };
  mailbox_tags: { row: MailboxTagsRow; insert: MailboxTagsInsert };
  mailbox_tokens: { row: MailboxTokensRow; insert: MailboxTokensInsert };
  mailboxes: { row: MailboxesRow; insert: MailboxesInsert };
  managed_domains: { row: ManagedDomainsRow; insert: ManagedDomainsInsert };
  meetings: { row: MeetingsRow; insert: MeetingsInsert };
  memberships: { row: MembershipsRow; insert: MembershipsInsert };
  message_words: { row: MessageWordsRow; insert: MessageWordsInsert };
  oauth_applications: { row: OauthApplicationsRow; insert: OauthApplicationsInsert };
  oauth_codes: { row: OauthCodesRow; insert: OauthCodesInsert };
  oauth_grants: { row: OauthGrantsRow; insert: OauthGrantsInsert };
  oauth_tokens: { row: OauthTokensRow; insert: OauthTokensInsert };
  opt_out_questions: { row: OptOutQuestionsRow; insert: OptOutQuestionsInsert };
  order_mailboxes: { row: OrderMailboxesRow; insert: OrderMailboxesInsert };
  order_steps: { row: OrderStepsRow; insert: OrderStepsInsert };
  organizations: { row: OrganizationsRow; insert: OrganizationsInsert };
  outbox: { row: OutboxRow; insert: OutboxInsert };
  outreach_settings: { row: OutreachSettingsRow; insert: OutreachSettingsInsert };
  payment_events: { row: PaymentEventsRow; insert: PaymentEventsInsert };
  payments: { row: PaymentsRow; insert: PaymentsInsert };
  people: { row: PeopleRow; insert: PeopleInsert };
  person_identifiers: { row: PersonIdentifiersRow; insert: PersonIdentifiersInsert };
  preflight_reports: { row: PreflightReportsRow; insert: PreflightReportsInsert };
  product_events: { row: ProductEventsRow; insert: ProductEventsInsert };
  prospect_facts: { row: ProspectFactsRow; insert: ProspectFactsInsert };
  rate_limit_counts: { row: RateLimitCountsRow; insert: RateLimitCountsInsert };
  reaction_parked_events: { row: ReactionParkedEventsRow; insert: ReactionParkedEventsInsert };
  reaction_streams: { row: ReactionStreamsRow; insert: ReactionStreamsInsert };
  reaction_subscribers: { row: ReactionSubscribersRow; insert: ReactionSubscribersInsert };
  reconciliations: { row: ReconciliationsRow; insert: ReconciliationsInsert };
  removed_steps: { row: RemovedStepsRow; insert: RemovedStepsInsert };
  reply_templates: { row: ReplyTemplatesRow; insert: ReplyTemplatesInsert };
  roles: { row: RolesRow; insert: RolesInsert };
  run_events: { row: RunEventsRow; insert: RunEventsInsert };
  runs: { row: RunsRow; insert: RunsInsert };
  segments: { row: SegmentsRow; insert: SegmentsInsert };
  send_facts: { row: SendFactsRow; insert: SendFactsInsert };
  send_groups: { row: SendGroupsRow; insert: SendGroupsInsert };
  sends: { row: SendsRow; insert: SendsInsert };
  sent_contents: { row: SentContentsRow; insert: SentContentsInsert };
  sent_copies: { row: SentCopiesRow; insert: SentCopiesInsert };
  sent_words: { row: SentWordsRow; insert: SentWordsInsert };
  sessions: { row: SessionsRow; insert: SessionsInsert };
  setup_links: { row: SetupLinksRow; insert: SetupLinksInsert };
  stale_groups: { row: StaleGroupsRow; insert: StaleGroupsInsert };
  step_runs: { row: StepRunsRow; insert: StepRunsInsert };
  suppressions: { row: SuppressionsRow; insert: SuppressionsInsert };
  sync_workers: { row: SyncWorkersRow; insert: SyncWorkersInsert };
  team_members: { row: TeamMembersRow; insert: TeamMembersInsert };
  teams: { row: TeamsRow; insert: TeamsInsert };
  test_run_steps: { row: TestRunStepsRow; insert: TestRunStepsInsert };
  test_runs: { row: TestRunsRow; insert: TestRunsInsert };
  thread_labels: { row: ThreadLabelsRow; insert: ThreadLabelsInsert };
  thread_snoozes: { row: ThreadSnoozesRow; insert: ThreadSnoozesInsert };
  tracked_links: { row: TrackedLinksRow; insert: TrackedLinksInsert };
  tracking_domains: { row: TrackingDomainsRow; insert: TrackingDomainsInsert };
  users: { row: UsersRow; insert: UsersInsert };
  visit_facts: { row: VisitFactsRow; insert: VisitFactsInsert };
  waits: { row: WaitsRow; insert: WaitsInsert };
  warmup_mails: { row: WarmupMailsRow; insert: WarmupMailsInsert };
  warmup_rules: { row: WarmupRulesRow; insert: WarmupRulesInsert };
  warmup_standings: { row: WarmupStandingsRow; insert: WarmupStandingsInsert };
  webhook_attempts: { row: WebhookAttemptsRow; insert: WebhookAttemptsInsert };
  webhook_batches: { row: WebhookBatchesRow; insert: WebhookBatchesInsert };
  webhook_counts: { row: WebhookCountsRow; insert: WebhookCountsInsert };
  webhook_deliveries: { row: WebhookDeliveriesRow; insert: WebhookDeliveriesInsert };
  webhook_endpoints: { row: WebhookEndpointsRow; insert: WebhookEndpointsInsert };
  webhook_payloads: { row: WebhookPayloadsRow; insert: WebhookPayloadsInsert };
  webhook_secrets: { row: WebhookSecretsRow; insert: WebhookSecretsInsert };
  webhook_throttle_drops: { row: WebhookThrottleDropsRow; insert: WebhookThrottleDropsInsert };
  weekly_report_mails: { row: WeeklyReportMailsRow; insert: WeeklyReportMailsInsert };
  weekly_report_opt_outs: { row: WeeklyReportOptOutsRow; insert: WeeklyReportOptOutsInsert };
  weekly_reports: { row: WeeklyReportsRow; insert: WeeklyReportsInsert };
  workers: { row: WorkersRow; insert: WorkersInsert };
  workspace_exports: { row: WorkspaceExportsRow; insert: WorkspaceExportsInsert };
}

/** The first time a person reached a customer goal, with the last email sent before. */
interface AcquisitionFactsRow {
  organization_id: string;
  person_id: string;
  goal_id: string;
  contact_id: string | null;
  conversion_id: string;
  event_id: string;
  acquired_at: Date;
  match_method: 'contact' | 'email' | 'linked_identity' | 'website_visitor' | 'unknown' | 'none';
  send_id: string | null;
  sent_at: Date | null;
  /** Domain of the person's company. Null without an address and for addresses of free mail providers. */
  company_domain: string | null;
  /** The last email to another contact of the same company before the acquisition. */
  colleague_send_id: string | null;
  colleague_sent_at: Date | null;
  colleague_id: string | null;
}

interface AcquisitionFactsInsert {
  organization_id: string;
  person_id: string;
  goal_id: string;
  contact_id?: string | null;
  conversion_id: string;
  event_id: string;
  acquired_at: Date;
  match_method: 'contact' | 'email' | 'linked_identity' | 'website_visitor' | 'unknown' | 'none';
  send_id?: string | null;
  sent_at?: Date | null;
  company_domain?: string | null;
  colleague_send_id?: string | null;
  colleague_sent_at?: Date | null;
  colleague_id?: string | null;
}

/** Limits within which an API key or OAuth grant acts without a person. */
interface AgentPoliciesRow {
  id: string;
  organization_id: string;
  api_key_id: string | null;
  oauth_grant_id: string | null;
  name: string;
  enabled: boolean;
  /** Permitted actions, by their names in CAPABILITIES of db/models/agent-policy.ts. */
  capabilities: string[];
  /** Mailboxes that may be used without a person. */
  mailbox_ids: string[];
  max_recipients_per_run: number;
  max_recipients_per_day: number;
  max_actions_per_day: number;
  /** Maximum monthly total (cents) of one mailbox order. Null: a person approves every order. */
  max_monthly_mailbox_spend_cents: number | null;
  expires_at: Date;
  created_by: string | null;
  created_at: Date;
  updated_at: Date;
}

interface AgentPoliciesInsert {
  id: string;
  organization_id: string;
  api_key_id?: string | null;
  oauth_grant_id?: string | null;
  name: string;
  enabled: boolean;
  capabilities: string[];
  mailbox_ids: string[];
  max_recipients_per_run: number;
  max_recipients_per_day: number;
  max_actions_per_day: number;
  max_monthly_mailbox_spend_cents?: number | null;
  expires_at: Date;
  created_by?: string | null;
  created_at: Date;
  updated_at: Date;
}

/** Used part of a credential's limits on one day. A new policy does not reset it. */
interface AgentPolicyUsageRow {
  organization_id: string;
  /** Id of the API key or OAuth grant. */
  credential_id: string;
  /** UTC day. */
  day: string;
  actions: number;
  recipients: number;
}

interface AgentPolicyUsageInsert {
  organization_id: string;
  credential_id: string;
  day: string;
  actions: number;
  recipients: number;
}

/** AI tokens that an organization used on one day. */
interface AiUsageRow {
  organization_id: string;
  /** UTC day. */
  day: string;
  tokens: number;
}

interface AiUsageInsert {
  organization_id: string;
  day: string;
  tokens: number;
}

/** Counts of the readings that people corrected, from which later ones learn. */
interface AnswerCorrectionsRow {
  organization_id: string;
  read_kind: string;
  said_kind: string;
  count: number;
}

interface AnswerCorrectionsInsert {
  organization_id: string;
  read_kind: string;
  said_kind: string;
  count: number;
}

/** One request made with an API key. */
interface ApiKeyUsageLogsRow {
  id: string;
  organization_id: string;
  api_key_id: string;
  /** Route template, such as /v1/contacts/:id. */
  endpoint: string;
  method: string;
  ip_address: string;
  user_agent: string;
  response_code: number;
  /** Duration (ms) of the request. */
  response_time_ms: number;
  /** Id in the X-Request-Id header of the answer. */
  request_id: string;
  created_at: Date;
}

interface ApiKeyUsageLogsInsert {
  id: string;
  organization_id: string;
  api_key_id: string;
  endpoint: string;
  method: string;
  ip_address: string;
  user_agent: string;
  response_code: number;
  response_time_ms: number;
  request_id: string;
  created_at: Date;
}

/** Requests per API key and minute. Summaries use these counts instead of single requests. */
interface ApiKeyUsageMinutesRow {
  organization_id: string;
  api_key_id: string;
  minute: Date;
  endpoint: string;
  method: string;
  count: number;
  success: number;
  client_errors: number;
  server_errors: number;
  /** Total duration (ms) of the requests. */
  latency_ms: number;
  last_at: Date;
}

interface ApiKeyUsageMinutesInsert {
  organization_id: string;
  api_key_id: string;
  minute: Date;
  endpoint: string;
  method: string;
  count: number;
  success: number;
  client_errors: number;
  server_errors: number;
  latency_ms: number;
  last_at: Date;
}

/** A secret by which a program acts in one organization. */
interface ApiKeysRow {
  id: string;
  organization_id: string;
  /** The person who made it or took it over; null once their account is gone. */
  user_id: string | null;
  /** The key that made it, and takes it along when it is revoked; kept when that key is gone. */
  made_by_key_id: string | null;
  /** The application whose token made it; kept when that is gone. */
  made_by_application_id: string | null;
  /** The grant of that token, whose end revokes the key. */
  made_by_grant_id: string | null;
  name: string;
  description: string;
  /** SHA-256 of the secret. */
  secret_hash: string;
  key_prefix: string;
  key_suffix: string;
  /** Bit mask of lib/permissions.ts. */
  permissions: number;
  /** Permitted IP addresses and CIDR ranges. Empty: any. */
  allowed_ips: string[];
  /** Permitted mailboxes (ids). Empty: all. */
  allowed_email_accounts: string[];
  /** Maximum requests per minute. 0: the default limit. */
  rate_limit_per_minute: number;
  status: 'active' | 'revoked';
  last_used_at: Date | null;
  last_request_ip: string | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  /** Message: the words of the person who revoked it, or the cause. */
  revoked_reason: Message | null;
  created_at: Date;
  updated_at: Date;
}

interface ApiKeysInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  made_by_key_id?: string | null;
  made_by_application_id?: string | null;
  made_by_grant_id?: string | null;
  name: string;
  description?: string;
  secret_hash: string;
  key_prefix: string;
  key_suffix: string;
  permissions: number;
  allowed_ips?: string[];
  allowed_email_accounts?: string[];
  rate_limit_per_minute?: number;
  status?: 'active' | 'revoked';
  last_used_at?: Date | null;
  last_request_ip?: string | null;
  expires_at?: Date | null;
  revoked_at?: Date | null;
  revoked_reason?: string | null;
  created_at: Date;
  updated_at: Date;
}

/** A customer's app that campaign steps call. */
interface AppConnectionsRow {
  id: string;
  organization_id: string;
  name: string;
  /** Base URL without query, fragment and trailing slash. */
  base_url: string;
  /** Secret of the app, sealed under "app_connections/<id>". */
  secret: Buffer;
  created_by: string | null;
  created_at: Date;
  updated_at: Date;
}

interface AppConnectionsInsert {
  id: string;
  organization_id: string;
  name: string;
  base_url: string;
  secret: Buffer;
  created_by?: string | null;
  created_at: Date;
  updated_at: Date;
}

/** An email to one person about an approval. Its key prevents a second email. */
interface ApprovalMailsRow {
  approval_id: string;
  user_id: string;
  organization_id: string;
  /** 'left_out': the person's hourly limit was reached. 'uncertain': the mail server's answer was lost. */
  state: 'sending' | 'sent' | 'left_out' | 'refused' | 'uncertain';
  claimed_at: Date;
  settled_at: Date | null;
}

interface ApprovalMailsInsert {
  approval_id: string;
  user_id: string;
  organization_id: string;
  state: 'sending' | 'sent' | 'left_out' | 'refused' | 'uncertain';
  claimed_at: Date;
  settled_at?: Date | null;
}

/** Progress of the emails to people about an approval. */
interface ApprovalNoticesRow {
  approval_id: string;
  organization_id: string;
  state: 'due' | 'done';
  blocked_reason: Message | null;
}

interface ApprovalNoticesInsert {
  approval_id: string;
  organization_id: string;
  state?: 'due' | 'done';
  blocked_reason?: string | null;
}

/** An action of a credential that waits for a person's decision, stored as requested. */
interface ApprovalsRow {
  id: string;
  organization_id: string;
  action_type: 'campaign.launch' | 'email.compose' | 'inbox.reply' | 'mailbox.provision';
  subject_type: 'run' | 'campaign' | 'campaign_leads' | 'direct_send' | 'mailbox_order';
  subject_id: string;
  /** The API key that made the request. No foreign key, because the record outlives the key. */
  api_key_id: string | null;
  oauth_grant_id: string | null;
  /** Name of the key or application at the time of the request. */
  requester_name: string;
  status: 'pending' | 'approved' | 'denied' | 'expired' | 'executed';
  /** Reasons why a person has to decide. */
  reasons: PolicyReason[];
  /** Content shown to the approver. It never changes. */
  payload: ApprovalContent;
  /** SHA-256 (hex) of the payload in canonical form. */
  payload_hash: string;
  /** Fingerprints of the approved senders, texts and settings. Each claim of an email compares them. Null until the action is executed. */
  binding: ApprovalBinding | null;
  /** Report of the preflight checks at the time of the request. */
  preflight: JsonObject | null;
  expires_at: Date;
  decided_by: string | null;
  decided_at: Date | null;
  /** Message: the note of the person who decided, or why the approval ended without a decision. Null if its time has passed. */
  reason: Message | null;
  executed_at: Date | null;
  created_at: Date;
}

interface ApprovalsInsert {
  id: string;
  organization_id: string;
  action_type: 'campaign.launch' | 'email.compose' | 'inbox.reply' | 'mailbox.provision';
  subject_type: 'run' | 'campaign' | 'campaign_leads' | 'direct_send' | 'mailbox_order';
  subject_id: string;
  api_key_id?: string | null;
  oauth_grant_id?: string | null;
  requester_name: string;
  status?: 'pending' | 'approved' | 'denied' | 'expired' | 'executed';
  reasons: string;
  payload: string;
  payload_hash: string;
  binding?: string | null;
  preflight?: string | null;
  expires_at: Date;
  decided_by?: string | null;
  decided_at?: Date | null;
  reason?: string | null;
  executed_at?: Date | null;
  created_at: Date;
}

/** A person's decision about the attribution of a customer. */
interface AttributionCorrectionsRow {
  id: string;
  organization_id: string;
  person_id: string;
  action: 'set' | 'restored';
  /** The credited email. Null: not acquired by an email, or the automatic attribution was restored. */
  send_id: string | null;
  reason: string;
  /** True while in force. Always false for a restoration of the automatic attribution. */
  is_current: boolean;
  corrected_by: string | null;
  created_at: Date;
}

interface AttributionCorrectionsInsert {
  id: string;
  organization_id: string;
  person_id: string;
  action: 'set' | 'restored';
  send_id?: string | null;
  reason: string;
  is_current: boolean;
  corrected_by?: string | null;
  created_at: Date;
}

/** Rules by which an organization attributes customers to emails. */
interface AttributionSettingsRow {
  organization_id: string;
  /** Attribution window (days). */
  window_days: number;
  company_estimates: boolean;
  /** Kept when the account is deleted. */
  updated_by: string | null;
  updated_at: Date;
}

interface AttributionSettingsInsert {
  organization_id: string;
  window_days: number;
  company_estimates: boolean;
  updated_by?: string | null;
  updated_at: Date;
}

/** A change, with the person and credential that made it. Forms the audit trail. */
interface AuditLogsRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  actor_kind: string;
  api_key_id: string | null;
  action: string;
  entity_type: string;
  entity_id: string | null;
  ip_address: string;
  user_agent: string;
  changes: AuditChanges | null;
  metadata: JsonObject | null;
  request_id: string | null;
  /** OAuth grant of the application that made the change. */
  oauth_grant_id: string | null;
  created_at: Date;
}

interface AuditLogsInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  actor_kind: string;
  api_key_id?: string | null;
  action: string;
  entity_type: string;
  entity_id?: string | null;
  ip_address?: string;
  user_agent?: string;
  changes?: string | null;
  metadata?: string | null;
  request_id?: string | null;
  oauth_grant_id?: string | null;
  created_at: Date;
}

/** A pending proof by email for sign-in, sign-up or a password reset. */
interface AuthChallengesRow {
  id: string;
  kind: 'login' | 'register' | 'reset';
  /** SHA-256 of the handle that the client holds. For a password reset the handle itself is sent by email. */
  handle_hash: string;
  /** HMAC-SHA-256 of the emailed code under AUTH_SECRET. Null for a password reset. */
  code_hash: string | null;
  email: string;
  user_id: string | null;
  payload: JsonObject;
  attempts: number;
  expires_at: Date;
  consumed_at: Date | null;
  created_at: Date;
}

interface AuthChallengesInsert {
  id: string;
  kind: 'login' | 'register' | 'reset';
  handle_hash: string;
  code_hash?: string | null;
  email: string;
  user_id?: string | null;
  payload?: string;
  attempts?: number;
  expires_at: Date;
  consumed_at?: Date | null;
  created_at: Date;
}

/** Attempts per account, address or organization within a window, counted across all processes. */
interface AuthThrottlesRow {
  /** SHA-256 of the limited account, address or organization. */
  key: string;
  attempts: number;
  window_ends: Date;
}

interface AuthThrottlesInsert {
  key: string;
  attempts: number;
  window_ends: Date;
}

/** Automation runs per hour. The counts stop runs that multiply. */
interface AutomationBudgetsRow {
  organization_id: string;
  /** Start of the UTC hour. */
  hour: Date;
  /** Runs of this hour that were started by an outside event. */
  first_runs: number;
  /** Runs of this hour that other runs caused, including runs that were not started. */
  led_runs: number;
}

interface AutomationBudgetsInsert {
  organization_id: string;
  hour: Date;
  first_runs: number;
  led_runs: number;
}

/** An object used by an automation's graph. The reference prevents its deletion. */
interface AutomationReferencesRow {
  id: string;
  organization_id: string;
  automation_id: string;
  used_automation_id: string | null;
  app_connection_id: string | null;
}

interface AutomationReferencesInsert {
  id: string;
  organization_id: string;
  automation_id: string;
  used_automation_id?: string | null;
  app_connection_id?: string | null;
}

/** An execution of an automation. */
interface AutomationRunsRow {
  id: string;
  organization_id: string;
  automation_id: string;
  /** Cause of the run: event/<id>, step/<step run> or node/<run>/<node>. Unique per automation. */
  cause: string;
  trigger_event: string;
  contact_id: string | null;
  status: 'running' | 'success' | 'error';
  /** Data of the trigger. Empty once its contact was erased. */
  data: JsonObject;
  node_results: AutomationNodeResult[];
  /** Message with the reason of the failure. */
  error_detail: Message | null;
  /** Number of consecutive reactions that led to the run. */
  hops: number;
  /** Graph at the start of the run. Null once the run has ended. */
  graph: AutomationGraph | null;
  /** Nodes that the run waits for. Null once the run has ended. */
  waiting: AutomationWaiting | null;
  blocked_reason: Message | null;
  started_at: Date;
  finished_at: Date | null;
  /** Rights with which the run starts other automations. Null: none. */
  rights: string[] | null;
}

interface AutomationRunsInsert {
  id: string;
  organization_id: string;
  automation_id: string;
  cause: string;
  trigger_event: string;
  contact_id?: string | null;
  status: 'running' | 'success' | 'error';
  data: string;
  node_results: string;
  error_detail?: string | null;
  hops: number;
  graph?: string | null;
  waiting?: string | null;
  blocked_reason?: string | null;
  started_at: Date;
  finished_at?: Date | null;
  rights?: string[] | null;
}

/** A flow of actions that starts from a trigger. */
interface AutomationsRow {
  id: string;
  organization_id: string;
  name: string;
  enabled: boolean;
  /** An event of domain/connect/triggers, or automation.called. */
  trigger_event: string;
  /** Condition on the trigger's events. */
  filter: AutomationFilter;
  graph: AutomationGraph;
  /** Rights of the person who saved the automation last. */
  author_rights: string[];
  created_at: Date;
  updated_at: Date;
}

interface AutomationsInsert {
  id: string;
  organization_id: string;
  name: string;
  enabled: boolean;
  trigger_event: string;
  filter: string;
  graph: string;
  author_rights: string[];
  created_at: Date;
  updated_at: Date;
}

/** One part of a file's content, for files stored in PostgreSQL. */
interface BlobChunksRow {
  blob_id: string;
  seq: number;
  bytes: Buffer;
}

interface BlobChunksInsert {
  blob_id: string;
  seq: number;
  bytes: Buffer;
}

/** Content of a deleted file in an external store, listed until the store has deleted it. */
interface BlobRemovalsRow {
  id: number;
  store: 'disk' | 's3';
  store_key: string;
  attempts: number;
  due_at: Date;
  last_error: string | null;
  created_at: Date;
}

interface BlobRemovalsInsert {
  store: 'disk' | 's3';
  store_key: string;
  attempts?: number;
  due_at?: Date;
  last_error?: string | null;
  created_at?: Date;
}

/** A file that Heron keeps, such as an attachment or an upload. */
interface BlobsRow {
  id: string;
  organization_id: string;
  /** Size (bytes) of the file. */
  size: number;
  /** Storage of the content: blob_chunks, or an external store under store_key. */
  store: 'postgres' | 'disk' | 's3';
  store_key: string | null;
  /** Store to which a worker is copying the content. */
  moving_to: 'postgres' | 'disk' | 's3' | null;
  moving_key: string | null;
  moving_since: Date | null;
  created_at: Date;
}

interface BlobsInsert {
  id: string;
  organization_id: string;
  size: number;
  store?: 'postgres' | 'disk' | 's3';
  store_key?: string | null;
  moving_to?: 'postgres' | 'disk' | 's3' | null;
  moving_key?: string | null;
  moving_since?: Date | null;
  created_at: Date;
}

/** A contact that a bulk edit has changed. */
interface BulkEditContactsRow {
  edit_id: string;
  contact_id: string;
  organization_id: string;
  /** Entry that the edit added for the address. No foreign key, because it may be removed. */
  suppression_id: string | null;
  /** Verdict on the address before a person marked it, to be restored. */
  former_verdict: JsonObject | null;
}

interface BulkEditContactsInsert {
  edit_id: string;
  contact_id: string;
  organization_id: string;
  suppression_id?: string | null;
  former_verdict?: string | null;
}

/** A change of many contacts that can be undone for a day. */
interface BulkEditsRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  action:
    | 'add_to_campaign'
    | 'remove_from_campaign'
    | 'add_category'
    | 'remove_category'
    | 'suppress'
    | 'verify'
    | 'mark_deliverable'
    | 'mark_undeliverable';
  /** Campaign or category of the action. No foreign key, because either may be deleted. */
  target_id: string | null;
  /** Number of selected contacts, changed or not. */
  selected: number;
  changed: number;
  /** Time at which no contact was left to do. Null while addresses are being verified. */
  completed_at: Date | null;
  undone_at: Date | null;
  created_at: Date;
}

interface BulkEditsInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  action:
    | 'add_to_campaign'
    | 'remove_from_campaign'
    | 'add_category'
    | 'remove_category'
    | 'suppress'
    | 'verify'
    | 'mark_deliverable'
    | 'mark_undeliverable';
  target_id?: string | null;
  selected: number;
  changed: number;
  completed_at?: Date | null;
  undone_at?: Date | null;
  created_at: Date;
}

/** Settings of a campaign that override the organization's settings. */
interface CampaignAdvancedRow {
  campaign_id: string;
  organization_id: string;
  overrides: JsonObject;
  updated_at: Date;
}

interface CampaignAdvancedInsert {
  campaign_id: string;
  organization_id: string;
  overrides?: string;
  updated_at: Date;
}

/** A file that emails of a campaign take along. */
interface CampaignAttachmentsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  /** The step whose emails take it along. Null: every email of the campaign. */
  step_id: string | null;
  blob_id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  created_at: Date;
}

interface CampaignAttachmentsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  step_id?: string | null;
  blob_id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  created_at: Date;
}

/** Counts of leads by step and by the step before. Writers insert differences; the sum of the rows is the count. */
interface CampaignFlowCountsRow {
  organization_id: string;
  /** No foreign key: it would lock the campaign whenever a lead moves. */
  campaign_id: string;
  /** The step. Null for leads that have reached no step. */
  step_id: string | null;
  /** State of the leads whose last step is step_id. Null in rows that count entries into the step. */
  state: string | null;
  /** The step before. Null for the first step of a lead. */
  from_step_id: string | null;
  leads: number;
  is_folded: boolean;
}

interface CampaignFlowCountsInsert {
  organization_id: string;
  campaign_id: string;
  step_id?: string | null;
  state?: string | null;
  from_step_id?: string | null;
  leads: number;
  is_folded?: boolean;
}

/** A line of a campaign's activity log. */
interface CampaignLogsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  event_type: string;
  /** Message code with its values, rendered when read. */
  message: Message;
  metadata: JsonObject;
  created_at: Date;
}

interface CampaignLogsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  event_type: string;
  message: string;
  metadata?: string;
  created_at: Date;
}

/** A mailbox that a campaign sends from. */
interface CampaignSendersRow {
  organization_id: string;
  campaign_id: string;
  mailbox_id: string;
  weight: number;
  enabled: boolean;
  last_sent_at: Date | null;
}

interface CampaignSendersInsert {
  organization_id: string;
  campaign_id: string;
  mailbox_id: string;
  weight?: number;
  enabled?: boolean;
  last_sent_at?: Date | null;
}

/** Costs of a campaign. Kept when the campaign is deleted. */
interface CampaignSpendRow {
  organization_id: string;
  campaign_id: string;
  /** Amount in the currency's minor unit. */
  amount_minor: number;
  /** ISO 4217 code, upper-case. */
  currency: string;
  updated_by: string | null;
  updated_at: Date;
}

interface CampaignSpendInsert {
  organization_id: string;
  campaign_id: string;
  amount_minor: number;
  currency: string;
  updated_by?: string | null;
  updated_at: Date;
}

/** A step of a campaign: an email, an action or a wait. */
interface CampaignStepsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  position: number;
  name: string;
  kind: 'email' | 'action' | 'wait';
  subject: string;
  body_plain: string;
  body_html: string;
  body_sync: boolean;
  body_code: boolean;
  /** Days between the previous step and this step. */
  wait_after: number;
  thread_reply: boolean;
  conditions: JsonObject;
  action: JsonObject | null;
  /** Derived from the action, so that the foreign key holds for every writer. */
  app_connection_id: string | null;
  /** Name of the email's offer, given by the author. Empty: no name. A variant overrides it. */
  offer: string;
  angle: string;
  cta: string;
  /** Derived from the action of a run_automation step. */
  automation_id: string | null;
  created_at: Date;
  updated_at: Date;
}

interface CampaignStepsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  position: number;
  name?: string;
  kind?: 'email' | 'action' | 'wait';
  subject?: string;
  body_plain?: string;
  body_html?: string;
  body_sync?: boolean;
  body_code?: boolean;
  wait_after?: number;
  thread_reply?: boolean;
  conditions?: string;
  action?: string | null;
  offer?: string;
  angle?: string;
  cta?: string;
  created_at: Date;
  updated_at: Date;
}

/** An alternative text of an email step, chosen by weight. */
interface CampaignVariantsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  /** The step of the variant. Null: the campaign's first email. */
  step_id: string | null;
  name: string;
  weight: number;
  subject: string;
  body_html: string;
  body_plain: string;
  is_control: boolean;
  is_active: boolean;
  metadata: JsonObject;
  /** Time from which all further emails of the step use this variant. */
  promoted_at: Date | null;
  /** Rule by which the variant won, with the counts of all variants at that time. */
  promotion: JsonObject | null;
  offer: string;
  angle: string;
  cta: string;
  created_at: Date;
  updated_at: Date;
}

interface CampaignVariantsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  step_id?: string | null;
  name: string;
  weight?: number;
  subject?: string;
  body_html?: string;
  body_plain?: string;
  is_control?: boolean;
  is_active?: boolean;
  metadata?: string;
  promoted_at?: Date | null;
  promotion?: string | null;
  offer?: string;
  angle?: string;
  cta?: string;
  created_at: Date;
  updated_at: Date;
}

/** A sequence of steps that is executed for each lead. */
interface CampaignsRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  name: string;
  description: string;
  status:
    | 'draft'
    | 'active'
    | 'paused'
    | 'paused_no_accounts'
    | 'paused_trial_expired'
    | 'paused_undeliverable'
    | 'completed';
  kind: 'sequence' | 'one_time';
  stop_on_reply: boolean;
  /** Replies of one person that end the sequence for the others at their company. */
  stop_on_company_reply: 'off' | 'any' | 'positive_or_opt_out';
  open_tracking: boolean;
  link_tracking: boolean;
  text_only: boolean;
  /** Maximum number of emails per campaign-local day. */
  daily_limit: number;
  unsubscribe_header: boolean;
  unsubscribe_mode: 'inherit' | 'text' | 'link' | 'off';
  risky_emails: boolean;
  cc: string[];
  bcc: string[];
  start_date: Date | null;
  end_date: Date | null;
  timezone: string;
  /** Weekdays as a bit mask, Monday 1 to Sunday 64. */
  days: number;
  /** Campaign-local time, HH:MM. */
  start_time: string;
  /** Campaign-local time, HH:MM. */
  end_time: string;
  /** Seven lists of windows by weekday, Sunday first. Empty: days, start_time and end_time apply. */
  schedule_windows: ScheduleWindow[][];
  email_tags: string[];
  folders: string[];
  contact_order_by: string;
  contact_order_dir: string;
  contact_order_field: string | null;
  /** Leads from this id on have their order_key. Null: no lead has a key yet. The lowest id: every lead has a key. */
  leads_ordered_from: string | null;
  sender_strategy: 'tags' | 'explicit';
  rotation_mode: string;
  ramp_enabled: boolean;
  /** Emails per day at the start of the ramp. */
  ramp_start: number;
  /** Emails per day added by each step of the ramp. */
  ramp_increment: number;
  /** Emails per day at which the ramp ends. */
  ramp_ceiling: number;
  /** Emails per day that the ramp currently permits. */
  ramp_level: number;
  /** Campaign-local day on which ramp_level was last raised. */
  ramp_day: string | null;
  esp_match_mode: 'off' | 'prefer' | 'strict';
  /** Maximum number of new leads per day. 0: no limit. */
  max_new_leads_per_day: number;
  prioritize_new_leads: boolean;
  /** Minutes between the addition and the launch of a lead. */
  entry_delay_minutes: number;
  continuous: boolean;
  idle_since: Date | null;
  tracking_domain: string;
  tracking_domain_verified: boolean;
  tracking_domain_verified_at: Date | null;
  utm_tracking: boolean;
  utm_source: string;
  utm_medium: string;
  utm_campaign: string;
  /** Increases with every pause, resume and edit that concerns runs. */
  control_epoch: number;
  /** Runs that must ask again since a resume or an edit: at a step or all, by next_act, decided or signalled before an epoch. */
  rechecks: StoredRecheck[];
  /** The control_epoch up to which launch_after was reset for waiting leads. */
  launch_epoch: number;
  /** Increases with every change of the step graph. A cached graph with a lower version is stale. */
  graph_version: number;
  had_leads: boolean;
  started_at: Date | null;
  last_status_change_at: Date | null;
  /** Message with the reason why the launcher run keeps failing. */
  blocked_reason: Message | null;
  /** Time of the last comparison of the variants. */
  variants_compared_at: Date | null;
  /** Approval that started the campaign. Its emails are compared with the binding. Null: a person or a policy started it. */
  approval_id: string | null;
  /** Lists leave it out unless asked. A start takes it out of the archive. */
  archived: boolean;
  created_at: Date;
  updated_at: Date;
}

interface CampaignsInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  name: string;
  description?: string;
  status?:
    | 'draft'
    | 'active'
    | 'paused'
    | 'paused_no_accounts'
    | 'paused_trial_expired'
    | 'paused_undeliverable'
    | 'completed';
  kind?: 'sequence' | 'one_time';
  stop_on_reply?: boolean;
  stop_on_company_reply?: 'off' | 'any' | 'positive_or_opt_out';
  open_tracking?: boolean;
  link_tracking?: boolean;
  text_only?: boolean;
  daily_limit?: number;
  unsubscribe_header?: boolean;
  unsubscribe_mode?: 'inherit' | 'text' | 'link' | 'off';
  risky_emails?: boolean;
  cc?: string[];
  bcc?: string[];
  start_date?: Date | null;
  end_date?: Date | null;
  timezone?: string;
  days?: number;
  start_time?: string;
  end_time?: string;
  schedule_windows?: string;
  email_tags?: string[];
  folders?: string[];
  contact_order_by?: string;
  contact_order_dir?: string;
  contact_order_field?: string | null;
  leads_ordered_from?: string | null;
  sender_strategy?: 'tags' | 'explicit';
  rotation_mode?: string;
  ramp_enabled?: boolean;
  ramp_start?: number;
  ramp_increment?: number;
  ramp_ceiling?: number;
  ramp_level?: number;
  ramp_day?: string | null;
  esp_match_mode?: 'off' | 'prefer' | 'strict';
  max_new_leads_per_day?: number;
  prioritize_new_leads?: boolean;
  entry_delay_minutes?: number;
  continuous?: boolean;
  idle_since?: Date | null;
  tracking_domain?: string;
  tracking_domain_verified?: boolean;
  tracking_domain_verified_at?: Date | null;
  utm_tracking?: boolean;
  utm_source?: string;
  utm_medium?: string;
  utm_campaign?: string;
  control_epoch?: number;
  rechecks?: string;
  launch_epoch?: number;
  graph_version?: number;
  had_leads?: boolean;
  started_at?: Date | null;
  last_status_change_at?: Date | null;
  blocked_reason?: string | null;
  variants_compared_at?: Date | null;
  approval_id?: string | null;
  archived?: boolean;
  created_at: Date;
  updated_at: Date;
}

/** A category of a contact. */
interface ContactCategoriesRow {
  organization_id: string;
  contact_id: string;
  label_id: string;
}

interface ContactCategoriesInsert {
  organization_id: string;
  contact_id: string;
  label_id: string;
}

/** A row of an import that could not be applied. */
interface ContactImportProblemsRow {
  import_id: string;
  organization_id: string;
  line: number;
  email: string;
  row_values: string[];
  reason: string;
}

interface ContactImportProblemsInsert {
  import_id: string;
  organization_id: string;
  line: number;
  email?: string;
  row_values?: string[];
  reason: string;
}

/** An import of contacts from a file. */
interface ContactImportsRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  filename: string;
  options: ImportOptions;
  blob_id: string | null;
  /** Size (bytes) of the file. */
  total_bytes: number;
  /** Bytes read so far. */
  read_bytes: number;
  /** Rows read so far: "imported + updated + skipped + failed". */
  total: number;
  imported: number;
  updated: number;
  skipped: number;
  failed: number;
  /** Rows imported as unsubscribed because their consent cell was not understood. They also count as imported or updated. */
  unclear: number;
  /** Rows of the file that were processed, including failed rows. A restarted job continues after them. */
  checkpoint: number;
  error: Message | null;
  started_at: Date | null;
  ended_at: Date | null;
  blocked_reason: Message | null;
  /** Approval that leads of the import wait for, or waited for. No foreign key, because approvals are deleted earlier. */
  approval_id: string | null;
  created_at: Date;
  updated_at: Date;
}

interface ContactImportsInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  filename: string;
  options?: string;
  blob_id?: string | null;
  total_bytes?: number;
  read_bytes?: number;
  total?: number;
  imported?: number;
  updated?: number;
  skipped?: number;
  failed?: number;
  unclear?: number;
  checkpoint?: number;
  error?: string | null;
  started_at?: Date | null;
  ended_at?: Date | null;
  blocked_reason?: string | null;
  approval_id?: string | null;
  created_at: Date;
  updated_at: Date;
}

/** A note about a contact, for the people of the organization. Deleted with the contact. */
interface ContactNotesRow {
  id: string;
  organization_id: string;
  contact_id: string;
  /** Author. Kept when the account is deleted. */
  user_id: string | null;
  content: string;
  created_at: Date;
  updated_at: Date;
}

interface ContactNotesInsert {
  id: string;
  organization_id: string;
  contact_id: string;
  user_id?: string | null;
  content: string;
  created_at: Date;
  updated_at: Date;
}

/** Job data and outreach history of a contact in one narrow row, kept by triggers. Serves filters and counts of the lead database. */
interface ContactOutreachRow {
  contact_id: string;
  organization_id: string;
  /** Domain from the custom fields or the address. Empty if no company is known. */
  company_domain: string;
  job_title: string;
  seniority: string;
  department: string;
  esp_provider: string;
  verification_status: string;
  subscribed: boolean;
  /** Number of campaigns that the contact is in. */
  campaigns: number;
  /** Campaign emails that were sent and did not bounce. */
  emails_received: number;
  last_contacted_at: Date | null;
  last_replied_at: Date | null;
  positive_at: Date | null;
  meeting_at: Date | null;
  bounced_at: Date | null;
  outreach_status: string;
}

interface ContactOutreachInsert {
  contact_id: string;
  organization_id: string;
  company_domain: string;
  job_title: string;
  seniority: string;
  department: string;
  esp_provider: string;
  verification_status: string;
  subscribed: boolean;
  campaigns?: number;
  emails_received?: number;
  last_contacted_at?: Date | null;
  last_replied_at?: Date | null;
  positive_at?: Date | null;
  meeting_at?: Date | null;
  bounced_at?: Date | null;
}

/** A contact whose address waits for verification. Deleted with the result. */
interface ContactVerificationsRow {
  contact_id: string;
  organization_id: string;
  /** Attempts without a result because no server answered. */
  attempts: number;
  /** Earliest time of the next attempt. A worker postpones it while it works on the row. */
  due_at: Date;
  created_at: Date;
}

interface ContactVerificationsInsert {
  contact_id: string;
  organization_id: string;
  attempts?: number;
  due_at: Date;
  created_at: Date;
}

/** A person whom an organization can write to, identified by the email address. */
interface ContactsRow {
  id: string;
  organization_id: string;
  /** Email address in lower case. */
  email: string;
  first_name: string;
  last_name: string;
  company: string;
  phone: string;
  custom_fields: Record<string, string>;
  subscribed: boolean;
  /** The suppression of the address that alone switched "subscribed" off, and whose removal switches it on; null after an opt-out or an edit. */
  unsubscribed_by: string | null;
  source: string;
  source_detail: string;
  verification_status: 'valid' | 'risky' | 'invalid' | 'unknown';
  verification_reason: string;
  is_catch_all: boolean;
  verification_checked_at: Date | null;
  esp_provider: string;
  esp_resolved_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface ContactsInsert {
  id: string;
  organization_id: string;
  email: string;
  first_name?: string;
  last_name?: string;
  company?: string;
  phone?: string;
  custom_fields?: string;
  subscribed?: boolean;
  unsubscribed_by?: string | null;
  source?: string;
  source_detail?: string;
  verification_status?: 'valid' | 'risky' | 'invalid' | 'unknown';
  verification_reason?: string;
  is_catch_all?: boolean;
  verification_checked_at?: Date | null;
  esp_provider?: string;
  esp_resolved_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** A person who reached a goal. At most one row per event and goal. */
interface ConversionsRow {
  id: string;
  organization_id: string;
  goal_id: string;
  goal_revision: number;
  /** No foreign key: the row outlives the event, which is pruned. */
  event_id: string;
  person_id: string;
  occurred_at: Date;
  /** Value in the currency's minor unit. Null if the event had no valid amount. */
  value_minor: number | null;
  /** ISO 4217 code, upper-case. */
  currency: string | null;
  created_at: Date;
}

interface ConversionsInsert {
  id: string;
  organization_id: string;
  goal_id: string;
  goal_revision: number;
  event_id: string;
  person_id: string;
  occurred_at: Date;
  value_minor?: number | null;
  currency?: string | null;
  created_at: Date;
}

/** A record of an action on a contact or deal. Deleted with the contact. */
interface CrmActivitiesRow {
  id: string;
  organization_id: string;
  contact_id: string | null;
  deal_id: string | null;
  task_id: string | null;
  /** Kept when the account is deleted. */
  user_id: string | null;
  activity_type: string;
  metadata: JsonObject;
  created_at: Date;
}

interface CrmActivitiesInsert {
  id: string;
  organization_id: string;
  contact_id?: string | null;
  deal_id?: string | null;
  task_id?: string | null;
  user_id?: string | null;
  activity_type: string;
  metadata: string;
  created_at: Date;
}

/** Counts of deals. Writers insert differences; the sum of the rows is the count. */
interface CrmDealCountsRow {
  organization_id: string;
  pipeline_id: string;
  stage_id: string;
  status: string;
  currency: string;
  assigned_to: string | null;
  campaign_id: string | null;
  deals: number;
  /** Value in the currency's minor unit. */
  value_minor: number;
  is_folded: boolean;
}

interface CrmDealCountsInsert {
  organization_id: string;
  pipeline_id: string;
  stage_id: string;
  status: string;
  currency: string;
  assigned_to?: string | null;
  campaign_id?: string | null;
  deals: number;
  value_minor: number;
  is_folded?: boolean;
}

/** A possible sale to a contact. It outlives its contact, campaign and mailbox. */
interface CrmDealsRow {
  id: string;
  organization_id: string;
  pipeline_id: string;
  stage_id: string;
  contact_id: string | null;
  name: string;
  /** Value in the currency's minor unit. */
  value_minor: number | null;
  /** ISO 4217 code, upper-case. */
  currency: string;
  /** Value in ten-thousandths of the currency's major unit, comparable across currencies with different decimal places. */
  value_scaled: number | null;
  status: 'open' | 'won' | 'lost';
  expected_close_date: Date | null;
  won_at: Date | null;
  lost_at: Date | null;
  lost_reason: string | null;
  /** Responsible member. Null once the member has left the organization. */
  assigned_to: string | null;
  campaign_id: string | null;
  source_mailbox_id: string | null;
  created_at: Date;
  updated_at: Date;
}

interface CrmDealsInsert {
  id: string;
  organization_id: string;
  pipeline_id: string;
  stage_id: string;
  contact_id?: string | null;
  name: string;
  value_minor?: number | null;
  currency: string;
  value_scaled?: number | null;
  status?: 'open' | 'won' | 'lost';
  expected_close_date?: Date | null;
  won_at?: Date | null;
  lost_at?: Date | null;
  lost_reason?: string | null;
  assigned_to?: string | null;
  campaign_id?: string | null;
  source_mailbox_id?: string | null;
  created_at: Date;
  updated_at: Date;
}

/** A sequence of stages for deals. */
interface CrmPipelinesRow {
  id: string;
  organization_id: string;
  name: string;
  /** Position from 1, without gaps. */
  position: number;
  created_at: Date;
  updated_at: Date;
}

interface CrmPipelinesInsert {
  id: string;
  organization_id: string;
  name: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}

/** An organization that was given the default task types. They are not created again if it deletes them. */
interface CrmSeedsRow {
  organization_id: string;
  created_at: Date;
}

interface CrmSeedsInsert {
  organization_id: string;
  created_at: Date;
}

/** A stage of a pipeline. */
interface CrmStagesRow {
  id: string;
  organization_id: string;
  pipeline_id: string;
  name: string;
  color: string;
  /** Position in the pipeline from 1, without gaps. */
  position: number;
  created_at: Date;
  updated_at: Date;
}

interface CrmStagesInsert {
  id: string;
  organization_id: string;
  pipeline_id: string;
  name: string;
  color: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}

/** Counts of tasks. Writers insert differences; the sum of the rows is the count. */
interface CrmTaskCountsRow {
  organization_id: string;
  status: string;
  priority: string;
  type: string;
  assigned_to: string | null;
  assigned_team_id: string | null;
  tasks: number;
  is_folded: boolean;
}

interface CrmTaskCountsInsert {
  organization_id: string;
  status: string;
  priority: string;
  type: string;
  assigned_to?: string | null;
  assigned_team_id?: string | null;
  tasks: number;
  is_folded?: boolean;
}

/** A type of tasks. */
interface CrmTaskTypesRow {
  id: string;
  organization_id: string;
  name: string;
  color: string;
  /** Position from 1, without gaps. */
  position: number;
  created_at: Date;
  updated_at: Date;
}

interface CrmTaskTypesInsert {
  id: string;
  organization_id: string;
  name: string;
  color: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}

/** A task of a member or team. It outlives its contact and deal. */
interface CrmTasksRow {
  id: string;
  organization_id: string;
  contact_id: string | null;
  deal_id: string | null;
  assigned_to: string | null;
  assigned_team_id: string | null;
  /** Kept when the account is deleted. Null for a task created by a reply. */
  created_by: string | null;
  /** Words of a person, or the English text of "title_message", by which tasks are searched and sorted. */
  title: string;
  /** Message, rendered when read, for a title that no person wrote. */
  title_message: Message | null;
  description: string | null;
  /** Message, rendered when read, for a description that no person wrote. */
  description_message: Message | null;
  due_date: Date | null;
  priority: 'low' | 'medium' | 'high' | 'urgent';
  priority_rank: number;
  /** Name of the task type when the task was written. The type may be deleted since. */
  type: string;
  status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
  completed_at: Date | null;
  /** Source of a task that no person created, such as the hash of a Message-ID. At most one task per source. */
  source: string | null;
  created_at: Date;
  updated_at: Date;
}

interface CrmTasksInsert {
  id: string;
  organization_id: string;
  contact_id?: string | null;
  deal_id?: string | null;
  assigned_to?: string | null;
  assigned_team_id?: string | null;
  created_by?: string | null;
  title: string;
  title_message?: string | null;
  description?: string | null;
  description_message?: string | null;
  due_date?: Date | null;
  priority: 'low' | 'medium' | 'high' | 'urgent';
  type: string;
  status?: 'pending' | 'in_progress' | 'completed' | 'cancelled';
  completed_at?: Date | null;
  source?: string | null;
  created_at: Date;
  updated_at: Date;
}

/** Emails reserved or sent per scope and day. The allocator checks its caps against these counts. */
interface DailyCountersRow {
  organization_id: string;
  scope: 'campaign' | 'campaign_new' | 'mailbox' | 'org_campaigns';
  scope_id: string;
  /** Day in campaign-local time for campaigns, in UTC for mailboxes. */
  day: string;
  count: number;
}

interface DailyCountersInsert {
  organization_id: string;
  scope: 'campaign' | 'campaign_new' | 'mailbox' | 'org_campaigns';
  scope_id: string;
  day: string;
  count?: number;
}

/** Background work that was given up. A replay starts it again. */
interface DeadLettersRow {
  id: string;
  organization_id: string;
  task_id: string;
  task_type: string;
  payload: JsonObject;
  last_error: Message;
  attempts: number;
  max_attempts: number;
  status: 'pending' | 'replayed';
  next_retry_at: Date | null;
  replayed_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface DeadLettersInsert {
  id: string;
  organization_id: string;
  task_id: string;
  task_type: string;
  payload?: string;
  last_error: string;
  attempts?: number;
  max_attempts?: number;
  status?: 'pending' | 'replayed';
  next_retry_at?: Date | null;
  replayed_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** A mail about a deletion to one person. Deleted once the mail of the end was sent. */
interface DeletionMailsRow {
  id: string;
  deletion_id: string;
  moment: 'scheduled' | 'reminder' | 'done';
  email: string;
  language: string | null;
  /** Name of the workspace, which is erased before the last mail. Empty for an account. */
  name: string;
  state: 'due' | 'sending' | 'sent' | 'refused' | 'uncertain';
  settled_at: Date | null;
}

interface DeletionMailsInsert {
  id: string;
  deletion_id: string;
  moment: 'scheduled' | 'reminder' | 'done';
  email: string;
  language?: string | null;
  name: string;
  state?: 'due' | 'sending' | 'sent' | 'refused' | 'uncertain';
  settled_at?: Date | null;
}

/** A requested deletion of a workspace or an account. Stays as the record of the deletion, and has ids and times only. */
interface DeletionsRow {
  id: string;
  kind: 'workspace' | 'account';
  /** Id of the workspace or the person; kept when the subject is erased. */
  subject_id: string;
  /** The deletion of the account with which this workspace is deleted. */
  with_account: string | null;
  requested_by: string | null;
  state: 'scheduled' | 'erasing' | 'called_back' | 'done';
  scheduled_at: Date;
  scheduled_for: Date;
  /** True once the mails of the day before are stored. */
  is_reminded: boolean;
  /** Place at which the erasure of a workspace goes on. Null until it begins, and after a complete pass. */
  position: ErasurePosition | null;
  erased_at: Date | null;
}

interface DeletionsInsert {
  id: string;
  kind: 'workspace' | 'account';
  subject_id: string;
  with_account?: string | null;
  requested_by?: string | null;
  state?: 'scheduled' | 'erasing' | 'called_back' | 'done';
  scheduled_at: Date;
  scheduled_for: Date;
  is_reminded?: boolean;
  position?: string | null;
  erased_at?: Date | null;
}

/** A signal about an email, reported by a client through the API. Its key makes a retry harmless. */
interface DeliverabilityEventsRow {
  id: string;
  organization_id: string;
  event_type: 'bounce' | 'complaint' | 'unsubscribe' | 'open' | 'click' | 'reply';
  recipient_email: string;
  campaign_id: string | null;
  send_id: string | null;
  contact_id: string | null;
  provider: string;
  reason: string;
  idempotency_key: string | null;
  metadata: JsonObject;
  created_at: Date;
}

interface DeliverabilityEventsInsert {
  id: string;
  organization_id: string;
  event_type: 'bounce' | 'complaint' | 'unsubscribe' | 'open' | 'click' | 'reply';
  recipient_email: string;
  campaign_id?: string | null;
  send_id?: string | null;
  contact_id?: string | null;
  provider?: string;
  reason?: string;
  idempotency_key?: string | null;
  metadata?: string;
  created_at: Date;
}

/** An email written by a person or an agent. Its delivery is the row of sends with the same id. */
interface DirectSendsRow {
  id: string;
  organization_id: string;
  kind: 'compose' | 'reply';
  state:
    | 'draft'
    | 'awaiting_approval'
    | 'queued'
    | 'sent'
    | 'uncertain'
    | 'bounced'
    | 'failed'
    | 'cancelled'
    | 'denied'
    | 'expired';
  mailbox_id: string | null;
  to_emails: string[];
  cc_emails: string[];
  bcc_emails: string[];
  subject: string;
  /** Text as sent, with the mailbox's signature. */
  body_plain: string;
  body_html: string | null;
  /** References to blobs. */
  attachments: StoredAttachment[];
  /** Message-ID of the email. Fixed before sending, because the email may start a conversation. */
  message_id: string;
  thread_id: string;
  in_reply_to: string | null;
  reference_ids: string[];
  /** The campaign email that the conversation is about. Replies to this email count for it. No foreign key, because slots are deleted. */
  about_send_id: string | null;
  contact_id: string | null;
  send_mode: 'instant' | 'smart' | 'scheduled';
  /** Earliest time of sending. */
  scheduled_at: Date;
  user_id: string | null;
  api_key_id: string | null;
  oauth_grant_id: string | null;
  approval_id: string | null;
  /** Recipients skipped because they are suppressed or were refused. */
  left_out: string[];
  attempts: number;
  /** Time of the last mailbox hold caused by this email. */
  held_at: Date | null;
  waiting_for: Message | null;
  waiting_until: Date | null;
  blocked_reason: Message | null;
  error_code: string | null;
  error_detail: Message | null;
  finished_at: Date | null;
  /** Time at which the content of its attachments was deleted. */
  files_deleted_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface DirectSendsInsert {
  id: string;
  organization_id: string;
  kind: 'compose' | 'reply';
  state:
    | 'draft'
    | 'awaiting_approval'
    | 'queued'
    | 'sent'
    | 'uncertain'
    | 'bounced'
    | 'failed'
    | 'cancelled'
    | 'denied'
    | 'expired';
  mailbox_id?: string | null;
  to_emails: string[];
  cc_emails?: string[];
  bcc_emails?: string[];
  subject: string;
  body_plain: string;
  body_html?: string | null;
  attachments?: string;
  message_id: string;
  thread_id: string;
  in_reply_to?: string | null;
  reference_ids?: string[];
  about_send_id?: string | null;
  contact_id?: string | null;
  send_mode: 'instant' | 'smart' | 'scheduled';
  scheduled_at: Date;
  user_id?: string | null;
  api_key_id?: string | null;
  oauth_grant_id?: string | null;
  approval_id?: string | null;
  left_out?: string[];
  attempts?: number;
  held_at?: Date | null;
  waiting_for?: string | null;
  waiting_until?: Date | null;
  blocked_reason?: string | null;
  error_code?: string | null;
  error_detail?: string | null;
  finished_at?: Date | null;
  files_deleted_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** A fact that other areas react to, written in the transaction that caused it. */
interface DomainEventsRow {
  id: string;
  organization_id: string;
  type: string;
  data: JsonObject;
  /** Position in the event stream, assigned by the fan-out after commit. Null until then. */
  position: number | null;
  /** Number of reactions between this event and an outside cause. Null means 0. */
  hops: number | null;
  created_at: Date;
}

interface DomainEventsInsert {
  id: string;
  organization_id: string;
  type: string;
  data: string;
  position?: number | null;
  hops?: number | null;
  created_at: Date;
}

/** A renewal of a managed domain, one row per cycle. */
interface DomainRenewalsRow {
  id: string;
  organization_id: string;
  domain_id: string;
  state: 'scheduled' | 'charging' | 'renewing' | 'renewed' | 'requires_action' | 'ended';
  expires_at: Date;
  renew_at: Date;
  /** The provider's price (cents) when the cycle was charged. */
  cost_cents: number | null;
  /** Payment processing fee (cents) added to the price. */
  processing_cents: number | null;
  /** Total charged (cents). */
  amount_cents: number | null;
  currency: string | null;
  payment_id: string | null;
  renewed_at: Date | null;
  /** Reason why a person is needed. */
  error: StoredIssue | null;
  blocked_reason: Message | null;
  /** End of the claim of the calls under way, by PostgreSQL's clock. Null when none is. */
  call_until: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface DomainRenewalsInsert {
  id: string;
  organization_id: string;
  domain_id: string;
  state?: 'scheduled' | 'charging' | 'renewing' | 'renewed' | 'requires_action' | 'ended';
  expires_at: Date;
  renew_at: Date;
  cost_cents?: number | null;
  processing_cents?: number | null;
  amount_cents?: number | null;
  currency?: string | null;
  payment_id?: string | null;
  renewed_at?: Date | null;
  error?: string | null;
  blocked_reason?: string | null;
  call_until?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** An email being written. Its fields are validated only when it is sent. */
interface EmailDraftsRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  mailbox_id: string | null;
  thread_id: string | null;
  to_emails: string[];
  cc_emails: string[];
  bcc_emails: string[];
  subject: string;
  body_plain: string;
  body_html: string | null;
  attachments: StoredAttachment[];
  created_at: Date;
  updated_at: Date;
}

interface EmailDraftsInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  mailbox_id?: string | null;
  thread_id?: string | null;
  to_emails: string[];
  cc_emails: string[];
  bcc_emails: string[];
  subject: string;
  body_plain: string;
  body_html?: string | null;
  attachments?: string;
  created_at: Date;
  updated_at: Date;
}

/** A response to an email: an open, click, reply, bounce, complaint or unsubscribe. */
interface EngagementEventsRow {
  id: string;
  organization_id: string;
  type: 'open' | 'click' | 'unsubscribe' | 'reply' | 'bounce' | 'complaint';
  send_id: string | null;
  campaign_id: string | null;
  step_id: string | null;
  contact_id: string | null;
  mailbox_id: string | null;
  link_id: string | null;
  machine: boolean;
  machine_reason: string | null;
  source: string | null;
  user_agent: string;
  client: string | null;
  device_type: string | null;
  country_code: string | null;
  detail: JsonObject;
  /** Number of opens in this row: repetitions by the same program within a minute share it. */
  times: number;
  /** Time at which a click is announced, unless it turns out to be automatic. Null once decided. */
  announce_at: Date | null;
  at: Date;
}

interface EngagementEventsInsert {
  id: string;
  organization_id: string;
  type: 'open' | 'click' | 'unsubscribe' | 'reply' | 'bounce' | 'complaint';
  send_id?: string | null;
  campaign_id?: string | null;
  step_id?: string | null;
  contact_id?: string | null;
  mailbox_id?: string | null;
  link_id?: string | null;
  machine?: boolean;
  machine_reason?: string | null;
  source?: string | null;
  user_agent?: string;
  client?: string | null;
  device_type?: string | null;
  country_code?: string | null;
  detail?: string;
  times?: number;
  announce_at?: Date | null;
  at: Date;
}

/** A lead: one contact in one campaign. */
interface EnrollmentsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  contact_id: string;
  state: 'pending' | 'active' | 'completed' | 'replied' | 'bounced' | 'failed' | 'unsubscribed' | 'undeliverable';
  current_step_id: string | null;
  step_started_at: Date | null;
  /** Current wait as a message code with values, rendered when read. */
  waiting_for: Message | null;
  waiting_until: Date | null;
  blocked: boolean;
  failure_reason: Message | null;
  mailbox_id: string | null;
  app_values: JsonObject;
  /** Subject and Message-IDs of the conversation so far. The next email replies to it. */
  conversation: StoredConversation;
  hold_since: Date | null;
  hold_until: Date | null;
  hold_reason: Message | null;
  /** "other_campaign" without hold_since: a person ended the hold, and the lead starts although another campaign is under way with the contact. */
  hold_source: 'manual' | 'out_of_office' | 'other_campaign' | 'approval' | null;
  /** The control_epoch at which its workflow run last decided to wait, or was signalled. */
  signalled_epoch: number;
  /** Kind of fact on which the next act of a waiting run depends. */
  next_act: string;
  entered_at: Date;
  launched_at: Date | null;
  last_activity_at: Date | null;
  finished_at: Date | null;
  /** The launcher skips the lead before this time. 'epoch': the lead was never refused. */
  launch_after: Date;
  /** Source from which the lead was added to the campaign. */
  source: string | null;
  segment_id: string | null;
  /** Field value by which the campaign orders its leads. Null unless it orders by a field. */
  order_key: string | null;
  /** Fingerprints of the approved values of the contact, by merge field. Without Email: waits for an approval. Null: needs none. */
  approved: Record<string, string> | null;
}

interface EnrollmentsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  contact_id: string;
  state?: 'pending' | 'active' | 'completed' | 'replied' | 'bounced' | 'failed' | 'unsubscribed' | 'undeliverable';
  current_step_id?: string | null;
  step_started_at?: Date | null;
  waiting_for?: string | null;
  waiting_until?: Date | null;
  blocked?: boolean;
  failure_reason?: string | null;
  mailbox_id?: string | null;
  app_values?: string;
  conversation?: string;
  hold_since?: Date | null;
  hold_until?: Date | null;
  hold_reason?: string | null;
  hold_source?: 'manual' | 'out_of_office' | 'other_campaign' | 'approval' | null;
  signalled_epoch?: number;
  entered_at: Date;
  launched_at?: Date | null;
  last_activity_at?: Date | null;
  finished_at?: Date | null;
  launch_after?: Date;
  source?: string | null;
  segment_id?: string | null;
  order_key?: string | null;
  approved?: string | null;
}

/** Counts of a campaign per day. */
interface FactCampaignDaysRow {
  organization_id: string;
  campaign_id: string;
  /** UTC day. */
  day: string;
  sent: number;
  bounced: number;
  opened: number;
  opened_by_person: number;
  opened_by_machine: number;
  clicked: number;
  clicked_by_machine: number;
  replied: number;
  replied_positively: number;
  complained: number;
  unsubscribed: number;
  opens: number;
  machine_opens: number;
  clicks: number;
  machine_clicks: number;
  bounced_softly: number;
  replied_negatively: number;
  replied_with_question: number;
  replied_neutrally: number;
}

interface FactCampaignDaysInsert {
  organization_id: string;
  campaign_id: string;
  day: string;
  sent?: number;
  bounced?: number;
  opened?: number;
  opened_by_person?: number;
  opened_by_machine?: number;
  clicked?: number;
  clicked_by_machine?: number;
  replied?: number;
  replied_positively?: number;
  complained?: number;
  unsubscribed?: number;
  opens?: number;
  machine_opens?: number;
  clicks?: number;
  machine_clicks?: number;
  bounced_softly?: number;
  replied_negatively?: number;
  replied_with_question?: number;
  replied_neutrally?: number;
}

/** Counts of a campaign per UTC hour. */
interface FactCampaignHoursRow {
  organization_id: string;
  campaign_id: string;
  hour: Date;
  sent: number;
  bounced: number;
  opened: number;
  opened_by_person: number;
  opened_by_machine: number;
  clicked: number;
  clicked_by_machine: number;
  replied: number;
  replied_positively: number;
  complained: number;
  unsubscribed: number;
  opens: number;
  machine_opens: number;
  clicks: number;
  machine_clicks: number;
  bounced_softly: number;
  replied_negatively: number;
  replied_with_question: number;
  replied_neutrally: number;
}

interface FactCampaignHoursInsert {
  organization_id: string;
  campaign_id: string;
  hour: Date;
  sent?: number;
  bounced?: number;
  opened?: number;
  opened_by_person?: number;
  opened_by_machine?: number;
  clicked?: number;
  clicked_by_machine?: number;
  replied?: number;
  replied_positively?: number;
  complained?: number;
  unsubscribed?: number;
  opens?: number;
  machine_opens?: number;
  clicks?: number;
  machine_clicks?: number;
  bounced_softly?: number;
  replied_negatively?: number;
  replied_with_question?: number;
  replied_neutrally?: number;
}

/** Counts of sends by group, day, and day of the next send. Their sum gives the distinct prospects of any range. */
interface FactGroupsRow {
  organization_id: string;
  dimension: string;
  /** Key of the group. Null: emails without a value in this dimension. */
  key: string | null;
  /** UTC day. */
  day: string;
  /** UTC day of the next send to the same contact. */
  next_day: string;
  sends: number;
  /** False for a difference that was added by the deletion of a contact and is not folded in yet. */
  is_folded: boolean;
}

interface FactGroupsInsert {
  organization_id: string;
  dimension: string;
  key?: string | null;
  day: string;
  next_day: string;
  sends: number;
  is_folded?: boolean;
}

/** Counts of a mailbox per day. */
interface FactMailboxDaysRow {
  organization_id: string;
  mailbox_id: string;
  /** UTC day. */
  day: string;
  sent: number;
  bounced: number;
  opened: number;
  opened_by_person: number;
  opened_by_machine: number;
  clicked: number;
  clicked_by_machine: number;
  replied: number;
  replied_positively: number;
  complained: number;
  unsubscribed: number;
  opens: number;
  machine_opens: number;
  clicks: number;
  machine_clicks: number;
  bounced_softly: number;
  replied_negatively: number;
  replied_with_question: number;
  replied_neutrally: number;
}

interface FactMailboxDaysInsert {
  organization_id: string;
  mailbox_id: string;
  day: string;
  sent?: number;
  bounced?: number;
  opened?: number;
  opened_by_person?: number;
  opened_by_machine?: number;
  clicked?: number;
  clicked_by_machine?: number;
  replied?: number;
  replied_positively?: number;
  complained?: number;
  unsubscribed?: number;
  opens?: number;
  machine_opens?: number;
  clicks?: number;
  machine_clicks?: number;
  bounced_softly?: number;
  replied_negatively?: number;
  replied_with_question?: number;
  replied_neutrally?: number;
}

/** Counts of a mailbox per UTC hour. */
interface FactMailboxHoursRow {
  organization_id: string;
  mailbox_id: string;
  hour: Date;
  sent: number;
  bounced: number;
  opened: number;
  opened_by_person: number;
  opened_by_machine: number;
  clicked: number;
  clicked_by_machine: number;
  replied: number;
  replied_positively: number;
  complained: number;
  unsubscribed: number;
  opens: number;
  machine_opens: number;
  clicks: number;
  machine_clicks: number;
  bounced_softly: number;
  replied_negatively: number;
  replied_with_question: number;
  replied_neutrally: number;
}

interface FactMailboxHoursInsert {
  organization_id: string;
  mailbox_id: string;
  hour: Date;
  sent?: number;
  bounced?: number;
  opened?: number;
  opened_by_person?: number;
  opened_by_machine?: number;
  clicked?: number;
  clicked_by_machine?: number;
  replied?: number;
  replied_positively?: number;
  complained?: number;
  unsubscribed?: number;
  opens?: number;
  machine_opens?: number;
  clicks?: number;
  machine_clicks?: number;
  bounced_softly?: number;
  replied_negatively?: number;
  replied_with_question?: number;
  replied_neutrally?: number;
}

/** Counts of a campaign per step and variant. */
interface FactStepsRow {
  organization_id: string;
  campaign_id: string;
  step_id: string;
  /** Id of the variant. The nil UUID stands for the step's own text. */
  variant_id: string;
  sent: number;
  bounced: number;
  opened: number;
  opened_by_person: number;
  opened_by_machine: number;
  clicked: number;
  clicked_by_machine: number;
  replied: number;
  replied_positively: number;
  complained: number;
  unsubscribed: number;
  opens: number;
  machine_opens: number;
  clicks: number;
  machine_clicks: number;
  bounced_softly: number;
  replied_negatively: number;
  replied_with_question: number;
  replied_neutrally: number;
}

interface FactStepsInsert {
  organization_id: string;
  campaign_id: string;
  step_id: string;
  variant_id: string;
  sent?: number;
  bounced?: number;
  opened?: number;
  opened_by_person?: number;
  opened_by_machine?: number;
  clicked?: number;
  clicked_by_machine?: number;
  replied?: number;
  replied_positively?: number;
  complained?: number;
  unsubscribed?: number;
  opens?: number;
  machine_opens?: number;
  clicks?: number;
  machine_clicks?: number;
  bounced_softly?: number;
  replied_negatively?: number;
  replied_with_question?: number;
  replied_neutrally?: number;
}

/** Counts of a campaign's readers per country, mail program or device. */
interface FactVisitsRow {
  organization_id: string;
  campaign_id: string;
  part: string;
  key: string;
  visitors: number;
}

interface FactVisitsInsert {
  organization_id: string;
  campaign_id: string;
  part: string;
  key: string;
  visitors: number;
}

/** A domain of a free mail provider, which indicates no company. Written only by migrations. */
interface FreeMailDomainsRow {
  domain: string;
}

interface FreeMailDomainsInsert {
  domain: string;
}

/** An evaluation of earlier events for a goal. */
interface GoalReplaysRow {
  id: string;
  organization_id: string;
  goal_id: string;
  /** Revision that is replayed. If the goal has another revision, the replay ends with goal_changed. */
  goal_revision: number;
  from_at: Date;
  to_at: Date;
  state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  error: string | null;
  /** The occurred_at of the last evaluated event. Its id is in cursor_id. */
  cursor_at: Date | null;
  cursor_id: string | null;
  scanned: number;
  added: number;
  removed: number;
  kept: number;
  retained_without_event: number;
  started_at: Date | null;
  finished_at: Date | null;
  /** Message with the reason why its run keeps failing. */
  blocked_reason: Message | null;
  created_at: Date;
}

interface GoalReplaysInsert {
  id: string;
  organization_id: string;
  goal_id: string;
  goal_revision: number;
  from_at: Date;
  to_at: Date;
  state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  error?: string | null;
  cursor_at?: Date | null;
  cursor_id?: string | null;
  scanned?: number;
  added?: number;
  removed?: number;
  kept?: number;
  retained_without_event?: number;
  started_at?: Date | null;
  finished_at?: Date | null;
  blocked_reason?: string | null;
  created_at: Date;
}

/** A definition of a goal. Every change adds a row. */
interface GoalRevisionsRow {
  organization_id: string;
  goal_id: string;
  /** Number from 1, without gaps. */
  revision: number;
  definition: GoalDefinition;
  /** Kept when the account is deleted. */
  created_by: string | null;
  created_at: Date;
}

interface GoalRevisionsInsert {
  organization_id: string;
  goal_id: string;
  revision: number;
  definition: string;
  created_by?: string | null;
  created_at: Date;
}

/** An outcome that an organization counts, reached by a product event. */
interface GoalsRow {
  id: string;
  organization_id: string;
  name: string;
  kind: 'signup' | 'activation' | 'paid' | 'revenue' | 'retention' | 'custom';
  is_primary: boolean;
  /** The latest revision in goal_revisions. */
  revision: number;
  archived_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface GoalsInsert {
  id: string;
  organization_id: string;
  name: string;
  kind: 'signup' | 'activation' | 'paid' | 'revenue' | 'retention' | 'custom';
  is_primary?: boolean;
  revision: number;
  archived_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** The first response to a request with an Idempotency-Key. Repeated requests get the same response. */
interface IdempotencyKeysRow {
  organization_id: string;
  actor_id: string;
  key: string;
  operation: string;
  /** SHA-256 of the request. */
  request_hash: string;
  /** HTTP status of the response. Null while the request runs. */
  status: number | null;
  headers: Record<string, string> | null;
  body: Buffer | null;
  expires_at: Date;
  created_at: Date;
}

interface IdempotencyKeysInsert {
  organization_id: string;
  actor_id: string;
  key: string;
  operation: string;
  request_hash: string;
  status?: number | null;
  headers?: string | null;
  body?: Buffer | null;
  expires_at: Date;
  created_at: Date;
}

/** An event of one person with an identifier that belongs to another person. */
interface IdentityConflictsRow {
  id: string;
  organization_id: string;
  person_id: string;
  other_person_id: string | null;
  kind: 'email' | 'user_id' | 'anonymous_id';
  value: string;
  state: 'open' | 'dismissed' | 'merged';
  resolved_at: Date | null;
  /** The person who dismissed the conflict. Kept when the account is deleted. */
  resolved_by: string | null;
  /** The person that was merged into person_id and no longer exists. */
  merged_person_id: string | null;
  created_at: Date;
}

interface IdentityConflictsInsert {
  id: string;
  organization_id: string;
  person_id: string;
  other_person_id?: string | null;
  kind: 'email' | 'user_id' | 'anonymous_id';
  value: string;
  state: 'open' | 'dismissed' | 'merged';
  resolved_at?: Date | null;
  resolved_by?: string | null;
  merged_person_id?: string | null;
  created_at: Date;
}

/** An attachment of a received message. */
interface InboundAttachmentsRow {
  id: string;
  organization_id: string;
  message_id: string;
  place: number;
  filename: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  blob_id: string | null;
  /** Reason why its content is not stored. */
  left_out: 'too_large' | 'no_space' | 'expired' | 'erased' | null;
  created_at: Date;
}

interface InboundAttachmentsInsert {
  id: string;
  organization_id: string;
  message_id: string;
  place: number;
  filename: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  blob_id?: string | null;
  left_out?: 'too_large' | 'no_space' | 'expired' | 'erased' | null;
  created_at: Date;
}

/** The HTML body of a received message. */
interface InboundBodiesRow {
  message_id: string;
  organization_id: string;
  /** Sanitized HTML, without scripts and without remote content. */
  html: string;
}

interface InboundBodiesInsert {
  message_id: string;
  organization_id: string;
  html: string;
}

/** A message read from a mailbox. */
interface InboundMessagesRow {
  id: string;
  organization_id: string;
  mailbox_id: string;
  /** IMAP folder. */
  folder: string;
  uid_validity: number;
  /** IMAP UID, valid together with uid_validity. */
  uid: number;
  message_id: string | null;
  thread_id: string;
  in_reply_to: string | null;
  reference_ids: string[];
  from_email: string;
  from_name: string;
  to_emails: string[];
  cc_emails: string[];
  /** Addresses of the Reply-To header. */
  reply_to_emails: string[];
  subject: string;
  body_plain: string;
  kind: 'reply' | 'bounce' | 'complaint' | 'out_of_office' | 'automated' | 'other';
  intent: string | null;
  /** Confidence from 0 to 1. */
  intent_confidence: number | null;
  /** The reading of the trained model; kept as it was when a person corrects it. */
  answer: StoredAnswer | null;
  /** The kind that a person gave instead. */
  corrected_kind:
    | 'positive'
    | 'negative'
    | 'not_now'
    | 'question'
    | 'referral'
    | 'opt_out'
    | 'out_of_office'
    | 'automated'
    | 'neutral'
    | null;
  send_id: string | null;
  campaign_id: string | null;
  contact_id: string | null;
  /** Size (bytes) of the message. */
  size: number;
  seen: boolean;
  /** Message with the reason why the message could not be read. The row stays and the message is skipped. */
  error: Message | null;
  received_at: Date;
  /** Next attempt to read a message that could not be read. */
  retry_at: Date | null;
  tries: number;
  words: string | null;
  /** Folder in Heron. The message stays in its folder at the mail provider. */
  filed: 'inbox' | 'archive' | 'spam' | 'trash';
  created_at: Date;
}

interface InboundMessagesInsert {
  id: string;
  organization_id: string;
  mailbox_id: string;
  folder: string;
  uid_validity: number;
  uid: number;
  message_id?: string | null;
  thread_id: string;
  in_reply_to?: string | null;
  reference_ids?: string[];
  from_email?: string;
  from_name?: string;
  to_emails?: string[];
  cc_emails?: string[];
  reply_to_emails?: string[];
  subject?: string;
  body_plain?: string;
  kind: 'reply' | 'bounce' | 'complaint' | 'out_of_office' | 'automated' | 'other';
  intent?: string | null;
  intent_confidence?: number | null;
  answer?: string | null;
  corrected_kind?:
    | 'positive'
    | 'negative'
    | 'not_now'
    | 'question'
    | 'referral'
    | 'opt_out'
    | 'out_of_office'
    | 'automated'
    | 'neutral'
    | null;
  send_id?: string | null;
  campaign_id?: string | null;
  contact_id?: string | null;
  size?: number;
  seen?: boolean;
  error?: string | null;
  received_at: Date;
  retry_at?: Date | null;
  tries?: number;
  words?: string | null;
  filed?: 'inbox' | 'archive' | 'spam' | 'trash';
  created_at: Date;
}

/** A difference to inbox_counts. Triggers add it, maintenance folds it in. */
interface InboxCountChangesRow {
  id: number;
  organization_id: string;
  mailbox_id: string;
  filed: string;
  label_id: string | null;
  conversations: number;
  unread: number;
  answered: number;
}

interface InboxCountChangesInsert {
  organization_id: string;
  mailbox_id: string;
  filed: string;
  label_id?: string | null;
  conversations: number;
  unread: number;
  answered: number;
}

/** Counts of conversations per mailbox, folder and category. A count is the sum of this table and inbox_count_changes. */
interface InboxCountsRow {
  organization_id: string;
  mailbox_id: string;
  filed: string;
  /** Category. Null: all conversations of the folder. A category counts only conversations in inbox and archive. */
  label_id: string | null;
  conversations: number;
  unread: number;
  answered: number;
}

interface InboxCountsInsert {
  organization_id: string;
  mailbox_id: string;
  filed: string;
  label_id?: string | null;
  conversations: number;
  unread: number;
  answered: number;
}

/** A conversation as received by one mailbox, kept by triggers. */
interface InboxThreadsRow {
  organization_id: string;
  thread_id: string;
  mailbox_id: string;
  /** The message received last, by the mail server's clock. */
  newest_id: string;
  newest_at: Date;
  /** State of the newest message. */
  seen: boolean;
  filed: string;
  kind: string;
  message_count: number;
  /** Unread messages, except those in spam and trash. */
  unseen_count: number;
  /** True if the last message is from the workspace. */
  is_answered: boolean;
}

interface InboxThreadsInsert {
  organization_id: string;
  thread_id: string;
  mailbox_id: string;
  newest_id: string;
  newest_at: Date;
  seen: boolean;
  filed: string;
  kind: string;
  message_count: number;
  unseen_count: number;
  is_answered?: boolean;
}

/** The one row that identifies this installation. A restored backup keeps it. */
interface InstallationRow {
  is_only: boolean;
  /** Told by the tracking process at /health, so that a check of a tracking domain recognizes it. */
  id: string;
}

interface InstallationInsert {
  is_only?: boolean;
  id?: string;
}

/** An account at a provider, such as a CRM or a chat. */
interface IntegrationConnectionsRow {
  id: string;
  organization_id: string;
  provider: string;
  label: string;
  status: 'connected' | 'degraded' | 'reauth_required' | 'disconnected' | 'pending' | 'authorizing';
  auth_method: 'oauth' | 'api_key' | 'webhook';
  /** The entered secret or the OAuth tokens, sealed under "integration_connections/<id>". */
  sealed: Buffer;
  /** Increases with every change of the sealed secret. The second of two concurrent refreshes thereby detects the first. */
  sealed_version: number;
  token_expires_at: Date | null;
  /** End of the lease of the process that refreshes the tokens. */
  refreshing_until: Date | null;
  granted_scopes: string[];
  external_account_id: string;
  external_account_name: string;
  /** Base URL of the account's API, if it differs per account. */
  api_base: string | null;
  display_fields: Record<string, string>;
  config_capabilities: JsonObject;
  sync_direction: 'push' | 'pull' | 'both';
  /** Kept when the account of the person is deleted. */
  connected_by: string | null;
  health: 'unknown' | 'healthy' | 'degraded' | 'down';
  health_detail: Message | null;
  health_checked_at: Date | null;
  /** Time of the account's next health check. */
  health_due_at: Date;
  last_synced_at: Date | null;
  last_error: Message | null;
  last_error_at: Date | null;
  /** Secret for verifying the provider's webhooks, sealed under "integration_connections/<id>/signing". Created when first needed. */
  signing_secret: Buffer | null;
  /** SHA-256 of the secret in the URL that the provider calls. */
  inbound_hash: string | null;
  /** The provider's id of the webhook that Heron registered. */
  inbound_external_id: string | null;
  /** Message with the reason why its run keeps failing. */
  blocked_reason: Message | null;
  created_at: Date;
  updated_at: Date;
}

interface IntegrationConnectionsInsert {
  id: string;
  organization_id: string;
  provider: string;
  label: string;
  status: 'connected' | 'degraded' | 'reauth_required' | 'disconnected' | 'pending' | 'authorizing';
  auth_method: 'oauth' | 'api_key' | 'webhook';
  sealed: Buffer;
  sealed_version?: number;
  token_expires_at?: Date | null;
  refreshing_until?: Date | null;
  granted_scopes?: string[];
  external_account_id: string;
  external_account_name: string;
  api_base?: string | null;
  display_fields: string;
  config_capabilities: string;
  sync_direction: 'push' | 'pull' | 'both';
  connected_by?: string | null;
  health?: 'unknown' | 'healthy' | 'degraded' | 'down';
  health_detail?: string | null;
  health_checked_at?: Date | null;
  health_due_at: Date;
  last_synced_at?: Date | null;
  last_error?: string | null;
  last_error_at?: Date | null;
  signing_secret?: Buffer | null;
  inbound_hash?: string | null;
  inbound_external_id?: string | null;
  blocked_reason?: string | null;
  created_at: Date;
  updated_at: Date;
}

/** An action at a provider that is pending or failed. Deleted when done. */
interface IntegrationDeliveriesRow {
  id: string;
  organization_id: string;
  connection_id: string;
  /** Id of the contact, or of the connection if there is no contact. Deliveries of a lane run one after another. */
  lane_id: string;
  position: number;
  contact_id: string | null;
  subscription_id: string | null;
  action: string;
  config: JsonObject;
  /** Event that caused the delivery. Null if there is none. */
  trigger_event: string | null;
  data: JsonObject;
  occurred_at: Date;
  /** The run that requested the delivery. It receives the outcome as an event. */
  source: Record<string, string> | null;
  state: 'pending' | 'failed';
  attempts: number;
  last_error: Message | null;
  failed_at: Date | null;
  created_at: Date;
}

interface IntegrationDeliveriesInsert {
  id: string;
  organization_id: string;
  connection_id: string;
  lane_id: string;
  contact_id?: string | null;
  subscription_id?: string | null;
  action: string;
  config: string;
  trigger_event?: string | null;
  data: string;
  occurred_at: Date;
  source?: string | null;
  state: 'pending' | 'failed';
  attempts?: number;
  last_error?: string | null;
  failed_at?: Date | null;
  created_at: Date;
}

/** A field at the provider, and the source of its value. */
interface IntegrationFieldMappingsRow {
  id: string;
  organization_id: string;
  connection_id: string;
  subscription_id: string | null;
  direction: 'push' | 'pull' | 'both';
  object_name: string;
  /** Source of the value. Empty for a static value. */
  source_field: string;
  external_field: string;
  transform: 'none' | 'static' | 'uppercase' | 'lowercase' | 'trim';
  static_value: string;
  is_default: boolean;
  position: number;
  created_at: Date;
}

interface IntegrationFieldMappingsInsert {
  id: string;
  organization_id: string;
  connection_id: string;
  subscription_id?: string | null;
  direction: 'push' | 'pull' | 'both';
  object_name: string;
  source_field: string;
  external_field: string;
  transform: 'none' | 'static' | 'uppercase' | 'lowercase' | 'trim';
  static_value: string;
  is_default?: boolean;
  position: number;
  created_at: Date;
}

/** A received booking webhook, identified by its digest so that it is applied only once. */
interface IntegrationInboundRow {
  connection_id: string;
  /** SHA-256 of the bytes of the webhook. */
  digest: string;
  organization_id: string;
  received_at: Date;
  unread_id: string | null;
  /** A verified body (base64) that could not be read, kept until it can be. Its dead letter refers to unread_id. */
  unread_body: string | null;
}

interface IntegrationInboundInsert {
  connection_id: string;
  digest: string;
  organization_id: string;
  received_at: Date;
  unread_id?: string | null;
  unread_body?: string | null;
}

/** A lane with pending deliveries. Writers lock its row, and a worker leases it. */
interface IntegrationLanesRow {
  connection_id: string;
  lane_id: string;
  organization_id: string;
  /** Earliest attempt of its first delivery, or the end of its lease. */
  due_at: Date;
  /** Id of the current lease of a worker. */
  lease: string | null;
}

interface IntegrationLanesInsert {
  connection_id: string;
  lane_id: string;
  organization_id: string;
  due_at: Date;
  lease?: string | null;
}

/** An OAuth consent at a provider that is in progress. */
interface IntegrationOauthStatesRow {
  id: string;
  organization_id: string;
  provider: string;
  state_hash: string;
  /** The session that started the consent. Only this session may finish it. */
  session_id: string;
  /** The connection to renew. Null for a new connection. */
  connection_id: string | null;
  label: string;
  /** PKCE verifier, sealed under "integration_oauth_states/<id>". */
  sealed: Buffer;
  actor: StoredActor;
  expires_at: Date;
  used_at: Date | null;
  created_at: Date;
}

interface IntegrationOauthStatesInsert {
  id: string;
  organization_id: string;
  provider: string;
  state_hash: string;
  session_id: string;
  connection_id?: string | null;
  label: string;
  sealed: Buffer;
  actor: string;
  expires_at: Date;
  used_at?: Date | null;
  created_at: Date;
}

/** Rate limit of one connection, shared by all workers. */
interface IntegrationPaceRow {
  connection_id: string;
  organization_id: string;
  /** Calls that the token bucket permits now. */
  tokens: number;
  counted_at: Date;
  /** End of a pause that the provider requested, or that follows failures. */
  paused_until: Date | null;
  /** Consecutive calls without an answer. */
  failures: number;
}

interface IntegrationPaceInsert {
  connection_id: string;
  organization_id: string;
  tokens: number;
  counted_at: Date;
  paused_until?: Date | null;
  failures?: number;
}

/** The record of a contact at a CRM, leased by whoever writes to it. */
interface IntegrationRecordsRow {
  connection_id: string;
  contact_id: string;
  organization_id: string;
  /** The record's id at the CRM; null before it is known. */
  external_id: string | null;
  /** The contact's address in the record. */
  email: string | null;
  /** Id of the lease of the worker or request that writes. */
  lease: string | null;
  leased_until: Date | null;
}

interface IntegrationRecordsInsert {
  connection_id: string;
  contact_id: string;
  organization_id: string;
  external_id?: string | null;
  email?: string | null;
  lease?: string | null;
  leased_until?: Date | null;
}

/** A consent or webhook of a removed connection that still has to be revoked at its provider. */
interface IntegrationRevocationsRow {
  connection_id: string;
  organization_id: string;
  provider: string;
  /** The sealed secret of the connection. */
  sealed: Buffer;
  api_base: string | null;
  inbound_external_id: string | null;
  attempts: number;
  due_at: Date;
  /** Account id at the provider. Empty for connections without an account id. */
  external_account_id: string;
  created_at: Date;
}

interface IntegrationRevocationsInsert {
  connection_id: string;
  organization_id: string;
  provider: string;
  sealed: Buffer;
  api_base?: string | null;
  inbound_external_id?: string | null;
  attempts?: number;
  due_at: Date;
  external_account_id?: string;
  created_at: Date;
}

/** A line of a connection's log, such as a health check or a push. */
interface IntegrationRunsRow {
  id: string;
  organization_id: string;
  connection_id: string;
  kind: 'connect' | 'refresh' | 'dispatch' | 'push' | 'health' | 'inbound';
  status: 'success' | 'error';
  detail: Message | null;
  records_processed: number;
  started_at: Date;
  finished_at: Date | null;
}

interface IntegrationRunsInsert {
  id: string;
  organization_id: string;
  connection_id: string;
  kind: 'connect' | 'refresh' | 'dispatch' | 'push' | 'health' | 'inbound';
  status: 'success' | 'error';
  detail?: string | null;
  records_processed: number;
  started_at: Date;
  finished_at?: Date | null;
}

/** An action at a provider for each event of one type. */
interface IntegrationSubscriptionsRow {
  id: string;
  organization_id: string;
  connection_id: string;
  event_type: string;
  action: string;
  config: JsonObject;
  enabled: boolean;
  use_case: 'crm_sync' | 'notify' | 'custom';
  /** The automation that contains the action as a step. */
  automation_id: string | null;
  created_at: Date;
  updated_at: Date;
}

interface IntegrationSubscriptionsInsert {
  id: string;
  organization_id: string;
  connection_id: string;
  event_type: string;
  action: string;
  config: string;
  enabled?: boolean;
  use_case: 'crm_sync' | 'notify' | 'custom';
  automation_id?: string | null;
  created_at: Date;
  updated_at: Date;
}

/** An invitation of an email address to an organization. Open until accepted, cancelled or expired. */
interface InvitationsRow {
  id: string;
  organization_id: string;
  /** Email address in lower case. */
  email: string;
  role_id: string;
  /** SHA-256 of the token in the emailed link. */
  token_hash: string;
  invited_by: string | null;
  expires_at: Date;
  accepted_at: Date | null;
  cancelled_at: Date | null;
  created_at: Date;
}

interface InvitationsInsert {
  id: string;
  organization_id: string;
  email: string;
  role_id: string;
  token_hash: string;
  invited_by?: string | null;
  expires_at: Date;
  accepted_at?: Date | null;
  cancelled_at?: Date | null;
  created_at: Date;
}

/** A name with a colour. Folders group campaigns, tags group mailboxes, categories group contacts and conversations. */
interface LabelsRow {
  id: string;
  organization_id: string;
  registry: 'folder' | 'tag' | 'category';
  title: string;
  /** Colour as "#rrggbb". */
  color: string;
  /** Position within its kind from 0, without gaps. */
  position: number;
  created_at: Date;
  updated_at: Date;
}

interface LabelsInsert {
  id: string;
  organization_id: string;
  registry: 'folder' | 'tag' | 'category';
  title: string;
  color: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}

/** Leads that a credential may add to one sending campaign each day without a person, beyond its policy. */
interface LeadAllowancesRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  api_key_id: string | null;
  oauth_grant_id: string | null;
  /** Name of the key or application when a person granted it. */
  credential_name: string;
  leads_per_day: number;
  /** Day of the last use, in the time zone of the workspace. */
  used_on: string | null;
  /** Leads added on the day of the last use. */
  used: number;
  granted_by: string | null;
  created_at: Date;
  updated_at: Date;
}

interface LeadAllowancesInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  api_key_id?: string | null;
  oauth_grant_id?: string | null;
  credential_name: string;
  leads_per_day: number;
  used_on?: string | null;
  used?: number;
  granted_by?: string | null;
  created_at: Date;
  updated_at: Date;
}

/** Counts of contacts per company domain. Writers insert differences; the sum of the rows is the count. */
interface LeadCompanyCountsRow {
  organization_id: string;
  /** Domain of the company. Empty for contacts without a company. */
  company_domain: string;
  people: number;
  contacted: number;
  enrolled: number;
  replied: number;
  positive: number;
  meetings: number;
  bounced: number;
  unsubscribed: number;
  fresh: number;
  reachable: number;
  /** The latest value over the rows of a domain is the result. If a row is stale, it must be computed from the contacts. */
  last_contacted_at: Date | null;
  is_stale: boolean;
  is_folded: boolean;
}

interface LeadCompanyCountsInsert {
  organization_id: string;
  company_domain: string;
  people: number;
  contacted: number;
  enrolled: number;
  replied: number;
  positive: number;
  meetings: number;
  bounced: number;
  unsubscribed: number;
  fresh: number;
  reachable: number;
  last_contacted_at?: Date | null;
  is_stale?: boolean;
  is_folded?: boolean;
}

/** An email to an owner of the workspace about a reply that threatens legal steps. */
interface LegalThreatMailsRow {
  message_id: string;
  user_id: string;
  organization_id: string;
  /** 'uncertain': the answer of the mail server was lost. */
  state: 'due' | 'sending' | 'sent' | 'refused' | 'uncertain';
  claimed_at: Date | null;
  settled_at: Date | null;
  created_at: Date;
}

interface LegalThreatMailsInsert {
  message_id: string;
  user_id: string;
  organization_id: string;
  state?: 'due' | 'sending' | 'sent' | 'refused' | 'uncertain';
  claimed_at?: Date | null;
  settled_at?: Date | null;
  created_at: Date;
}

/** A credential that a worker tests before it is stored. Deleted once the result is there. */
interface MailboxChecksRow {
  id: string;
  organization_id: string;
  /** Servers and passwords, sealed. */
  request: Buffer;
  expires_at: Date;
  created_at: Date;
}

interface MailboxChecksInsert {
  id: string;
  organization_id: string;
  request: Buffer;
  expires_at: Date;
  created_at: Date;
}

/** An OAuth consent to access a mailbox that is in progress at its provider. */
interface MailboxConsentsRow {
  id: string;
  organization_id: string;
  provider: 'gmail' | 'outlook';
  status: 'pending' | 'exchanging' | 'confirming' | 'connecting' | 'done' | 'failed';
  /** SHA-256 of the secret with which the caller requests the result. */
  session_hash: string;
  /** SHA-256 of the state parameter. */
  state_hash: string;
  /** PKCE verifier and nonce, later the tokens, sealed under "mailbox_consents/<id>". Null once the consent has ended. */
  sealed: Buffer | null;
  actor: StoredActor;
  email: string;
  mailbox_id: string | null;
  error_code: string | null;
  error_message: Message | null;
  expires_at: Date;
  created_at: Date;
}

interface MailboxConsentsInsert {
  id: string;
  organization_id: string;
  provider: 'gmail' | 'outlook';
  status?: 'pending' | 'exchanging' | 'confirming' | 'connecting' | 'done' | 'failed';
  session_hash: string;
  state_hash: string;
  sealed?: Buffer | null;
  actor: string;
  email?: string;
  mailbox_id?: string | null;
  error_code?: string | null;
  error_message?: string | null;
  expires_at: Date;
  created_at: Date;
}

/** A fault of a mailbox that people should know about. */
interface MailboxErrorsRow {
  id: string;
  organization_id: string;
  mailbox_id: string;
  error_code: string;
  severity: 'warning' | 'error';
  message: Message;
  resolved_at: Date | null;
  created_at: Date;
}

interface MailboxErrorsInsert {
  id: string;
  organization_id: string;
  mailbox_id: string;
  error_code: string;
  severity: 'warning' | 'error';
  message: string;
  resolved_at?: Date | null;
  created_at: Date;
}

/** An order of managed mailboxes. */
interface MailboxOrdersRow {
  id: string;
  organization_id: string;
  /** The quote that was ordered; at most one order per quote. No foreign key, because the order outlives the quote. */
  quote_id: string;
  state: 'awaiting_payment' | 'paid' | 'queued' | 'provisioning' | 'configuring' | 'ready' | 'failed' | 'cancelled';
  provider: string;
  count: number;
  domains: OrderedDomain[];
  warmup: boolean;
  currency: string;
  /** Monthly total (cents). */
  total_monthly_cents: number;
  /** Total due today (cents). */
  total_due_today_cents: number;
  line_items: OrderLine[];
  payment_id: string | null;
  /** Time until which the order waits for its payment. */
  pay_by: Date;
  error: StoredIssue | null;
  /** True while its workflow still has something to do or undo. */
  under_way: boolean;
  blocked_reason: Message | null;
  actor_kind: 'session' | 'api_key' | 'oauth' | 'system';
  user_id: string | null;
  api_key_id: string | null;
  oauth_grant_id: string | null;
  paid_at: Date | null;
  ready_at: Date | null;
  failed_at: Date | null;
  cancelled_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface MailboxOrdersInsert {
  id: string;
  organization_id: string;
  quote_id: string;
  state: 'awaiting_payment' | 'paid' | 'queued' | 'provisioning' | 'configuring' | 'ready' | 'failed' | 'cancelled';
  provider: string;
  count: number;
  domains: string;
  warmup: boolean;
  currency: string;
  total_monthly_cents: number;
  total_due_today_cents: number;
  line_items: string;
  payment_id?: string | null;
  pay_by: Date;
  error?: string | null;
  under_way?: boolean;
  blocked_reason?: string | null;
  actor_kind: 'session' | 'api_key' | 'oauth' | 'system';
  user_id?: string | null;
  api_key_id?: string | null;
  oauth_grant_id?: string | null;
  paid_at?: Date | null;
  ready_at?: Date | null;
  failed_at?: Date | null;
  cancelled_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** An offer of managed mailboxes at the provider's prices. */
interface MailboxQuotesRow {
  id: string;
  organization_id: string;
  /** Id of the order that the quote may become. The approval uses it before the order exists. */
  order_id: string;
  provider: string;
  count: number;
  domains: OrderedDomain[];
  mailboxes: OrderedMailbox[];
  warmup: boolean;
  /** Names of the mailboxes' users, as given in the request. */
  names: PersonName[];
  currency: string;
  /** Monthly price (cents) of all its mailboxes. */
  mailbox_monthly_cents: number;
  /** Monthly price (cents) of warmup for all its mailboxes. 0 without warmup. */
  warmup_monthly_cents: number;
  /** Price (cents) of one year of registration of its new domains. */
  domain_cents: number;
  /** Monthly total (cents). */
  total_monthly_cents: number;
  /** Total due today (cents). */
  total_due_today_cents: number;
  line_items: OrderLine[];
  expires_at: Date;
  consumed_at: Date | null;
  /** URL after the checkout, as given with the order. Null: the dashboard. */
  return_url: string | null;
  created_at: Date;
}

interface MailboxQuotesInsert {
  id: string;
  organization_id: string;
  order_id: string;
  provider: string;
  count: number;
  domains: string;
  mailboxes: string;
  warmup: boolean;
  names: string;
  currency: string;
  mailbox_monthly_cents: number;
  warmup_monthly_cents: number;
  domain_cents: number;
  total_monthly_cents: number;
  total_due_today_cents: number;
  line_items: string;
  expires_at: Date;
  consumed_at?: Date | null;
  return_url?: string | null;
  created_at: Date;
}

/** An OAuth consent of a removed mailbox that still has to be revoked at its provider. */
interface MailboxRevocationsRow {
  /** Id of the removed mailbox. */
  mailbox_id: string;
  organization_id: string;
  provider: 'gmail' | 'outlook';
  email: string;
  /** Access and refresh token, sealed as in mailbox_tokens. */
  sealed: Buffer;
  attempts: number;
  due_at: Date;
  created_at: Date;
}

interface MailboxRevocationsInsert {
  mailbox_id: string;
  organization_id: string;
  provider: 'gmail' | 'outlook';
  email: string;
  sealed: Buffer;
  attempts?: number;
  due_at: Date;
  created_at: Date;
}

/** Progress of reading one IMAP folder of a mailbox, with the lease of the watching worker. */
interface MailboxSyncRow {
  mailbox_id: string;
  organization_id: string;
  folder: string;
  uid_validity: number | null;
  /** Highest IMAP UID read. */
  last_uid: number;
  owner: string | null;
  lease_until: Date | null;
  /** Time at which the folder was last read to its end. */
  last_synced_at: Date | null;
  failures: number;
  retry_at: Date | null;
  last_error: Message | null;
  /** Binary logarithm of the number of messages read, each weighted by 2 to the power of its day since 1970. The weights halve from day to day, and values of different days compare. */
  activity: number;
  /** The mailbox is among the most active ones, which have a connection all the time. Others are visited. */
  standing: boolean;
}

interface MailboxSyncInsert {
  mailbox_id: string;
  organization_id: string;
  folder?: string;
  uid_validity?: number | null;
  last_uid?: number;
  owner?: string | null;
  lease_until?: Date | null;
  last_synced_at?: Date | null;
  failures?: number;
  retry_at?: Date | null;
  last_error?: string | null;
  activity?: number;
  standing?: boolean;
}

/** A tag of a mailbox. */
interface MailboxTagsRow {
  organization_id: string;
  mailbox_id: string;
  label_id: string;
}

interface MailboxTagsInsert {
  organization_id: string;
  mailbox_id: string;
  label_id: string;
}

/** The OAuth tokens of a mailbox. */
interface MailboxTokensRow {
  mailbox_id: string;
  organization_id: string;
  /** Access and refresh token, sealed under "mailbox_tokens/<mailbox>". */
  sealed: Buffer;
  access_expires_at: Date;
  refreshed_at: Date;
  /** Lease of the one process that refreshes the access token. */
  lease_token: string | null;
  lease_until: Date | null;
  failures: number;
  retry_at: Date | null;
  send_as: SendAsAddress[];
  send_as_synced_at: Date | null;
}

interface MailboxTokensInsert {
  mailbox_id: string;
  organization_id: string;
  sealed: Buffer;
  access_expires_at: Date;
  refreshed_at: Date;
  lease_token?: string | null;
  lease_until?: Date | null;
  failures?: number;
  retry_at?: Date | null;
  send_as?: string;
  send_as_synced_at?: Date | null;
}

/** An email account that Heron sends from and reads. */
interface MailboxesRow {
  id: string;
  organization_id: string;
  /** True in a test workspace. The mailbox then has no servers, and no other workspace can have such a mailbox. */
  is_test: boolean;
  user_id: string | null;
  /** Email address in lower case. */
  email: string;
  name: string;
  provider: 'gmail' | 'outlook' | 'smtp_imap';
  status: 'active' | 'inactive' | 'revoked';
  smtp: StoredMailService;
  /** Largest message (bytes) that the SMTP server took in its last answered test (SIZE). Null if it named no limit. */
  smtp_max_bytes: number | null;
  imap: StoredMailService | null;
  /** SMTP and IMAP password, sealed under "mailboxes/<id>". */
  credentials: Buffer;
  /** Increases with every change of servers or passwords. Open connections with a lower version are stale. */
  credentials_version: number;
  /** Maximum number of campaign emails per UTC day. */
  campaign_limit: number;
  /** Minimum time (seconds) between two emails. */
  min_wait_time: number;
  reply_to: string;
  save_to_sent: boolean;
  send_as_email: string;
  signature_plain: string;
  signature_html: string;
  signature_sync: boolean;
  signature_code: boolean;
  timezone: string;
  tracking_domain: string;
  tracking_domain_verified: boolean;
  tracking_domain_verified_at: Date | null;
  /** Day from which the ramp counts, moved forward by pauses. Null while warmup is off. */
  warmup: Date | null;
  warmup_paused_at: Date | null;
  /** Warmup emails on the first UTC day. */
  warmup_base: number;
  /** Maximum number of warmup emails per UTC day. */
  warmup_max: number;
  /** Warmup emails added per day. */
  warmup_increase: number;
  /** Share of warmup emails that get a reply (percent). */
  warmup_reply_rate: number;
  warmup_tag: string;
  warmup_pool_type: string;
  warmup_start_time: string;
  warmup_end_time: string;
  /** Weekdays as a bit mask, Monday 1 to Sunday 64. */
  warmup_days: number;
  /** Reason code of a hold that stops sending without changing the status, such as refused credentials or a throttle of the provider. */
  hold_code: string | null;
  hold_reason: Message | null;
  hold_until: Date | null;
  /** Reason code of a hold that stops reading. */
  imap_hold_code: string | null;
  imap_hold_reason: Message | null;
  imap_hold_until: Date | null;
  /** No slot is free before this time. The next free slot may be later. */
  next_free_at: Date;
  /** Keys of campaign, day and share whose allowance is used up. For a day without a key, the emails are counted. */
  spent_days: string[];
  /** Time of the latest reserved slot. */
  last_slot_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface MailboxesInsert {
  id: string;
  organization_id: string;
  is_test?: boolean;
  user_id?: string | null;
  email: string;
  name?: string;
  provider?: 'gmail' | 'outlook' | 'smtp_imap';
  status?: 'active' | 'inactive' | 'revoked';
  smtp: string;
  smtp_max_bytes?: number | null;
  imap?: string | null;
  credentials: Buffer;
  credentials_version?: number;
  campaign_limit?: number;
  min_wait_time?: number;
  reply_to?: string;
  save_to_sent?: boolean;
  send_as_email?: string;
  signature_plain?: string;
  signature_html?: string;
  signature_sync?: boolean;
  signature_code?: boolean;
  timezone?: string;
  tracking_domain?: string;
  tracking_domain_verified?: boolean;
  tracking_domain_verified_at?: Date | null;
  warmup?: Date | null;
  warmup_paused_at?: Date | null;
  warmup_base?: number;
  warmup_max?: number;
  warmup_increase?: number;
  warmup_reply_rate?: number;
  warmup_tag?: string;
  warmup_pool_type?: string;
  warmup_start_time?: string;
  warmup_end_time?: string;
  warmup_days?: number;
  hold_code?: string | null;
  hold_reason?: string | null;
  hold_until?: Date | null;
  imap_hold_code?: string | null;
  imap_hold_reason?: string | null;
  imap_hold_until?: Date | null;
  next_free_at?: Date;
  spent_days?: string[];
  last_slot_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** A domain registered by an order. */
interface ManagedDomainsRow {
  id: string;
  organization_id: string;
  domain: string;
  order_id: string;
  provider_ref: string;
  state: 'active' | 'released' | 'lapsed';
  registered_at: Date;
  expires_at: Date;
  released_at: Date | null;
}

interface ManagedDomainsInsert {
  id: string;
  organization_id: string;
  domain: string;
  order_id: string;
  provider_ref: string;
  state: 'active' | 'released' | 'lapsed';
  registered_at: Date;
  expires_at: Date;
  released_at?: Date | null;
}

/** A booking reported by a provider. It outlives its connection and campaign, and is deleted with its contact. */
interface MeetingsRow {
  id: string;
  organization_id: string;
  source: string;
  connection_id: string | null;
  external_event_id: string;
  /** Ids of the booking at the provider before it was rebooked. */
  replaced_ids: string[];
  status: 'booked' | 'rescheduled' | 'canceled' | 'completed' | 'no_show';
  invitee_email: string;
  invitee_name: string;
  event_name: string;
  event_type: string;
  scheduled_for: Date | null;
  end_time: Date | null;
  join_url: string;
  location: string;
  cancel_url: string;
  reschedule_url: string;
  canceled_reason: string;
  contact_id: string | null;
  campaign_id: string | null;
  /** Time of the state by the provider's clock. Older reports change nothing. */
  news_at: Date;
  created_at: Date;
  updated_at: Date;
}

interface MeetingsInsert {
  id: string;
  organization_id: string;
  source: string;
  connection_id?: string | null;
  external_event_id: string;
  replaced_ids?: string[];
  status: 'booked' | 'rescheduled' | 'canceled' | 'completed' | 'no_show';
  invitee_email: string;
  invitee_name: string;
  event_name: string;
  event_type: string;
  scheduled_for?: Date | null;
  end_time?: Date | null;
  join_url: string;
  location: string;
  cancel_url: string;
  reschedule_url: string;
  canceled_reason: string;
  contact_id?: string | null;
  campaign_id?: string | null;
  news_at: Date;
  created_at: Date;
  updated_at: Date;
}

/** Membership of a person in an organization, with one role. */
interface MembershipsRow {
  organization_id: string;
  user_id: string;
  role_id: string;
  created_at: Date;
}

interface MembershipsInsert {
  organization_id: string;
  user_id: string;
  role_id: string;
  created_at: Date;
}

/** Search index of a received message. A separate table, so that marking a message as seen does not rewrite its words. */
interface MessageWordsRow {
  message_id: string;
  organization_id: string;
  /** Number in order of receipt. */
  number: number;
  thread_id: string;
  /** Hashes of the number ranges per owner, which limit the rows that a search reads. */
  shelves: number[];
  sender: string;
  subject: string;
  words: string;
}

interface MessageWordsInsert {
  message_id: string;
  organization_id: string;
  number: number;
  thread_id: string;
  shelves: number[];
  sender: string;
  subject: string;
  words: string;
}

/** An OAuth 2.1 client, registered by an organization or by itself. */
interface OauthApplicationsRow {
  id: string;
  /** Null for a client that registered itself (RFC 7591). */
  organization_id: string | null;
  created_by: string | null;
  client_id: string;
  /** SHA-256 of the secret. Null for public clients. */
  client_secret_hash: string | null;
  self_registered: boolean;
  name: string;
  description: string;
  logo_url: string;
  website_url: string;
  redirect_uris: string[];
  /** Bit mask of lib/permissions.ts: the maximum scopes of its tokens. */
  scopes: number;
  allowed_webhook_domains: string[];
  /** URL for events of all its organizations. Empty: none. */
  webhook_url: string;
  webhook_events: string[];
  created_at: Date;
  updated_at: Date;
}

interface OauthApplicationsInsert {
  id: string;
  organization_id?: string | null;
  created_by?: string | null;
  client_id: string;
  client_secret_hash?: string | null;
  self_registered?: boolean;
  name: string;
  description?: string;
  logo_url?: string;
  website_url?: string;
  redirect_uris: string[];
  scopes: number;
  allowed_webhook_domains?: string[];
  webhook_url?: string;
  webhook_events?: string[];
  created_at: Date;
  updated_at: Date;
}

/** An authorization code that has not been exchanged for tokens yet. */
interface OauthCodesRow {
  id: string;
  code_hash: string;
  grant_id: string;
  /** Bit mask of lib/permissions.ts. */
  scopes: number;
  redirect_uri: string;
  /** PKCE code challenge (S256). Null if a confidential client sent none. */
  code_challenge: string | null;
  resource: string | null;
  expires_at: Date;
  consumed_at: Date | null;
  created_at: Date;
}

interface OauthCodesInsert {
  id: string;
  code_hash: string;
  grant_id: string;
  scopes: number;
  redirect_uri: string;
  code_challenge?: string | null;
  resource?: string | null;
  expires_at: Date;
  consumed_at?: Date | null;
  created_at: Date;
}

/** Permissions that one person granted an application in one organization. Revoking the grant ends all its tokens. */
interface OauthGrantsRow {
  id: string;
  organization_id: string;
  application_id: string;
  user_id: string;
  /** Bit mask of lib/permissions.ts. */
  scopes: number;
  last_used_at: Date | null;
  last_request_ip: string | null;
  revoked_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface OauthGrantsInsert {
  id: string;
  organization_id: string;
  application_id: string;
  user_id: string;
  scopes: number;
  last_used_at?: Date | null;
  last_request_ip?: string | null;
  revoked_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** An access or refresh token. All tokens that come from one code form a family, and a replay ends the whole family. */
interface OauthTokensRow {
  id: string;
  grant_id: string;
  family_id: string;
  kind: 'access' | 'refresh';
  token_hash: string;
  /** Bit mask of lib/permissions.ts. */
  scopes: number;
  resource: string | null;
  expires_at: Date;
  /** Time at which a refresh token was exchanged for the next pair. */
  replaced_at: Date | null;
  revoked_at: Date | null;
  created_at: Date;
}

interface OauthTokensInsert {
  id: string;
  grant_id: string;
  family_id: string;
  kind: 'access' | 'refresh';
  token_hash: string;
  scopes: number;
  resource?: string | null;
  expires_at: Date;
  replaced_at?: Date | null;
  revoked_at?: Date | null;
  created_at: Date;
}

/** An address whose owner may have asked to stop. Until a person decides, which deletes the row, it gets nothing but answers by hand in the thread. */
interface OptOutQuestionsRow {
  organization_id: string;
  email: string;
  message_id: string;
  thread_id: string;
  created_at: Date;
}

interface OptOutQuestionsInsert {
  organization_id: string;
  email: string;
  message_id: string;
  thread_id: string;
  created_at: Date;
}

/** A mailbox of an order. */
interface OrderMailboxesRow {
  order_id: string;
  position: number;
  organization_id: string;
  email: string;
  domain: string;
  first_name: string;
  last_name: string;
  external_status: string | null;
  warmup_external_status: string | null;
  /** The connected mailbox, once the order is ready. */
  mailbox_id: string | null;
  smtp: StoredMailService | null;
  imap: StoredMailService | null;
  /** SMTP and IMAP password, sealed under "order_mailboxes/<order>/<position>". Null once the mailbox is connected. */
  credentials: Buffer | null;
  retired_at: Date | null;
}

interface OrderMailboxesInsert {
  order_id: string;
  position: number;
  organization_id: string;
  email: string;
  domain: string;
  first_name: string;
  last_name: string;
  external_status?: string | null;
  warmup_external_status?: string | null;
  mailbox_id?: string | null;
  smtp?: string | null;
  imap?: string | null;
  credentials?: Buffer | null;
  retired_at?: Date | null;
}

/** A step of an order at the provider. */
interface OrderStepsRow {
  order_id: string;
  /** Key of the step by position in the order: "domain:0", "mailbox:3", "dns:0", "warmup:3". */
  step: string;
  organization_id: string;
  seq: number;
  state: 'pending' | 'running' | 'done' | 'compensating' | 'compensated' | 'failed' | 'needs_person';
  provider_ref: string | null;
  detail: string | null;
  /** Calls to the provider, including calls that undo the step. */
  attempts: number;
  started_at: Date | null;
  completed_at: Date | null;
  undo_started_at: Date | null;
  undone_at: Date | null;
  /** End of the claim of the call under way, by PostgreSQL's clock. Null when none is. */
  call_until: Date | null;
}

interface OrderStepsInsert {
  order_id: string;
  step: string;
  organization_id: string;
  seq: number;
  state?: 'pending' | 'running' | 'done' | 'compensating' | 'compensated' | 'failed' | 'needs_person';
  provider_ref?: string | null;
  detail?: string | null;
  attempts?: number;
  started_at?: Date | null;
  completed_at?: Date | null;
  undo_started_at?: Date | null;
  undone_at?: Date | null;
  call_until?: Date | null;
}

/** A workspace: the tenant to which nearly every other row belongs. */
interface OrganizationsRow {
  id: string;
  name: string;
  plan: 'free' | 'paid';
  created_by: string | null;
  weekly_report: boolean;
  /** IANA time zone. Determines when a week begins. */
  timezone: string;
  /** True for a test workspace, whose emails never leave. Set once. */
  is_test: boolean;
  deletion_scheduled_at: Date | null;
  /** Time at which the workspace is erased. Until it is called back, a workspace with such a time starts and sends nothing. */
  deletion_scheduled_for: Date | null;
  /** Language of emails to people who have chosen none. */
  language: string | null;
  logo_blob_id: string | null;
  /** Media type of the logo. */
  logo_type: string | null;
  /** Domains (A-labels, lower case) of addresses that may join. Empty: any. */
  member_email_domains: string[];
  /** Age (hours) from which a session may not act in the organization. Null: any. */
  session_max_hours: number | null;
  created_at: Date;
  updated_at: Date;
}

interface OrganizationsInsert {
  id: string;
  name: string;
  plan?: 'free' | 'paid';
  created_by?: string | null;
  weekly_report?: boolean;
  timezone?: string;
  is_test?: boolean;
  deletion_scheduled_at?: Date | null;
  deletion_scheduled_for?: Date | null;
  language?: string | null;
  logo_blob_id?: string | null;
  logo_type?: string | null;
  member_email_domains?: string[];
  session_max_hours?: number | null;
  created_at: Date;
  updated_at: Date;
}

/** An intent for Temporal, written with the change that causes it. The relay sends it after commit and deletes it. */
interface OutboxRow {
  id: number;
  kind: 'start' | 'signal' | 'cancel';
  workflow_id: string;
  /** Organization whose intent it is, or "installation". The relay takes the intents of all in equal shares. */
  tenant: string;
  payload: JsonObject;
  attempts: number;
  available_at: Date;
  last_error: string | null;
  /** Attempts that Temporal refused because of this intent. Only these count towards parking; a missing answer does not. */
  refusals: number;
  /** Time at which the intent was parked after too many refusals. It is tried again at available_at. */
  parked_at: Date | null;
  created_at: Date;
}

interface OutboxInsert {
  kind: 'start' | 'signal' | 'cancel';
  workflow_id: string;
  tenant?: string;
  payload: string;
  attempts?: number;
  available_at?: Date;
  last_error?: string | null;
  refusals?: number;
  parked_at?: Date | null;
  created_at?: Date;
}

/** Default sending settings of an organization. */
interface OutreachSettingsRow {
  organization_id: string;
  settings: JsonObject;
  updated_at: Date;
}

interface OutreachSettingsInsert {
  organization_id: string;
  settings?: string;
  updated_at: Date;
}

/** A webhook event of the payment provider that was applied. */
interface PaymentEventsRow {
  provider_event_id: string;
  organization_id: string;
  payment_id: string;
  type: string;
  /** Effect of the event as a code. "ignored": the event came too late. */
  outcome: string;
  /** Time by the provider's clock. */
  occurred_at: Date;
  created_at: Date;
}

interface PaymentEventsInsert {
  provider_event_id: string;
  organization_id: string;
  payment_id: string;
  type: string;
  outcome: string;
  occurred_at: Date;
  created_at: Date;
}

/** A payment of an order or renewal, with its refund. Kept when the order or renewal is deleted. */
interface PaymentsRow {
  id: string;
  organization_id: string;
  subject: 'order' | 'renewal' | 'order_month';
  subject_id: string;
  state: 'open' | 'paid' | 'expired' | 'failed' | 'refund_due' | 'refunded' | 'needs_person';
  /** Amount due now (cents), the sum of its lines. */
  amount_cents: number;
  /** ISO 4217 code, lower-case. */
  currency: string;
  line_items: PaymentLine[];
  /** URL after the checkout. Null: the dashboard. */
  return_url: string | null;
  provider_session_id: string | null;
  checkout_url: string | null;
  provider_customer_id: string | null;
  provider_payment_id: string | null;
  provider_invoice_id: string | null;
  provider_subscription_id: string | null;
  /** Amount received (cents), which may differ from the amount due. */
  received_cents: number | null;
  received_currency: string | null;
  paid_at: Date | null;
  refund_reason: string | null;
  refund_due_at: Date | null;
  /** Time after which an unfinished refund needs a person. */
  refund_until: Date | null;
  refund_attempts: number;
  /** Increases when a refused refund is tried again, so that the provider does not repeat its refusal. */
  refund_round: number;
  provider_refund_id: string | null;
  refunded_at: Date | null;
  /** Reason why the payment failed or needs a person. */
  error: StoredIssue | null;
  blocked_reason: Message | null;
  /** End of the paid service. Null: a month after the payment, or the end of the renewed registration. */
  period_end: Date | null;
  /** End of the subscription that began with this payment. */
  subscription_ended_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface PaymentsInsert {
  id: string;
  organization_id: string;
  subject: 'order' | 'renewal' | 'order_month';
  subject_id: string;
  state?: 'open' | 'paid' | 'expired' | 'failed' | 'refund_due' | 'refunded' | 'needs_person';
  amount_cents: number;
  currency: string;
  line_items: string;
  return_url?: string | null;
  provider_session_id?: string | null;
  checkout_url?: string | null;
  provider_customer_id?: string | null;
  provider_payment_id?: string | null;
  provider_invoice_id?: string | null;
  provider_subscription_id?: string | null;
  received_cents?: number | null;
  received_currency?: string | null;
  paid_at?: Date | null;
  refund_reason?: string | null;
  refund_due_at?: Date | null;
  refund_until?: Date | null;
  refund_attempts?: number;
  refund_round?: number;
  provider_refund_id?: string | null;
  refunded_at?: Date | null;
  error?: string | null;
  blocked_reason?: string | null;
  period_end?: Date | null;
  subscription_ended_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** A person that product events are about, with or without a contact. */
interface PeopleRow {
  id: string;
  organization_id: string;
  /** Contact of the person. Erasing the contact erases the person, with its events and conversions. */
  contact_id: string | null;
  created_at: Date;
}

interface PeopleInsert {
  id: string;
  organization_id: string;
  contact_id?: string | null;
  created_at: Date;
}

/** An identifier of one person, such as an email address or a user id. */
interface PersonIdentifiersRow {
  organization_id: string;
  kind: 'email' | 'user_id' | 'anonymous_id';
  /** Value of the identifier. Emails are in lower case. */
  value: string;
  person_id: string;
  first_seen_at: Date;
}

interface PersonIdentifiersInsert {
  organization_id: string;
  kind: 'email' | 'user_id' | 'anonymous_id';
  value: string;
  person_id: string;
  first_seen_at: Date;
}

/** Result of the checks before a launch. The newest reports of a campaign are kept. */
interface PreflightReportsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  passed: boolean;
  /** Score from 0 to 100. */
  score: number;
  checks: PreflightCheck[];
  /** Findings, worst first. */
  findings: PreflightFinding[];
  created_at: Date;
}

interface PreflightReportsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  passed: boolean;
  score: number;
  checks: string;
  findings: string;
  created_at: Date;
}

/** An event of the customer's product about a person. */
interface ProductEventsRow {
  id: string;
  organization_id: string;
  contact_id: string | null;
  name: string;
  data: JsonObject;
  occurred_at: Date;
  received_at: Date;
  person_id: string | null;
  /** Field by which the event identified its person: contact, email, user_id or anonymous_id. */
  named_by: string | null;
}

interface ProductEventsInsert {
  id: string;
  organization_id: string;
  contact_id?: string | null;
  name: string;
  data?: string;
  occurred_at: Date;
  received_at: Date;
  person_id?: string | null;
  named_by?: string | null;
}

/** Outcomes of a contact that emails were sent to, per campaign. The row with the nil UUID covers all campaigns. */
interface ProspectFactsRow {
  organization_id: string;
  contact_id: string;
  campaign_id: string;
  sends: number;
  first_sent_at: Date;
  last_sent_at: Date;
  replied_at: Date | null;
  positive_at: Date | null;
  /** Time of the latest confirmed send, first or positive reply, or conversion. */
  activity_at: Date;
  /** Goals that the person has reached. */
  goal_ids: string[];
  /** First open by a person, not by a machine. */
  opened_at: Date | null;
  clicked_at: Date | null;
  /** First permanent bounce. */
  bounced_at: Date | null;
  complained_at: Date | null;
  unsubscribed_at: Date | null;
}

interface ProspectFactsInsert {
  organization_id: string;
  contact_id: string;
  campaign_id: string;
  sends: number;
  first_sent_at: Date;
  last_sent_at: Date;
  replied_at?: Date | null;
  positive_at?: Date | null;
  activity_at: Date;
  goal_ids?: string[];
  opened_at?: Date | null;
  clicked_at?: Date | null;
  bounced_at?: Date | null;
  complained_at?: Date | null;
  unsubscribed_at?: Date | null;
}

/** A counter of the rate limiter for RATE_LIMIT_STORE=postgres, with the columns of rate-limiter-flexible. Unlogged, so a crash may lose a minute of counts. */
interface RateLimitCountsRow {
  key: string;
  points: number;
  /** Time of expiry (epoch ms). */
  expire: number | null;
}

interface RateLimitCountsInsert {
  key: string;
  points?: number;
  expire?: number | null;
}

/** An event on which a subscriber failed too often. It can be replayed or discarded. */
interface ReactionParkedEventsRow {
  id: string;
  organization_id: string;
  subscriber: string;
  event_id: string;
  event_type: string;
  position: number;
  attempts: number;
  last_error: string;
  state: 'parked' | 'replayed' | 'discarded';
  parked_at: Date;
  settled_at: Date | null;
}

interface ReactionParkedEventsInsert {
  id: string;
  organization_id: string;
  subscriber: string;
  event_id: string;
  event_type: string;
  position: number;
  attempts: number;
  last_error: string;
  state: 'parked' | 'replayed' | 'discarded';
  parked_at: Date;
  settled_at?: Date | null;
}

/** Progress of a subscriber in one organization. Created with the first event that the subscriber consumes there. */
interface ReactionStreamsRow {
  organization_id: string;
  subscriber: string;
  /** Position of the last applied or skipped event, written in the transaction of its effects. */
  position: number;
  /** Position of the last event to apply. */
  head: number;
  /** Failed attempts of the next event. */
  attempts: number;
  next_attempt_at: Date | null;
  last_error: string | null;
  /** The parked event that must be replayed or discarded before the stream continues. */
  waits_for: string | null;
}

interface ReactionStreamsInsert {
  organization_id: string;
  subscriber: string;
  position: number;
  head: number;
  attempts?: number;
  next_attempt_at?: Date | null;
  last_error?: string | null;
  waits_for?: string | null;
}

/** A consumer of domain events that runs in this installation. */
interface ReactionSubscribersRow {
  name: string;
  /** Event types that it consumes. Only processes whose build has the same list work for it. */
  types: string[];
  /** Events up to this position are entered in reaction_streams. */
  position: number;
  /** Last confirmation by a process that has this subscriber. */
  seen_at: Date;
  /** Number of migrations in the build that registered the types. */
  build: number;
  created_at: Date;
}

interface ReactionSubscribersInsert {
  name: string;
  types: string[];
  position: number;
  seen_at: Date;
  build?: number;
  created_at: Date;
}

/** Result of the last check for missing workflow runs, one row per workflow family. */
interface ReconciliationsRow {
  family: string;
  /** Progress of a running check. Null between checks. */
  position: string | null;
  began_at: Date;
  checked: number;
  missing: number;
  /** End of the last complete check. */
  ended_at: Date | null;
  last_checked: number | null;
  last_missing: number | null;
}

interface ReconciliationsInsert {
  family: string;
  position?: string | null;
  began_at: Date;
  checked?: number;
  missing?: number;
  ended_at?: Date | null;
  last_checked?: number | null;
  last_missing?: number | null;
}

/** The successor of a removed step, for leads that were at the removed step. */
interface RemovedStepsRow {
  step_id: string;
  organization_id: string;
  campaign_id: string;
  successor_id: string | null;
  removed_at: Date;
}

interface RemovedStepsInsert {
  step_id: string;
  organization_id: string;
  campaign_id: string;
  successor_id?: string | null;
  removed_at: Date;
}

/** A text for replies. */
interface ReplyTemplatesRow {
  id: string;
  organization_id: string;
  /** Author of the template. Kept when the account is deleted. */
  user_id: string | null;
  name: string;
  subject: string;
  body_html: string;
  body_plain: string;
  /** Position from 1, without gaps. */
  position: number;
  created_at: Date;
  updated_at: Date;
}

interface ReplyTemplatesInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  name: string;
  subject?: string;
  body_html?: string;
  body_plain?: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}

/** A named set of permissions within one organization. */
interface RolesRow {
  id: string;
  organization_id: string;
  name: string;
  /** Permissions by their names in ORG_PERMISSIONS of lib/permissions.ts. */
  permissions: string[];
  is_owner: boolean;
  is_system: boolean;
  created_at: Date;
  updated_at: Date;
}

interface RolesInsert {
  id: string;
  organization_id: string;
  name: string;
  permissions: string[];
  is_owner?: boolean;
  is_system?: boolean;
  created_at: Date;
  updated_at: Date;
}

/** A transition of a run. Append-only. */
interface RunEventsRow {
  run_id: string;
  seq: number;
  organization_id: string;
  type: string;
  state: string;
  previous_state: string | null;
  data: JsonObject;
  actor_kind: string;
  user_id: string | null;
  created_at: Date;
}

interface RunEventsInsert {
  run_id: string;
  seq: number;
  organization_id: string;
  type: string;
  state: string;
  previous_state?: string | null;
  data?: string;
  actor_kind: string;
  user_id?: string | null;
  created_at: Date;
}

/** A campaign that an agent requested to be prepared or launched, with its progress. */
interface RunsRow {
  id: string;
  organization_id: string;
  state:
    | 'queued'
    | 'preflighting'
    | 'awaiting_approval'
    | 'launching'
    | 'active'
    | 'paused'
    | 'completed'
    | 'failed'
    | 'denied'
    | 'cancelled';
  intent: 'draft' | 'launch';
  /** The request without "leads", which are stored as contacts. */
  input: JsonObject;
  /** The campaign that it created or took over. No foreign key, because the record outlives the campaign. */
  campaign_id: string;
  /** Mailboxes chosen when the run was created. */
  frozen_sender_ids: string[];
  /** Unfinished leads of the campaign at the last check. */
  recipient_count: number;
  /** Maximum number of app calls for these leads. */
  action_count: number;
  policy_decision: JsonObject;
  preflight_report: JsonObject | null;
  error_details: StoredIssue | null;
  /** The approval of the run. No foreign key, because the record outlives the approval. */
  approval_id: string | null;
  /** End of the wait for an approval. */
  expires_at: Date | null;
  actor_kind: 'session' | 'api_key' | 'oauth' | 'system';
  user_id: string | null;
  api_key_id: string | null;
  oauth_grant_id: string | null;
  blocked_reason: Message | null;
  /** Number of its events. Equals the "seq" of the last event. */
  event_count: number;
  ended_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface RunsInsert {
  id: string;
  organization_id: string;
  state:
    | 'queued'
    | 'preflighting'
    | 'awaiting_approval'
    | 'launching'
    | 'active'
    | 'paused'
    | 'completed'
    | 'failed'
    | 'denied'
    | 'cancelled';
  intent: 'draft' | 'launch';
  input: string;
  campaign_id: string;
  frozen_sender_ids: string[];
  recipient_count: number;
  action_count: number;
  policy_decision: string;
  preflight_report?: string | null;
  error_details?: string | null;
  approval_id?: string | null;
  expires_at?: Date | null;
  actor_kind: 'session' | 'api_key' | 'oauth' | 'system';
  user_id?: string | null;
  api_key_id?: string | null;
  oauth_grant_id?: string | null;
  blocked_reason?: string | null;
  event_count?: number;
  ended_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** A saved filter of contacts. */
interface SegmentsRow {
  id: string;
  organization_id: string;
  name: string;
  match: 'all' | 'any';
  conditions: SegmentCondition[];
  created_at: Date;
  updated_at: Date;
}

interface SegmentsInsert {
  id: string;
  organization_id: string;
  name: string;
  match?: 'all' | 'any';
  conditions?: string;
  created_at: Date;
  updated_at: Date;
}

/** Outcome of a campaign email as included in the counts. It outlives campaign, step and mailbox. */
interface SendFactsRow {
  send_id: string;
  organization_id: string;
  contact_id: string | null;
  campaign_id: string;
  step_id: string | null;
  variant_id: string | null;
  mailbox_id: string | null;
  /** Time of submission to the server. Null if the email was refused at once. */
  sent_at: Date | null;
  bounced_at: Date | null;
  opened_at: Date | null;
  machine_opened_at: Date | null;
  clicked_at: Date | null;
  machine_clicked_at: Date | null;
  replied_at: Date | null;
  positive_at: Date | null;
  complained_at: Date | null;
  unsubscribed_at: Date | null;
  /** Opens and clicks by hour: [{"hour", "metric", "count"}]. */
  hits: JsonObject;
  offer: string | null;
  angle: string | null;
  cta: string | null;
  /** Prefix of the SHA-256 of subject and bodies before placeholders are filled in. */
  copy_hash: string | null;
  audience_source: string | null;
  segment_id: string | null;
  category_ids: string[];
  /** First soft bounce. */
  soft_bounced_at: Date | null;
  negative_at: Date | null;
  question_at: Date | null;
  neutral_at: Date | null;
  /** The first email to the contact in the campaign that a person opened. Null before that. Kept when the contact is deleted. */
  visitor: string | null;
}

interface SendFactsInsert {
  send_id: string;
  organization_id: string;
  contact_id?: string | null;
  campaign_id: string;
  step_id?: string | null;
  variant_id?: string | null;
  mailbox_id?: string | null;
  sent_at?: Date | null;
  bounced_at?: Date | null;
  opened_at?: Date | null;
  machine_opened_at?: Date | null;
  clicked_at?: Date | null;
  machine_clicked_at?: Date | null;
  replied_at?: Date | null;
  positive_at?: Date | null;
  complained_at?: Date | null;
  unsubscribed_at?: Date | null;
  hits?: string;
  offer?: string | null;
  angle?: string | null;
  cta?: string | null;
  copy_hash?: string | null;
  audience_source?: string | null;
  segment_id?: string | null;
  category_ids?: string[];
  soft_bounced_at?: Date | null;
  negative_at?: Date | null;
  question_at?: Date | null;
  neutral_at?: Date | null;
  visitor?: string | null;
}

/** Report groups that count a confirmed send, with the next send to the same contact in each group. */
interface SendGroupsRow {
  send_id: string;
  organization_id: string;
  sent_at: Date;
  /** UTC days of the next send, by group. infinity: no next email. -infinity: the contact is deleted. */
  next_days: string[];
}

interface SendGroupsInsert {
  send_id: string;
  organization_id: string;
  sent_at: Date;
  next_days: string[];
}

/** An email to one recipient. The row is written before the network call, so that no step is sent twice. */
interface SendsRow {
  id: string;
  organization_id: string;
  campaign_id: string | null;
  enrollment_id: string | null;
  step_id: string | null;
  step_run_id: string | null;
  contact_id: string | null;
  mailbox_id: string | null;
  variant_id: string | null;
  state: 'reserved' | 'sending' | 'sent' | 'uncertain' | 'bounced' | 'failed' | 'skipped';
  recipient: string;
  message_id: string | null;
  subject: string;
  /** State of the conversation after this email is sent. */
  conversation: StoredConversation | null;
  slot_at: Date;
  /** Day of slot_at, campaign-local for campaigns and UTC otherwise. The email counts towards the caps of this day. */
  slot_day: string;
  is_first: boolean;
  attempts: number;
  claim_token: string | null;
  claimed_at: Date | null;
  sent_at: Date | null;
  smtp_response: string | null;
  error_code: string | null;
  error_detail: Message | null;
  opened_at: Date | null;
  machine_opened_at: Date | null;
  clicked_at: Date | null;
  machine_clicked_at: Date | null;
  replied_at: Date | null;
  bounced_at: Date | null;
  complained_at: Date | null;
  unsubscribed_at: Date | null;
  /** 'pending': claimed by a worker that records the moment before the end of the message is sent. 'begun': this moment has passed. */
  handover: 'pending' | 'begun' | null;
  /** True for an uncertain email that a person wants to send again. It has no slot yet. */
  again: boolean;
  /** The Message-ID by which a relay replaced ours, if its answer named one. */
  assigned_id: string | null;
  /** Labels, text and audience at the time when the email was claimed for sending. */
  dimensions: JsonObject | null;
  created_at: Date;
  updated_at: Date;
}

interface SendsInsert {
  id: string;
  organization_id: string;
  campaign_id?: string | null;
  enrollment_id?: string | null;
  step_id?: string | null;
  step_run_id?: string | null;
  contact_id?: string | null;
  mailbox_id?: string | null;
  variant_id?: string | null;
  state: 'reserved' | 'sending' | 'sent' | 'uncertain' | 'bounced' | 'failed' | 'skipped';
  recipient: string;
  message_id?: string | null;
  subject?: string;
  conversation?: string | null;
  slot_at: Date;
  slot_day: string;
  is_first?: boolean;
  attempts?: number;
  claim_token?: string | null;
  claimed_at?: Date | null;
  sent_at?: Date | null;
  smtp_response?: string | null;
  error_code?: string | null;
  error_detail?: string | null;
  opened_at?: Date | null;
  machine_opened_at?: Date | null;
  clicked_at?: Date | null;
  machine_clicked_at?: Date | null;
  replied_at?: Date | null;
  bounced_at?: Date | null;
  complained_at?: Date | null;
  unsubscribed_at?: Date | null;
  handover?: 'pending' | 'begun' | null;
  again?: boolean;
  assigned_id?: string | null;
  dimensions?: string | null;
  created_at: Date;
  updated_at: Date;
}

/** An email as it left: subject, both bodies before tracking, and the headers that a person sees. */
interface SentContentsRow {
  send_id: string;
  organization_id: string;
  /** The row of sent_copies that it is packed against; null: none. */
  copy_name: string | null;
  /** Raw deflate of its JSON (domain/sending/control/sent-content.ts). */
  packed: Buffer;
  created_at: Date;
}

interface SentContentsInsert {
  send_id: string;
  organization_id: string;
  copy_name?: string | null;
  packed: Buffer;
  created_at: Date;
}

/** The text of a step version without values of a person, which the contents of its emails are packed against. */
interface SentCopiesRow {
  organization_id: string;
  /** First half of the SHA-256 of the content, hex. */
  name: string;
  /** Hash of the step version alone, as in send_facts. */
  copy_hash: string;
  content: string;
}

interface SentCopiesInsert {
  organization_id: string;
  name: string;
  copy_hash: string;
  content: string;
}

/** Search index of an email written by people, kept by triggers. */
interface SentWordsRow {
  direct_send_id: string;
  organization_id: string;
  mailbox_id: string | null;
  /** Number in order of sending. */
  number: number;
  shelves: number[];
  recipients: string;
  subject: string;
  words: string;
}

interface SentWordsInsert {
  direct_send_id: string;
  organization_id: string;
  mailbox_id?: string | null;
  number: number;
  shelves: number[];
  recipients: string;
  subject: string;
  words: string;
}

/** A sign-in of a person in one browser. */
interface SessionsRow {
  id: string;
  user_id: string;
  organization_id: string | null;
  /** SHA-256 of the refresh token. */
  refresh_hash: string;
  /** SHA-256 of the previous refresh token, which stays valid for a short time. */
  previous_refresh_hash: string | null;
  device_hash: string | null;
  ip_address: string;
  user_agent: string;
  last_active_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
  created_at: Date;
}

interface SessionsInsert {
  id: string;
  user_id: string;
  organization_id?: string | null;
  refresh_hash: string;
  previous_refresh_hash?: string | null;
  device_hash?: string | null;
  ip_address?: string;
  user_agent?: string;
  last_active_at: Date;
  expires_at: Date;
  revoked_at?: Date | null;
  created_at: Date;
}

/** A link that creates the first account of an installation. */
interface SetupLinksRow {
  id: string;
  /** SHA-256 of the token in the link. */
  token_hash: string;
  expires_at: Date;
  used_at: Date | null;
  created_at: Date;
}

interface SetupLinksInsert {
  id: string;
  token_hash: string;
  expires_at: Date;
  used_at?: Date | null;
  created_at: Date;
}

/** An organization whose fact_groups are incomplete until "heron facts rebuild" is run. */
interface StaleGroupsRow {
  organization_id: string;
}

interface StaleGroupsInsert {
  organization_id: string;
}

/** One execution of one step for one lead. The called app deduplicates by its id, which is the event id. */
interface StepRunsRow {
  id: string;
  organization_id: string;
  enrollment_id: string;
  /** No foreign key: the row is deleted with its enrollment, and deleting a campaign would check it row by row. */
  campaign_id: string;
  contact_id: string;
  step_id: string;
  seq: number;
  kind: string;
  state: 'running' | 'waiting' | 'completed' | 'skipped' | 'failed' | 'blocked';
  outcome: string | null;
  detail: Message | null;
  attempts: number;
  output_key: string | null;
  output: JsonObject | null;
  error: StoredIssue | null;
  started_at: Date;
  completed_at: Date | null;
  /** Time of the first call of the app. */
  called_at: Date | null;
  /** End of the claim of the call under way, by PostgreSQL's clock. Null when none is. */
  call_until: Date | null;
}

interface StepRunsInsert {
  id: string;
  organization_id: string;
  enrollment_id: string;
  campaign_id: string;
  contact_id: string;
  step_id: string;
  seq: number;
  kind: string;
  state: 'running' | 'waiting' | 'completed' | 'skipped' | 'failed' | 'blocked';
  outcome?: string | null;
  detail?: string | null;
  attempts?: number;
  output_key?: string | null;
  output?: string | null;
  error?: string | null;
  started_at: Date;
  completed_at?: Date | null;
  called_at?: Date | null;
  call_until?: Date | null;
}

/** An address or domain that the organization does not write to. */
interface SuppressionsRow {
  id: string;
  organization_id: string;
  /** Email address in lower case, or the bare host if "kind" is domain. */
  email: string;
  kind: 'email' | 'domain';
  /** Message: the words of a server or a person, or the cause of the entry. Null if no reason was given. */
  reason: Message | null;
  source: 'bounce' | 'complaint' | 'unsubscribe' | 'manual' | 'import';
  campaign_id: string | null;
  metadata: JsonObject;
  expires_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface SuppressionsInsert {
  id: string;
  organization_id: string;
  email: string;
  kind: 'email' | 'domain';
  reason?: string | null;
  source: 'bounce' | 'complaint' | 'unsubscribe' | 'manual' | 'import';
  campaign_id?: string | null;
  metadata?: string;
  expires_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** A process that watches mailboxes. Each process takes its share of the mailboxes. */
interface SyncWorkersRow {
  id: string;
  alive_until: Date;
}

interface SyncWorkersInsert {
  id: string;
  alive_until: Date;
}

/** A member of a team. Leaving the organization ends the membership. */
interface TeamMembersRow {
  organization_id: string;
  team_id: string;
  user_id: string;
  added_at: Date;
}

interface TeamMembersInsert {
  organization_id: string;
  team_id: string;
  user_id: string;
  added_at: Date;
}

/** A named group of members of an organization. */
interface TeamsRow {
  id: string;
  organization_id: string;
  name: string;
  color: string;
  created_at: Date;
  updated_at: Date;
}

interface TeamsInsert {
  id: string;
  organization_id: string;
  name: string;
  color: string;
  created_at: Date;
  updated_at: Date;
}

/** A step that a test run executed. */
interface TestRunStepsRow {
  /** Id of the step's execution. Also the id of the email that it sends, or of the call that it makes. */
  id: string;
  organization_id: string;
  test_run_id: string;
  /** No foreign key, because the row outlives the step. */
  step_id: string;
  contact_id: string;
  variant_id: string | null;
  seq: number;
  name: string;
  kind: string;
  state: 'running' | 'waiting' | 'completed' | 'skipped' | 'failed';
  outcome: string | null;
  detail: Message | null;
  output_key: string | null;
  output: JsonObject | null;
  event_name: string | null;
  deadline: Date | null;
  event_id: string | null;
  attempts: number;
  error: StoredIssue | null;
  /** Set for waits: time at which the step before began its work. An event that occurred since then resumes the wait. */
  entered_at: Date | null;
  started_at: Date;
  completed_at: Date | null;
  /** End of the claim of the call under way, by PostgreSQL's clock. Null when none is. */
  call_until: Date | null;
}

interface TestRunStepsInsert {
  id: string;
  organization_id: string;
  test_run_id: string;
  step_id: string;
  contact_id: string;
  variant_id?: string | null;
  seq: number;
  name: string;
  kind: string;
  state: 'running' | 'waiting' | 'completed' | 'skipped' | 'failed';
  outcome?: string | null;
  detail?: string | null;
  output_key?: string | null;
  output?: string | null;
  event_name?: string | null;
  deadline?: Date | null;
  event_id?: string | null;
  attempts?: number;
  error?: string | null;
  entered_at?: Date | null;
  started_at: Date;
  completed_at?: Date | null;
  call_until?: Date | null;
}

/** A trial of a campaign with one prospect. Sends real emails and calls, but does not count in the campaign's leads and numbers. */
interface TestRunsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  contact_id: string;
  mailbox_id: string | null;
  /** Recipient of its emails, independent of the contact's address. */
  prospect_email: string;
  state: 'running' | 'waiting_for_event' | 'completed' | 'failed' | 'cancelled';
  current_step_id: string | null;
  app_values: JsonObject;
  conversation: StoredConversation;
  /** Maximum duration (seconds) of each wait. Null: the durations of the steps. */
  max_wait_seconds: number | null;
  /** The email that it tests alone. Null: every step. No foreign key, because the row outlives the step. */
  only_step_id: string | null;
  /** Parts of that email as they were written when the test began, in place of the stored ones. */
  copy: JsonObject;
  /** Time by which the run must finish. Otherwise it fails. */
  ends_at: Date;
  waiting_for: string | null;
  waiting_until: Date | null;
  blocked_reason: Message | null;
  error: StoredIssue | null;
  completed_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface TestRunsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  contact_id: string;
  mailbox_id?: string | null;
  prospect_email: string;
  state: 'running' | 'waiting_for_event' | 'completed' | 'failed' | 'cancelled';
  current_step_id?: string | null;
  app_values?: string;
  conversation?: string;
  max_wait_seconds?: number | null;
  only_step_id?: string | null;
  copy?: string;
  ends_at: Date;
  waiting_for?: string | null;
  waiting_until?: Date | null;
  blocked_reason?: string | null;
  error?: string | null;
  completed_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** A category of a conversation. */
interface ThreadLabelsRow {
  organization_id: string;
  thread_id: string;
  label_id: string;
  created_at: Date;
}

interface ThreadLabelsInsert {
  organization_id: string;
  thread_id: string;
  label_id: string;
  created_at: Date;
}

/** A conversation that is hidden for a while. */
interface ThreadSnoozesRow {
  id: string;
  organization_id: string;
  owner_id: string;
  thread_id: string;
  snoozed_until: Date;
  created_at: Date;
  updated_at: Date;
}

interface ThreadSnoozesInsert {
  id: string;
  organization_id: string;
  owner_id: string;
  thread_id: string;
  snoozed_until: Date;
  created_at: Date;
  updated_at: Date;
}

/** A link in an email that counts clicks. */
interface TrackedLinksRow {
  id: string;
  organization_id: string;
  send_id: string;
  campaign_id: string | null;
  step_id: string | null;
  contact_id: string | null;
  url: string;
  label: string;
  /** Position in the text from 1. */
  position: number;
  created_at: Date;
}

interface TrackedLinksInsert {
  id: string;
  organization_id: string;
  send_id: string;
  campaign_id?: string | null;
  step_id?: string | null;
  contact_id?: string | null;
  url: string;
  label?: string;
  position: number;
  created_at: Date;
}

/** A domain for tracked links. Belongs to the one organization that verified it. */
interface TrackingDomainsRow {
  domain: string;
  organization_id: string;
  /** Cause for which the last check failed and links do not use the domain. Null after a check that passed. */
  fault: 'dns' | 'no_answer' | 'certificate' | 'other_instance' | null;
  /** False until the owners of the organization have been mailed about the fault. */
  is_reported: boolean;
  check_due_at: Date;
  created_at: Date;
}

interface TrackingDomainsInsert {
  domain: string;
  organization_id: string;
  fault?: 'dns' | 'no_answer' | 'certificate' | 'other_instance' | null;
  is_reported?: boolean;
  check_due_at?: Date;
  created_at: Date;
}

/** A person with an account. A person can be a member of several organizations. */
interface UsersRow {
  id: string;
  /** Email address in lower case. */
  email: string;
  /** Argon2id hash in PHC format. */
  password_hash: string;
  first_name: string;
  last_name: string;
  /** BCP 47 language tag for emails to the person. Null until a browser has sent it. */
  language: string | null;
  is_platform_admin: boolean;
  /** True while the account has the password that an operator set. */
  has_given_password: boolean;
  deletion_scheduled_at: Date | null;
  /** Time at which the account is erased. Null unless its deletion was requested. */
  deletion_scheduled_for: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface UsersInsert {
  id: string;
  email: string;
  password_hash: string;
  first_name?: string;
  last_name?: string;
  language?: string | null;
  is_platform_admin?: boolean;
  has_given_password?: boolean;
  deletion_scheduled_at?: Date | null;
  deletion_scheduled_for?: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** The first visit of a reader in a campaign, per country, mail program or device. */
interface VisitFactsRow {
  organization_id: string;
  visitor: string;
  part: 'countries' | 'clients' | 'devices';
  /** A country, a mail program or a kind of device. Empty: unknown. */
  key: string;
  campaign_id: string;
  first_at: Date;
}

interface VisitFactsInsert {
  organization_id: string;
  visitor: string;
  part: 'countries' | 'clients' | 'devices';
  key: string;
  campaign_id: string;
  first_at: Date;
}

/** A step that waits for a product event, until the event comes or the deadline passes. */
interface WaitsRow {
  id: string;
  organization_id: string;
  enrollment_id: string;
  step_run_id: string;
  campaign_id: string;
  contact_id: string;
  step_id: string;
  event_name: string;
  state: 'open' | 'resumed' | 'timed_out' | 'cancelled';
  /** Time at which the step before began its work. An event that occurred since then resumes the wait. */
  entered_at: Date;
  opened_at: Date;
  deadline: Date | null;
  event_id: string | null;
  settled_at: Date | null;
}

interface WaitsInsert {
  id: string;
  organization_id: string;
  enrollment_id: string;
  step_run_id: string;
  campaign_id: string;
  contact_id: string;
  step_id: string;
  event_name: string;
  state?: 'open' | 'resumed' | 'timed_out' | 'cancelled';
  entered_at: Date;
  opened_at: Date;
  deadline?: Date | null;
  event_id?: string | null;
  settled_at?: Date | null;
}

/** A warmup email from one mailbox to another. */
interface WarmupMailsRow {
  id: string;
  organization_id: string;
  mailbox_id: string;
  partner_id: string;
  /** The email that it replies to. */
  answers: string | null;
  state: 'reserved' | 'sending' | 'sent' | 'uncertain' | 'failed';
  slot_at: Date;
  /** UTC day of slot_at. The email counts towards the cap of this day. */
  slot_day: string;
  attempts: number;
  claim_token: string | null;
  claimed_at: Date | null;
  handover: 'pending' | 'begun' | null;
  message_id: string | null;
  subject: string;
  sent_at: Date | null;
  error: string | null;
  landed: 'inbox' | 'spam' | 'bounced' | null;
  landed_at: Date | null;
  created_at: Date;
}

interface WarmupMailsInsert {
  id: string;
  organization_id: string;
  mailbox_id: string;
  partner_id: string;
  answers?: string | null;
  state?: 'reserved' | 'sending' | 'sent' | 'uncertain' | 'failed';
  slot_at: Date;
  slot_day: string;
  attempts?: number;
  claim_token?: string | null;
  claimed_at?: Date | null;
  handover?: 'pending' | 'begun' | null;
  message_id?: string | null;
  subject?: string;
  sent_at?: Date | null;
  error?: string | null;
  landed?: 'inbox' | 'spam' | 'bounced' | null;
  landed_at?: Date | null;
  created_at: Date;
}

/** A rule that determines which mailboxes exchange warmup emails. */
interface WarmupRulesRow {
  id: string;
  organization_id: string;
  name: string;
  priority: number;
  sender_match_type: 'any' | 'domain' | 'tld' | 'provider';
  /** Value to match, in lower case and trimmed. Empty if the type is any. */
  sender_match_value: string;
  recipient_match_type: 'any' | 'domain' | 'tld' | 'provider';
  recipient_match_value: string;
  /** Relative weight, 0 or more. */
  weight: number;
  enabled: boolean;
  created_at: Date;
  updated_at: Date;
}

interface WarmupRulesInsert {
  id: string;
  organization_id: string;
  name: string;
  priority?: number;
  sender_match_type: 'any' | 'domain' | 'tld' | 'provider';
  sender_match_value?: string;
  recipient_match_type: 'any' | 'domain' | 'tld' | 'provider';
  recipient_match_value?: string;
  weight?: number;
  enabled?: boolean;
  created_at: Date;
  updated_at: Date;
}

/** Warmup state of a mailbox for which warmup was ever enabled. */
interface WarmupStandingsRow {
  mailbox_id: string;
  organization_id: string;
  health_state: 'healthy' | 'watch' | 'throttled' | 'quarantined' | 'blocked';
  score: number;
  reason: Message | null;
  blocked_until: Date | null;
  evaluated_at: Date | null;
  /** The last UTC day whose emails are planned. */
  planned_day: string | null;
  run_blocked: Message | null;
}

interface WarmupStandingsInsert {
  mailbox_id: string;
  organization_id: string;
  health_state?: 'healthy' | 'watch' | 'throttled' | 'quarantined' | 'blocked';
  score?: number;
  reason?: string | null;
  blocked_until?: Date | null;
  evaluated_at?: Date | null;
  planned_day?: string | null;
  run_blocked?: string | null;
}

/** One HTTP request of a delivery. */
interface WebhookAttemptsRow {
  delivery_id: string;
  attempt: number;
  organization_id: string;
  started_at: Date;
  /** Duration (ms) of the request. */
  duration_ms: number;
  response_status: number | null;
  error_reason: Message | null;
  /** The batch whose run made the attempt. Null if the delivery had its own run. */
  batch_id: string | null;
}

interface WebhookAttemptsInsert {
  delivery_id: string;
  attempt: number;
  organization_id: string;
  started_at: Date;
  duration_ms: number;
  response_status?: number | null;
  error_reason?: string | null;
  batch_id?: string | null;
}

/** A batch of first attempts that the fan-out may still extend. Its run deletes the row before it ends. */
interface WebhookBatchesRow {
  id: string;
  opened_at: Date;
}

interface WebhookBatchesInsert {
  id: string;
  opened_at: Date;
}

/** Events delivered per minute, of an endpoint or of an event type in an organization. */
interface WebhookCountsRow {
  organization_id: string;
  minute: Date;
  subject: string;
  admitted: number;
}

interface WebhookCountsInsert {
  organization_id: string;
  minute: Date;
  subject: string;
  admitted: number;
}

/** An event to be delivered to one endpoint. */
interface WebhookDeliveriesRow {
  id: string;
  organization_id: string;
  endpoint_id: string;
  application_id: string | null;
  event_id: string;
  event_type: string;
  /** The batch that makes the first attempt, or all attempts at a failing endpoint. Null once the delivery has its own run, or none. */
  batch_id: string | null;
  status: 'pending' | 'in_flight' | 'delivered' | 'failed' | 'abandoned';
  attempt_count: number;
  max_attempts: number;
  /** Attempts before the latest redelivery. The backoff counts only later attempts. */
  earlier_attempts: number;
  next_attempt_at: Date | null;
  last_attempt_at: Date | null;
  /** End of the claim of the latest attempt, by PostgreSQL's clock. A delivery in flight is taken over only after it. */
  claimed_until: Date | null;
  response_status: number | null;
  response_body_excerpt: string | null;
  error_reason: Message | null;
  /** The secret that signed its first attempt. */
  secret_id: string | null;
  /** Message with the reason why its run keeps failing. */
  blocked_reason: Message | null;
  created_at: Date;
  updated_at: Date;
}

interface WebhookDeliveriesInsert {
  id: string;
  organization_id: string;
  endpoint_id: string;
  application_id?: string | null;
  event_id: string;
  event_type: string;
  batch_id?: string | null;
  status: 'pending' | 'in_flight' | 'delivered' | 'failed' | 'abandoned';
  attempt_count?: number;
  max_attempts?: number;
  earlier_attempts?: number;
  next_attempt_at?: Date | null;
  last_attempt_at?: Date | null;
  claimed_until?: Date | null;
  response_status?: number | null;
  response_body_excerpt?: string | null;
  error_reason?: string | null;
  secret_id?: string | null;
  blocked_reason?: string | null;
  created_at: Date;
  updated_at: Date;
}

/** A URL that receives domain events. */
interface WebhookEndpointsRow {
  id: string;
  organization_id: string;
  /** The application that manages the endpoint. Such an endpoint is not in the workspace's own list. */
  application_id: string | null;
  url: string;
  description: string;
  /** Event types. Empty: all events except firehose events. */
  event_types: string[];
  enabled: boolean;
  /** Message with the reason why the installation disabled the endpoint. */
  disabled_reason: Message | null;
  verified_at: Date | null;
  ownership_confirmed: boolean;
  last_success_at: Date | null;
  last_failure_at: Date | null;
  last_failure_reason: Message | null;
  consecutive_failures: number;
  /** First failure since the last success. */
  failing_since: Date | null;
  /** True while the endpoint of an application is enabled but has not answered its challenge. */
  challenging: boolean;
  created_at: Date;
  updated_at: Date;
}

interface WebhookEndpointsInsert {
  id: string;
  organization_id: string;
  application_id?: string | null;
  url: string;
  description?: string;
  event_types?: string[];
  enabled?: boolean;
  disabled_reason?: string | null;
  verified_at?: Date | null;
  ownership_confirmed?: boolean;
  last_success_at?: Date | null;
  last_failure_at?: Date | null;
  last_failure_reason?: string | null;
  consecutive_failures?: number;
  failing_since?: Date | null;
  challenging?: boolean;
  created_at: Date;
  updated_at: Date;
}

/** The body of an event as receivers get it, byte for byte the same in every attempt. */
interface WebhookPayloadsRow {
  event_id: string;
  organization_id: string;
  event_type: string;
  body: string;
  created_at: Date;
}

interface WebhookPayloadsInsert {
  event_id: string;
  organization_id: string;
  event_type: string;
  body: string;
  created_at: Date;
}

/** A signing secret of an endpoint or application. The newest signs; older secrets are kept for open deliveries. */
interface WebhookSecretsRow {
  id: string;
  endpoint_id: string | null;
  application_id: string | null;
  sealed: Buffer;
  created_at: Date;
}

interface WebhookSecretsInsert {
  id: string;
  endpoint_id?: string | null;
  application_id?: string | null;
  sealed: Buffer;
  created_at: Date;
}

/** Events dropped because of a rate limit, per minute. */
interface WebhookThrottleDropsRow {
  id: string;
  organization_id: string;
  endpoint_id: string;
  event_type: string;
  reason: 'endpoint_rate' | 'event_type_rate';
  minute: Date;
  dropped: number;
  last_event_id: string;
  created_at: Date;
  updated_at: Date;
}

interface WebhookThrottleDropsInsert {
  id: string;
  organization_id: string;
  endpoint_id: string;
  event_type: string;
  reason: 'endpoint_rate' | 'event_type_rate';
  minute: Date;
  dropped: number;
  last_event_id: string;
  created_at: Date;
  updated_at: Date;
}

/** An email with a weekly report to one member. Its key prevents a second email. */
interface WeeklyReportMailsRow {
  id: string;
  report_id: string;
  user_id: string;
  organization_id: string;
  /** 'uncertain': the mail server's answer was lost. */
  state: 'sending' | 'sent' | 'refused' | 'uncertain';
  claimed_at: Date;
  settled_at: Date | null;
}

interface WeeklyReportMailsInsert {
  id: string;
  report_id: string;
  user_id: string;
  organization_id: string;
  state: 'sending' | 'sent' | 'refused' | 'uncertain';
  claimed_at: Date;
  settled_at?: Date | null;
}

/** A member who does not want the weekly report. */
interface WeeklyReportOptOutsRow {
  organization_id: string;
  user_id: string;
  created_at: Date;
}

interface WeeklyReportOptOutsInsert {
  organization_id: string;
  user_id: string;
  created_at: Date;
}

/** A weekly report that is emailed to the members of an organization. */
interface WeeklyReportsRow {
  id: string;
  organization_id: string;
  /** Monday on which the week began, in the organization's time zone. */
  week: string;
  from_at: Date;
  to_at: Date;
  state: 'due' | 'done';
  blocked_reason: Message | null;
  created_at: Date;
}

interface WeeklyReportsInsert {
  id: string;
  organization_id: string;
  week: string;
  from_at: Date;
  to_at: Date;
  state?: 'due' | 'done';
  blocked_reason?: string | null;
  created_at: Date;
}

/** A worker process that is alive. */
interface WorkersRow {
  id: string;
  roles: string[];
  started_at: Date;
  seen_at: Date;
  /** Id of the external file store that the worker can reach. Null while the worker keeps files in PostgreSQL. */
  blob_place: string | null;
  /** Ids of its keys for payloads in Temporal. */
  codec_keys: string[];
  /** Time by which the clock of its machine is ahead of that of PostgreSQL. Negative if it is behind. */
  clock_ahead_ms: number;
}

interface WorkersInsert {
  id: string;
  roles: string[];
  started_at?: Date;
  seen_at?: Date;
  blob_place?: string | null;
  codec_keys?: string[];
  clock_ahead_ms?: number;
}

/** A file with the data of the workspace, which a member asked for. */
interface WorkspaceExportsRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  status: 'queued' | 'running' | 'completed';
  /** Tables written so far. */
  parts_done: number;
  /** Rows written so far. */
  row_count: number;
  blob_id: string | null;
  size_bytes: number | null;
  /** State of the email to the member. "left_out": nobody to write to. */
  mail: 'due' | 'sending' | 'sent' | 'refused' | 'uncertain' | 'left_out';
  blocked_reason: Message | null;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  /** Time at which the file is deleted, with this row. Null until the file exists. */
  expires_at: Date | null;
}

interface WorkspaceExportsInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  status?: 'queued' | 'running' | 'completed';
  parts_done?: number;
  row_count?: number;
  blob_id?: string | null;
  size_bytes?: number | null;
  mail?: 'due' | 'sending' | 'sent' | 'refused' | 'uncertain' | 'left_out';
  blocked_reason?: string | null;
  created_at: Date;
  started_at?: Date | null;
  ended_at?: Date | null;
  expires_at?: Date | null;
}
