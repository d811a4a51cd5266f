import { z } from 'zod';
import type { Provider } from '../provider.ts';
import { crmActions, writeContact } from '../crm.ts';
import { pipedriveCrm, readPipedriveFields } from './crm.ts';

/** Pipedrive, connected by its OAuth, through the API v2 for persons and deals, and the API v1 for notes. */
export const pipedrive: Provider = {
  id: 'pipedrive',
  name: 'Pipedrive',
  tagline: 'provider.pipedrive.tagline',
  category: 'crm',
  docsUrl: 'https://developers.pipedrive.com/docs/api/v1',
  authMethod: 'oauth',
  badgeColor: '#017737',
  highlights: ['provider.highlight.persons', 'provider.highlight.notes', 'provider.highlight.deals'],
  events: ['email.replied', 'meeting.booked', 'contact.created', 'deal.won'],
  capability: { objects: ['person', 'note', 'deal'] },
  apiBase: 'https://api.pipedrive.com',
  rate: { capacity: 20, perSecond: 10 },
  oauth: {
    authorizeUrl: 'https://oauth.pipedrive.com/oauth/authorize',
    tokenUrl: 'https://oauth.pipedrive.com/oauth/token',
    revokeUrl: 'https://oauth.pipedrive.com/oauth/revoke',
    pkce: false,
    // The scopes are chosen in the settings of the app at Pipedrive, so the authorization request names none.
    scopes: [],
    clientAuth: 'basic',
    clientSettings: ['PIPEDRIVE_CLIENT_ID', 'PIPEDRIVE_CLIENT_SECRET'],
    accountBase: { field: 'api_domain', domains: ['.pipedrive.com'] },
    async readAccount(call) {
      const { json } = await call.request({ method: 'GET', path: '/api/v1/users/me' });
      const { data } = z
        .object({ data: z.object({ company_id: z.number(), company_name: z.string(), email: z.string() }) })
        .parse(json);
      return { id: String(data.company_id), name: data.company_name, displayFields: { email: data.email } };
    },
  },
  actions: crmActions(pipedriveCrm, {
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .optional()
      .describe("Of the amount; the account's own unless said."),
    stage_id: z.number().int().positive().optional().describe('Where the deal begins; the first stage unless said.'),
  }),
  push: {
    object: 'person',
    defaults: [
      { from: 'first_name', to: 'first_name' },
      { from: 'last_name', to: 'last_name' },
      { from: 'phone', to: 'phone' },
    ],
    writeContact: (call, person, fields) => writeContact(pipedriveCrm, call, person, fields),
    readFields: readPipedriveFields,
  },
};
