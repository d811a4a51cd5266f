import { analyticsRoutes } from './analytics/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { apiKeysRoutes } from './api-keys/routes.ts';
import { appConnectionsRoutes } from './app-connections/routes.ts';
import { linkPageRoutes } from './auth/pages/routes.ts';
import { authRoutes } from './auth/routes.ts';
import { campaignRoutes } from './campaigns/routes.ts';
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
import { runsRoutes } from './runs/routes.ts';
import { contactImportRoutes } from './contacts/import-routes.ts';
import { contactRoutes } from './contacts/routes.ts';
import { labelRoutes } from './labels/routes.ts';
import { segmentRoutes } from './segments/routes.ts';
import { suppressionRoutes } from './suppressions/routes.ts';
import { appWebhooksRoutes } from './webhooks/app-routes.ts';
import { warmupRoutes } from './warmup/routes.ts';
import { webhooksRoutes } from './webhooks/routes.ts';
import type { AnyRoute } from './http/route.ts';

/** Every endpoint of the API. A new area adds its array here and nowhere else. */
export const routes: readonly AnyRoute[] = [
  ...systemRoutes,
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
  ...stepRunsRoutes,
  ...runsRoutes,
  ...tasksRoutes,
  ...contactRoutes,
  ...contactImportRoutes,
  ...labelRoutes,
  ...segmentRoutes,
  ...suppressionRoutes,
  ...deliverabilityRoutes,
  ...analyticsRoutes,
  ...auditRoutes,
  ...mailboxRoutes,
  ...consentPageRoutes,
  ...mailboxOrdersRoutes,
  ...warmupRoutes,
  ...domainRenewalRoutes,
  ...paymentRoutes,
  ...uniboxRoutes,
  ...templateRoutes,
  ...agentPolicyRoutes,
  ...approvalRoutes,
  ...directSendRoutes,
  ...draftRoutes,
  // After all other addresses below /unibox: an id could be any of their names.
  ...uniboxMessageRoutes,
  ...approvalPageRoutes,
  ...agentToolsRoutes,
  ...mcpRoutes,
  ...webhooksRoutes,
  ...appWebhooksRoutes,
];
