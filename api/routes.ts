import { acquisitionRoutes } from './reporting/acquisition/routes.ts';
import { analyticsRoutes } from './reporting/analytics/routes.ts';
import { automationRoutes } from './connect/automations/routes.ts';
import { auditRoutes } from './platform/audit/routes.ts';
import { apiKeysRoutes } from './identity/api-keys/routes.ts';
import { appConnectionsRoutes } from './connect/app-connections/routes.ts';
import { linkPageRoutes } from './identity/auth/pages/routes.ts';
import { meRoutes } from './identity/auth/me-routes.ts';
import { authRoutes } from './identity/auth/routes.ts';
import { abAnalysisRoutes } from './campaigns/ab-analysis-routes.ts';
import { campaignRoutes } from './campaigns/routes.ts';
import { trackingDomainRoutes } from './campaigns/tracking-domain-routes.ts';
import { identityConflictRoutes, peopleRoutes } from './audience/people/routes.ts';
import { productEventRoutes } from './audience/product-events/routes.ts';
import { organizationsRoutes } from './identity/organizations/routes.ts';
import { workspaceExportRoutes } from './identity/workspace-exports/routes.ts';
import { oauthRoutes } from './identity/oauth/routes.ts';
import { domainRenewalRoutes } from './billing/domain-renewals/routes.ts';
import { paymentRoutes } from './billing/payments/routes.ts';
import { pageRoutes } from './identity/oauth/pages/routes.ts';
import { outreachSettingsRoutes } from './campaigns/outreach-settings/routes.ts';
import { stepRunsRoutes } from './campaigns/step-runs/routes.ts';
import { draftRoutes } from './inbox/direct-sends/draft-routes.ts';
import { directSendRoutes } from './inbox/direct-sends/routes.ts';
import { deliverabilityRoutes } from './campaigns/deliverability/routes.ts';
import { consentPageRoutes } from './mailboxes/pages.ts';
import { mailboxOrdersRoutes } from './billing/mailbox-orders/routes.ts';
import { mailboxRoutes } from './mailboxes/routes.ts';
import { mailboxStateRoutes } from './mailboxes/state-routes.ts';
import { systemRoutes } from './operations/system/routes.ts';
import { deadLetterRoutes } from './operations/dead-letters/routes.ts';
import { agentPolicyRoutes } from './approvals/agent-policies/routes.ts';
import { leadAllowanceRoutes } from './approvals/lead-allowances/routes.ts';
import { approvalPageRoutes } from './approvals/pages/decide.ts';
import { approvalRoutes } from './approvals/routes.ts';
import { agentToolsRoutes } from './agents/tools/routes.ts';
import { mcpRoutes } from './agents/mcp/routes.ts';
import { messageRoutes } from './inbox/threads/message-routes.ts';
import { replyTemplateRoutes } from './campaigns/reply-templates/routes.ts';
import { threadRoutes } from './inbox/threads/routes.ts';
import { sentRoutes } from './inbox/threads/sent-routes.ts';
import { runsRoutes } from './campaigns/runs/routes.ts';
import { contactImportRoutes } from './audience/imports/routes.ts';
import { contactHistoryRoutes } from './audience/contacts/history-routes.ts';
import { contactRoutes } from './audience/contacts/routes.ts';
import { dealRoutes } from './crm/deal-routes.ts';
import { pipelineRoutes } from './crm/pipeline-routes.ts';
import { noteRoutes } from './crm/note-routes.ts';
import { crmTaskRoutes } from './crm/task-routes.ts';
import { integrationPageRoutes } from './connect/integrations/pages.ts';
import { integrationRoutes } from './connect/integrations/routes.ts';
import { labelRoutes } from './audience/labels/routes.ts';
import { leadDatabaseRoutes } from './audience/lead-database/routes.ts';
import { prospectCatalogueRoutes } from './audience/prospect-catalogue/routes.ts';
import { goalRoutes } from './reporting/goals/routes.ts';
import { weeklyReportPages } from './reporting/weekly-reports/pages.ts';
import { meetingRoutes } from './crm/meetings/routes.ts';
import { segmentRoutes } from './audience/segments/routes.ts';
import { suppressionRoutes } from './audience/suppressions/routes.ts';
import { teamRoutes } from './identity/teams/routes.ts';
import { appWebhooksRoutes } from './connect/webhooks/app-routes.ts';
import { warmupRoutes } from './mailboxes/warmup/routes.ts';
import { webhooksRoutes } from './connect/webhooks/routes.ts';
import { instanceRoutes } from './operations/instance/routes.ts';
import type { AnyRoute } from './http/route.ts';

/** All endpoints of the API. The routes of a new area must be added here, and nowhere else. */
export const routes: readonly AnyRoute[] = [
  ...systemRoutes,
  ...instanceRoutes,
  ...authRoutes,
  ...meRoutes,
  ...linkPageRoutes,
  ...organizationsRoutes,
  ...workspaceExportRoutes,
  ...apiKeysRoutes,
  ...oauthRoutes,
  ...pageRoutes,
  ...appConnectionsRoutes,
  ...campaignRoutes,
  ...abAnalysisRoutes,
  ...outreachSettingsRoutes,
  ...productEventRoutes,
  ...peopleRoutes,
  ...identityConflictRoutes,
  ...stepRunsRoutes,
  ...runsRoutes,
  ...deadLetterRoutes,
  ...contactRoutes,
  ...contactHistoryRoutes,
  ...contactImportRoutes,
  ...integrationRoutes,
  ...integrationPageRoutes,
  ...meetingRoutes,
  ...labelRoutes,
  ...pipelineRoutes,
  ...dealRoutes,
  ...crmTaskRoutes,
  ...noteRoutes,
  ...teamRoutes,
  ...segmentRoutes,
  ...leadDatabaseRoutes,
  ...prospectCatalogueRoutes,
  ...goalRoutes,
  ...automationRoutes,
  ...suppressionRoutes,
  ...deliverabilityRoutes,
  ...analyticsRoutes,
  ...acquisitionRoutes,
  ...auditRoutes,
  ...mailboxRoutes,
  ...mailboxStateRoutes,
  ...trackingDomainRoutes,
  ...consentPageRoutes,
  ...mailboxOrdersRoutes,
  ...warmupRoutes,
  ...domainRenewalRoutes,
  ...paymentRoutes,
  ...threadRoutes,
  ...sentRoutes,
  ...replyTemplateRoutes,
  ...agentPolicyRoutes,
  ...leadAllowanceRoutes,
  ...approvalRoutes,
  ...directSendRoutes,
  ...draftRoutes,
  // These routes come after all other paths below /unibox, because their `:id` would match the names of those paths.
  ...messageRoutes,
  ...approvalPageRoutes,
  ...weeklyReportPages,
  ...agentToolsRoutes,
  ...mcpRoutes,
  ...webhooksRoutes,
  ...appWebhooksRoutes,
];
