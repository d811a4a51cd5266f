import { z } from 'zod';
import type { Provider } from '../provider.ts';
import { crmActions, writeContact } from '../crm.ts';
import { hubspotCrm, readHubSpotFields } from './crm.ts';

/** HubSpot, connected by its OAuth, through the CRM API v3. */
export const hubspot: Provider = {
  id: 'hubspot',
  name: 'HubSpot',
  tagline: 'provider.hubspot.tagline',
  category: 'crm',
  docsUrl: 'https://developers.hubspot.com/docs/api-reference/overview',
  authMethod: 'oauth',
  badgeColor: '#ff7a59',
  highlights: ['provider.highlight.contacts', 'provider.highlight.notes', 'provider.highlight.deals'],
  events: ['email.replied', 'meeting.booked', 'contact.created', 'deal.won'],
  capability: { objects: ['contact', 'note', 'deal'] },
  apiBase: 'https://api.hubapi.com',
  // HubSpot allows 110 requests in 10 seconds for each account that installed the app.
  rate: { capacity: 50, perSecond: 5 },
  oauth: {
    authorizeUrl: 'https://app.hubspot.com/oauth/authorize',
    tokenUrl: 'https://api.hubapi.com/oauth/v1/token',
    pkce: false,
    scopes: [
      'oauth',
      'crm.objects.contacts.read',
      'crm.objects.contacts.write',
      'crm.objects.deals.read',
      'crm.objects.deals.write',
      'crm.schemas.contacts.read',
    ],
    clientSettings: ['HUBSPOT_CLIENT_ID', 'HUBSPOT_CLIENT_SECRET'],
    async readAccount(call, tokens) {
      const { json } = await call.request({
        method: 'GET',
        path: `/oauth/v1/access-tokens/${encodeURIComponent(String(tokens.access_token))}`,
      });
      const account = z.object({ hub_id: z.number(), hub_domain: z.string().default('') }).parse(json);
      return { id: String(account.hub_id), name: account.hub_domain || `HubSpot ${account.hub_id}` };
    },
    async revoke(call, refreshToken) {
      await call.request({
        method: 'DELETE',
        path: `/oauth/v1/refresh-tokens/${encodeURIComponent(refreshToken)}`,
        expect: [404],
      });
    },
  },
  actions: crmActions(hubspotCrm, {
    stage: z.string().min(1).max(100).default('appointmentscheduled').describe('The internal name of the deal stage.'),
    pipeline: z.string().min(1).max(100).default('default').describe('The internal name of the pipeline.'),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .optional()
      .describe('Of the amount, such as EUR; the account must have it.'),
  }),
  push: {
    object: 'contact',
    defaults: [
      { from: 'first_name', to: 'firstname' },
      { from: 'last_name', to: 'lastname' },
      { from: 'company', to: 'company' },
      { from: 'phone', to: 'phone' },
    ],
    writeContact: (call, person, fields) => writeContact(hubspotCrm, call, person, fields),
    readFields: readHubSpotFields,
  },
};
