import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { parseTemplate, renderTemplate, WorkBudget } from '../../mail/messages/template.ts';
import { message, type Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

/** Columns of a contact that automations can use. */
export type AutomationContact = Columns<
  'contacts',
  'id' | 'email' | 'first_name' | 'last_name' | 'company' | 'phone' | 'subscribed' | 'custom_fields'
>;

/** Data available to conditions and templates: the trigger's data and the current contact. */
type Values = Readonly<Record<string, unknown>>;

/** Returns the contacts with these ids, by id. `lock` prevents their deletion until the transaction ends. */
export async function findContacts(
  org: OrgScope,
  ids: readonly string[],
  { lock = false } = {},
): Promise<Map<string, AutomationContact>> {
  if (ids.length === 0) return new Map();
  const rows = await org.sql<AutomationContact>(
    `select id, email, first_name, last_name, company, phone, subscribed, custom_fields from contacts
     where organization_id = :org and id = any(cast(:ids as uuid[])) order by id${lock ? ' for key share' : ''}`,
    { ids: [...new Set(ids)] },
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Builds the values that conditions and templates of a run can name: the fields of its trigger, and `contact`. */
export function valuesOf(data: Readonly<Record<string, unknown>>, contact: AutomationContact | null): Values {
  return { ...data, contact };
}

/** Thrown when rendering texts exceeds the work limit of one action or of the whole run. */
export class TextTooLarge extends Error {
  readonly said: Message;

  constructor(said = message('crm.action_texts_too_long')) {
    super(render(said));
    this.said = said;
  }
}

/**
 * Renders the templates in a config, at any depth.
 * @throws TextTooLarge
 */
export function renderConfig<T>(config: T, values: Values, budget = new WorkBudget()): T {
  if (typeof config === 'string') {
    if (!config.includes('{{')) return config;
    const { text, exceeded } = renderTemplate(parseTemplate(config), values, { budget });
    if (exceeded) throw new TextTooLarge();
    return text as T;
  }
  if (Array.isArray(config)) return config.map((element: unknown) => renderConfig(element, values, budget)) as T;
  if (typeof config !== 'object' || config === null) return config;
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, renderConfig(value, values, budget)]),
  ) as T;
}
