import { z } from 'zod';
import { WorkBudget } from '../../../mail/messages/template.ts';
import { escapeHtml } from '../../../mail/messages/text.ts';
import { message } from '../../../../messages/index.ts';
import { ruleMessage } from '../../../../lib/issue-message.ts';
import { Refused, type ActionInput, type ContactRecord, type ProviderAction, type ProviderCall } from './provider.ts';
import { fillText, templateText } from './texts.ts';

/** Operations of a CRM, from which the actions of every CRM are built. */
export interface Crm {
  /** Display name, for messages. */
  name: string;
  /** Creates a record with this email if there is none. @returns its id */
  createContact(call: ProviderCall, email: string, fields: Fields): Promise<string>;
  /** True if {@link Crm.createContact} updates a record that already has the email, in the same request. */
  upserts?: true;
  /** Returns the id of the record with this email, if there is one. */
  findContact(call: ProviderCall, email: string): Promise<string | undefined>;
  /** Returns false if the record was deleted. */
  hasContact(call: ProviderCall, id: string): Promise<boolean>;
  /** Replaces one address of a record; its other addresses stay. @returns false if the record was deleted */
  changeEmail(call: ProviderCall, id: string, emails: { from: string; to: string }): Promise<boolean>;
  /** Returns those of the given fields that may be written to an existing record. If absent, all are written. */
  changeable?(fields: Fields): Fields;
  updateContact(call: ProviderCall, id: string, fields: Fields): Promise<void>;
  addNote(call: ProviderCall, contactId: string, note: { text: string; at: Date }): Promise<void>;
  createDeal(call: ProviderCall, contactId: string, deal: Deal): Promise<void>;
}

export type Fields = Readonly<Record<string, string>>;

/** A deal to be created. `config` is the whole config of the action, including the CRM's own settings. */
interface Deal {
  name: string;
  /** Decimal number, such as 1200.50. */
  amount: string | undefined;
  at: Date;
  config: Readonly<Record<string, unknown>>;
}

const NOTE = '{{.trigger}}{{if .campaign_name}} in {{.campaign_name}}{{end}}{{if .subject}}: {{.subject}}{{end}}';
const DEAL_NAME = '{{.company | default .email}}';

const updateConfig = z.strictObject({
  fields: z
    .record(z.string().min(1).max(255), templateText(2_000))
    .refine((fields) => Object.keys(fields).length > 0, ruleMessage('field.list_shorter', { min: 1 }))
    .refine((fields) => Object.keys(fields).length <= 50, ruleMessage('field.list_longer', { max: 50 }))
    .describe("Values by the provider's names of fields; templates are allowed."),
});

const noteConfig = z.strictObject({
  text: templateText(10_000).default(NOTE).describe('The text of the note; templates are allowed.'),
});

const dealConfig = {
  name: templateText(200).default(DEAL_NAME).describe('The name of the deal; templates are allowed.'),
  amount: z
    .string()
    .regex(/^\d{1,12}(\.\d{1,2})?$/, ruleMessage('connect.amount_form'))
    .optional(),
};

/**
 * Builds the actions of a CRM: `upsert_contact`, `update_contact`, `log_activity` and `create_deal`.
 * @param dealFields config fields of a deal in addition to its name and amount
 */
export function crmActions(crm: Crm, dealFields: z.core.$ZodLooseShape = {}): Record<string, ProviderAction> {
  const deal = z.strictObject({ ...dealConfig, ...dealFields });
  /** Actions about a contact find or create its record, so that they need no earlier action. */
  const ensureContact = async (call: ProviderCall, input: ActionInput): Promise<string> => {
    const person = personOf(input);
    return (
      (await openRecord(crm, call, person)) ??
      keep(person, await crm.createContact(call, person.email, filledFields(input.fields)))
    );
  };
  return {
    upsert_contact: {
      summary: 'Make the contact, or bring its fields up to date',
      config: z.strictObject({}),
      contact: 'required',
      async perform(call, input) {
        await writeContact(crm, call, personOf(input), input.fields);
      },
    },
    update_contact: {
      summary: 'Set fields of a contact that is there already',
      config: updateConfig,
      contact: 'required',
      async perform(call, input) {
        const { fields } = updateConfig.parse(input.config);
        const id = await openRecord(crm, call, personOf(input));
        if (id === undefined) throw new Refused(message('connect.no_contact_there', { provider: crm.name }));
        const budget = new WorkBudget();
        const filled = Object.entries(fields).map(([name, text]) => [name, fillText(text, input, { budget })]);
        await crm.updateContact(call, id, Object.fromEntries(filled) as Fields);
      },
    },
    log_activity: {
      summary: 'Add a note to the contact',
      config: noteConfig,
      contact: 'required',
      async perform(call, input) {
        const text = fillText(noteConfig.parse(input.config).text, input);
        await crm.addNote(call, await ensureContact(call, input), { text, at: input.occurredAt });
      },
    },
    create_deal: {
      summary: 'Make a deal with the contact',
      config: deal,
      contact: 'required',
      async perform(call, input) {
        const config = deal.parse(input.config) as Record<string, unknown> & { name: string; amount?: string };
        const name = fillText(config.name, input).trim() || personOf(input).email;
        const contactId = await ensureContact(call, input);
        await crm.createDeal(call, contactId, { name, amount: config.amount, at: input.occurredAt, config });
      },
    },
  };
}

/** A person and the person's record at the CRM. */
interface RecordedPerson {
  email: string;
  record: ContactRecord;
}

/**
 * Writes a contact to its known CRM record. Without one, writes to the record with the contact's address, or creates a
 * record. Empty fields do not change the record.
 */
export async function writeContact(
  crm: Crm,
  call: ProviderCall,
  person: RecordedPerson,
  fields: Fields,
): Promise<void> {
  const known = filledFields(fields);
  const id = crm.upserts && person.record.externalId === undefined ? undefined : await openRecord(crm, call, person);
  if (id === undefined) {
    keep(person, await crm.createContact(call, person.email, known));
    return;
  }
  const changed = crm.changeable ? crm.changeable(known) : known;
  if (Object.keys(changed).length > 0) await crm.updateContact(call, id, changed);
}

/**
 * Returns the CRM record of a person, if there is one. If the known record has an earlier address, its address is
 * changed to the current one. If another record already has the current address, that record is returned.
 */
async function openRecord(crm: Crm, call: ProviderCall, person: RecordedPerson): Promise<string | undefined> {
  const { email, record } = person;
  const { externalId: id, email: before } = record;
  if (id !== undefined && before === email && (await crm.hasContact(call, id))) return id;
  const found = await crm.findContact(call, email);
  if (found !== undefined) return keep(person, found);
  if (id === undefined || before === undefined || before === email) return undefined;
  return (await crm.changeEmail(call, id, { from: before, to: email })) ? keep(person, id) : undefined;
}

function keep({ email, record }: RecordedPerson, externalId: string): string {
  Object.assign(record, { externalId, email });
  return externalId;
}

/** Returns the fields with a value. An empty field in Heron must not clear the field in the CRM. */
function filledFields(fields: Fields): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

/**
 * Returns the addresses of a record with one address replaced. The new address keeps the position and marks of the old
 * one; further addresses stay.
 * @param name name of the field that has the address
 * @param marks marks of a new address if the old one is no longer in the record
 */
export function withEmail<T extends Record<N, string>, N extends string>(
  emails: readonly T[],
  name: N,
  { from, to }: { from: string; to: string },
  marks: Readonly<Record<string, unknown>>,
): object[] {
  const isFormer = (one: T) => one[name].toLowerCase() === from.toLowerCase();
  if (!emails.some(isFormer)) return [{ ...marks, [name]: to }, ...emails];
  return emails.map((one) => (isFormer(one) ? { ...one, [name]: to } : one));
}

/** Joins the known parts of a person's name. */
export function nameOf(first: string | undefined, last: string | undefined): string {
  return [first, last].filter(Boolean).join(' ');
}

/** Removes first and last name unless both are known, because one part must not replace the whole name at the CRM. */
export function wholeName(fields: Fields): Fields {
  const { first_name: first, last_name: last, ...rest } = fields;
  return first !== undefined && last !== undefined ? fields : rest;
}

/** Converts a text to HTML, for CRMs whose notes are HTML. */
export function asHtml(text: string): string {
  return escapeHtml(text).replaceAll('\n', '<br>');
}

function personOf({ contact, record }: ActionInput): RecordedPerson {
  if (!contact) throw new Refused(message('connect.needs_contact'));
  return { email: contact.email, record };
}
