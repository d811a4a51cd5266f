import type { Provider } from '../provider.ts';
import { webhookProvider } from '../webhook.ts';

/** Zapier, connected by the catch hook of a Zap. */
export const zapier: Provider = {
  id: 'zapier',
  name: 'Zapier',
  tagline: 'provider.zapier.tagline',
  category: 'automation',
  docsUrl: 'https://help.zapier.com/hc/en-us/articles/8496288690317',
  badgeColor: '#ff4f00',
  webhookHint: 'provider.zapier.hint',
  highlights: ['provider.highlight.any_zap', 'provider.highlight.signed'],
  events: ['email.replied', 'meeting.booked', 'contact.created', 'deal.won'],
  apiBase: 'https://hooks.zapier.com',
  rate: { capacity: 100, perSecond: 3 },
  ...webhookProvider({
    accepts: ({ protocol, host, pathname }) =>
      protocol === 'https:' &&
      host === 'hooks.zapier.com' &&
      /^\/hooks\/catch\/\d+\/\w+\/?(silent\/?)?$/.test(pathname),
    problem: 'connect.zapier_hook',
    // Zapier's URLs end in a slash, which people often omit when they paste.
    pathOf: ({ pathname }) => (pathname.endsWith('/') ? pathname : `${pathname}/`),
  }),
};
