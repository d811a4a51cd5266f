import type { Provider } from '../provider.ts';
import { webhookProvider } from '../webhook.ts';

/** n8n, connected by the webhook node of a workflow on any server. */
export const n8n: Provider = {
  id: 'n8n',
  name: 'n8n',
  tagline: 'provider.n8n.tagline',
  category: 'automation',
  docsUrl: 'https://docs.n8n.io/integrations/builtin/core-nodes/n8n-nodes-base.webhook/',
  badgeColor: '#ea4b71',
  webhookHint: 'provider.n8n.hint',
  highlights: ['provider.highlight.any_workflow', 'provider.highlight.signed', 'provider.highlight.own_server'],
  events: ['email.replied', 'meeting.booked', 'contact.created', 'deal.won'],
  apiBase: 'https://n8n.io',
  rate: { capacity: 20, perSecond: 10 },
  ...webhookProvider({
    accepts: ({ pathname }) => pathname.includes('/webhook/'),
    problem: 'connect.n8n_hook',
    pathOf: ({ href }) => href,
  }),
};
