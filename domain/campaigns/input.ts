import { z } from 'zod';
import { addressKey } from '../../lib/address.ts';
import { MAX_UTM_LENGTH } from '../mail/messages/utm.ts';
import { partialSettingsSchema } from '../sending/campaign/outreach-settings.ts';
import { stepActionSchema } from '../sending/campaign/actions.ts';
import { conditionsSchema } from '../sending/campaign/graph.ts';
import { ruleMessage } from '../../lib/issue-message.ts';

const MAX_LIST = 200;
/** Maximum number of steps in one campaign. */
export const MAX_STEPS = 100;

const address = z.string().overwrite(addressKey).pipe(z.email().max(254));
const idList = z.array(z.string()).max(MAX_LIST);
const utmValue = z.string().trim().max(MAX_UTM_LENGTH);
/** Host name of a tracking domain, in lower case. Empty for none. */
export const hostname = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(
    /^$|^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
    ruleMessage('campaigns.host_name'),
  );
// Time window of a day. The schemas of this file check only types. Values of zones, times, windows and dates are
// checked later, so that all problems are listed together.
const window = z.strictObject({ start: z.number(), end: z.number() });

const text = z.string().max(256 * 1024);
const subject = z.string().max(998);
const waitAfter = z.int().min(0).max(60);

/** Values of the setting that determines which replies end the sequence for other leads of the same company. */
export const COMPANY_REPLIES = ['off', 'any', 'positive_or_opt_out'] as const;

/** Fields that both the create and the update request of a campaign may have. */
const settings = {
  description: z.string().max(5000),
  stop_on_reply: z.boolean(),
  stop_on_company_reply: z.enum(COMPANY_REPLIES),
  open_tracking: z.boolean(),
  link_tracking: z.boolean(),
  text_only: z.boolean(),
  daily_limit: z.int().min(1).max(1_000_000),
  unsubscribe_header: z.boolean(),
  unsubscribe_mode: z.enum(['inherit', 'text', 'link', 'off']),
  risky_emails: z.boolean(),
  cc: z.array(address).max(20),
  bcc: z.array(address).max(20),
  start_date: z.string().nullable(),
  end_date: z.string().nullable(),
  timezone: z.string(),
  days: z.int(),
  start_time: z.string(),
  end_time: z.string(),
  schedule_windows: z.array(z.array(window)),
  contact_order_by: z.enum(['created_at', 'updated_at', 'email', 'first_name', 'last_name', 'company', 'custom_field']),
  contact_order_dir: z.enum(['asc', 'desc']),
  contact_order_field: z.string().max(255).nullable(),
  sender_strategy: z.enum(['tags', 'explicit']),
  rotation_mode: z.enum(['round_robin']),
  ramp_enabled: z.boolean(),
  ramp_start: z.int().min(1).max(10_000),
  ramp_increment: z.int().min(0).max(10_000),
  ramp_ceiling: z.int().min(0).max(10_000),
  esp_match_mode: z.enum(['off', 'prefer', 'strict']),
  max_new_leads_per_day: z.int().min(0).max(1_000_000),
  prioritize_new_leads: z.boolean(),
  entry_delay_minutes: z.int().min(0).max(129_600),
  continuous: z.boolean(),
  tracking_domain: hostname,
  utm_tracking: z.boolean(),
  utm_source: utmValue,
  utm_medium: utmValue,
  utm_campaign: utmValue,
};

const name = z.string().trim().min(1).max(255);

/**
 * Labels by which acquisition reports group emails: the offer of an email, its arguments, and its request to the
 * reader. An empty text means that a label is not set.
 */
const labels = {
  offer: z.string().trim().max(100),
  angle: z.string().trim().max(100),
  cta: z.string().trim().max(100),
};

/** A mailbox of a campaign's explicit sender pool. */
export const senderInputSchema = z.strictObject({
  email_account_id: z.string(),
  weight: z.int().min(1).max(100).default(1),
  enabled: z.boolean().default(true),
});

/**
 * Conditions of a create request, in which a branch may name its target step by the index in `steps`, because steps
 * have no ids yet.
 */
const createConditionsSchema = conditionsSchema.extend({
  branches: z
    .array(
      conditionsSchema.shape.branches.unwrap().element.extend({
        to: z.union([z.uuid(), z.int().min(0)]).nullable(),
      }),
    )
    .max(20)
    .default([]),
});

/** A step of a create request. */
export const stepInputSchema = z.strictObject({
  name: z.string().max(255).default(''),
  subject: subject.default(''),
  body_plain: text.default(''),
  body_html: text.default(''),
  offer: labels.offer.default(''),
  angle: labels.angle.default(''),
  cta: labels.cta.default(''),
  wait_after: waitAfter.optional(),
  thread_reply: z.boolean().optional(),
  kind: z.enum(['email', 'action', 'wait']).optional(),
  action: stepActionSchema.optional(),
  conditions: createConditionsSchema.optional(),
});

export const stepUpdateSchema = z
  .strictObject({
    name: z.string().max(255),
    subject,
    body_plain: text,
    body_html: text,
    body_sync: z.boolean(),
    body_code: z.boolean(),
    ...labels,
    wait_after: waitAfter,
    thread_reply: z.boolean(),
    kind: z.enum(['email', 'action', 'wait']),
    action: stepActionSchema.nullable(),
    conditions: conditionsSchema,
  })
  .partial();

const variantFields = {
  name: z.string().trim().min(1).max(255),
  weight: z.int().min(0).max(1000),
  subject,
  body_html: text,
  body_plain: text,
  ...labels,
  is_control: z.boolean(),
  is_active: z.boolean(),
  metadata: z.record(z.string(), z.unknown()),
};

export const variantUpdateSchema = z.strictObject(variantFields).partial();
export const variantInputSchema = variantUpdateSchema.extend({
  name: variantFields.name,
  step_id: z.string().nullable().optional(),
});

/** Schema of the body of POST /campaigns. */
export const createCampaignSchema = z
  .strictObject(settings)
  .partial()
  .extend({
    name,
    kind: z.enum(['sequence', 'one_time']).optional(),
    email_tag_ids: idList.optional(),
    folder_ids: idList.optional(),
    senders: z.array(senderInputSchema).max(1000).optional(),
    steps: z.array(stepInputSchema).max(MAX_STEPS).optional(),
    variants: z
      .array(variantInputSchema.omit({ step_id: true }))
      .max(26)
      .optional(),
    advanced_overrides: partialSettingsSchema.optional(),
  });

/** Schema of the body of PATCH /campaigns/:id. */
export const updateCampaignSchema = z
  .strictObject(settings)
  .partial()
  .extend({
    name: name.optional(),
    status: z.string().optional(),
    email_tags: idList.optional(),
    folders: idList.optional(),
    archived: z
      .boolean()
      .optional()
      .meta({ description: 'True leaves the campaign out of lists; refused while it is active' }),
  });

export type CreateCampaign = z.output<typeof createCampaignSchema>;
export type UpdateCampaign = z.output<typeof updateCampaignSchema>;
export type CampaignSettings = Partial<z.output<ReturnType<typeof z.strictObject<typeof settings>>>>;
export type StepInput = z.output<typeof stepInputSchema>;
export type StepUpdate = z.output<typeof stepUpdateSchema>;
export type VariantInput = z.output<typeof variantInputSchema>;
export type VariantUpdate = z.output<typeof variantUpdateSchema>;
export type SenderInput = z.output<typeof senderInputSchema>;
