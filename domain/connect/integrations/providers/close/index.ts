import { z } from 'zod';
import type { Provider } from '../provider.ts';
import { crmActions, writeContact } from '../crm.ts';
import { closeCrm, readCloseFields } from './crm.ts';

const config = z.strictObject({ api_key: z.string().trim().min(10).max(200) });

/** Close, connected by an API key. */
export const close: Provider = {
  id: 'close',
  name: 'Close',
  tagline: 'provider.close.tagline',
  category: 'crm',
  docsUrl: 'https://developer.close.com',
  authMethod: 'api_key',
  badgeColor: '#1463ff',
  webhookHint: 'provider.close.hint',
  highlights: ['provider.highlight.with_lead', 'provider.highlight.notes', 'provider.highlight.opportunities'],
  events: ['email.replied', 'meeting.booked', 'contact.created', 'deal.won'],
  capability: { objects: ['contact', 'lead', 'note', 'opportunity'] },
  apiBase: 'https://api.close.com/api/v1',
  rate: { capacity: 20, perSecond: 10 },
  credentials: {
    schema: config,
    secretFields: ['api_key'],
    authorize: (given) => ({
      authorization: `Basic ${Buffer.from(`${config.parse(given).api_key}:`).toString('base64')}`,
    }),
    async validate(call) {
      const { json } = await call.request({ method: 'GET', path: '/me/' });
      const { email, organizations } = z
        .object({ email: z.string(), organizations: z.array(z.object({ id: z.string(), name: z.string() })).min(1) })
        .parse(json);
      const [{ id, name }] = organizations as [{ id: string; name: string }];
      return { id, name, displayFields: { email } };
    },
  },
  actions: crmActions(closeCrm, {
    status_id: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe("The opportunity's status; the account's first unless said."),
  }),
  push: {
    object: 'contact',
    defaults: [
      { from: 'first_name', to: 'first_name' },
      { from: 'last_name', to: 'last_name' },
      { from: 'company', to: 'lead_name' },
      { from: 'phone', to: 'phone' },
    ],
    writeContact: (call, person, fields) => writeContact(closeCrm, call, person, fields),
    readFields: readCloseFields,
  },
};
