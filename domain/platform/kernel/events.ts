import type { OrgPermission, Permission } from '../../../lib/permissions.ts';

/** PostgreSQL channel that wakes the fan-out after a commit with events. */
export const EVENTS_CHANNEL = 'heron_events';

/** PostgreSQL channel that wakes realtime gateways after the fan-out has assigned stream positions. */
export const POSITIONS_CHANNEL = 'heron_positions';

/**
 * Parses a notification on {@link POSITIONS_CHANNEL}. Returns the organizations whose events have new positions. Null
 * (an empty notification) means any.
 */
export function namedOrganizations(notice: string): readonly string[] | null {
  return notice === '' ? null : notice.split(',');
}

interface EventFacts {
  category: string;
  /** True for high-volume events, which reach only subscribers that list them by name. */
  firehose: boolean;
}

/**
 * All domain events that clients can subscribe to, including some not emitted yet. High-volume events (`firehose`)
 * reach only subscribers that list them. Published names are never renamed; an incompatible payload gets a new name.
 */
export const EVENT_TYPES = {
  'campaign.created': { category: 'campaign', firehose: false },
  'campaign.updated': { category: 'campaign', firehose: false },
  'campaign.deleted': { category: 'campaign', firehose: false },
  'campaign.started': { category: 'campaign', firehose: false },
  'campaign.paused': { category: 'campaign', firehose: false },
  'campaign.completed': { category: 'campaign', firehose: false },
  'campaign.email_sent': { category: 'campaign', firehose: true },
  'campaign.email_delivered': { category: 'campaign', firehose: true },
  'campaign.email_opened': { category: 'campaign', firehose: true },
  'campaign.email_clicked': { category: 'campaign', firehose: true },
  'campaign.email_bounced': { category: 'campaign', firehose: false },
  'campaign.reply_received': { category: 'campaign', firehose: false },
  'campaign.unsubscribed': { category: 'campaign', firehose: false },
  'campaign.deliverability_warning': { category: 'campaign', firehose: false },
  'campaign.action': { category: 'campaign', firehose: false },
  'warmup.email_sent': { category: 'warmup', firehose: true },
  'warmup.health_changed': { category: 'warmup', firehose: false },
  'warmup.placement_in_spam': { category: 'warmup', firehose: false },
  'warmup.quarantined': { category: 'warmup', firehose: false },
  'warmup.blocked': { category: 'warmup', firehose: false },
  'deliverability.bounce': { category: 'deliverability', firehose: false },
  'deliverability.complaint': { category: 'deliverability', firehose: false },
  'inbox.email_received': { category: 'inbox', firehose: true },
  'inbox.email_sent': { category: 'inbox', firehose: false },
  'inbox.email_failed': { category: 'inbox', firehose: false },
  'inbox.email_updated': { category: 'inbox', firehose: true },
  'inbox.email_deleted': { category: 'inbox', firehose: true },
  'inbox.reply_received': { category: 'inbox', firehose: false },
  'inbox.reply_classified': { category: 'inbox', firehose: false },
  'email_account.connected': { category: 'mailbox', firehose: false },
  'email_account.disconnected': { category: 'mailbox', firehose: false },
  'email_account.removed': { category: 'mailbox', firehose: false },
  'email_account.error': { category: 'mailbox', firehose: false },
  'email_account.synced': { category: 'mailbox', firehose: true },
  'email_account.health_changed': { category: 'mailbox', firehose: false },
  'contact.created': { category: 'contact', firehose: false },
  'contact.updated': { category: 'contact', firehose: false },
  'contact.deleted': { category: 'contact', firehose: false },
  'form.submitted': { category: 'contact', firehose: false },
  'bulk_operation.completed': { category: 'bulk_operation', firehose: false },
  'crm.deal_created': { category: 'crm', firehose: false },
  'crm.deal_updated': { category: 'crm', firehose: false },
  'crm.deal_deleted': { category: 'crm', firehose: false },
  'crm.task_created': { category: 'crm', firehose: false },
  'crm.task_updated': { category: 'crm', firehose: false },
  'crm.note_created': { category: 'crm', firehose: false },
  'meeting.booked': { category: 'meeting', firehose: false },
  'meeting.rescheduled': { category: 'meeting', firehose: false },
  'meeting.canceled': { category: 'meeting', firehose: false },
  'custom.event': { category: 'custom', firehose: true },
  'mailbox_order.state_changed': { category: 'mailbox_order', firehose: false },
  'mailbox_order.needs_person': { category: 'mailbox_order', firehose: false },
  'run.state_changed': { category: 'run', firehose: false },
  'payment.state_changed': { category: 'payment', firehose: false },
  'domain_renewal.state_changed': { category: 'mailbox', firehose: false },
  'team.member_invited': { category: 'team', firehose: false },
  'team.invitation_cancelled': { category: 'team', firehose: false },
  'team.member_joined': { category: 'team', firehose: false },
  'team.member_role_changed': { category: 'team', firehose: false },
  'team.member_removed': { category: 'team', firehose: false },
  'role.created': { category: 'role', firehose: false },
  'role.updated': { category: 'role', firehose: false },
  'role.deleted': { category: 'role', firehose: false },
  'approval.requested': { category: 'approval', firehose: false },
  'approval.decided': { category: 'approval', firehose: false },
  'approval.expired': { category: 'approval', firehose: false },
  'approval.executed': { category: 'approval', firehose: false },
  'agent_policy.created': { category: 'agent_policy', firehose: false },
  'agent_policy.updated': { category: 'agent_policy', firehose: false },
  'agent_policy.deleted': { category: 'agent_policy', firehose: false },
  'automation.notified': { category: 'automation', firehose: false },
  'automation.run_failed': { category: 'automation', firehose: false },
  'settings.updated': { category: 'settings', firehose: false },
} as const satisfies Record<string, EventFacts>;

export type EventType = keyof typeof EVENT_TYPES;

/**
 * Events for Heron's own reactions only. Webhooks, applications and WebSocket clients never receive them. Their names
 * and payloads may change with a release.
 */
export const INTERNAL_EVENTS = [
  'automation.requested',
  'engagement.counted',
  'integration.action_settled',
  'person.changed',
  'step.crm_requested',
] as const;

/** All stored events, including internal ones. */
export type StoredEventType = EventType | (typeof INTERNAL_EVENTS)[number];

/**
 * Type of the event that is sent as an endpoint's verification challenge, and by later tests. It is documented with the
 * other events, but needs no subscription.
 */
export const TEST_EVENT = 'webhook.test';

/**
 * Scope that a key, token or application needs for the events of a family. The family is the part of an event name
 * before its dot.
 */
export const EVENT_SCOPES = {
  inbox: 'READ_UNIBOX',
  campaign: 'READ_CAMPAIGNS',
  deliverability: 'READ_CAMPAIGNS',
  meeting: 'READ_CAMPAIGNS',
  email_account: 'READ_EMAILS',
  warmup: 'READ_EMAILS',
  contact: 'READ_CONTACTS',
  form: 'READ_CONTACTS',
  bulk_operation: 'READ_CONTACTS',
  crm: 'READ_CRM',
  automation: 'INTEGRATIONS',
  team: 'READ_AUDIT_LOGS',
  role: 'READ_AUDIT_LOGS',
  approval: 'READ_RUNS',
  agent_policy: 'READ_AUDIT_LOGS',
  settings: 'READ_AUDIT_LOGS',
  subscription: 'READ_AUDIT_LOGS',
  run: 'READ_RUNS',
  mailbox_order: 'READ_EMAILS',
  payment: 'READ_EMAILS',
  domain_renewal: 'READ_EMAILS',
  custom: 'REALTIME_SUBSCRIBE',
} as const satisfies Record<string, Permission>;

type EventFamily = keyof typeof EVENT_SCOPES;

/**
 * Permissions that a signed-in person needs for the events of a family, at least one of them. The routes of the family
 * require the same.
 */
const EVENT_PERMISSIONS: Record<EventFamily, readonly OrgPermission[]> = {
  inbox: ['view_campaigns'],
  campaign: ['view_campaigns'],
  deliverability: ['view_campaigns'],
  meeting: ['view_campaigns'],
  email_account: ['view_campaigns'],
  warmup: ['view_campaigns'],
  contact: ['view_contacts'],
  form: ['view_contacts'],
  bulk_operation: ['view_contacts'],
  crm: ['view_contacts'],
  automation: ['manage_settings', 'use_integrations'],
  team: ['view_analytics'],
  role: ['view_analytics'],
  approval: ['view_campaigns'],
  agent_policy: ['view_analytics'],
  settings: ['view_analytics'],
  subscription: ['view_analytics'],
  run: ['view_campaigns'],
  mailbox_order: ['view_campaigns'],
  payment: ['view_campaigns'],
  domain_renewal: ['view_campaigns'],
  custom: ['view_campaigns'],
};

/** Returns true if a name is an event that clients can subscribe to. */
export function isEventType(name: string): name is EventType {
  return Object.hasOwn(EVENT_TYPES, name);
}

/** Returns the scope that a key, token or application needs for an event. */
export function scopeOf(type: EventType): Permission {
  return EVENT_SCOPES[familyOf(type)];
}

/** Returns the permissions for an event; a signed-in person needs one of them. */
export function permissionsOf(type: EventType): readonly OrgPermission[] {
  return EVENT_PERMISSIONS[familyOf(type)];
}

function familyOf(type: EventType): EventFamily {
  return type.slice(0, type.indexOf('.')) as EventFamily;
}
