import type { ReactNode } from 'react';
import { loadRoom, type Room } from '../text/index.ts';

/** Page of a room with the pattern of its address. */
interface Listed<Path extends string = string> {
  path: Path;
  /** Loads the page's code and the texts of its room; immediate if loaded before. */
  load: () => Promise<{ default: () => ReactNode }>;
}

const at = <Path extends string>(path: Path, room: Room, load: Listed['load']): Listed<Path> => ({
  path,
  load: async () => (await Promise.all([load(), loadRoom(room)]))[0],
});

/** Every page of the dashboard. If two patterns match an address, the one without a parameter wins. */
export const PAGES = [
  at('/', 'start', () => import('../rooms/start/page.tsx')),
  at('/campaigns', 'campaigns', () => import('../rooms/campaigns/list.tsx')),
  at('/campaigns/new', 'campaigns', () => import('../rooms/campaigns/new.tsx')),
  at('/campaigns/$id', 'campaigns', () => import('../rooms/campaigns/page.tsx')),
  at('/leads', 'leads', () => import('../rooms/leads/contacts.tsx')),
  at('/leads/segments', 'leads', () => import('../rooms/leads/segments.tsx')),
  at('/leads/segments/$id', 'leads', () => import('../rooms/leads/segment.tsx')),
  at('/leads/imports', 'leads', () => import('../rooms/leads/imports.tsx')),
  at('/leads/imports/new', 'leads', () => import('../rooms/leads/import-new.tsx')),
  at('/leads/imports/$id', 'leads', () => import('../rooms/leads/import.tsx')),
  at('/leads/suppressions', 'leads', () => import('../rooms/leads/suppressions.tsx')),
  at('/leads/database', 'leads', () => import('../rooms/leads/database.tsx')),
  at('/leads/verification', 'leads', () => import('../rooms/leads/verification.tsx')),
  at('/leads/catalogue', 'leads', () => import('../rooms/leads/catalogue.tsx')),
  at('/leads/$id', 'leads', () => import('../rooms/leads/contact.tsx')),
  at('/campaigns/$id/leads/$contactId', 'way', () => import('../rooms/lead/page.tsx')),
  at('/inbox', 'inbox', () => import('../rooms/inbox/page.tsx')),
  at('/crm', 'crm', () => import('../rooms/crm/board.tsx')),
  at('/crm/list', 'crm', () => import('../rooms/crm/list.tsx')),
  at('/crm/deals/$id', 'crm', () => import('../rooms/crm/deal.tsx')),
  at('/tasks', 'crm', () => import('../rooms/crm/tasks.tsx')),
  at('/meetings', 'meetings', () => import('../rooms/meetings/list.tsx')),
  at('/automations', 'automations', () => import('../rooms/automations/list.tsx')),
  at('/automations/$id', 'automations', () => import('../rooms/automations/page.tsx')),
  at('/integrations', 'integrations', () => import('../rooms/integrations/list.tsx')),
  at('/integrations/$id', 'integrations', () => import('../rooms/integrations/connection.tsx')),
  at('/review', 'review', () => import('../rooms/review/list.tsx')),
  at('/mailboxes', 'mailboxes', () => import('../rooms/mailboxes/list.tsx')),
  at('/mailboxes/new', 'mailboxes', () => import('../rooms/mailboxes/connect.tsx')),
  at('/mailboxes/$id', 'mailboxes', () => import('../rooms/mailboxes/page.tsx')),
  at('/agents', 'agents', () => import('../rooms/agents/runs.tsx')),
  at('/agents/runs/$id', 'agents', () => import('../rooms/agents/run.tsx')),
  at('/agents/policies', 'agents', () => import('../rooms/agents/policies.tsx')),
  at('/agents/keys', 'agents', () => import('../rooms/agents/keys.tsx')),
  at('/agents/applications', 'agents', () => import('../rooms/agents/applications.tsx')),
  at('/agents/connect', 'agents', () => import('../rooms/agents/connect.tsx')),
  at('/mailboxes/orders', 'mailboxes', () => import('../rooms/mailboxes/orders.tsx')),
  at('/mailboxes/orders/new', 'mailboxes', () => import('../rooms/mailboxes/order-new.tsx')),
  at('/mailboxes/orders/domains', 'mailboxes', () => import('../rooms/mailboxes/order-domains.tsx')),
  at('/mailboxes/orders/$id', 'mailboxes', () => import('../rooms/mailboxes/order.tsx')),
  at('/reports', 'reports', () => import('../rooms/reports/overview.tsx')),
  at('/reports/people', 'reports', () => import('../rooms/reports/people.tsx')),
  at('/reports/deliverability', 'reports', () => import('../rooms/reports/deliverability.tsx')),
  at('/reports/campaigns', 'reports', () => import('../rooms/reports/campaigns.tsx')),
  at('/reports/attribution', 'reports', () => import('../rooms/reports/attribution.tsx')),
  at('/reports/goals', 'reports', () => import('../rooms/reports/goals.tsx')),
  at('/reports/goals/$id', 'reports', () => import('../rooms/reports/goal.tsx')),
  at('/reports/funnels', 'reports', () => import('../rooms/reports/funnels.tsx')),
  at('/operations', 'operator', () => import('../rooms/operator/health.tsx')),
  at('/operations/stuck', 'operator', () => import('../rooms/operator/stuck.tsx')),
  at('/operations/webhooks', 'operator', () => import('../rooms/operator/webhooks.tsx')),
  at('/operations/webhooks/$id', 'operator', () => import('../rooms/operator/webhook.tsx')),
  at('/operations/audit', 'operator', () => import('../rooms/operator/audit.tsx')),
  at('/operations/settings', 'operator', () => import('../rooms/operator/settings.tsx')),
] as const;

/** Returns the page at an address; undefined if there is none. */
export function pageAt(address: string): Listed | undefined {
  const parts = address.split('/');
  const fits = ({ path }: Listed) => {
    const pattern = path.split('/');
    return pattern.length === parts.length && pattern.every((part, n) => part === parts[n] || part.startsWith('$'));
  };
  return PAGES.find(({ path }) => path === address) ?? PAGES.find(fits);
}
