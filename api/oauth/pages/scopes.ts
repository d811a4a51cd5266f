import { PERMISSIONS, type Permission, type PermissionEntry } from '../../../lib/permissions.ts';
import { html, type Html } from './html.ts';

/** A warning in two or three words for scopes that a person should notice before granting them. */
const MARKS: Partial<Record<Permission, string>> = {
  SEND_CAMPAIGNS: 'Sends email',
  SEND_DIRECT_EMAIL: 'Sends email',
  SEND_INBOX_REPLY: 'Sends email',
  EXECUTE_RUNS: 'Acts by itself',
  API_KEYS: 'Gives lasting access',
  WEBHOOKS: 'Sends data elsewhere',
  INTEGRATIONS: 'Reaches other services',
  MANAGE_MAILBOX_PROVISIONING: 'Spends money',
  USE_AI: 'Spends credits',
  READ_UNIBOX: 'Reads private mail',
  BULK_CONTACTS: 'Changes many at once',
  BULK_CRM: 'Changes many at once',
};

const GROUPS: readonly { title: string; categories: readonly PermissionEntry['category'][] }[] = [
  { title: 'See', categories: ['read'] },
  { title: 'Change', categories: ['write', 'bulk'] },
  { title: 'Special', categories: ['special'] },
];

/** The entries of some permissions, grouped by risk; empty groups are left out. */
export function groupedScopes(permissions: readonly Permission[]): { title: string; entries: PermissionEntry[] }[] {
  const wanted = new Set<Permission>(permissions);
  return GROUPS.map(({ title, categories }) => ({
    title,
    entries: PERMISSIONS.filter((entry) => wanted.has(entry.name) && categories.includes(entry.category)),
  })).filter(({ entries }) => entries.length > 0);
}

/** A scope in words, with its mark. */
export function scopeWords(entry: PermissionEntry): Html {
  const mark = MARKS[entry.name];
  return html`${entry.description}${mark ? html` <span class="mark">${mark}</span>` : null}`;
}
