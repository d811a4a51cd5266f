import {
  ALL_PERMISSIONS,
  maskOf,
  namesOf,
  PERMISSIONS,
  type OrgPermission,
  type Permission,
} from '../../lib/permissions.ts';

/** Scopes that a client that registered itself can never get. */
const NEVER_SELF_REGISTERED: readonly Permission[] = ['SEND_CAMPAIGNS', 'API_KEYS'];

/** All other scopes: the most that such a client can get, as a mask. */
export const SELF_REGISTERED_MAX = ALL_PERMISSIONS & ~maskOf(NEVER_SELF_REGISTERED);

const BY_SCOPE = new Map(PERMISSIONS.map((entry) => [entry.name.toLowerCase(), entry.name]));

/**
 * The role permissions a person needs to grant a scope: everything a session needs for the routes the scope
 * opens. Otherwise a person could do through an application what their role forbids.
 */
const NEEDED: Record<Permission, readonly OrgPermission[]> = {
  READ_EMAILS: ['view_campaigns'],
  READ_CAMPAIGNS: ['view_campaigns'],
  WRITE_EMAILS: ['manage_settings', 'manage_campaigns'],
  WARMUP_ROUTING: ['manage_settings'],
  WRITE_UNIBOX: ['manage_campaigns'],
  USE_AI: ['manage_campaigns'],
  WRITE_CAMPAIGNS: ['manage_campaigns', 'manage_settings', 'send_campaigns'],
  SEND_CAMPAIGNS: ['send_campaigns'],
  READ_CONTACTS: ['view_contacts'],
  WRITE_CONTACTS: ['manage_contacts'],
  BULK_CONTACTS: ['manage_contacts'],
  BULK_CRM: ['manage_contacts'],
  READ_TEMPLATES: ['view_campaigns'],
  WRITE_TEMPLATES: ['manage_campaigns'],
  API_KEYS: ['manage_api_keys'],
  WEBHOOKS: ['manage_settings'],
  INTEGRATIONS: ['manage_settings', 'use_integrations'],
  READ_ANALYTICS: ['view_analytics'],
  READ_AUDIT_LOGS: ['view_analytics'],
  READ_UNIBOX: ['view_campaigns'],
  REALTIME_SUBSCRIBE: ['view_campaigns'],
  WRITE_CRM: ['manage_contacts'],
  READ_CRM: ['view_contacts'],
  READ_RUNS: ['view_campaigns'],
  WRITE_RUNS: ['send_campaigns'],
  EXECUTE_RUNS: ['send_campaigns'],
  SEND_DIRECT_EMAIL: ['send_campaigns'],
  SEND_INBOX_REPLY: ['send_campaigns'],
  WRITE_EVENTS: ['send_campaigns'],
  MANAGE_MAILBOX_PROVISIONING: ['manage_settings'],
  MANAGE_ACQUISITION: ['manage_settings'],
};

/** A permission as an OAuth scope: its name in lower case. */
export function scopeName(permission: Permission): string {
  return permission.toLowerCase();
}

/** The scopes of a mask, in the catalogue's order. */
export function scopesOf(mask: number): string[] {
  return namesOf(mask).map(scopeName);
}

/** The scopes of a mask as OAuth writes them: separated by spaces. */
export function scopeText(mask: number): string {
  return scopesOf(mask).join(' ');
}

/** Reads scope names; unknown ones are in `unknown`. Names are case-sensitive (RFC 6749, section 3.3). */
export function readScopes(names: readonly string[]): { mask: number; unknown: string[] } {
  const known = names.flatMap((name) => BY_SCOPE.get(name) ?? []);
  return { mask: maskOf(known), unknown: [...new Set(names.filter((name) => !BY_SCOPE.has(name)))] };
}

/** Reads a `scope` parameter: names separated by spaces. */
export function readScopeText(text: string): { mask: number; unknown: string[] } {
  return readScopes(text.split(' ').filter(Boolean));
}

/** The mask of scopes that a person whose role has these permissions may grant to an application. */
export function grantableWith(permissions: Iterable<string>): number {
  const held = new Set<string>(permissions);
  return maskOf(
    PERMISSIONS.map((entry) => entry.name).filter((name) => NEEDED[name].every((permission) => held.has(permission))),
  );
}
