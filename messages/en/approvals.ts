/** Messages of approvals. */
export const approvals = {
  // Titles of actions that wait for a person.
  'action.launch': 'Launch "{name}"',
  'action.leads': 'Write to {count, plural, one {# more lead} other {# more leads}} of "{name}"',
  'action.email': 'Email "{subject}"',
  'action.reply': 'Reply "{subject}"',
  'action.order': 'Order {count, plural, one {# mailbox} other {# mailboxes}} for {price} a month',

  // Reasons why an action waits.
  'approval_reason.no_policy': 'The credential has no policy: a person decides on every action',
  'approval_reason.credential_revoked': 'The credential was revoked',
  'approval_reason.policy_disabled': 'The policy is switched off',
  'approval_reason.policy_expired': 'The policy expired on {at, date, moment}',
  'approval_reason.capability_not_granted': 'The policy does not allow {capability}',
  'approval_reason.mailbox_not_granted':
    'The policy does not allow {count, plural, one {one} other {#}} of the mailboxes that would be used',
  'approval_reason.recipients_per_run_exceeded':
    '{count, plural, one {# recipient} other {# recipients}}; the policy allows {most, number} at a time',
  'approval_reason.spend_not_granted': 'The policy sets no monthly spend: a person approves every order',
  'approval_reason.spend_exceeded': 'The order costs {cents, number} cents a month; the policy allows {most, number}',
  'approval_reason.actions_per_day_exceeded':
    '{count, plural, one {# action} other {# actions}} today; the policy allows {most, number} a day',
  'approval_reason.recipients_per_day_exceeded':
    '{count, plural, one {# recipient} other {# recipients}} today and {more, number} more; the policy allows {most, number} a day',

  // Messages about decisions, and about leads and steps of keys and applications.
  'approval.no_credential': 'The credential is missing',
  'approval.credential_gone': 'The credential no longer exists',
  'approval.people_only': 'Only a signed-in person whose role may send can decide on an approval',
  'approval.expired': 'The approval has expired',
  'approval.expired.fix': 'Ask for the action again.',
  'approval.already_approved': 'The approval has been approved already',
  'approval.already_denied': 'The approval has been denied already',
  'approval.already_executed': 'The approval has been carried out already',
  'approval.already_pending': 'The approval is pending',
  'policy.beyond_role': 'Your role may not do itself what the policy allows: {capabilities}',
  'policy.beyond_role.fix': 'Leave it out, save the policy switched off, or let a person save it whose role allows it.',
  'leads.role': 'Your role may not add leads to a campaign that sends',
  'leads.role.fix': 'It needs manage_campaigns or send_campaigns.',
  'leads.import_by_credential': 'A key or application cannot import a file into a campaign that sends',
  'leads.import_by_credential.fix':
    'Import the contacts without a campaign, and add them with POST /v1/campaigns/:id/leads, which checks the policy.',
  'leads.beyond_policy': 'A key or application can change a campaign that sends only within its policy: {reasons}',
  'leads.beyond_policy.fix':
    'Stop the campaign, change it and start it again: the start waits for a person. Duplicate a completed campaign instead.',
  'leads.wait_for_approval': 'waits for a person to approve it: {reasons}',
  'leads.not_as_approved': 'not as it was approved: {fields}; waits for another approval',
  'leads.only_approval': 'The lead waits for an approval, and only a person can resume it',
  'leads.only_approval.fix': 'Let a person decide on the approval, or resume the lead.',
  'steps.beyond_author': 'A step does something that you may not do yourself',
  'steps.starts_beyond_author': 'A step starts an automation that does something you may not do yourself',
  'steps.beyond_author.fix': 'Let somebody who may do all of it save the step.',
  'field.needs_right': 'is {action}, which needs {right}',
  'field.needs_person': 'is {action}, which only a person may save',
  'field.starts_needs_right': 'starts the automation "{automation}", whose {action} needs {right}',
  'field.starts_needs_person': 'starts the automation "{automation}", whose {action} only a person may save',
  'field.no_api_key': 'is not a usable API key of this workspace',
  'field.no_grant': 'is not a current OAuth grant of this workspace',
  'field.key_and_grant': 'must not be given beside api_key_id',
  'field.key_or_grant': 'is required, or oauth_grant_id',
  'approval_reason.fields_changed': 'Not as it was approved: {fields}. It needs another approval',
  'approval_reason.content_changed': 'The approved content has changed since: it needs another approval',
} as const;
