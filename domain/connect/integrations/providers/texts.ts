import { z } from 'zod';
import { parseTemplate, renderTemplate, type WorkBudget } from '../../../mail/messages/template.ts';
import { message } from '../../../../messages/index.ts';
import { ruleMessage } from '../../../../lib/issue-message.ts';
import { Refused, type ActionInput } from './provider.ts';

/**
 * Schema of a text in an action's config, in the template language of campaigns (`{{.first_name}}`). The template is
 * checked when it is saved.
 */
export function templateText(maxLength: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => parseTemplate(text).errors.length === 0, ruleMessage('connect.no_template'));
}

/**
 * Renders a text of an action's config with the values of the contact and of the trigger. `escape` is applied to every
 * value, so that a stranger's text is never markup at the provider. The config's own text is not escaped.
 * @param options.budget shared by all texts of one action
 * @throws Refused for a text that exceeds the limit
 */
export function fillText(
  text: string,
  input: ActionInput,
  { escape = (value) => value, budget }: { escape?: (value: string) => string; budget?: WorkBudget } = {},
): string {
  const values = escapeValues(textValues(input), escape) as object;
  const rendered = renderTemplate(parseTemplate(text), values, budget ? { budget } : {});
  if (rendered.exceeded) throw new Refused(message('connect.text_too_long'));
  return rendered.text;
}

/** Input that supplies the values of an action's texts. */
type TextInput = Pick<ActionInput, 'data' | 'contact' | 'trigger' | 'deliveryId' | 'occurredAt'>;

/**
 * Builds the values that action templates can name: fields of the contact and data of the trigger. A field of the
 * contact takes precedence. The contact is also available as an object, as in other automation texts: `.first_name`
 * equals `.contact.first_name`.
 */
export function textValues({ data, contact, trigger, deliveryId, occurredAt }: TextInput): Record<string, unknown> {
  const ofContact = contact && {
    email: contact.email,
    first_name: contact.first_name,
    last_name: contact.last_name,
    company: contact.company,
    phone: contact.phone,
    custom_fields: contact.custom_fields,
  };
  return {
    ...data,
    ...ofContact,
    contact: ofContact,
    trigger: trigger ?? '',
    delivery_id: deliveryId,
    occurred_at: occurredAt.toISOString(),
  };
}

/** Shortens a text to a length in UTF-16 units, after a whole character, and marks the end. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const cut = text.slice(0, maxLength - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** Breaks up URLs in a value, so that a chat service shows no links. */
export function unlink(value: string): string {
  return value.replaceAll('://', ':\u200b//').replace(/\bwww\./gi, (start) => `${start.slice(0, -1)}\u200b.`);
}

function escapeValues(value: unknown, escape: (value: string) => string): unknown {
  if (typeof value === 'string') return escape(value);
  if (Array.isArray(value)) return value.map((one) => escapeValues(one, escape));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, escapeValues(one, escape)]));
}
