import type { Provider } from '../provider.ts';
import { webhookProvider } from '../webhook.ts';

/** Make, connected by a scenario's custom webhook. */
export const make: Provider = {
  id: 'make',
  name: 'Make',
  tagline: 'provider.make.tagline',
  category: 'automation',
  docsUrl: 'https://help.make.com/webhooks',
  badgeColor: '#6d00cc',
  webhookHint: 'provider.make.hint',
  highlights: ['provider.highlight.any_scenario', 'provider.highlight.signed'],
  events: ['email.replied', 'meeting.booked', 'contact.created', 'deal.won'],
  // Each zone has its own host, so the pasted URL is used as a whole.
  apiBase: 'https://hook.eu1.make.com',
  rate: { capacity: 100, perSecond: 15 },
  ...webhookProvider({
    accepts: ({ pathname }) => pathname.length > 1,
    problem: 'connect.make_hook',
    pathOf: ({ href }) => href,
  }),
};
