import { z } from 'zod';
import { DAY_MS, MINUTE_MS, utcDay } from '../../../../../lib/clock.ts';
import { message } from '../../../../../messages/index.ts';
import {
  RateLimited,
  Refused,
  type ExternalField,
  type ProviderAnswer,
  type ProviderCall,
  type ProviderRequest,
} from '../provider.ts';
import type { Crm, Fields } from '../crm.ts';

const API = '/services/data/v62.0';
/**
 * Wait (ms) after the request limit was reached. Salesforce counts the requests of the last 24 hours and does not
 * report when more are allowed.
 */
const OVER_LIMIT_WAIT_MS = 15 * MINUTE_MS;

/** CRM operations of Salesforce, with its contacts, completed tasks and opportunities. */
export const salesforceCrm: Crm = {
  name: 'Salesforce',
  // Does not use Salesforce's upsert by Email. It answers 300 if several contacts have the address, and 404 for some
  // endings of addresses.
  async createContact(call, email, fields) {
    // Salesforce requires a last name.
    return create(call, 'Contact', { ...fields, LastName: fields.LastName ?? email, Email: email });
  },
  async findContact(call, email) {
    const quoted = email.replaceAll(/[\\']/g, (mark) => `\\${mark}`);
    const { json } = await ask(call, {
      method: 'GET',
      path: `${API}/query`,
      query: { q: `SELECT Id FROM Contact WHERE Email = '${quoted}' ORDER BY CreatedDate ASC LIMIT 1` },
    });
    return z.object({ records: z.array(z.object({ Id: z.string() })) }).parse(json).records[0]?.Id;
  },
  async hasContact(call, id) {
    const { status } = await ask(call, {
      method: 'GET',
      path: `${API}/sobjects/Contact/${id}`,
      query: { fields: 'Id' },
      expect: [404],
    });
    return status !== 404;
  },
  async changeEmail(call, id, { to }) {
    const path = `${API}/sobjects/Contact/${id}`;
    const { status } = await ask(call, { method: 'PATCH', path, json: { Email: to }, expect: [404] });
    return status !== 404;
  },
  async updateContact(call, id, fields) {
    await ask(call, { method: 'PATCH', path: `${API}/sobjects/Contact/${id}`, json: fields });
  },
  async addNote(call, contactId, { text, at }) {
    await create(call, 'Task', {
      WhoId: contactId,
      Subject: text.split('\n')[0]!.slice(0, 255),
      Description: text,
      Status: 'Completed',
      ActivityDate: utcDay(at),
    });
  },
  async createDeal(call, contactId, { name, amount, at, config }) {
    const { stage, close_in_days: days } = config as { stage: string; close_in_days: number };
    const opportunity = await create(call, 'Opportunity', {
      Name: name.slice(0, 120),
      StageName: stage,
      CloseDate: utcDay(at.getTime() + days * DAY_MS),
      ...(amount === undefined ? {} : { Amount: Number(amount) }),
    });
    await create(call, 'OpportunityContactRole', { OpportunityId: opportunity, ContactId: contactId });
  },
};

/** Reads the fields of Salesforce's contacts. */
export async function readSalesforceFields(call: ProviderCall): Promise<ExternalField[]> {
  const { json } = await ask(call, { method: 'GET', path: `${API}/sobjects/Contact/describe` });
  const { fields } = z
    .object({
      fields: z.array(
        z.object({
          name: z.string(),
          type: z.string(),
          createable: z.boolean(),
          updateable: z.boolean(),
          restrictedPicklist: z.boolean().default(false),
          picklistValues: z.array(z.object({ value: z.string() })).default([]),
        }),
      ),
    })
    .parse(json);
  return fields.map(({ name, type, createable, updateable, restrictedPicklist, picklistValues }) => ({
    name,
    type,
    readOnly: !createable || !updateable,
    // Only restricted picklists have a closed list of values.
    ...(restrictedPicklist ? { options: picklistValues.map(({ value }) => value) } : {}),
  }));
}

async function create(call: ProviderCall, object: string, fields: Fields | object): Promise<string> {
  const { json } = await ask(call, { method: 'POST', path: `${API}/sobjects/${object}`, json: fields });
  return z.object({ id: z.string() }).parse(json).id;
}

/** Sends a request. Converts a 403 for an exhausted request limit to RateLimited. */
async function ask(call: ProviderCall, request: ProviderRequest): Promise<ProviderAnswer> {
  const answer = await call.request({ ...request, expect: [403, ...(request.expect ?? [])] });
  if (answer.status !== 403) return answer;
  const problems = z.array(z.object({ errorCode: z.string(), message: z.string() })).safeParse(answer.json);
  const [problem] = problems.success ? problems.data : [];
  if (problem?.errorCode === 'REQUEST_LIMIT_EXCEEDED') throw new RateLimited(OVER_LIMIT_WAIT_MS);
  const provider = 'Salesforce';
  throw new Refused(
    problem
      ? message('connect.provider_said', { provider, status: 403, words: problem.message })
      : message('connect.not_allowed_there', { provider }),
    403,
  );
}
