import { z } from 'zod';
import type { ExternalField, ProviderCall } from '../provider.ts';
import { asHtml, type Crm } from '../crm.ts';

const withId = z.object({ id: z.string() });
const contacts = '/crm/v3/objects/contacts';

/** Association type ids defined by HubSpot, from a new object to a contact. */
const TO_CONTACT = { deal: 3, note: 202 };

/** CRM operations of HubSpot, with its contacts, notes and deals. */
export const hubspotCrm: Crm = {
  name: 'HubSpot',
  upserts: true,
  // HubSpot's upsert by email is one atomic request, so that two concurrent calls create one contact.
  async createContact(call, email, fields) {
    const { json } = await call.request({
      method: 'POST',
      path: `${contacts}/batch/upsert`,
      json: { inputs: [{ id: email, idProperty: 'email', properties: { ...fields, email } }] },
    });
    const { results } = z.object({ results: z.array(withId).min(1) }).parse(json);
    return results[0]!.id;
  },
  async findContact(call, email) {
    const { status, json } = await call.request({
      method: 'GET',
      path: `${contacts}/${encodeURIComponent(email)}`,
      query: { idProperty: 'email' },
      expect: [404],
    });
    return status === 404 ? undefined : withId.parse(json).id;
  },
  async hasContact(call, id) {
    const { status } = await call.request({ method: 'GET', path: `${contacts}/${id}`, expect: [404] });
    return status !== 404;
  },
  async changeEmail(call, id, { to: email }) {
    const { status } = await call.request({
      method: 'PATCH',
      path: `${contacts}/${id}`,
      json: { properties: { email } },
      expect: [404],
    });
    return status !== 404;
  },
  async updateContact(call, id, fields) {
    await call.request({ method: 'PATCH', path: `${contacts}/${id}`, json: { properties: fields } });
  },
  async addNote(call, contactId, { text, at }) {
    await call.request({
      method: 'POST',
      path: '/crm/v3/objects/notes',
      json: {
        properties: { hs_timestamp: at.toISOString(), hs_note_body: asHtml(text) },
        associations: [toContact(contactId, TO_CONTACT.note)],
      },
    });
  },
  async createDeal(call, contactId, { name, amount, config }) {
    const { stage, pipeline, currency } = config as Record<string, string | undefined>;
    const properties = {
      dealname: name,
      pipeline,
      dealstage: stage,
      ...(amount === undefined ? {} : { amount }),
      ...(currency === undefined ? {} : { deal_currency_code: currency }),
    };
    await call.request({
      method: 'POST',
      path: '/crm/v3/objects/deals',
      json: { properties, associations: [toContact(contactId, TO_CONTACT.deal)] },
    });
  },
};

/** Reads the properties of HubSpot's contacts. */
export async function readHubSpotFields(call: ProviderCall): Promise<ExternalField[]> {
  const { json } = await call.request({ method: 'GET', path: '/crm/v3/properties/contacts' });
  const { results } = z
    .object({
      results: z.array(
        z.object({
          name: z.string(),
          type: z.string(),
          options: z.array(z.object({ value: z.string() })).default([]),
          modificationMetadata: z.object({ readOnlyValue: z.boolean().default(false) }).optional(),
        }),
      ),
    })
    .parse(json);
  return results.map(({ name, type, options, modificationMetadata }) => ({
    name,
    type,
    readOnly: modificationMetadata?.readOnlyValue ?? false,
    ...(type === 'enumeration' && options.length > 0 ? { options: options.map(({ value }) => value) } : {}),
  }));
}

function toContact(id: string, kind: number): object {
  return { to: { id }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: kind }] };
}
