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

/** Outreach statuses of a contact. If several apply, the last one in this list counts. */
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
  label: string;
  type: SegmentFieldType;
  operators: readonly SegmentOperator[];
  /** Permitted entries of `values`, if the list is closed. */
  values?: readonly string[];
}

/** Prefix of custom fields, such as `custom.plan`. */
export const CUSTOM_PREFIX = 'custom.';

export const SEGMENT_FIELDS: readonly SegmentField[] = [
  { name: 'email', label: 'Email', type: 'text', operators: TEXT },
  { name: 'email_domain', label: 'Email domain', type: 'text', operators: TEXT },
  { name: 'first_name', label: 'First name', type: 'text', operators: TEXT },
  { name: 'last_name', label: 'Last name', type: 'text', operators: TEXT },
  { name: 'company', label: 'Company', type: 'text', operators: TEXT },
  { name: 'phone', label: 'Phone', type: 'text', operators: TEXT },
  { name: 'subscribed', label: 'Subscribed', type: 'flag', operators: FLAG, values: ['true', 'false'] },
  { name: 'category', label: 'Category', type: 'label', operators: LABEL },
  {
    name: 'verification_status',
    label: 'Verification status',
    type: 'choice',
    operators: CHOICE,
    values: ['valid', 'risky', 'invalid', 'unknown'],
  },
  { name: 'created_at', label: 'Created', type: 'time', operators: TIME },
  {
    name: 'outreach_status',
    label: 'Outreach status',
    type: 'choice',
    operators: CHOICE,
    values: OUTREACH_STATUSES,
  },
  { name: 'seniority', label: 'Seniority', type: 'text', operators: TEXT },
  { name: 'department', label: 'Department', type: 'text', operators: TEXT },
  { name: 'job_title', label: 'Job title', type: 'text', operators: TEXT },
  { name: 'company_domain', label: 'Company domain', type: 'text', operators: TEXT },
  { name: 'emailed_by_campaign', label: 'Emailed by campaign', type: 'campaign', operators: LABEL },
];

/** Returns the segment field for a custom field's key. */
export function customField(key: string): SegmentField {
  return { name: `${CUSTOM_PREFIX}${key}`, label: key, type: 'text', operators: TEXT };
}

/** Returns the field of a name, if it exists. */
export function segmentField(name: string): SegmentField | undefined {
  if (name.startsWith(CUSTOM_PREFIX) && name.length > CUSTOM_PREFIX.length)
    return customField(name.slice(CUSTOM_PREFIX.length));
  return SEGMENT_FIELDS.find((field) => field.name === name);
}
