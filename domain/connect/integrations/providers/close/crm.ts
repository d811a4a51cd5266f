import { z } from 'zod';
import { toMinorUnits } from '../../../../../lib/money.ts';
import type { ExternalField, ProviderCall } from '../provider.ts';
import { nameOf, wholeName, withEmail, type Crm, type Fields } from '../crm.ts';

const contact = z.object({ id: z.string(), lead_id: z.string() });
const OWN_FIELDS: readonly ExternalField[] = [
  { name: 'name', type: 'text', readOnly: false },
  { name: 'first_name', type: 'text', readOnly: false },
  { name: 'last_name', type: 'text', readOnly: false },
  { name: 'title', type: 'text', readOnly: false },
  { name: 'phone', type: 'text', readOnly: false },
  { name: 'lead_name', type: 'text', readOnly: false },
];
const PAGE = 100;
const MAX_PAGES = 10;

/**
 * CRM operations of Close. Its contacts belong to a lead (a company), which has the notes and opportunities. The stored
 * id of a contact is `lead/contact`, because Close requires the lead's id wherever it requires the contact's.
 */
export const closeCrm: Crm = {
  name: 'Close',
  changeable: ({ lead_name: _, ...fields }) => wholeName(fields),
  async createContact(call, email, { lead_name: leadName, ...fields }) {
    const person = { ...contactBody(fields), emails: [{ email, type: 'office' }] };
    const { json } = await call.request({
      method: 'POST',
      path: '/lead/',
      json: { ...(leadName === undefined ? {} : { name: leadName }), contacts: [person] },
    });
    const { id, contacts } = z
      .object({ id: z.string(), contacts: z.array(z.object({ id: z.string() })).min(1) })
      .parse(json);
    return `${id}/${contacts[0]!.id}`;
  },
  async findContact(call, email) {
    const { json } = await call.request({ method: 'POST', path: '/data/search/', json: searchOf(email) });
    const found = z
      .object({ data: z.array(contact.extend({ emails: z.array(z.object({ email: z.string() })).nullish() })) })
      .parse(json)
      // Compares the whole address, because the search of Close matches single words.
      .data.filter(({ emails }) => emails?.some((one) => one.email.toLowerCase() === email.toLowerCase()))
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))[0];
    return found && `${found.lead_id}/${found.id}`;
  },
  async hasContact(call, id) {
    return (await readEmails(call, id)) !== undefined;
  },
  async changeEmail(call, id, { from, to }) {
    const known = await readEmails(call, id);
    if (!known) return false;
    const emails = withEmail(known, 'email', { from, to }, { type: 'office' });
    await call.request({ method: 'PUT', path: contactPath(id), json: { emails } });
    return true;
  },
  async updateContact(call, id, fields) {
    await call.request({ method: 'PUT', path: contactPath(id), json: contactBody(fields) });
  },
  async addNote(call, id, { text }) {
    const [lead, contactId] = id.split('/');
    await call.request({
      method: 'POST',
      path: '/activity/note/',
      json: { lead_id: lead, contact_id: contactId, note: text },
    });
  },
  async createDeal(call, id, { name, amount, config }) {
    const [lead, contactId] = id.split('/');
    const cents = amount === undefined ? null : toMinorUnits(Number(amount), 2);
    const { status_id: status } = config as { status_id?: string };
    await call.request({
      method: 'POST',
      path: '/opportunity/',
      json: {
        lead_id: lead,
        contact_id: contactId,
        note: name,
        ...(cents === null ? {} : { value: cents, value_period: 'one_time' }),
        ...(status === undefined ? {} : { status_id: status }),
      },
    });
  },
};

/** Reads the contact fields at Close: built-in ones, and custom ones named `custom.cf_…`. */
export async function readCloseFields(call: ProviderCall): Promise<ExternalField[]> {
  const page = z.object({
    data: z.array(z.object({ id: z.string(), type: z.string(), choices: z.array(z.string()).nullish() })),
    has_more: z.boolean().default(false),
  });
  const custom: ExternalField[] = [];
  for (let pages = 0, more = true; more && pages < MAX_PAGES; pages += 1) {
    const { json } = await call.request({
      method: 'GET',
      path: '/custom_field/contact/',
      query: { _skip: pages * PAGE, _limit: PAGE },
    });
    const { data, has_more: isMore } = page.parse(json);
    for (const { id, type, choices } of data)
      custom.push({
        name: `custom.${id}`,
        type,
        readOnly: false,
        ...(choices ? { options: choices } : {}),
      });
    more = isMore;
  }
  return [...OWN_FIELDS, ...custom];
}

const contactPath = (id: string) => `/contact/${id.split('/')[1]}/`;

/** Returns the addresses of a contact; undefined if the contact was deleted. */
async function readEmails(call: ProviderCall, id: string): Promise<{ email: string }[] | undefined> {
  const { status, json } = await call.request({ method: 'GET', path: contactPath(id), expect: [404] });
  if (status === 404) return undefined;
  return z.object({ emails: z.array(z.looseObject({ email: z.string() })).nullish() }).parse(json).emails ?? [];
}

function contactBody(fields: Fields): Record<string, unknown> {
  const { name, first_name: first, last_name: last, phone, lead_name: _, ...rest } = fields;
  const whole = name ?? nameOf(first, last);
  return {
    ...(whole === '' ? {} : { name: whole }),
    ...(phone === undefined ? {} : { phones: [{ phone, type: 'office' }] }),
    ...rest,
  };
}

function searchOf(email: string): object {
  return {
    query: {
      type: 'and',
      queries: [
        { type: 'object_type', object_type: 'contact' },
        {
          type: 'has_related',
          this_object_type: 'contact',
          related_object_type: 'contact_email',
          related_query: {
            type: 'field_condition',
            field: { type: 'regular_field', object_type: 'contact_email', field_name: 'email' },
            condition: { type: 'text', mode: 'phrase', value: email },
          },
        },
      ],
    },
    _fields: { contact: ['id', 'lead_id', 'emails'] },
    _limit: 100,
  };
}
