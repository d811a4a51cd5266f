import { z } from 'zod';
import { parseAddress } from '../../../lib/address.ts';
import {
  CONTACT_LIMITS,
  customFieldsFit,
  isCustomKey,
  CUSTOM_FIELD_LIMITS,
} from '../../../domain/directory/contact-fields.ts';
import { ENGAGEMENTS, LEAD_STATUSES } from '../../../domain/directory/contact-filters.ts';
import { inputTimestamp, paged, resource, timestamp, uuid } from '../../http/schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';
import { shownReason } from '../../http/stored-message.ts';

/** Email address as people paste it: trimmed, lower-cased, extracted from `Name <addr>`. */
const address = z.string().transform((value, ctx) => {
  const email = parseAddress(value);
  if (email) return email;
  ctx.addIssue({ code: 'custom', message: ruleMessage('directory.not_email') });
  return z.NEVER;
});

const name = z.string().max(CONTACT_LIMITS.name);
const company = z.string().max(CONTACT_LIMITS.company);
const phone = z.string().max(CONTACT_LIMITS.phone);
const customKey = z
  .string()
  .trim()
  .min(1)
  .max(CONTACT_LIMITS.customKey)
  .refine(isCustomKey, ruleMessage('directory.custom_key'));
const customValue = z.string().max(CONTACT_LIMITS.customValue);
const customFields = z
  .record(customKey, customValue)
  .refine(customFieldsFit, ruleMessage('directory.too_many_fields', CUSTOM_FIELD_LIMITS));
const ids = z.array(z.string()).max(100);

/** Contact fields that templates can use, with the limits of stored contacts. */
export const mergeFields = z.strictObject({
  first_name: name,
  last_name: name,
  email: z.string().max(254),
  company,
  phone,
  custom_fields: customFields,
});

const statedVerdict = {
  verification_status: z
    .string()
    .max(50)
    .optional()
    .meta({ description: "valid, risky, invalid, unknown, or a service's word" }),
  verification_provider: z.string().max(50).optional().meta({ description: 'Such as zerobounce' }),
};

export const contactCreate = resource('ContactCreate', {
  email: address,
  first_name: name.optional(),
  last_name: name.optional(),
  company: company.optional(),
  phone: phone.optional(),
  campaigns: ids.optional().meta({ description: 'Campaigns to enroll the contact in' }),
  categories: ids.optional(),
  custom_fields: customFields.optional(),
  subscribed: z.boolean().optional().meta({ description: 'false stores an opt-out; true does not revoke one' }),
  ...statedVerdict,
});

export const contactUpdate = z.strictObject({
  first_name: name.optional(),
  last_name: name.optional(),
  email: address.optional(),
  company: company.optional(),
  phone: phone.optional(),
  custom_fields: customFields.optional().meta({ description: 'Replaces all custom fields' }),
  subscribed: z.boolean().optional(),
  campaigns: ids.optional().meta({ description: 'Replaces all memberships' }),
  categories: ids.optional().meta({ description: 'Replaces all categories' }),
  add_categories: ids.optional(),
  remove_categories: ids.optional(),
});

const filters = {
  query: z.string().max(200).optional().meta({ description: 'Part of name, email or company' }),
  custom_field_filters: z
    .array(
      z.strictObject({
        name: customKey,
        value: z.string().max(500),
        type: z.enum(['equal', 'starts_with', 'ends_with', 'contains']),
      }),
    )
    .max(20)
    .optional(),
  campaign_ids: ids.optional().meta({ description: 'Only contacts in all of these campaigns' }),
  category_ids: ids.optional().meta({ description: 'Only contacts in all of these categories' }),
  min_campaigns: z.int().min(0).optional(),
  max_campaigns: z.int().min(0).optional(),
  subscribed: z.boolean().optional(),
  lead_status: z
    .string()
    .optional()
    .meta({ description: `${LEAD_STATUSES.join(', ')}; needs exactly one campaign id` }),
  engagement: z
    .string()
    .optional()
    .meta({ description: `${ENGAGEMENTS.join(', ')}; needs exactly one campaign id` }),
  ...statedVerdict,
  created_after: inputTimestamp.optional(),
  created_before: inputTimestamp.optional(),
  updated_after: inputTimestamp.optional(),
  updated_before: inputTimestamp.optional(),
};

/** Error codes of filters of contacts. */
export const FILTER_ERRORS = [
  'invalid_lead_status',
  'invalid_engagement',
  'lead_filter_requires_campaign',
  'unknown_verification_status',
  'unknown_verification_provider',
] as const;

export const contactSearch = resource('ContactSearch', {
  ...filters,
  sort_by: z
    .string()
    .optional()
    .meta({ description: 'created_at (default), updated_at, first_name, last_name, email or campaign_count' }),
  reverse: z.boolean().optional().meta({ description: 'True sorts ascending' }),
});

/** Maximum size (bytes) of a selection; enough for 50,000 exclusions. */
export const SELECTION_BODY = 4 * 1024 * 1024;

/** Contacts of a bulk call: by id, or all that match filters. */
export const selection = {
  contacts: z.array(z.string()).optional(),
  all: z.boolean().optional(),
  filters: contactSearch.optional(),
  confirm_all: z
    .boolean()
    .optional()
    .meta({ description: 'Must be true with `all` and empty `filters`, which select every contact' }),
  exclude: z.array(z.string()).optional(),
};

export const bulkUpdate = z.strictObject({
  ...selection,
  add_campaigns: ids.optional(),
  remove_campaigns: ids.optional(),
  add_categories: ids.optional(),
  remove_categories: ids.optional(),
  fields: z
    .array(
      z.discriminatedUnion('type', [
        z
          .strictObject({ type: z.literal('ADD'), key: customKey, value: customValue })
          .meta({ description: 'Sets the field if it is missing' }),
        z
          .strictObject({ type: z.literal('EDIT'), key: customKey, value: customValue })
          .meta({ description: 'Sets the field if it exists' }),
        z.strictObject({ type: z.literal('DELETE'), key: customKey, value: z.string().optional() }),
        z
          .strictObject({ type: z.literal('RENAME'), key: customKey, value: customKey })
          .meta({ description: 'Renames the field to the key in `value`' }),
      ]),
    )
    .max(20)
    .optional(),
  subscribe: z.boolean().optional(),
  verify: z.literal(true).optional().meta({
    description: 'Verifies addresses without a verdict; the result is in verification_status',
  }),
});

const campaignId = z.string().meta({ description: 'Campaign of the action' });
const categoryId = z.string().meta({ description: 'Category of the action' });

export const bulkEditBody = z.strictObject({
  ...selection,
  action: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.enum(['add_to_campaign', 'remove_from_campaign']), campaign_id: campaignId }),
      z.strictObject({ type: z.enum(['add_category', 'remove_category']), category_id: categoryId }),
      z.strictObject({ type: z.literal('suppress'), reason: z.string().max(500).optional() }),
      z
        .strictObject({
          type: z.literal('verify'),
          again: z
            .boolean()
            .optional()
            .meta({ description: 'Also addresses with a verdict, which is kept until then' }),
        })
        .meta({ description: 'Verifies addresses without a verdict; the result is in verification_status' }),
      z
        .strictObject({ type: z.enum(['mark_deliverable', 'mark_undeliverable']) })
        .meta({ description: 'Sets verification_status to valid or invalid, as stated by a person' }),
    ])
    .meta({ description: 'The change of each selected contact' }),
});

export const verificationBody = z.strictObject({
  ...selection,
  action: z
    .enum(['verify', 'mark_deliverable', 'mark_undeliverable'])
    .meta({ description: '`verify` checks the addresses in the background, the others set the verdict' }),
});

const bulkEditFields = {
  id: uuid,
  action: z.enum([
    'add_to_campaign',
    'remove_from_campaign',
    'add_category',
    'remove_category',
    'suppress',
    'verify',
    'mark_deliverable',
    'mark_undeliverable',
  ]),
  target_id: uuid.nullable().meta({ description: 'Campaign or category of the action' }),
  selected: z.int().meta({ description: 'Number of selected contacts' }),
  changed: z.int().meta({ description: 'Number of contacts that the action has changed' }),
  pending: z.int().meta({ description: 'Number of changed contacts whose address waits for its check' }),
  completed_at: timestamp.nullable().meta({ description: 'Null while addresses wait for their check' }),
  undo_until: timestamp.meta({ description: 'Time until which it can be undone' }),
  undone_at: timestamp.nullable(),
  created_at: timestamp,
};

export const bulkEdit = resource('BulkEdit', bulkEditFields);

export const verificationRequested = resource('ContactVerification', {
  ...bulkEditFields,
  affected: z.int().meta({ description: 'The same as `changed`' }),
  queued: z.boolean().meta({ description: 'Checks run in the background' }),
});

/** Either a list of ids or a selection. */
export const bulkDelete = z
  .union([z.array(z.string()), z.strictObject(selection)])
  .transform((body) => (Array.isArray(body) ? { contacts: body } : body));

export const leadHold = resource('LeadHold', {
  since: timestamp,
  until: timestamp.nullable(),
  reason: z.string(),
  source: z.enum(['manual', 'out_of_office', 'other_campaign', 'approval']),
});

const contactFields = {
  id: uuid,
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  company: z.string(),
  phone: z.string(),
  custom_fields: z.record(z.string(), z.string()),
  subscribed: z.boolean(),
  campaigns: z.array(z.strictObject({ id: uuid, name: z.string() })),
  categories: z.array(z.strictObject({ id: uuid, title: z.string(), color: z.string() })),
  verification_status: z.enum(['valid', 'risky', 'invalid', 'unknown']),
  verification_reason: z.string(),
  is_catch_all: z.boolean(),
  verification_checked_at: timestamp.nullable(),
  esp_provider: z.string(),
  esp_resolved_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
};

export const contact = resource('Contact', contactFields);

export const foundContact = resource('FoundContact', {
  ...contactFields,
  campaign_lead: z
    .strictObject({
      status: z.enum(LEAD_STATUSES),
      sent: z.int(),
      opened: z.int(),
      clicked: z.int(),
      replied: z.int(),
      bounced: z.int(),
      current_step: z.string().optional(),
      failure_reason: z.string().optional(),
      last_activity_at: timestamp.nullable(),
      hold: leadHold.optional(),
    })
    .optional()
    .meta({ description: 'Present only if the search names exactly one campaign' }),
});

export const contactDetail = resource('ContactDetail', {
  ...contactFields,
  engagement: z.strictObject({
    total_sent: z.int(),
    total_opened: z.int(),
    total_clicked: z.int(),
    total_replied: z.int(),
    total_bounced: z.int(),
    total_complained: z.int(),
    last_sent_at: timestamp.nullable(),
    last_opened_at: timestamp.nullable(),
    last_clicked_at: timestamp.nullable(),
    last_replied_at: timestamp.nullable(),
    last_bounced_at: timestamp.nullable(),
  }),
  suppression: z
    .strictObject({
      ...shownReason,
      source: z.enum(['bounce', 'complaint', 'unsubscribe', 'manual', 'import']),
      expires_at: timestamp.nullable(),
      created_at: timestamp,
    })
    .nullable(),
});

export const contactPage = paged(contact);
export const foundContactPage = paged(foundContact);
