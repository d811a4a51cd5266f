/** Contact fields that messages may use. */
export interface MessageContact {
  readonly email: string;
  readonly first_name?: string | null;
  readonly last_name?: string | null;
  readonly company?: string | null;
  readonly phone?: string | null;
  readonly custom_fields?: Readonly<Record<string, unknown>> | null;
}

/** Recipient of a preview without a contact (TemplatePreviewRequest). */
export const SAMPLE_CONTACT: MessageContact = {
  email: 'alex.rivera@example.com',
  first_name: 'Alex',
  last_name: 'Rivera',
  company: 'Example Inc',
  phone: '+1 555 0100',
  custom_fields: {},
};

/**
 * Returns the values for a template: built-in fields, custom fields under their own keys, and results of earlier
 * app_action and wait_for_event steps as `.App.<output_key>`.
 */
export function mergeValues(contact: MessageContact, app: Readonly<Record<string, unknown>>): object {
  return {
    ...contact.custom_fields,
    FirstName: contact.first_name,
    LastName: contact.last_name,
    Email: contact.email,
    Company: contact.company,
    Phone: contact.phone,
    App: app,
  };
}
