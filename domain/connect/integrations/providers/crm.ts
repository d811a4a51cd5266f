import { z } from 'zod';
import { WorkBudget } from '../../../mail/messages/template.ts';
import { escapeHtml } from '../../../mail/messages/text.ts';
import { message } from '../../../../messages/index.ts';
import { says } from '../../../../lib/issue-message.ts';
import { Refused, type ActionInput, type ProviderAction, type ProviderCall } from './provider.ts';
import { fillText, templateText } from './texts.ts';

/** Operations of a CRM, from which the actions of every CRM are built. */
export interface Crm {
  /** Display name, for messages. */
  name: string;
  /**
   * Creates the record with this email, or updates the existing one. Empty fields leave the CRM's values unchanged.
   */
  upsertContact(call: ProviderCall, email: string, fields: Fields): Promise<{ externalId: string }>;
  /** Returns the id of the record with this email. */
  findContact(call: ProviderCall, email: string): Promise<string | undefined>;
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
    .refine((fields) => Object.keys(fields).length > 0, says('field.list_shorter', { min: 1 }))
    .refine((fields) => Object.keys(fields).length <= 50, says('field.list_longer', { max: 50 }))
    .describe("Values by the provider's names of fields; templates are allowed."),
});

const noteConfig = z.strictObject({
  text: templateText(10_000).default(NOTE).describe('The text of the note; templates are allowed.'),
});

const dealConfig = {
  name: templateText(200).default(DEAL_NAME).describe('The name of the deal; templates are allowed.'),
  amount: z
    .string()
    .regex(/^\d{1,12}(\.\d{1,2})?$/, says('connect.amount_form'))
    .optional(),
};

/**
 * Builds the actions of a CRM: `upsert_contact`, `update_contact`, `log_activity` and `create_deal`.
 * @param dealFields config fields of a deal in addition to its name and amount
 */
export function crmActions(crm: Crm, dealFields: z.core.$ZodLooseShape = {}): Record<string, ProviderAction> {
  const deal = z.strictObject({ ...dealConfig, ...dealFields });
  /** Actions about a contact find or create it, so that they need no earlier action. */
  const ensureContact = async (call: ProviderCall, input: ActionInput): Promise<string> => {
    const { email } = contactOf(input);
    const found = await crm.findContact(call, email);
    return found ?? (await crm.upsertContact(call, email, input.fields)).externalId;
  };
  return {
    upsert_contact: {
      summary: 'Make the contact, or bring its fields up to date',
      config: z.strictObject({}),
      contact: 'required',
      async perform(call, input) {
        await crm.upsertContact(call, contactOf(input).email, input.fields);
      },
    },
    update_contact: {
      summary: 'Set fields of a contact that is there already',
      config: updateConfig,
      contact: 'required',
      async perform(call, input) {
        const { fields } = updateConfig.parse(input.config);
        const id = await crm.findContact(call, contactOf(input).email);
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
        const name = fillText(config.name, input).trim() || contactOf(input).email;
        const contactId = await ensureContact(call, input);
        await crm.createDeal(call, contactId, { name, amount: config.amount, at: input.occurredAt, config });
      },
    },
  };
}

/**
 * Creates or updates a contact at a CRM that has no upsert of its own, by a look-up of the email.
 * @param changed fields to update on an existing contact; an empty object writes nothing
 * @param create creates the contact and returns its id
 */
export async function upsertByLookup(
  crm: Crm,
  call: ProviderCall,
  email: string,
  changed: Fields,
  create: () => Promise<string>,
): Promise<{ externalId: string }> {
  const id = await crm.findContact(call, email);
  if (id === undefined) return { externalId: await create() };
  if (Object.keys(changed).length > 0) await crm.updateContact(call, id, changed);
  return { externalId: id };
}

/** Removes empty fields, so that they do not empty the values that people keep in their CRM. */
export function filledFields(fields: Fields): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

/** Joins the known parts of a person's name. */
export function nameOf(first: string | undefined, last: string | undefined): string {
  return [first, last].filter(Boolean).join(' ');
}

/** Removes the name parts unless both are known: a single part must not replace the whole name at the CRM. */
export function wholeName(fields: Fields): Fields {
  const { first_name: first, last_name: last, ...rest } = fields;
  return first !== undefined && last !== undefined ? fields : rest;
}

/** Converts a text to HTML, for CRMs whose notes are HTML. */
export function asHtml(text: string): string {
  return escapeHtml(text).replaceAll('\n', '<br>');
}

function contactOf({ contact }: ActionInput): { email: string } {
  if (!contact) throw new Refused(message('connect.needs_contact'));
  return contact;
}
