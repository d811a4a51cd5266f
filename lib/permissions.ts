/**
 * All permissions. Stored keys contain the bit numbers, so never renumber, only append. No preset contains bits 23 to
 * 30, because each lets a program act without a person. These must be granted by name.
 */
const CATALOGUE = [
  ['READ_EMAILS', 'read'],
  ['READ_CAMPAIGNS', 'read'],
  ['WRITE_EMAILS', 'write'],
  ['WARMUP_ROUTING', 'special'],
  ['WRITE_UNIBOX', 'write'],
  ['USE_AI', 'special'],
  ['WRITE_CAMPAIGNS', 'write'],
  ['SEND_CAMPAIGNS', 'special'],
  ['READ_CONTACTS', 'read'],
  ['WRITE_CONTACTS', 'write'],
  ['BULK_CONTACTS', 'bulk'],
  ['BULK_CRM', 'bulk'],
  ['READ_TEMPLATES', 'read'],
  ['WRITE_TEMPLATES', 'write'],
  ['API_KEYS', 'special'],
  ['WEBHOOKS', 'special'],
  ['INTEGRATIONS', 'special'],
  ['READ_ANALYTICS', 'read'],
  ['READ_AUDIT_LOGS', 'special'],
  ['READ_UNIBOX', 'special'],
  ['REALTIME_SUBSCRIBE', 'special'],
  ['WRITE_CRM', 'write'],
  ['READ_CRM', 'read'],
  ['READ_RUNS', 'read'],
  ['WRITE_RUNS', 'write'],
  ['EXECUTE_RUNS', 'special'],
  ['SEND_DIRECT_EMAIL', 'special'],
  ['SEND_INBOX_REPLY', 'special'],
  ['WRITE_EVENTS', 'write'],
  ['MANAGE_MAILBOX_PROVISIONING', 'special'],
  ['MANAGE_ACQUISITION', 'special'],
] as const;

export type Permission = (typeof CATALOGUE)[number][0];
type PermissionCategory = 'read' | 'write' | 'bulk' | 'special';

export interface PermissionEntry {
  name: Permission;
  value: number;
  category: PermissionCategory;
}

/** Every permission with its bit value. Its description is the message `permission.<name>`. */
export const PERMISSIONS: readonly PermissionEntry[] = CATALOGUE.map(([name, category], bit) => ({
  name,
  value: 2 ** bit,
  category,
}));

const BY_NAME = new Map(PERMISSIONS.map((entry) => [entry.name, entry.value]));

/** Mask with every defined bit. */
export const ALL_PERMISSIONS = 2 ** CATALOGUE.length - 1;

/**
 * Preset masks: bits 0, 1, 8, 12, 17 and 22, and bits 0 to 22. Clients use these numbers, so they never change.
 * `full_access` therefore does not contain newer scopes.
 */
export const PRESETS = { read_only: 4_329_731, full_access: 8_388_607 } as const;

/** Returns the mask with exactly the named permissions. */
export function maskOf(names: readonly Permission[]): number {
  return names.reduce((mask, name) => mask | (BY_NAME.get(name) ?? 0), 0);
}

/** Returns true if a mask contains every named permission. */
export function holds(mask: number, names: readonly Permission[]): boolean {
  const need = maskOf(names);
  return (mask & need) === need;
}

/** Returns true if a number is a mask of defined bits only. */
export function isDefinedMask(mask: number): boolean {
  return Number.isInteger(mask) && mask >= 0 && mask <= ALL_PERMISSIONS;
}

/** Returns the names of the permissions in a mask. */
export function namesOf(mask: number): Permission[] {
  return PERMISSIONS.filter((entry) => (mask & entry.value) !== 0).map((entry) => entry.name);
}

/** Permissions that a member's role can contain. */
export const ORG_PERMISSIONS = [
  'manage_api_keys',
  'manage_settings',
  'use_integrations',
  'view_contacts',
  'manage_contacts',
  'view_campaigns',
  'manage_campaigns',
  'send_campaigns',
  'view_analytics',
  'manage_team',
] as const;
export type OrgPermission = (typeof ORG_PERMISSIONS)[number];

/** Roles that every organization starts with. */
export const SYSTEM_ROLES: readonly { name: string; permissions: readonly OrgPermission[]; isOwner: boolean }[] = [
  { name: 'Owner', permissions: ORG_PERMISSIONS, isOwner: true },
  { name: 'Admin', permissions: ORG_PERMISSIONS, isOwner: false },
  {
    name: 'Member',
    permissions: [
      'use_integrations',
      'view_contacts',
      'manage_contacts',
      'view_campaigns',
      'manage_campaigns',
      'send_campaigns',
      'view_analytics',
    ],
    isOwner: false,
  },
  { name: 'Viewer', permissions: ['view_contacts', 'view_campaigns', 'view_analytics'], isOwner: false },
];
