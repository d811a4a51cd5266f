import { PERMISSIONS, type Permission, type PermissionEntry } from '../../../../lib/permissions.ts';
import type { PageTexts } from '../../../pages/texts.ts';
import { html, type Html } from '../../../http/html.ts';

/** Warnings of two or three words for scopes that a person should notice before granting them. */
const MARKS: Partial<Record<Permission, keyof PageTexts['scopes']>> = {
  SEND_CAMPAIGNS: 'sends',
  SEND_DIRECT_EMAIL: 'sends',
  SEND_INBOX_REPLY: 'sends',
  EXECUTE_RUNS: 'actsAlone',
  API_KEYS: 'lastingAccess',
  WEBHOOKS: 'dataElsewhere',
  INTEGRATIONS: 'reachesOthers',
  MANAGE_MAILBOX_PROVISIONING: 'spendsMoney',
  USE_AI: 'spendsCredits',
  READ_UNIBOX: 'privateMail',
  BULK_CONTACTS: 'manyAtOnce',
  BULK_CRM: 'manyAtOnce',
};

const GROUPS: readonly { title: 'see' | 'change' | 'special'; categories: readonly PermissionEntry['category'][] }[] = [
  { title: 'see', categories: ['read'] },
  { title: 'change', categories: ['write', 'bulk'] },
  { title: 'special', categories: ['special'] },
];

/** Returns permission entries grouped by risk, without empty groups. */
export function groupedScopes(
  { scopes }: PageTexts,
  permissions: readonly Permission[],
): { title: string; entries: PermissionEntry[] }[] {
  const wanted = new Set<Permission>(permissions);
  return GROUPS.map(({ title, categories }) => ({
    title: scopes[title],
    entries: PERMISSIONS.filter((entry) => wanted.has(entry.name) && categories.includes(entry.category)),
  })).filter(({ entries }) => entries.length > 0);
}

/** Renders a scope's description with its warning. */
export function scopeDescription({ permission, scopes }: PageTexts, { name }: PermissionEntry): Html {
  const mark = MARKS[name];
  return html`${permission(name)}${mark ? html` <span class="mark">${scopes[mark]}</span>` : null}`;
}
