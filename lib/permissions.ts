/**
 * The permission catalogue. A bit is part of stored keys: never renumber, only append. No preset holds bits 23 to 30:
 * each of these permissions lets a program act without a person, so it is given by name.
 */
const CATALOGUE = [
  ['READ_EMAILS', 'read', 'See mailboxes, their settings and health'],
  ['READ_CAMPAIGNS', 'read', 'See campaigns, steps, senders, leads, activity and product events'],
  ['WRITE_EMAILS', 'write', 'Connect, change, test and remove mailboxes'],
  ['WARMUP_ROUTING', 'special', 'Steer warmup between mailbox pools'],
  ['WRITE_UNIBOX', 'write', 'Mark, file, label and snooze conversations'],
  ['USE_AI', 'special', 'Spend AI credits on writing and analysis'],
  ['WRITE_CAMPAIGNS', 'write', 'Create, change and delete campaigns'],
  ['SEND_CAMPAIGNS', 'special', 'Start, stop and test campaigns: real mail leaves'],
  ['READ_CONTACTS', 'read', 'See contacts, suppressions and the lead database'],
  ['WRITE_CONTACTS', 'write', 'Create, change and delete contacts and suppressions'],
  ['BULK_CONTACTS', 'bulk', 'Import contacts and change or delete many at once'],
  ['BULK_CRM', 'bulk', 'Change or delete many CRM tasks at once'],
  ['READ_TEMPLATES', 'read', 'See reply templates'],
  ['WRITE_TEMPLATES', 'write', 'Create, change and delete reply templates'],
  ['API_KEYS', 'special', 'Manage API keys and OAuth applications'],
  ['WEBHOOKS', 'special', 'Manage webhook endpoints and see deliveries'],
  ['INTEGRATIONS', 'special', 'Manage integrations, automations and app connections'],
  ['READ_ANALYTICS', 'read', 'See analytics, goals and acquisition reports'],
  ['READ_AUDIT_LOGS', 'special', 'See who did what in the workspace'],
  ['READ_UNIBOX', 'special', 'Read conversations in connected mailboxes'],
  ['REALTIME_SUBSCRIBE', 'special', 'Subscribe to the realtime event stream'],
  ['WRITE_CRM', 'write', 'Create, change and delete pipelines, deals and tasks'],
  ['READ_CRM', 'read', 'See pipelines, deals and tasks'],
  ['READ_RUNS', 'read', 'See agent runs and their events'],
  ['WRITE_RUNS', 'write', 'Create and cancel agent runs'],
  ['EXECUTE_RUNS', 'special', 'Create agent runs that launch'],
  ['SEND_DIRECT_EMAIL', 'special', 'Send single emails'],
  ['SEND_INBOX_REPLY', 'special', 'Reply in conversations'],
  ['WRITE_EVENTS', 'write', 'Publish product events'],
  ['MANAGE_MAILBOX_PROVISIONING', 'special', 'Quote, order and cancel managed mailboxes'],
  ['MANAGE_ACQUISITION', 'special', 'Change goals, identities, spend and attribution'],
] as const;

export type Permission = (typeof CATALOGUE)[number][0];
type PermissionCategory = 'read' | 'write' | 'bulk' | 'special';

export interface PermissionEntry {
  name: Permission;
  value: number;
  description: string;
  category: PermissionCategory;
}

/** Every permission with its bit value. */
export const PERMISSIONS: readonly PermissionEntry[] = CATALOGUE.map(([name, category, description], bit) => ({
  name,
  value: 2 ** bit,
  description,
  category,
}));

const BY_NAME = new Map(PERMISSIONS.map((entry) => [entry.name, entry.value]));

/** The mask with every defined bit. */
export const ALL_PERMISSIONS = 2 ** CATALOGUE.length - 1;

/** Preset masks, whose numbers are published: bits 0, 1, 8, 12, 17, 22, and bits 0 to 22. So full access is not every scope, and never grows. */
export const PRESETS = { read_only: 4_329_731, full_access: 8_388_607 } as const;

/** The mask that holds exactly the named permissions. */
export function maskOf(names: readonly Permission[]): number {
  return names.reduce((mask, name) => mask | (BY_NAME.get(name) ?? 0), 0);
}

/** Whether a mask contains every named permission. */
export function holds(mask: number, names: readonly Permission[]): boolean {
  const need = maskOf(names);
  return (mask & need) === need;
}

/** Whether a number is a mask of defined bits only. */
export function isDefinedMask(mask: number): boolean {
  return Number.isInteger(mask) && mask >= 0 && mask <= ALL_PERMISSIONS;
}

/** Names of the permissions in a mask. */
export function namesOf(mask: number): Permission[] {
  return PERMISSIONS.filter((entry) => (mask & entry.value) !== 0).map((entry) => entry.name);
}

/** What a member's role may allow. */
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

/** Roles every organization starts with. */
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
