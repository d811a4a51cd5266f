import { z } from 'zod';
import { parseTemplate, renderTemplate, type WorkBudget } from '../../../mail/messages/template.ts';
import { message } from '../../../../messages/index.ts';
import { says } from '../../../../lib/issue-message.ts';
import { Refused, type ActionInput } from './provider.ts';

/** A text of an action's config, in the template language of campaigns (`{{.first_name}}`), checked when it is saved. */
export function templateText(maxLength: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => parseTemplate(text).errors.length === 0, says('connect.no_template'));
}

/**
 * Renders a text of an action's config with the values of the contact and of the trigger. Every value goes through `escape` before it is put in, so
 * that what a stranger has written stays text at the provider; what the config itself says is left as it is.
 * @param options.budget shared by all texts of one action
 * @throws Refused for a text that grows too long
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

/** What the texts of an action are filled in with. */
type TextInput = Pick<ActionInput, 'data' | 'contact' | 'trigger' | 'deliveryId' | 'occurredAt'>;

/**
 * What templates of actions can name: data of the trigger, and fields of the contact, which come first. The contact is there by itself too, as in the other texts of
 * automations: `.first_name` and `.contact.first_name` are the same.
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

/** Cuts a text to a length in UTF-16 units, at a whole character, and shows that it did. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const cut = text.slice(0, maxLength - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** An address in a value stays text and does not become a link: chats make links of what looks like one. */
export function unlink(value: string): string {
  return value.replaceAll('://', ':\u200b//').replace(/\bwww\./gi, (start) => `${start.slice(0, -1)}\u200b.`);
}

function escapeValues(value: unknown, escape: (value: string) => string): unknown {
  if (typeof value === 'string') return escape(value);
  if (Array.isArray(value)) return value.map((one) => escapeValues(one, escape));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, escapeValues(one, escape)]));
}
