import type { OrgPermission, Permission } from '../../../lib/permissions.ts';

/** Channel on which the fan-out is woken after a commit that left events. */
export const EVENTS_CHANNEL = 'heron_events';

/** Channel on which realtime gateways are woken once the fan-out has given events their positions. */
export const POSITIONS_CHANNEL = 'heron_positions';

/**
 * The organizations in a notification on {@link POSITIONS_CHANNEL} whose events have new positions; null (an empty notification)
 * means any.
 */
export function namedOrganizations(notice: string): readonly string[] | null {
  return notice === '' ? null : notice.split(',');
}

interface EventFacts {
  category: string;
  /** High volume: reaches a subscriber only when it lists the event by name. */
  firehose: boolean;
  description: string;
}

/**
 * Every domain event that can be subscribed to, some that nothing emits yet included. Firehose events
 * reach a subscriber only when it lists them. Published names are never renamed: an incompatible payload gets a new name.
 */
export const EVENT_TYPES = {
  'campaign.created': { category: 'campaign', firehose: false, description: 'A campaign was created.' },
  'campaign.updated': {
    category: 'campaign',
    firehose: false,
    description: 'Settings, steps or senders of a campaign changed.',
  },
  'campaign.deleted': { category: 'campaign', firehose: false, description: 'A campaign was deleted.' },
  'campaign.started': { category: 'campaign', firehose: false, description: 'A campaign became active.' },
  'campaign.paused': {
    category: 'campaign',
    firehose: false,
    description: 'A campaign stopped sending; `status` says which pause.',
  },
  'campaign.completed': {
    category: 'campaign',
    firehose: false,
    description: 'Every lead of a campaign has finished.',
  },
  'campaign.email_sent': {
    category: 'campaign',
    firehose: true,
    description: 'A campaign email was accepted by the mailbox server.',
  },
  'campaign.email_delivered': {
    category: 'campaign',
    firehose: true,
    description: 'The receiving server confirmed delivery of a campaign email.',
  },
  'campaign.email_opened': {
    category: 'campaign',
    firehose: true,
    description: 'A person opened a campaign email; automated opens do not fire it.',
  },
  'campaign.email_clicked': {
    category: 'campaign',
    firehose: true,
    description: 'A person clicked a tracked link; automated clicks do not fire it.',
  },
  'campaign.email_bounced': { category: 'campaign', firehose: false, description: 'A campaign email bounced.' },
  'campaign.reply_received': {
    category: 'campaign',
    firehose: false,
    description: 'A person replied on a campaign thread.',
  },
  'campaign.unsubscribed': {
    category: 'campaign',
    firehose: false,
    description: 'A recipient opted out; `source` says how.',
  },
  'campaign.deliverability_warning': {
    category: 'campaign',
    firehose: false,
    description: 'The rolling bounce or complaint rate entered the early-warning band.',
  },
  'campaign.action': { category: 'campaign', firehose: false, description: 'A notify action of a campaign step ran.' },
  'warmup.email_sent': { category: 'warmup', firehose: true, description: 'A warmup email left.' },
  'warmup.health_changed': {
    category: 'warmup',
    firehose: false,
    description: 'The warmup health of a mailbox changed.',
  },
  'warmup.placement_in_spam': { category: 'warmup', firehose: false, description: 'A warmup email landed in spam.' },
  'warmup.quarantined': {
    category: 'warmup',
    firehose: false,
    description: 'A mailbox was quarantined from the warmup pool.',
  },
  'warmup.blocked': { category: 'warmup', firehose: false, description: 'A mailbox was blocked from the warmup pool.' },
  'deliverability.bounce': {
    category: 'deliverability',
    firehose: false,
    description: 'A bounce was recorded for a recipient.',
  },
  'deliverability.complaint': {
    category: 'deliverability',
    firehose: false,
    description: 'A recipient reported an email as spam.',
  },
  'inbox.email_received': { category: 'inbox', firehose: true, description: 'A connected mailbox received an email.' },
  'inbox.email_sent': {
    category: 'inbox',
    firehose: false,
    description: 'An email that a person or an agent wrote was accepted by the mailbox server.',
  },
  'inbox.email_failed': {
    category: 'inbox',
    firehose: false,
    description:
      'An email that a person or an agent wrote did not leave, came back, or may not have left; `state` says which.',
  },
  'inbox.email_updated': {
    category: 'inbox',
    firehose: true,
    description: 'An email of a conversation was marked, filed or labelled.',
  },
  'inbox.email_deleted': {
    category: 'inbox',
    firehose: true,
    description: 'An email of a conversation was deleted. Nothing emits it yet: no operation deletes an email.',
  },
  'inbox.reply_received': {
    category: 'inbox',
    firehose: false,
    description: 'A connected mailbox received a reply in a known conversation.',
  },
  'email_account.connected': { category: 'mailbox', firehose: false, description: 'A mailbox was connected.' },
  'email_account.disconnected': { category: 'mailbox', firehose: false, description: 'A mailbox was switched off.' },
  'email_account.removed': { category: 'mailbox', firehose: false, description: 'A mailbox was removed.' },
  'email_account.error': {
    category: 'mailbox',
    firehose: false,
    description: 'A mailbox ran into a problem, such as a refused sign-in.',
  },
  'email_account.synced': { category: 'mailbox', firehose: true, description: 'New mail of a mailbox was read.' },
  'email_account.health_changed': {
    category: 'mailbox',
    firehose: false,
    description:
      'The health of a mailbox changed: `healthy`, `warning` (it tries again by itself) or `error` (a person has to act).',
  },
  'contact.created': {
    category: 'contact',
    firehose: false,
    description: 'A contact was added one by one; bulk arrivals do not fire it.',
  },
  'contact.updated': {
    category: 'contact',
    firehose: false,
    description: 'A contact changed; a bulk edit fires once, with `metadata.bulk` and `metadata.count`.',
  },
  'contact.deleted': {
    category: 'contact',
    firehose: false,
    description: 'A contact was deleted; a bulk deletion fires once, with `metadata.bulk` and `metadata.count`.',
  },
  'form.submitted': {
    category: 'contact',
    firehose: false,
    description: 'Somebody sent a form in. Nothing emits it yet: there are no forms.',
  },
  'bulk_operation.completed': {
    category: 'bulk_operation',
    firehose: false,
    description: 'A contact import ended; `status` says how.',
  },
  'crm.deal_created': { category: 'crm', firehose: false, description: 'A deal was created.' },
  'crm.deal_updated': { category: 'crm', firehose: false, description: 'A deal changed.' },
  'crm.deal_deleted': { category: 'crm', firehose: false, description: 'A deal was deleted.' },
  'crm.task_created': { category: 'crm', firehose: false, description: 'A CRM task was created.' },
  'crm.task_updated': {
    category: 'crm',
    firehose: false,
    description: 'A CRM task changed; a bulk write fires once, with `metadata.bulk` and `metadata.count`.',
  },
  'crm.note_created': {
    category: 'crm',
    firehose: false,
    description: 'A note was written about a contact. Nothing emits it yet: no operation writes a note.',
  },
  'meeting.booked': { category: 'meeting', firehose: false, description: 'Somebody booked a meeting.' },
  'meeting.rescheduled': { category: 'meeting', firehose: false, description: 'A meeting was moved to another time.' },
  'meeting.canceled': { category: 'meeting', firehose: false, description: 'A meeting was called off.' },
  'custom.event': {
    category: 'custom',
    firehose: true,
    description: 'A product event was published with POST /v1/events.',
  },
  'mailbox_order.state_changed': {
    category: 'mailbox_order',
    firehose: false,
    description: 'An order of managed mailboxes was made, or came to another state.',
  },
  'mailbox_order.needs_person': {
    category: 'mailbox_order',
    firehose: false,
    description: 'Something that an order made at the provider could not be undone: a person has to look at it there.',
  },
  'run.state_changed': {
    category: 'run',
    firehose: false,
    description: 'An agent run was created, or moved to another state; `reason` says why.',
  },
  'payment.state_changed': {
    category: 'payment',
    firehose: false,
    description:
      'A payment for managed mailboxes was made, failed, is given back, or needs a person; `reason` says why.',
  },
  'domain_renewal.state_changed': {
    category: 'mailbox',
    firehose: false,
    description:
      'The renewal of a managed domain moved on; with `requires_action` a person is needed, and `code` says for what.',
  },
  'team.member_invited': { category: 'team', firehose: false, description: 'An address was invited to the workspace.' },
  'team.invitation_cancelled': { category: 'team', firehose: false, description: 'An open invitation was cancelled.' },
  'team.member_joined': { category: 'team', firehose: false, description: 'A person accepted an invitation.' },
  'team.member_role_changed': { category: 'team', firehose: false, description: 'A member was given another role.' },
  'team.member_removed': { category: 'team', firehose: false, description: 'A member was removed from the workspace.' },
  'role.created': { category: 'role', firehose: false, description: 'A role was created.' },
  'role.updated': { category: 'role', firehose: false, description: 'The name or permissions of a role changed.' },
  'role.deleted': { category: 'role', firehose: false, description: 'A role was deleted.' },
  'approval.requested': {
    category: 'approval',
    firehose: false,
    description: 'An action of an API key or application waits for a person; `approval_url` is where to decide.',
  },
  'approval.decided': {
    category: 'approval',
    firehose: false,
    description: 'A person approved or denied an action; `status` says which.',
  },
  'approval.expired': {
    category: 'approval',
    firehose: false,
    description: 'An approval ended without a decision, or what it was about changed; `reason` says which.',
  },
  'approval.executed': { category: 'approval', firehose: false, description: 'An approved action was carried out.' },
  'agent_policy.created': {
    category: 'agent_policy',
    firehose: false,
    description: 'An API key or application was given a policy.',
  },
  'agent_policy.updated': {
    category: 'agent_policy',
    firehose: false,
    description: 'A policy was replaced; `fields` says what changed.',
  },
  'agent_policy.deleted': {
    category: 'agent_policy',
    firehose: false,
    description: 'A policy was deleted: every action of its credential waits for a person.',
  },
  'automation.notified': {
    category: 'automation',
    firehose: false,
    description: 'A notify action of an automation ran.',
  },
  'automation.run_failed': {
    category: 'automation',
    firehose: false,
    description:
      'A run of an automation ended with an error; `loop` says that automations started each other too often.',
  },
  'settings.updated': {
    category: 'settings',
    firehose: false,
    description: 'Settings of the workspace changed; `section` says which.',
  },
} as const satisfies Record<string, EventFacts>;

export type EventType = keyof typeof EVENT_TYPES;

/**
 * Events for Heron's own reactions alone: no webhook, application or WebSocket gets them, and their names and payloads may
 * change with a release.
 */
export const INTERNAL_EVENTS = [
  'automation.requested',
  'engagement.automated',
  'integration.action_settled',
  'person.changed',
  'step.crm_requested',
] as const;

/** Every event that is stored, internal ones included. */
export type StoredEventType = EventType | (typeof INTERNAL_EVENTS)[number];

/** The verification challenge of an endpoint and its later test. It is documented like an event but needs no subscription. */
export const TEST_EVENT = 'webhook.test';

/** The scope that a key, token or application needs for the events of a family, the part of a name before its dot. */
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

/** What a signed-in person needs for the same: any one of the permissions of the family's routes. */
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

/** Whether a name is an event that can be subscribed to. */
export function isEventType(name: string): name is EventType {
  return Object.hasOwn(EVENT_TYPES, name);
}

/** The scope a key, token or application needs for an event. */
export function scopeOf(type: EventType): Permission {
  return EVENT_SCOPES[familyOf(type)];
}

/** The permissions of which a signed-in person needs one for an event. */
export function permissionsOf(type: EventType): readonly OrgPermission[] {
  return EVENT_PERMISSIONS[familyOf(type)];
}

function familyOf(type: EventType): EventFamily {
  return type.slice(0, type.indexOf('.')) as EventFamily;
}
