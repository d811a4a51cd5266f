import type { Provider } from '../provider.ts';
import { webhookProvider } from '../webhook.ts';

/** The provider Make, connected by the custom webhook of a scenario. */
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
  // Each zone of Make has its own host, so requests go to the whole pasted URL instead of a path below this origin.
  apiBase: 'https://hook.eu1.make.com',
  rate: { capacity: 100, perSecond: 15 },
  ...webhookProvider({
    accepts: ({ pathname }) => pathname.length > 1,
    problem: 'connect.make_hook',
    pathOf: ({ href }) => href,
  }),
};
