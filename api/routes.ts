import { acquisitionRoutes } from './acquisition/routes.ts';
import { analyticsRoutes } from './analytics/routes.ts';
import { automationRoutes } from './automations/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { apiKeysRoutes } from './api-keys/routes.ts';
import { appConnectionsRoutes } from './app-connections/routes.ts';
import { linkPageRoutes } from './auth/pages/routes.ts';
import { authRoutes } from './auth/routes.ts';
import { campaignRoutes } from './campaigns/routes.ts';
import { identityConflictRoutes, peopleRoutes } from './people/routes.ts';
import { eventsRoutes } from './product-events/routes.ts';
import { organizationsRoutes } from './organizations/routes.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { domainRenewalRoutes } from './domain-renewals/routes.ts';
import { paymentRoutes } from './payments/routes.ts';
import { pageRoutes } from './oauth/pages/routes.ts';
import { outreachSettingsRoutes } from './outreach-settings/routes.ts';
import { stepRunsRoutes } from './step-runs/routes.ts';
import { draftRoutes } from './direct-sends/draft-routes.ts';
import { directSendRoutes } from './direct-sends/routes.ts';
import { deliverabilityRoutes } from './deliverability/routes.ts';
import { consentPageRoutes } from './mailboxes/pages.ts';
import { mailboxOrdersRoutes } from './mailbox-orders/routes.ts';
import { mailboxRoutes } from './mailboxes/routes.ts';
import { systemRoutes } from './system/routes.ts';
import { tasksRoutes } from './tasks/routes.ts';
import { agentPolicyRoutes } from './agent-policies/routes.ts';
import { approvalPageRoutes } from './approvals/pages/decide.ts';
import { approvalRoutes } from './approvals/routes.ts';
import { agentToolsRoutes } from './agent-tools/routes.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { uniboxMessageRoutes } from './unibox/message-routes.ts';
import { templateRoutes } from './templates/routes.ts';
import { uniboxRoutes } from './unibox/routes.ts';
import { uniboxSentRoutes } from './unibox/sent-routes.ts';
import { runsRoutes } from './runs/routes.ts';
import { contactImportRoutes } from './contacts/import-routes.ts';
import { contactRoutes } from './contacts/routes.ts';
import { dealRoutes } from './crm/deal-routes.ts';
import { pipelineRoutes } from './crm/pipeline-routes.ts';
import { crmTaskRoutes } from './crm/task-routes.ts';
import { integrationPageRoutes } from './integrations/pages.ts';
import { integrationRoutes } from './integrations/routes.ts';
import { labelRoutes } from './labels/routes.ts';
import { leadDatabaseRoutes } from './lead-database/routes.ts';
import { prospectCatalogueRoutes } from './prospect-catalogue/routes.ts';
import { goalRoutes } from './goals/routes.ts';
import { weeklyReportPages } from './weekly-reports/pages.ts';
import { meetingRoutes } from './meetings/routes.ts';
import { segmentRoutes } from './segments/routes.ts';
import { suppressionRoutes } from './suppressions/routes.ts';
import { teamRoutes } from './teams/routes.ts';
import { appWebhooksRoutes } from './webhooks/app-routes.ts';
import { warmupRoutes } from './warmup/routes.ts';
import { webhooksRoutes } from './webhooks/routes.ts';
import { instanceRoutes } from './instance/routes.ts';
import type { AnyRoute } from './http/route.ts';

/** Every endpoint of the API. A new area adds its array here and nowhere else. */
export const routes: readonly AnyRoute[] = [
  ...systemRoutes,
  ...instanceRoutes,
  ...authRoutes,
  ...linkPageRoutes,
  ...organizationsRoutes,
  ...apiKeysRoutes,
  ...oauthRoutes,
  ...pageRoutes,
  ...appConnectionsRoutes,
  ...campaignRoutes,
  ...outreachSettingsRoutes,
  ...eventsRoutes,
  ...peopleRoutes,
  ...identityConflictRoutes,
  ...stepRunsRoutes,
  ...runsRoutes,
  ...tasksRoutes,
  ...contactRoutes,
  ...contactImportRoutes,
  ...integrationRoutes,
  ...integrationPageRoutes,
  ...meetingRoutes,
  ...labelRoutes,
  ...pipelineRoutes,
  ...dealRoutes,
  ...crmTaskRoutes,
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
  ...consentPageRoutes,
  ...mailboxOrdersRoutes,
  ...warmupRoutes,
  ...domainRenewalRoutes,
  ...paymentRoutes,
  ...uniboxRoutes,
  ...uniboxSentRoutes,
  ...templateRoutes,
  ...agentPolicyRoutes,
  ...approvalRoutes,
  ...directSendRoutes,
  ...draftRoutes,
  // After all other addresses below /unibox: an id could be any of their names.
  ...uniboxMessageRoutes,
  ...approvalPageRoutes,
  ...weeklyReportPages,
  ...agentToolsRoutes,
  ...mcpRoutes,
  ...webhooksRoutes,
  ...appWebhooksRoutes,
];
