import { z } from 'zod';
import type { Provider } from '../provider.ts';
import { crmActions, writeContact } from '../crm.ts';
import { readSalesforceFields, salesforceCrm } from './crm.ts';

/** Salesforce, connected by its OAuth, through the REST API of the account's own instance. */
export const salesforce: Provider = {
  id: 'salesforce',
  name: 'Salesforce',
  tagline: 'provider.salesforce.tagline',
  category: 'crm',
  docsUrl: 'https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/intro_rest.htm',
  authMethod: 'oauth',
  badgeColor: '#00a1e0',
  highlights: ['provider.highlight.contacts', 'provider.highlight.tasks', 'provider.highlight.opportunities'],
  events: ['email.replied', 'meeting.booked', 'contact.created', 'deal.won'],
  capability: { objects: ['Contact', 'Task', 'Opportunity'] },
  apiBase: 'https://login.salesforce.com',
  rate: { capacity: 20, perSecond: 10 },
  oauth: {
    authorizeUrl: 'https://login.salesforce.com/services/oauth2/authorize',
    tokenUrl: 'https://login.salesforce.com/services/oauth2/token',
    revokeUrl: 'https://login.salesforce.com/services/oauth2/revoke',
    pkce: true,
    scopes: ['api', 'refresh_token', 'openid'],
    clientSettings: ['SALESFORCE_CLIENT_ID', 'SALESFORCE_CLIENT_SECRET'],
    accountBase: {
      field: 'instance_url',
      domains: ['.salesforce.com', '.force.com', '.cloudforce.com', '.salesforce.mil', '.sfcrmproducts.cn'],
    },
    async readAccount(call) {
      const { json } = await call.request({ method: 'GET', path: '/services/oauth2/userinfo' });
      const account = z
        .object({
          organization_id: z.string(),
          name: z.string().default(''),
          preferred_username: z.string().default(''),
        })
        .parse(json);
      return {
        id: account.organization_id,
        name: account.name || account.preferred_username,
        displayFields: { username: account.preferred_username },
      };
    },
  },
  actions: crmActions(salesforceCrm, {
    stage: z.string().min(1).max(255).default('Prospecting').describe('The stage of the opportunity.'),
    close_in_days: z.number().int().min(0).max(3_650).default(30).describe('Its close date, in days from the event.'),
  }),
  push: {
    object: 'Contact',
    defaults: [
      { from: 'first_name', to: 'FirstName' },
      { from: 'last_name', to: 'LastName' },
      { from: 'phone', to: 'Phone' },
    ],
    writeContact: (call, person, fields) => writeContact(salesforceCrm, call, person, fields),
    readFields: readSalesforceFields,
  },
};
