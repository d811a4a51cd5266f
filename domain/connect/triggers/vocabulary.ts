import { EVENT_PAYLOADS, type EventData } from '../../platform/kernel/event-payloads.ts';
import type { EventType } from '../../platform/kernel/events.ts';
import {
  SAMPLE_ADDRESS,
  SAMPLE_CONTACT,
  SAMPLE_DEAL,
  SAMPLE_IDS,
  SAMPLE_MEETING,
  SAMPLE_RECIPIENT,
  SAMPLE_TASK,
  SAMPLE_TIME,
} from './samples.ts';

interface Declaration<E extends EventType = EventType> {
  /** Type of the stored domain event whose payload is the data of the trigger. */
  event: E;
  /** Condition on the event's data. Absent if every event of the type is this trigger. */
  when?: (data: EventData<E>) => boolean;
  /** Realistic data of the trigger, for dry runs and tests. */
  sample: EventData<E>;
}

const from = <E extends EventType>(
  event: E,
  sample: EventData<E>,
  when?: (data: EventData<E>) => boolean,
): Declaration<E> => ({ event, sample, ...(when && { when }) });

const engagement = { ...SAMPLE_RECIPIENT, client: 'Apple Mail', device_type: 'desktop' };
const bounce = {
  ...SAMPLE_RECIPIENT,
  bounce_type: 'hard',
  reason: '550 no such user',
  reason_code: 'words',
  reason_values: { words: '550 no such user' },
  source: 'dsn',
} as const;
const dealChange = {
  ...SAMPLE_DEAL,
  stage_id: SAMPLE_IDS.nextStage,
  fields: ['stage_id'],
  previous_stage_id: SAMPLE_IDS.stage,
  previous_status: 'open' as const,
};
const campaign = { campaign_id: SAMPLE_IDS.campaign, name: 'Spring' };
const mailbox = { email_account_id: SAMPLE_IDS.mailbox, email: 'sales@example.org' };

/**
 * All triggers of automations and of the event subscriptions of integrations. Both store the names: never rename a
 * published one. The data of a trigger is the payload of its event.
 */
const TRIGGERS = {
  'email.sent': from('campaign.email_sent', {
    ...SAMPLE_RECIPIENT,
    sent_at: SAMPLE_TIME,
  }),
  'email.delivered': from('campaign.email_delivered', {
    ...SAMPLE_RECIPIENT,
    reported_by: 'mx.example.com',
    delivered_at: SAMPLE_TIME,
  }),
  'email.opened': from('campaign.email_opened', {
    ...engagement,
    opened_at: SAMPLE_TIME,
  }),
  'email.clicked': from('campaign.email_clicked', {
    ...engagement,
    url: 'https://example.org/pricing',
    link_label: 'Pricing',
    clicked_at: SAMPLE_TIME,
  }),
  'email.replied': from('campaign.reply_received', {
    ...SAMPLE_RECIPIENT,
    email_id: SAMPLE_IDS.reply,
    reply_message_id: '<answer@example.com>',
    thread_id: '<first@example.org>',
    from_email: SAMPLE_ADDRESS,
    subject: 'Re: Hello',
    received_at: SAMPLE_TIME,
    intent: 'positive',
    intent_confidence: 0.9,
  }),
  'email.bounced': from('deliverability.bounce', bounce),
  'email.complained': from('deliverability.complaint', {
    ...SAMPLE_RECIPIENT,
    reason: 'Spam complaint, reported by the provider as abuse',
    reason_code: 'complaint.feedback',
    reason_values: { type: 'abuse' },
    source: 'arf',
  }),
  'email.unsubscribed': from('campaign.unsubscribed', {
    ...SAMPLE_RECIPIENT,
    source: 'link',
  }),
  'email.received': from('inbox.email_received', {
    email_id: SAMPLE_IDS.reply,
    email_account_id: SAMPLE_IDS.mailbox,
    message_id: '<answer@example.com>',
    thread_id: '<first@example.org>',
    from_email: SAMPLE_ADDRESS,
    subject: 'Re: Hello',
    received_at: SAMPLE_TIME,
    kind: 'out_of_office',
    intent: 'out_of_office',
    campaign_id: SAMPLE_IDS.campaign,
    contact_id: SAMPLE_IDS.contact,
  }),
  'contact.created': from('contact.created', SAMPLE_CONTACT),
  'contact.updated': from('contact.updated', {
    entity_id: SAMPLE_IDS.contact,
    ...SAMPLE_CONTACT,
    updated_at: SAMPLE_TIME,
  }),
  'contact.deleted': from('contact.deleted', {
    entity_id: SAMPLE_IDS.contact,
    contact_id: SAMPLE_IDS.contact,
    contact_email: SAMPLE_ADDRESS,
  }),
  'form.submitted': from('form.submitted', {
    form_id: SAMPLE_IDS.form,
    form_name: 'Demo request',
    submission_id: SAMPLE_IDS.submission,
    data: { seats: '20' },
    contact_id: SAMPLE_IDS.contact,
    contact_email: SAMPLE_ADDRESS,
    first_name: 'Lea',
    last_name: 'Berg',
    company: 'Berg GmbH',
    phone: null,
    source_url: 'https://example.org/demo',
  }),
  'import.completed': from(
    'bulk_operation.completed',
    {
      operation: 'contact_import',
      operation_id: SAMPLE_IDS.import,
      status: 'completed',
      imported: 480,
      updated: 15,
      skipped: 4,
      failed: 1,
    },
    ({ operation }) => operation === 'contact_import',
  ),
  'campaign.started': from('campaign.started', {
    ...campaign,
    status: 'active',
    previous_status: 'draft',
  }),
  'campaign.paused': from('campaign.paused', {
    ...campaign,
    status: 'paused',
    reason: 'Bounce rate too high',
    reason_code: 'words',
    reason_values: { words: 'Bounce rate too high' },
  }),
  'campaign.completed': from('campaign.completed', campaign),
  'campaign.deliverability_warning': from('campaign.deliverability_warning', {
    campaign_id: SAMPLE_IDS.campaign,
    kind: 'bounce',
    rate: 3.5,
    threshold: 5,
    emails: 200,
    events: 7,
  }),
  'campaign.notified': from('campaign.action', {
    campaign_id: SAMPLE_IDS.campaign,
    campaign_name: 'Spring',
    step_id: SAMPLE_IDS.step,
    step_name: 'Tell sales',
    contact_id: SAMPLE_IDS.contact,
    contact_email: SAMPLE_ADDRESS,
    message: 'Lea clicked twice',
  }),
  'deal.created': from('crm.deal_created', SAMPLE_DEAL),
  'deal.updated': from('crm.deal_updated', dealChange),
  'deal.stage_changed': from('crm.deal_updated', dealChange, (deal) => deal.stage_id !== deal.previous_stage_id),
  'deal.won': from(
    'crm.deal_updated',
    { ...dealChange, status: 'won', fields: ['status'] },
    (deal) => deal.status === 'won' && deal.previous_status !== 'won',
  ),
  'deal.lost': from(
    'crm.deal_updated',
    { ...dealChange, status: 'lost', fields: ['status'] },
    (deal) => deal.status === 'lost' && deal.previous_status !== 'lost',
  ),
  'deal.deleted': from('crm.deal_deleted', SAMPLE_DEAL),
  'task.created': from('crm.task_created', SAMPLE_TASK),
  'task.updated': from('crm.task_updated', {
    ...SAMPLE_TASK,
    fields: ['due_date'],
  }),
  'task.completed': from(
    'crm.task_updated',
    { ...SAMPLE_TASK, status: 'completed', fields: ['status'] },
    (task) => 'status' in task && task.status === 'completed' && task.fields.includes('status'),
  ),
  'meeting.booked': from('meeting.booked', SAMPLE_MEETING),
  'meeting.rescheduled': from('meeting.rescheduled', {
    ...SAMPLE_MEETING,
    previous_time: '2026-05-05T13:00:00.000Z',
  }),
  'meeting.canceled': from('meeting.canceled', { ...SAMPLE_MEETING, reason: 'ill' }),
  'event.received': from('custom.event', {
    event_id: SAMPLE_IDS.event,
    name: 'trial_started',
    contact_id: SAMPLE_IDS.contact,
    occurred_at: SAMPLE_TIME,
    received_at: SAMPLE_TIME,
    data: { plan: 'pro', seats: 5 },
  }),
  'mailbox.connected': from('email_account.connected', {
    ...mailbox,
    provider: 'gmail',
    reconnected: false,
  }),
  'mailbox.disconnected': from('email_account.disconnected', {
    ...mailbox,
    provider: 'gmail',
    status: 'disconnected',
  }),
  'mailbox.error': from('email_account.error', {
    ...mailbox,
    error_code: 'auth_failed',
    title: 'Sign-in refused',
    message: 'The server refused the password.',
    reason_code: 'words',
    reason_values: { words: 'The server refused the password.' },
  }),
  'mailbox.health_changed': from('email_account.health_changed', {
    ...mailbox,
    health: 'error',
    previous_health: 'healthy',
    reason: 'The server refused the password.',
    reason_code: 'words',
    reason_values: { words: 'The server refused the password.' },
  }),
  'approval.requested': from('approval.requested', {
    approval_id: SAMPLE_IDS.approval,
    action_type: 'campaign.launch',
    subject_type: 'campaign',
    subject_id: SAMPLE_IDS.campaign,
    api_key_id: null,
    oauth_grant_id: null,
    expires_at: SAMPLE_TIME,
    approval_url: 'https://heron.example.org/approvals/1',
  }),
} as const;

/** Name of a trigger, such as `email.replied`. */
export type TriggerName = keyof typeof TRIGGERS;

/** Names of all triggers, in the order of the documentation. */
export const TRIGGER_NAMES = Object.keys(TRIGGERS) as [TriggerName, ...TriggerName[]];

/** Returns true if a name is a trigger. */
export function isTrigger(name: string): name is TriggerName {
  return Object.hasOwn(TRIGGERS, name);
}

/** Returns a trigger without the type of its event, for code that iterates over all triggers. */
export function triggerOf(name: TriggerName): Declaration {
  return TRIGGERS[name] as unknown as Declaration;
}

/** Returns the schema of a trigger's data, which equals the schema of its event. */
export function triggerSchema(name: TriggerName): (typeof EVENT_PAYLOADS)[EventType] {
  return EVENT_PAYLOADS[TRIGGERS[name].event];
}

/** Returns sample data of a trigger, as a copy that the caller may change. */
export function sampleData(name: TriggerName): Record<string, unknown> {
  return structuredClone(TRIGGERS[name].sample) as Record<string, unknown>;
}
