import { agentsPages } from '../pages/agents/routes.ts';
import { automationsPages } from '../pages/automations/routes.ts';
import { campaignsPages } from '../pages/campaigns/routes.ts';
import { crmPages } from '../pages/crm/routes.ts';
import { inboxPages } from '../pages/inbox/routes.ts';
import { integrationsPages } from '../pages/integrations/routes.ts';
import { leadPages } from '../pages/lead/routes.ts';
import { leadsPages } from '../pages/leads/routes.ts';
import { mailboxesPages } from '../pages/mailboxes/routes.ts';
import { meetingsPages } from '../pages/meetings/routes.ts';
import { operatorPages } from '../pages/operator/routes.ts';
import { reportsPages } from '../pages/reports/routes.ts';
import { reviewPages } from '../pages/review/routes.ts';
import { settingsPages } from '../pages/settings/routes.ts';
import { startPages } from '../pages/start/routes.ts';
import type { PageRoute } from './page-route.ts';

/** Every page of the dashboard. If two patterns match a URL, the one without a parameter is used. */
export const PAGES = [
  ...startPages,
  ...campaignsPages,
  ...leadsPages,
  ...leadPages,
  ...inboxPages,
  ...crmPages,
  ...meetingsPages,
  ...automationsPages,
  ...integrationsPages,
  ...reviewPages,
  ...mailboxesPages,
  ...agentsPages,
  ...reportsPages,
  ...operatorPages,
  ...settingsPages,
] as const;

/** Returns the page at a URL path; undefined if there is none. */
export function pageAt(address: string): PageRoute | undefined {
  const parts = address.split('/');
  const fits = ({ path }: PageRoute) => {
    const pattern = path.split('/');
    return pattern.length === parts.length && pattern.every((part, n) => part === parts[n] || part.startsWith('$'));
  };
  return PAGES.find(({ path }) => path === address) ?? PAGES.find(fits);
}
