/** Messages about unknown ids in requests, conditions on contacts, and suppressed addresses. */
export const directory = {
  // Messages about ids that no record has.
  'directory.not_id': 'is not an id',
  'directory.unknown_contact': 'is not a contact of this workspace',
  'directory.unknown_deal': 'is not a deal of this workspace',
  'directory.unknown_campaign': 'is not a campaign of this workspace',
  'directory.unknown_category': 'is not a category of this workspace',
  'directory.unknown_goal': 'is not a goal of this workspace',
  'directory.unknown_mailbox': 'is not a mailbox of this workspace',
  'directory.unknown_member': 'is not a member of this workspace',
  'directory.unknown_team': 'is not a team of this workspace',
  'directory.unknown_pipeline': 'is not a pipeline of this workspace',
  'directory.unknown_stage': 'is not a stage of this workspace',
  'directory.unknown_automation': 'is not an automation of this workspace',
  'directory.unknown_app_connection': 'is not an app connection of this workspace',
  'directory.no_contact_named': 'names no contact of this workspace',
  'directory.no_contact_matched': 'matches no contact',
  'directory.nothing_selected': 'selects nothing',

  // Formats of values.
  'directory.color': 'must be a color such as #1a2b3c',
  'directory.currency': 'is not a currency of ISO 4217',
  'directory.not_time_zone': 'is not a time zone of the IANA database, such as Europe/Budapest',
  'directory.not_email': 'is not an email address',
  'directory.unstorable': 'has a character that cannot be stored',
  'directory.event_name': 'must be segments of a-z, 0-9, _ and -, joined by dots',
  'directory.path_segment_empty': 'has an empty segment',
  'directory.path_segments': 'must have at most {max, plural, one {# segment} other {# segments}}',

  // Messages about contacts and conditions on them.
  'directory.too_many_fields':
    'must have at most {max, number} custom fields, with {characters, number} characters in all of them',
  'directory.contacts_too_many_fields':
    'gives {contacts, plural, one {# contact} other {# contacts}} more than {max, number} custom fields, or than {characters, number} characters in them',
  'directory.custom_key': 'is not a name that a custom field may have',
  'directory.unknown_field': 'is not a field of segments: GET /v1/segments/fields lists them',
  'directory.no_values': 'must be empty with this operator',
  'directory.one_value': 'must have exactly one value',
  'directory.time_value': 'must be a date (YYYY-MM-DD, UTC) or a time of RFC 3339',
  'directory.one_campaign': 'must have exactly one campaign, with lead_status or engagement',
  'directory.conditions_too_long': 'must have at most {most, number} characters in all values',
  'directory.too_many_patterns':
    'has too many values for contains, starts_with and ends_with: {patterns, plural, one {# value} other {# values}} can be compared with at most {contacts, plural, one {# contact} other {# contacts}}',
  'directory.unknown_lead_status': 'The lead_status is unknown',
  'directory.unknown_verdict': 'No known service writes this verification_status',
  'directory.unknown_provider': 'The words of this verification_provider are unknown',
  'directory.verdict_needed': 'is required with verification_provider',
  'directory.unknown_engagement': 'The engagement is unknown',
  'directory.lead_filter_campaign': 'The filters lead_status and engagement need one campaign',
  'directory.lead_filter_campaign.fix': 'Send exactly one id in campaign_ids.',

  // Reasons why an address must not be emailed.
  'directory.opted_out': 'The contact has opted out',
  'directory.may_opt_out': 'A message from this address may be an opt-out; decide in the inbox first',
  'directory.suppressed': 'The address is suppressed ({source})',

  // Fields of segments.
  'segment_field.email': 'Email',
  'segment_field.email_domain': 'Email domain',
  'segment_field.first_name': 'First name',
  'segment_field.last_name': 'Last name',
  'segment_field.company': 'Company',
  'segment_field.phone': 'Phone',
  'segment_field.subscribed': 'Subscribed',
  'segment_field.category': 'Category',
  'segment_field.verification_status': 'Verification status',
  'segment_field.created_at': 'Created',
  'segment_field.outreach_status': 'Outreach status',
  'segment_field.seniority': 'Seniority',
  'segment_field.department': 'Department',
  'segment_field.job_title': 'Job title',
  'segment_field.company_domain': 'Company domain',
  'segment_field.emailed_by_campaign': 'Emailed by campaign',

  // Sources of suppressions, and results of address verification.
  'suppression_source.bounce': 'bounce',
  'suppression_source.complaint': 'spam complaint',
  'suppression_source.unsubscribe': 'opt-out',
  'suppression_source.manual': 'added by a person',
  'suppression_source.import': 'import',
  'verification_status.valid': 'valid',
  'verification_status.risky': 'risky',
  'verification_status.invalid': 'invalid',
  'verification_status.unknown': 'unknown',
} as const;
