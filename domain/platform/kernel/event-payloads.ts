import type { Message } from '../../../messages/index.ts';
import { z } from 'zod';
import type { StoredEventType } from './events.ts';

const id = z.uuid();
const idOrNull = id.nullable();
const at = z.iso.datetime().describe('RFC 3339, UTC');
const text = z.string();
const textOrNull = text.nullable();
const address = text.meta({ format: 'email' });
const count = z.int().min(0);

/** Fields of the contact and email that an event is about. Unknown ids and ids of deleted rows are null. */
const recipient = {
  campaign_id: idOrNull,
  step_id: idOrNull,
  contact_id: idOrNull,
  contact_email: address.describe('The address that was mailed'),
  email_account_id: idOrNull.describe('The mailbox it left from'),
  task_id: idOrNull.describe('The email; names it in POST /v1/deliverability/events'),
  message_id: textOrNull.describe('Message-ID of the email'),
};

const campaign = { campaign_id: id, name: text };
const mailbox = { email_account_id: id, email: address };
const provider = z.enum(['gmail', 'outlook', 'smtp_imap']);
const health = z.enum(['healthy', 'warning', 'error']);

/** Code and values of a reason whose English text is in another field of the payload. */
const reason = {
  reason_code: text.describe(
    'Code of the reason, such as ended.bounced; `words` marks the words of a server or a person',
  ),
  reason_values: z.record(z.string(), z.unknown()).describe('Values of the reason'),
};
const reasonOrNull = { reason_code: reason.reason_code.nullable(), reason_values: reason.reason_values.nullable() };

const bounce = {
  ...recipient,
  bounce_type: z.enum(['hard', 'soft']),
  reason: text,
  ...reason,
  source: z.enum(['smtp', 'dsn', 'reported']).describe('The server at once, a report in a mailbox, or a client'),
};

const engagement = {
  ...recipient,
  client: textOrNull.describe('Mail program or browser, as far as it can be told'),
  device_type: textOrNull,
};

const reply = {
  ...recipient,
  email_id: idOrNull.describe('The reply; null, as what follows of it, where a client reported it'),
  reply_message_id: textOrNull,
  thread_id: textOrNull,
  from_email: textOrNull,
  subject: textOrNull,
  received_at: at.nullable(),
  intent: textOrNull,
  intent_confidence: z.number().min(0).max(1),
};

const replyKind = z.enum([
  'positive',
  'negative',
  'not_now',
  'question',
  'referral',
  'opt_out',
  'out_of_office',
  'automated',
  'neutral',
]);

const inbound = z.strictObject({
  email_id: id,
  email_account_id: id.describe('The mailbox it came to'),
  message_id: text.describe('Its own Message-ID'),
  thread_id: text,
  from_email: text,
  subject: text,
  received_at: at,
  kind: z.enum(['reply', 'bounce', 'complaint', 'out_of_office', 'automated', 'other']),
  intent: textOrNull,
  campaign_id: idOrNull,
  contact_id: idOrNull,
});

/** Fields of an email written by a person or an agent. */
const direct = {
  email_id: id.describe('The email; the task_id of the answer to its request'),
  email_account_id: idOrNull.describe('The mailbox it leaves from; null when it was removed'),
  message_id: text,
  thread_id: text,
  contact_id: idOrNull,
  to: z.array(address),
  subject: text,
};

const contact = {
  contact_id: id,
  contact_email: address,
  first_name: text,
  last_name: text,
  company: text,
  phone: text,
  subscribed: z.boolean(),
  custom_fields: z.record(z.string(), text),
  source: text.describe('How the contact came: api, import, form, automation …'),
  source_detail: text,
  campaign_ids: z.array(id),
  category_ids: z.array(id),
  created_at: at,
};

const meeting = {
  entity_id: id,
  meeting_id: id.describe('The same'),
  source: text.describe('calendly, cal_com, or manual for one that was logged by hand'),
  contact_id: idOrNull,
  contact_email: address.describe('The address of who booked'),
  campaign_id: idOrNull,
  invitee_name: text,
  event_name: text,
  scheduled_for: at.nullable(),
  end_time: at.nullable(),
  join_url: text,
};

/** Payload of the single event that a bulk write emits. It has no `entity_id`. */
const bulk = z.strictObject({ metadata: z.strictObject({ bulk: z.literal(true), count }) });

const approval = {
  approval_id: id,
  action_type: z.enum(['campaign.launch', 'email.compose', 'inbox.reply', 'mailbox.provision']),
  subject_type: z
    .enum(['run', 'campaign', 'campaign_leads', 'direct_send', 'mailbox_order'])
    .describe('What waits, or waited, for it'),
  subject_id: id,
  api_key_id: idOrNull.describe('The key that asked; null for an application'),
  oauth_grant_id: idOrNull.describe('The grant of the application that asked; null for a key'),
};

const policy = {
  policy_id: id,
  name: text,
  api_key_id: idOrNull,
  oauth_grant_id: idOrNull,
};

/**
 * Receivers need this time, because deliveries may arrive in any order and an older state must not replace a newer one.
 */
const changedAt = at.describe('Of two events about one record, the one with the later time has its newer state');

const deal = {
  entity_id: id,
  deal_id: id.describe('The same'),
  pipeline_id: id,
  stage_id: id,
  contact_id: idOrNull,
  name: text,
  value: z.number().nullable().describe('In units of the currency, such as 19.99'),
  currency: text.describe('ISO 4217'),
  status: z.enum(['open', 'won', 'lost']),
  assigned_to: idOrNull.describe('A member of the workspace'),
  campaign_id: idOrNull,
  updated_at: changedAt,
};

const task = {
  entity_id: id,
  task_id: id.describe('The same'),
  title: text,
  title_code: textOrNull.describe('Code of a title that no person wrote; null for the words of a person'),
  title_values: z.record(z.string(), z.unknown()).nullable().describe('Values of that title'),
  contact_id: idOrNull,
  deal_id: idOrNull,
  assigned_to: idOrNull.describe('A member of the workspace'),
  assigned_team_id: idOrNull,
  due_date: at.nullable(),
  priority: z.enum(['low', 'medium', 'high', 'urgent']),
  type: text.describe('Name of a task type'),
  status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
  updated_at: changedAt,
};
const changedFields = z.array(text).describe('What changed');

/** Payload for events that are not emitted yet. It contains only a few fields, because more can be added later. */
const warmedMailbox = z.looseObject({ email_account_id: id });
const storedEmail = z.looseObject({ email_id: id, email_account_id: id });

/**
 * The `data` of every event. Fields may be added; published fields are never removed or changed. An incompatible
 * payload gets a new event name.
 */
export const EVENT_PAYLOADS = {
  'campaign.created': z.strictObject({ ...campaign, status: text }),
  'campaign.updated': z.strictObject({ ...campaign, fields: z.array(text).describe('What changed') }),
  'campaign.deleted': z.strictObject(campaign),
  'campaign.started': z.strictObject({ ...campaign, status: z.literal('active'), previous_status: text }),
  'campaign.paused': z.strictObject({
    ...campaign,
    status: text.describe('paused, or why: paused_no_accounts, paused_undeliverable …'),
    reason: text,
    ...reason,
  }),
  'campaign.completed': z.strictObject(campaign),
  'campaign.email_sent': z.strictObject({ ...recipient, sent_at: at }),
  'campaign.email_delivered': z.strictObject({
    ...recipient,
    reported_by: textOrNull.describe('The server that says so'),
    delivered_at: at,
  }),
  'campaign.email_opened': z.strictObject({ ...engagement, opened_at: at }),
  'campaign.email_clicked': z.strictObject({
    ...engagement,
    url: textOrNull.describe('Null where a client reported the click'),
    link_label: textOrNull,
    clicked_at: at,
  }),
  'campaign.email_bounced': z.strictObject(bounce),
  'campaign.reply_received': z.strictObject(reply),
  'campaign.unsubscribed': z.strictObject({ ...recipient, source: z.enum(['one_click', 'link', 'reply', 'action']) }),
  'campaign.deliverability_warning': z.strictObject({
    campaign_id: id,
    kind: z.enum(['bounce', 'complaint']),
    rate: z.number().describe('Percent of the emails of the last 24 hours'),
    threshold: z.number().describe('Percent at which the campaign is paused'),
    emails: count,
    events: count,
  }),
  'campaign.action': z.strictObject({
    campaign_id: id,
    campaign_name: text,
    step_id: id,
    step_name: text,
    contact_id: id,
    contact_email: address,
    message: text,
  }),
  'warmup.email_sent': warmedMailbox,
  'warmup.health_changed': warmedMailbox,
  'warmup.placement_in_spam': warmedMailbox,
  'warmup.quarantined': warmedMailbox,
  'warmup.blocked': warmedMailbox,
  'deliverability.bounce': z.strictObject(bounce),
  'deliverability.complaint': z.strictObject({
    ...recipient,
    reason: text,
    ...reason,
    source: z.enum(['arf', 'reported']).describe('A feedback report in a mailbox, or a client'),
  }),
  'inbox.email_received': inbound,
  'inbox.email_sent': z.strictObject({ ...direct, sent_at: at }),
  'inbox.email_failed': z.strictObject({
    ...direct,
    state: z.enum(['failed', 'bounced', 'uncertain', 'denied', 'expired']),
    reason: text,
    ...reasonOrNull,
  }),
  'inbox.email_updated': storedEmail,
  'inbox.email_deleted': storedEmail,
  'inbox.reply_received': inbound,
  'inbox.reply_classified': z.strictObject({
    ...reply,
    email_id: id.describe('The reply'),
    kind: replyKind.describe('Finer than the intent'),
    opt_out_force: z
      .enum(['stop', 'erase', 'legal'])
      .nullable()
      .describe('The wish of an opt-out; null for other kinds'),
    asks_to_stop: z
      .boolean()
      .describe('It may be an opt-out: a person has to decide, and nothing is sent to the address until then'),
    corrected: z.boolean().describe('A person has corrected the reading'),
    previous_intent: textOrNull.describe('The intent before the correction'),
  }),
  'email_account.connected': z.strictObject({
    ...mailbox,
    provider,
    reconnected: z.boolean().describe('It was known before'),
  }),
  'email_account.disconnected': z.strictObject({ ...mailbox, provider, status: text }),
  'email_account.removed': z.strictObject({ ...mailbox, provider }),
  'email_account.error': z.strictObject({ ...mailbox, error_code: text, title: text, message: text, ...reason }),
  'email_account.synced': z.strictObject({ email_account_id: id, folder: text, new_messages: z.int().min(1) }),
  'email_account.health_changed': z.strictObject({
    ...mailbox,
    health,
    previous_health: health,
    reason: textOrNull,
    ...reasonOrNull,
  }),
  'contact.created': z.strictObject(contact),
  'contact.updated': z.union([z.strictObject({ entity_id: id, ...contact, updated_at: changedAt }), bulk]),
  'contact.deleted': z.union([z.strictObject({ entity_id: id, contact_id: id, contact_email: address }), bulk]),
  'form.submitted': z.strictObject({
    form_id: id,
    form_name: text,
    submission_id: id,
    data: z.record(z.string(), z.unknown()).describe('The answers'),
    contact_id: idOrNull.describe('The contact that was created or matched'),
    contact_email: textOrNull,
    first_name: textOrNull,
    last_name: textOrNull,
    company: textOrNull,
    phone: textOrNull,
    source_url: textOrNull,
  }),
  'bulk_operation.completed': z.union([
    z.strictObject({
      operation: z.literal('contact_import'),
      operation_id: id,
      status: z.enum(['completed', 'failed', 'cancelled']),
      imported: count,
      updated: count,
      skipped: count,
      failed: count,
    }),
    z.strictObject({
      operation: z.literal('contact_verification'),
      operation_id: id.describe('The bulk edit'),
      status: z.enum(['completed', 'cancelled']),
      selected: count.describe('Addresses to verify'),
    }),
  ]),
  'crm.deal_created': z.strictObject(deal),
  'crm.deal_updated': z.strictObject({
    ...deal,
    fields: changedFields,
    previous_stage_id: id,
    previous_status: z.enum(['open', 'won', 'lost']),
  }),
  'crm.deal_deleted': z.strictObject(deal),
  'crm.task_created': z.strictObject(task),
  'crm.task_updated': z.union([z.strictObject({ ...task, fields: changedFields }), bulk]),
  'crm.note_created': z.strictObject({ entity_id: id, note_id: id, contact_id: id, user_id: idOrNull }),
  'meeting.booked': z.strictObject(meeting),
  'meeting.rescheduled': z.strictObject({ ...meeting, previous_time: at.nullable() }),
  'meeting.canceled': z.strictObject({ ...meeting, reason: text }),
  'custom.event': z.strictObject({
    event_id: id.describe('The product event, as GET /v1/events/:id shows it'),
    name: text,
    contact_id: idOrNull.describe('Null for a person without a contact'),
    occurred_at: at,
    received_at: at,
    data: z.record(z.string(), z.unknown()),
  }),
  'mailbox_order.state_changed': z.strictObject({
    provisioning_id: id,
    state: text.describe('awaiting_payment, paid, queued, provisioning, configuring, ready, failed or cancelled'),
    previous_state: textOrNull.describe('Null when the order was made'),
    reason: textOrNull.describe('Why, as a code such as payment_expired'),
  }),
  'mailbox_order.needs_person': z.strictObject({
    provisioning_id: id,
    step: text.describe('What could not be undone, such as mailbox:3'),
    reason: text.describe("Why, as the provider's code, or mailbox_provisioning_failed where it did not answer"),
  }),
  'run.state_changed': z.strictObject({
    run_id: id,
    campaign_id: id,
    intent: z.enum(['draft', 'launch']),
    state: text.describe(
      'queued, preflighting, awaiting_approval, launching, active, paused, completed, failed, denied or cancelled',
    ),
    previous_state: textOrNull.describe('Null when the run was created'),
    reason: textOrNull.describe('Why, as a code such as approval_needed or campaign_paused'),
    approval_id: idOrNull.describe('What it waits for, in awaiting_approval'),
  }),
  'payment.state_changed': z.strictObject({
    payment_id: id,
    subject: z.enum(['order', 'renewal', 'order_month']),
    subject_id: id.describe('The order, or the cycle of the renewal'),
    state: text.describe('paid, expired, failed, refund_due, refunded or needs_person'),
    reason: textOrNull.describe('Why, as a code such as order_cancelled or refund_refused'),
    amount_cents: count,
    currency: text,
  }),
  'domain_renewal.state_changed': z.strictObject({
    renewal_id: id,
    domain_id: id,
    domain: text,
    state: text.describe('scheduled, charging, renewing, renewed, requires_action or ended'),
    code: textOrNull.describe('In requires_action: what a person is needed for, such as renewal_payment_required'),
    expires_at: at.describe('When the registration that is renewed ends'),
    amount_cents: count.nullable(),
    currency: textOrNull,
  }),
  'team.member_invited': z.strictObject({ invitation_id: id, email: address, role_id: id, role_name: text }),
  'team.invitation_cancelled': z.strictObject({ invitation_id: id }),
  'team.member_joined': z.strictObject({ user_id: id, email: address, role_id: id, invitation_id: id }),
  'team.member_role_changed': z.strictObject({ user_id: id, role_id: id, role_name: text, previous_role_id: id }),
  'team.member_removed': z.strictObject({ user_id: id, role_id: id }),
  'role.created': z.strictObject({ role_id: id, name: text, permissions: z.array(text) }),
  'role.updated': z.strictObject({ role_id: id, name: text, permissions: z.array(text) }),
  'role.deleted': z.strictObject({ role_id: id, name: text }),
  'approval.requested': z.strictObject({
    ...approval,
    expires_at: at,
    approval_url: z.url().describe('Where a person signs in, sees what would happen, and decides'),
  }),
  'approval.decided': z.strictObject({
    ...approval,
    status: z.enum(['approved', 'denied']),
    decided_by: idOrNull,
    decided_at: at,
  }),
  'approval.expired': z.strictObject({ ...approval, reason: text, ...reason }),
  'approval.executed': z.strictObject(approval),
  'agent_policy.created': z.strictObject(policy),
  'agent_policy.updated': z.strictObject({ ...policy, fields: z.array(text).describe('What changed') }),
  'agent_policy.deleted': z.strictObject(policy),
  'settings.updated': z.strictObject({ section: text.describe('organization, outreach'), changed: z.array(text) }),
  'automation.notified': z.strictObject({
    automation_id: id,
    automation_name: text,
    run_id: id,
    node_id: text,
    trigger_event: text,
    contact_id: idOrNull,
    message: text,
  }),
  'automation.run_failed': z.strictObject({
    automation_id: id,
    automation_name: text,
    run_id: id,
    trigger_event: text,
    contact_id: idOrNull,
    error_detail: text,
    ...reason,
    loop: z.boolean(),
  }),
  'automation.requested': z.strictObject({
    automation_id: id,
    cause: text.describe('The step run, or the node of another run: an automation has one run for each'),
    run_id: idOrNull.describe('The run whose data it gets; null for a step of a campaign'),
    contact_id: idOrNull,
    contact_email: textOrNull,
    campaign_id: idOrNull,
    step_id: idOrNull,
  }),
  'engagement.counted': z.strictObject({ campaign_id: id, task_id: id }),
  'integration.action_settled': z.strictObject({
    delivery_id: id,
    connection_id: id,
    action: text,
    source: z.record(z.string(), text).describe('As whoever asked for the action gave it'),
    ok: z.boolean(),
    error: z.custom<Message>((value) => value !== undefined).nullable(),
  }),
  'person.changed': z.strictObject({ person_ids: z.array(id) }),
  'step.crm_requested': z.strictObject({
    step_run_id: id,
    campaign_id: id,
    step_id: id,
    contact_id: id,
    action: z.record(z.string(), z.unknown()).describe('Of the step as it was then, its texts not filled in'),
  }),
} as const satisfies Record<StoredEventType, z.ZodType>;

/** Payload type of an event. */
export type EventData<T extends StoredEventType> = z.input<(typeof EVENT_PAYLOADS)[T]>;

/** Payload of an endpoint's verification challenge. */
export const TEST_PAYLOAD = z.strictObject({
  challenge: text.describe('Starts with `whcg_`; an application echoes it'),
  endpoint_id: id,
  message: text,
  message_code: text.describe('Code of the message'),
});
