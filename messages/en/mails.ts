/** Texts of the emails that the installation sends to its users. */
export const mails = {
  // Emails about accounts.
  'mail.ignore': 'If this was not you, ignore this email: nothing has changed.',
  'mail.sign_in_code.subject': '{code} is your sign-in code',
  'mail.sign_in_code': 'Your code to sign in is',
  'mail.sign_up_code.subject': '{code} is your sign-up code',
  'mail.sign_up_code': 'Your code to finish your sign-up is',
  'mail.code_lasts': 'It is valid for {minutes, plural, one {# minute} other {# minutes}} and for one use.',
  'mail.reset.subject': 'Set a new password',
  'mail.reset': 'Set a new password here:',
  'mail.reset_lasts': 'The link is valid for {minutes, plural, one {# minute} other {# minutes}} and for one use.',
  'mail.no_account.subject': 'There is no account for this address',
  'mail.no_account': 'Somebody asked for a new password for this address at {url}, but it has no account there.',
  'mail.invitation.subject': 'You are invited to {workspace}',
  'mail.invitation':
    'You are invited to join the workspace {workspace}. Accept here within {days, plural, one {# day} other {# days}}:',
  'mail.invitation_unknown': 'If you do not know the workspace, ignore this email.',
  'mail.workspace_export.subject': 'The data of {workspace} is ready',
  'mail.workspace_export':
    'The export of the workspace {workspace} is ready. Sign in and download it here within {days, plural, one {# day} other {# days}}:',
  'mail.workspace_export_unknown': 'If you did not ask for it, tell the owner of the workspace.',

  // Emails about the deletion of a workspace or an account.
  'mail.workspace_deletion.scheduled.subject': '{workspace} will be deleted on {at, date, day}',
  'mail.workspace_deletion.reminder.subject': '{workspace} will be deleted tomorrow',
  'mail.workspace_deletion':
    'The workspace {workspace} and everything in it will be erased on {at, date, moment}. Nothing is sent until then, and API keys are refused. Members can still read and export data.',
  'mail.workspace_deletion.done.subject': '{workspace} was deleted',
  'mail.workspace_deletion.done': 'The workspace {workspace} and everything in it was erased. Nothing can be restored.',
  'mail.account_deletion.scheduled.subject': 'Your account will be deleted on {at, date, day}',
  'mail.account_deletion.reminder.subject': 'Your account will be deleted tomorrow',
  'mail.account_deletion':
    'Your account will be erased on {at, date, moment}, together with the workspaces of which you are the only member. Records that you created in other workspaces are kept without your name.',
  'mail.account_deletion.done.subject': 'Your account was deleted',
  'mail.account_deletion.done': 'Your account was erased. Nothing can be restored.',
  'mail.deletion_call_back': 'To stop the deletion, sign in before then and choose Keep:',

  // Emails about replies that threaten legal steps.
  'mail.legal_threat.subject': 'A reply to {workspace} threatens legal steps',
  'mail.legal_threat':
    '{sender} answered an email of the workspace {workspace} and mentions legal steps. The subject is "{subject}". Heron sends no further email to this address.',
  'mail.legal_threat_link': 'Read the conversation:',

  // Emails about tracking domains.
  'mail.tracking_domain.subject': 'Links no longer use {domain}',
  'mail.tracking_domain':
    'The workspace {workspace} uses {domain} for links in its emails. A check of this domain failed: {cause}. Until a check passes, links in new emails use {host}. Emails that were sent before keep their links. The check is repeated every hour.',

  // Emails about approvals.
  'mail.approval.subject': '{requester} asks: {title}',
  'mail.approval': 'An action waits for an approval, and you may decide:',
  'mail.approval_action': 'Action',
  'mail.approval_requester': 'Requested by',
  'mail.approval_by_key': '{name}, an API key of the workspace {workspace}',
  'mail.approval_by_application': '{name}, an application of the workspace {workspace}',
  'mail.approval_recipients': 'Recipients',
  'mail.approval_people': '{count, plural, one {# person} other {# people}}',
  'mail.approval_from': 'From',
  'mail.approval_no_mailbox': 'no mailbox',
  'mail.approval_more_senders': '{email} and {count, number} more',
  'mail.approval_until': 'Decide until',
  'mail.approval_reasons': 'Reasons',
  'mail.approval_link':
    'Opening the link makes no decision. You sign in, see the exact content, and approve or deny it.',
  'mail.approval_button': 'Review and decide',
  'mail.approval_last':
    'You have received the maximum number of these emails per hour. Until {at, date, moment} UTC, further requests appear only in the list of approvals.',
  'mail.moment': '{at, date, moment} UTC',
} as const;
