import { maskOf, PERMISSIONS, type OrgPermission, type Permission } from './permissions.ts';

/**
 * Role permissions that a person needs to grant each scope: all permissions for the scope's routes. Otherwise the
 * person could use an application for actions that the dashboard refuses them.
 */
const NEEDED: Record<Permission, readonly OrgPermission[]> = {
  READ_EMAILS: ['view_campaigns'],
  READ_CAMPAIGNS: ['view_campaigns'],
  WRITE_EMAILS: ['manage_settings', 'manage_campaigns'],
  WARMUP_ROUTING: ['manage_settings'],
  WRITE_UNIBOX: ['manage_campaigns', 'send_campaigns'],
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
  WRITE_CRM: ['manage_contacts', 'manage_team'],
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

/** Returns the mask of scopes that a person with these role permissions may grant to an application. */
export function grantableWith(permissions: Iterable<string>): number {
  const held = new Set<string>(permissions);
  return maskOf(
    PERMISSIONS.map((entry) => entry.name).filter((name) => NEEDED[name].every((permission) => held.has(permission))),
  );
}
