import { z } from 'zod';
import type { ExternalField, ProviderCall } from '../provider.ts';
import { asHtml, nameOf, wholeName, withEmail, type Crm, type Fields } from '../crm.ts';

const persons = '/api/v2/persons';
const made = z.object({ data: z.object({ id: z.number() }) });
const person = z.object({
  data: z.object({
    emails: z.array(z.looseObject({ value: z.string() })).default([]),
    is_deleted: z.boolean().default(false),
  }),
});
/**
 * Built-in fields of Pipedrive's persons. Pipedrive has one name field, so `personBody` joins the parts of the name.
 */
const OWN_FIELDS: readonly ExternalField[] = [
  { name: 'name', type: 'varchar', readOnly: false },
  { name: 'first_name', type: 'varchar', readOnly: false },
  { name: 'last_name', type: 'varchar', readOnly: false },
  { name: 'phone', type: 'phone', readOnly: false },
];
/** Maximum number of fields per page. */
const PAGE = 500;
/** Maximum number of pages that are read. */
const MAX_PAGES = 10;

/** CRM operations of Pipedrive, with its persons, notes and deals. */
export const pipedriveCrm: Crm = {
  name: 'Pipedrive',
  changeable: wholeName,
  async createContact(call, email, fields) {
    const { json } = await call.request({
      method: 'POST',
      path: persons,
      // Pipedrive requires a name.
      json: { name: email, ...personBody(fields), emails: [{ value: email, primary: true, label: 'work' }] },
    });
    return String(made.parse(json).data.id);
  },
  async findContact(call, email) {
    const { json } = await call.request({
      method: 'GET',
      path: `${persons}/search`,
      query: { term: email, fields: 'email', exact_match: 'true', limit: 100 },
    });
    const { data } = z
      .object({
        data: z.object({
          items: z.array(z.object({ item: z.object({ id: z.number(), emails: z.array(z.string()) }) })),
        }),
      })
      .parse(json);
    const found = data.items
      .filter(({ item }) => item.emails.some((one) => one.toLowerCase() === email.toLowerCase()))
      .map(({ item }) => item.id);
    return found.length === 0 ? undefined : String(Math.min(...found));
  },
  async hasContact(call, id) {
    return (await readPerson(call, id)) !== undefined;
  },
  async changeEmail(call, id, { from, to }) {
    const person = await readPerson(call, id);
    if (!person) return false;
    const emails = withEmail(person.emails, 'value', { from, to }, { label: 'work', primary: true });
    await call.request({ method: 'PATCH', path: `${persons}/${id}`, json: { emails } });
    return true;
  },
  async updateContact(call, id, fields) {
    await call.request({ method: 'PATCH', path: `${persons}/${id}`, json: personBody(fields) });
  },
  async addNote(call, contactId, { text }) {
    await call.request({
      method: 'POST',
      path: '/api/v1/notes',
      json: { content: asHtml(text), person_id: Number(contactId) },
    });
  },
  async createDeal(call, contactId, { name, amount, config }) {
    const { currency, stage_id: stage } = config as { currency?: string; stage_id?: number };
    await call.request({
      method: 'POST',
      path: '/api/v2/deals',
      json: {
        title: name,
        person_id: Number(contactId),
        ...(amount === undefined ? {} : { value: Number(amount) }),
        ...(currency === undefined ? {} : { currency }),
        ...(stage === undefined ? {} : { stage_id: stage }),
      },
    });
  },
};

/** Reads the fields of Pipedrive's persons: built-in ones, and the account's custom ones, whose keys are hashes. */
export async function readPipedriveFields(call: ProviderCall): Promise<ExternalField[]> {
  const page = z.object({
    data: z.array(z.object({ key: z.string(), field_type: z.string(), edit_flag: z.boolean().default(false) })),
    additional_data: z.object({ pagination: z.object({ next_start: z.number().optional() }).optional() }).nullish(),
  });
  const custom: ExternalField[] = [];
  let start: number | undefined = 0;
  for (let pages = 0; start !== undefined && pages < MAX_PAGES; pages += 1) {
    const { json } = await call.request({ method: 'GET', path: '/api/v1/personFields', query: { start, limit: PAGE } });
    const read = page.parse(json);
    for (const { key, field_type: type, edit_flag: isCustom } of read.data)
      if (isCustom) custom.push({ name: key, type, readOnly: false });
    start = read.additional_data?.pagination?.next_start;
  }
  return [...OWN_FIELDS, ...custom];
}

/** Returns a person; undefined if the person was deleted. */
async function readPerson(call: ProviderCall, id: string): Promise<z.output<typeof person>['data'] | undefined> {
  const { status, json } = await call.request({ method: 'GET', path: `${persons}/${id}`, expect: [404] });
  if (status === 404) return undefined;
  const { data } = person.parse(json);
  return data.is_deleted ? undefined : data;
}

function personBody(fields: Fields): Record<string, unknown> {
  const { name, first_name: first, last_name: last, phone, ...custom } = fields;
  const whole = name ?? nameOf(first, last);
  return {
    ...(whole === '' ? {} : { name: whole }),
    ...(phone === undefined ? {} : { phones: [{ value: phone, primary: true, label: 'work' }] }),
    ...(Object.keys(custom).length > 0 ? { custom_fields: custom } : {}),
  };
}
