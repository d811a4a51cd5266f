import { z } from 'zod';
import {
  createCampaignSchema,
  senderInputSchema,
  stepInputSchema,
  updateCampaignSchema,
} from '../../domain/campaigns/input.ts';
import { LEAD_STATUSES } from '../../domain/sending/leads/list.ts';
import { COMPANY_REPLIES } from '../../domain/campaigns/input.ts';
import { CAMPAIGN_STATUSES, STATUS_FILTERS } from '../../domain/campaigns/read.ts';
import { stepActionSchema } from '../../domain/sending/campaign/actions.ts';
import { conditionsSchema } from '../../domain/sending/campaign/graph.ts';
import {
  completeSettingsSchema,
  partialSettingsSchema,
  WINNING_RULES,
} from '../../domain/sending/campaign/outreach-settings.ts';
import { leadHold, mergeFields } from '../audience/contacts/schemas.ts';
import {
  besideFaults,
  inputTimestamp,
  named,
  paged,
  pageQuery,
  resource,
  runFields,
  timestamp,
  uuid,
} from '../http/schemas.ts';
import { ruleMessage } from '../../lib/issue-message.ts';
import { storedMessage } from '../http/stored-message.ts';

const MAX_CONTACT_IDS = 10_000;
const MAX_SEGMENTS = 20;

named('CampaignCreate', createCampaignSchema);
named('OutreachSettings', completeSettingsSchema);
named('OutreachSettingsPatch', partialSettingsSchema);
named('SenderInput', senderInputSchema);
named('StepAction', stepActionSchema);
named('StepBranches', conditionsSchema);
named('StepCreate', stepInputSchema);
for (const action of stepActionSchema.options) named(actionName(action.shape.type.value), action);

/** Returns the schema name of an action, such as WaitForEventStep for `wait_for_event`. */
function actionName(type: string): string {
  return `${type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Step`;
}

const json = z.record(z.string(), z.unknown());
const copyFault = resource('CopyFault', {
  field: z.string().meta({ description: '`subject`, `body_plain`, `body_html`, or `address`' }),
  line: z.int().min(1).optional().meta({ description: 'From 1; absent where the whole field is meant' }),
  column: z.int().min(1).optional(),
  ...storedMessage,
});
const warnings = z
  .array(copyFault)
  .optional()
  .meta({ description: 'Template problems of the copy; absent if there are none' });

const campaignFields = {
  id: uuid,
  user_id: uuid.nullable(),
  organization_id: uuid,
  name: z.string(),
  description: z.string(),
  status: z.enum(CAMPAIGN_STATUSES),
  archived: z.boolean().meta({ description: 'Lists omit archived campaigns by default' }),
  kind: z.enum(['sequence', 'one_time']),
  stop_on_reply: z.boolean(),
  stop_on_company_reply: z.enum(COMPANY_REPLIES).meta({
    description:
      'Replies of one person that end the sequence for others at the same company: the domain of the address, unless it is a free mail provider',
  }),
  open_tracking: z.boolean(),
  link_tracking: z.boolean(),
  text_only: z.boolean(),
  daily_limit: z.int(),
  unsubscribe_header: z.boolean(),
  unsubscribe_mode: z.enum(['inherit', 'text', 'link', 'off']),
  risky_emails: z.boolean(),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  start_date: timestamp.nullable(),
  end_date: timestamp.nullable(),
  timezone: z.string(),
  days: z.int(),
  start_time: z.string(),
  end_time: z.string(),
  schedule_windows: z.array(z.array(z.strictObject({ start: z.int(), end: z.int() }))),
  email_tags: z.array(uuid),
  folders: z.array(uuid),
  contact_order_by: z.string(),
  contact_order_dir: z.enum(['asc', 'desc']),
  contact_order_field: z.string().nullable(),
  sender_strategy: z.enum(['tags', 'explicit']),
  rotation_mode: z.string(),
  ramp_enabled: z.boolean(),
  ramp_start: z.int(),
  ramp_increment: z.int(),
  ramp_ceiling: z.int(),
  ramp_level: z.int(),
  esp_match_mode: z.enum(['off', 'prefer', 'strict']),
  max_new_leads_per_day: z.int(),
  prioritize_new_leads: z.boolean(),
  entry_delay_minutes: z.int(),
  continuous: z.boolean(),
  idle_since: timestamp.nullable(),
  tracking_domain: z.string(),
  tracking_domain_verified: z.boolean(),
  tracking_domain_verified_at: timestamp.nullable(),
  utm_tracking: z.boolean(),
  utm_source: z.string(),
  utm_medium: z.string(),
  utm_campaign: z.string(),
  last_status_change_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
  ...runFields,
};

export const campaign = resource('Campaign', campaignFields);
export const writtenCampaign = resource('WrittenCampaign', { ...campaignFields, warnings });
export const campaignPage = paged(campaign);

export const campaignListQuery = z.object({
  ...pageQuery(100),
  q: z.string().max(255).optional().meta({ description: 'Part of the name' }),
  folder: z.string().optional().meta({ description: 'Only campaigns in this folder, by its id' }),
  status: z.enum(STATUS_FILTERS).optional().meta({ description: 'Only campaigns in this state' }),
  kind: z.enum(['sequence', 'one_time']).optional().meta({ description: 'one_time: campaigns with a single email' }),
  archived: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .meta({ description: 'True lists archived campaigns alone. Default: those that are not archived' }),
});

export const overview = resource('CampaignOverview', {
  total: z.int(),
  active: z.int(),
  paused: z.int(),
  draft: z.int(),
  completed: z.int(),
  one_time: z.int(),
  archived: z.int().meta({ description: 'Archived campaigns; the other numbers do not include them' }),
  folders: z.array(z.strictObject({ folder_id: uuid, total: z.int() })),
});

/** Campaign fields that an estimate request accepts in addition to its own fields. */
const campaignPlan = {
  end_date: updateCampaignSchema.shape.end_date,
  start_time: updateCampaignSchema.shape.start_time,
  end_time: updateCampaignSchema.shape.end_time,
  schedule_windows: updateCampaignSchema.shape.schedule_windows,
};

/** Fields for the position of a new or moved step. */
export const stepPosition = {
  place: z
    .strictObject({
      after: z.uuid().nullable().meta({ description: 'Step to insert after; null inserts at the beginning' }),
      branch: z.int().min(0).optional().meta({
        description: 'Index of the branch of that step to insert into. Default: its normal link',
      }),
    })
    .optional()
    .meta({
      description:
        'Moves the step behind another one: it takes over the link there, and its own link continues to the previous target. Links to its old position continue to the step after it.',
    }),
};

export const estimateBody = z
  .strictObject({
    campaign_id: z.string().optional().meta({
      description:
        'Estimates everything that a campaign still has to send, from its own senders. Omitted fields are taken from the campaign; segments and tags are ignored',
    }),
    segment_ids: z.array(z.string()).max(MAX_SEGMENTS).optional(),
    email_tag_ids: z.array(z.string()).max(200).default([]),
    daily_limit: z.int().min(1).max(1_000_000).optional().meta({ description: 'Default: 50' }),
    days: z.int().optional(),
    timezone: z.string().optional().meta({ description: 'Default: UTC' }),
    start_date: z.string().nullable().optional(),
    ...campaignPlan,
  })
  .refine(({ campaign_id: campaign, segment_ids: segments }) => campaign !== undefined || segments !== undefined, {
    path: ['segment_ids'],
    message: ruleMessage('campaigns.needs_campaign_or_segments'),
    ...besideFaults,
  });
export const estimate = resource('CampaignEstimate', {
  recipients: z.int(),
  mailboxes: z.int(),
  daily_capacity: z.int(),
  remaining_today: z.int(),
  sending_days: z.int().nullable(),
  estimated_finish_at: timestamp.nullable(),
});

export const duplicateBody = z.strictObject({ name: z.string().trim().min(3).max(50).optional() });

export const advancedBody = z.strictObject({ settings: partialSettingsSchema });
export const advanced = resource('CampaignSettings', {
  campaign_id: uuid,
  overrides: partialSettingsSchema,
  updated_at: timestamp.nullable(),
});

const labels = {
  offer: z.string().meta({ description: 'Offer of the email, for acquisition reports; empty for none' }),
  angle: z.string().meta({ description: 'Angle of the argument, for acquisition reports' }),
  cta: z.string().meta({ description: 'Call to action, for acquisition reports' }),
};

const stepFields = {
  id: uuid,
  name: z.string(),
  subject: z.string(),
  body_plain: z.string(),
  body_html: z.string(),
  body_sync: z.boolean(),
  body_code: z.boolean(),
  ...labels,
  wait_after: z.int(),
  thread_reply: z.boolean(),
  position: z.int(),
  kind: z.enum(['email', 'action', 'wait']),
  conditions: json,
  action: json.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
};
export const step = resource('Step', stepFields);
export const writtenStep = resource('WrittenStep', { ...stepFields, warnings });
const percentage = z.number().min(0).meta({ description: 'Percent of the emails sent' });
export const flow = resource('CampaignFlow', {
  campaign_id: uuid,
  pending: z.int().meta({ description: 'Number of leads that have not started' }),
  steps: z
    .array(
      z.strictObject({
        step_id: uuid,
        standing: z.int().meta({ description: 'Number of active leads currently at this step' }),
        ended: z.int().meta({ description: 'Number of leads that ended at this step, for whatever reason' }),
        reached: z
          .int()
          .meta({ description: 'Number of leads that have reached this step, including those at it now' }),
      }),
    )
    .meta({ description: 'Steps that a lead has reached, including steps removed since' }),
  links: z
    .array(z.strictObject({ from: uuid, to: uuid, leads: z.int() }))
    .meta({ description: 'Number of leads that went from a step to the next' }),
  wordings: z
    .array(
      z.strictObject({
        step_id: uuid,
        variant_id: uuid.nullable().meta({ description: "Null: the step's own text" }),
        emails_sent: z.int(),
        opens: z.int(),
        clicks: z.int(),
        replies: z.int(),
        open_rate: percentage,
        click_rate: percentage,
        reply_rate: percentage,
      }),
    )
    .meta({ description: 'Outcomes of the emails of each step, by A/B variant' }),
});

export const stepParams = z.object({ id: z.string(), sid: z.string() });

const variantFields = {
  id: uuid,
  campaign_id: uuid,
  step_id: uuid.nullable(),
  name: z.string(),
  weight: z.int(),
  subject: z.string(),
  body_html: z.string(),
  body_plain: z.string(),
  ...labels,
  is_control: z.boolean(),
  is_active: z.boolean(),
  metadata: json,
  promoted_at: timestamp
    .nullable()
    .describe('Time of its promotion to all further emails of its step (ab_testing.auto_promote_winner)'),
  promotion: z
    .strictObject({
      rule: z.enum(WINNING_RULES),
      counts: z.array(z.strictObject({ variant_id: uuid, sent: z.int(), successes: z.int() })),
    })
    .nullable()
    .meta({ description: 'Rule of the promotion, with the counts of all variants at that time' }),
  created_at: timestamp,
  updated_at: timestamp,
};
export const variantList = z.strictObject({ data: z.array(resource('Variant', variantFields)) });
export const writtenVariant = resource('WrittenVariant', { ...variantFields, warnings });
export const variantParams = z.object({ id: z.string(), variantId: z.string() });

export const sendersBody = z.strictObject({ senders: z.array(senderInputSchema).max(1000) });
export const senderList = z.strictObject({
  data: z.array(
    resource('Sender', {
      email_account_id: uuid,
      weight: z.int(),
      enabled: z.boolean(),
      last_sent_at: timestamp.nullable(),
    }),
  ),
  updated_at: timestamp.meta({ description: 'Last change of the campaign, which includes its sender pool' }),
});

export const leadsBody = z
  .strictObject({
    contact_ids: z.array(z.string()).max(MAX_CONTACT_IDS).default([]),
    segment_ids: z.array(z.string()).max(MAX_SEGMENTS).default([]),
    restart: z.boolean().default(false).meta({
      description: 'Send every step again to contacts that were leads of the campaign before and were removed',
    }),
  })
  .refine(({ contact_ids: contacts, segment_ids: segments }) => contacts?.length !== 0 || segments?.length !== 0, {
    path: ['contact_ids'],
    message: ruleMessage('campaigns.no_leads_named'),
    ...besideFaults,
  });
export const leadsAdded = z.strictObject({
  added: z.int(),
  already: z.int().meta({ description: 'Number of contacts that were leads of the campaign before' }),
});

export const leadParams = z.object({ id: z.string(), contactId: z.string() });
export const leadListQuery = z.object({
  ...pageQuery(200),
  status: z.enum(LEAD_STATUSES).optional().meta({ description: 'Only leads in this state' }),
  step: z.uuid().optional().meta({ description: 'Only leads that are at this step now' }),
  q: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'Part of name, email or company; needs the right to see contacts' }),
});

export const heldLead = resource('HeldLead', { campaign_id: uuid, contact_id: uuid, hold: leadHold.nullable() });
export const leadPauseBody = z.strictObject({
  until: inputTimestamp.nullable().default(null),
  reason: z.string().max(200).default(''),
});

const leadFields = {
  contact_id: uuid,
  contact: z
    .strictObject({ email: z.string(), first_name: z.string(), last_name: z.string(), company: z.string() })
    .nullable()
    .meta({ description: 'Null for callers who may not read contacts' }),
  status: z.enum(LEAD_STATUSES),
  current_step_id: uuid.nullable(),
  current_step: z.string().nullable(),
  waiting_for: z.string().nullable(),
  waiting_until: timestamp.nullable(),
  blocked: z.boolean(),
  failure_reason: z.string().nullable(),
  hold: leadHold.nullable(),
  entered_at: timestamp,
  launched_at: timestamp.nullable(),
  last_activity_at: timestamp.nullable(),
  finished_at: timestamp.nullable(),
  temporal_url: runFields.temporal_url,
};
export const leadPage = paged(resource('Lead', leadFields));

const waySend = z
  .strictObject({
    id: uuid,
    state: z.string().meta({
      description: 'reserved: has a time. sending. sent. uncertain: may have been sent. bounced. failed. skipped',
    }),
    email_id: uuid.nullable().meta({ description: 'Mailbox; null if it was removed' }),
    slot_at: timestamp.meta({ description: 'Reserved time of the email' }),
    sent_at: timestamp.nullable(),
    message_id: z.string().nullable(),
    thread_id: z.string().nullable().meta({ description: 'Conversation of the email, for GET /v1/unibox/thread' }),
    attempts: z.int(),
    error: z.string().nullable(),
  })
  .meta({ id: 'LeadSend', description: 'Email of the step' });
const wayWait = resource('LeadWait', {
  event_name: z.string(),
  state: z.string(),
  opened_at: timestamp,
  deadline: timestamp.nullable(),
  settled_at: timestamp.nullable(),
  event_id: uuid.nullable().meta({ description: 'Product event that ended the wait' }),
});

/** Answer of GET /campaigns/:id/leads/:contactId. */
export const leadDetail = resource('LeadDetail', {
  ...leadFields,
  campaign: z.strictObject({ id: uuid, name: z.string(), status: z.string(), steps: z.int(), timezone: z.string() }),
  steps: z
    .array(
      resource('LeadStep', {
        seq: z.int(),
        position: z.int().nullable().meta({ description: 'Position in the campaign; null if the step was deleted' }),
        name: z.string(),
        kind: z.string(),
        state: z.string(),
        outcome: z.string().nullable(),
        detail: z.string().nullable(),
        attempts: z.int(),
        started_at: timestamp,
        completed_at: timestamp.nullable(),
        send: waySend.nullable(),
        wait: wayWait.nullable(),
      }),
    )
    .meta({ description: 'Steps that the contact has reached, in order' }),
  reserved: waySend
    .nullable()
    .meta({ description: 'First email, if it has a reserved time before the run has started' }),
  log: z.array(z.strictObject({ at: timestamp, type: z.string(), ...storedMessage })).meta({
    description: "Lines of the campaign's activity log about this contact, at most 100, oldest first",
  }),
});

export const startBody = z.strictObject({
  acknowledge_list_risk: z
    .boolean()
    .default(false)
    .meta({ description: 'Start although many addresses are expected to bounce' }),
});
export const started = z.strictObject({ status: z.literal('started') });
export const stopped = z.strictObject({ status: z.literal('stopped') });

export const logPage = paged(
  resource('CampaignLogEntry', {
    id: uuid,
    campaign_id: uuid,
    event_type: z.string(),
    ...storedMessage,
    metadata: json,
    created_at: timestamp,
  }),
);

export const trackingDomain = resource('TrackingDomain', {
  tracking_domain: z.string(),
  tracking_domain_verified: z.boolean(),
  tracking_domain_verified_at: timestamp.nullable(),
});

export const trackingDomainList = z.strictObject({
  data: z.array(
    resource('TrackingDomainRecords', {
      domain: z.string(),
      verified_at: timestamp.nullable().meta({ description: 'Last check that passed' }),
      fault: z
        .enum(['dns', 'no_answer', 'certificate', 'other_instance'])
        .nullable()
        .meta({ description: 'Cause for which links do not use the domain' }),
      campaigns: z.array(z.strictObject({ id: uuid, name: z.string(), in_use: z.boolean() })),
      mailboxes: z.array(z.strictObject({ id: uuid, email: z.string(), in_use: z.boolean() })),
      records: z.array(
        z.strictObject({
          type: z.enum(['CNAME', 'TXT']),
          name: z.string(),
          expected: z.string(),
          found: z.array(z.string()).nullable().meta({ description: 'Null if no DNS server answered' }),
          required: z
            .boolean()
            .meta({ description: 'False for the TXT record of a domain that the workspace has proven before' }),
          correct: z.boolean(),
        }),
      ),
    }),
  ),
});

const copy = z
  .string()
  .max(256 * 1024)
  .optional();
export const previewBody = z.strictObject({
  subject: copy,
  body_html: copy,
  body_plain: copy,
  contact_id: z.string().optional(),
  campaign_id: z.string().optional(),
  account_id: z.string().optional(),
  step_id: z.string().optional(),
  contact: mergeFields.partial().optional(),
});
export const preview = resource('EmailPreview', {
  subject: z.string().optional(),
  body_html: z.string().optional(),
  body_plain: z.string().optional(),
  errors: z.array(z.string()).optional().meta({ description: 'The faults in `problems`, one line each' }),
  problems: z.array(copyFault).optional().meta({ description: 'Template faults; absent when there are none' }),
  unresolved: z.array(z.string()).optional(),
  from: z.strictObject({ name: z.string(), email: z.string() }).optional(),
  attachments: z
    .array(z.strictObject({ id: z.uuid(), filename: z.string(), size: z.int(), mime_type: z.string() }))
    .optional()
    .meta({ description: 'Files attached to the email; only with `campaign_id`, absent when there are none' }),
});
