import { message, type Message } from '../../../messages/index.ts';
import { externalText } from '../../platform/external-text.ts';

const TEXT = [
  'equal',
  'not_equal',
  'contains',
  'starts_with',
  'ends_with',
  'in',
  'not_in',
  'exists',
  'not_exists',
] as const;
const CHOICE = ['equal', 'not_equal', 'in', 'not_in'] as const;
const LABEL = ['equal', 'not_equal', 'in', 'not_in', 'exists', 'not_exists'] as const;
const FLAG = ['equal', 'not_equal'] as const;
const TIME = ['before', 'after'] as const;

type SegmentOperator = (typeof TEXT)[number] | (typeof TIME)[number];
type SegmentFieldType = 'text' | 'choice' | 'label' | 'campaign' | 'flag' | 'time';

/** Outreach statuses of a contact. If several apply to a contact, its status is the last of them in this list. */
export const OUTREACH_STATUSES = [
  'fresh',
  'enrolled',
  'contacted',
  'replied',
  'positive',
  'meeting',
  'bounced',
  'unsubscribed',
] as const;
export type OutreachStatus = (typeof OUTREACH_STATUSES)[number];

/** A field that conditions may use (GET /segments/fields). */
export interface SegmentField {
  name: string;
  label: Message;
  type: SegmentFieldType;
  operators: readonly SegmentOperator[];
  /** Permitted entries of `values`, if the list is closed. */
  values?: readonly string[];
}

/** Prefix of custom fields, such as `custom.plan`. */
export const CUSTOM_PREFIX = 'custom.';

export const SEGMENT_FIELDS: readonly SegmentField[] = [
  { name: 'email', label: message('segment_field.email'), type: 'text', operators: TEXT },
  { name: 'email_domain', label: message('segment_field.email_domain'), type: 'text', operators: TEXT },
  { name: 'first_name', label: message('segment_field.first_name'), type: 'text', operators: TEXT },
  { name: 'last_name', label: message('segment_field.last_name'), type: 'text', operators: TEXT },
  { name: 'company', label: message('segment_field.company'), type: 'text', operators: TEXT },
  { name: 'phone', label: message('segment_field.phone'), type: 'text', operators: TEXT },
  {
    name: 'subscribed',
    label: message('segment_field.subscribed'),
    type: 'flag',
    operators: FLAG,
    values: ['true', 'false'],
  },
  { name: 'category', label: message('segment_field.category'), type: 'label', operators: LABEL },
  {
    name: 'verification_status',
    label: message('segment_field.verification_status'),
    type: 'choice',
    operators: CHOICE,
    values: ['valid', 'risky', 'invalid', 'unknown'],
  },
  { name: 'created_at', label: message('segment_field.created_at'), type: 'time', operators: TIME },
  {
    name: 'outreach_status',
    label: message('segment_field.outreach_status'),
    type: 'choice',
    operators: CHOICE,
    values: OUTREACH_STATUSES,
  },
  { name: 'seniority', label: message('segment_field.seniority'), type: 'text', operators: TEXT },
  { name: 'department', label: message('segment_field.department'), type: 'text', operators: TEXT },
  { name: 'job_title', label: message('segment_field.job_title'), type: 'text', operators: TEXT },
  { name: 'company_domain', label: message('segment_field.company_domain'), type: 'text', operators: TEXT },
  {
    name: 'emailed_by_campaign',
    label: message('segment_field.emailed_by_campaign'),
    type: 'campaign',
    operators: LABEL,
  },
];

/** Returns the segment field for a custom field's key. */
export function customField(key: string): SegmentField {
  return { name: `${CUSTOM_PREFIX}${key}`, label: externalText(key), type: 'text', operators: TEXT };
}

/** Returns the field of a name, if it exists. */
export function segmentField(name: string): SegmentField | undefined {
  if (name.startsWith(CUSTOM_PREFIX) && name.length > CUSTOM_PREFIX.length)
    return customField(name.slice(CUSTOM_PREFIX.length));
  return SEGMENT_FIELDS.find((field) => field.name === name);
}
