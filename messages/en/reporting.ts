/** Messages of the reporting area. */
export const reporting = {
  // Messages about goals and their replays.
  'reporting.goal_archived': 'The goal is archived',
  'reporting.goal_archived.fix': 'Define a new goal with POST /v1/goals.',
  'reporting.active_goals': 'goals that are not archived',
  'reporting.replay_ended': 'The replay has ended',
  'reporting.replay_ended.fix': 'To count by other rules, change the goal and start another replay.',
  'reporting.preview_too_large': 'A preview covers at most {max, number} events',
  'reporting.preview_too_large.fix': 'Preview a shorter range.',
  'reporting.needs_currency': 'needs currency_path or default_currency',

  // Problems of time ranges.
  'reporting.not_after_from': 'must be after from',
  'reporting.before_from': 'must not be before from',
  'reporting.days_after_from': 'must be at most {max, plural, one {# day} other {# days}} after from',
  'reporting.days': 'must be at most {max, plural, one {# day} other {# days}} from the first day on',
  'reporting.from_in_future': 'must not be in the future',

  // Messages about funnels, attribution and figures.
  'reporting.no_such_step': 'is not one of the steps',
  'reporting.no_step_before': 'has no step before it',
  'reporting.send_unconfirmed': 'is not a confirmed send of this workspace',
  'reporting.send_of_other_contact': 'went to another contact',
  'reporting.send_after_acquisition': 'was sent after the acquisition',
  'reporting.figure_not_by': 'is not a filter of the figure {figure}',
  'reporting.figure_needs': 'is required for the figure {figure}, which counts one campaign',
  'reporting.no_valid_id': 'has no valid id',

  // Health problems of a mailbox.
  'mailbox_issue.revoked': 'Its sign-in was revoked',
  'mailbox_issue.off': 'It is switched off',
  'mailbox_issue.held': 'It is held',
  'mailbox_issue.problems': '{count, plural, one {# open problem} other {# open problems}}',
  'mailbox_issue.watch': 'Its warmup is at "watch"',
  'mailbox_issue.throttled': 'Its warmup is throttled',
  'mailbox_issue.quarantined': 'Its warmup is quarantined',
  'mailbox_issue.blocked': 'Its warmup is blocked',

  // Texts of the email with the weekly report.
  'report.subject':
    '{workspace}: {sent, number} sent, {replies, plural, one {# reply} other {# replies}} in the week of {week, date, day}',
  'report.heading': '{workspace}, week of {week, date, day}',
  'report.week': 'A week is from Monday to Sunday in {timezone}.',
  'report.sent': 'Sent',
  'report.delivered': 'Delivered',
  'report.replies': 'Replies',
  'report.positive': 'Positive replies',
  'report.bounces': 'Bounces',
  'report.complaints': 'Complaints',
  'report.opt_outs': 'Opt-outs',
  'report.this_week': 'This week',
  'report.week_before': 'The week before',
  'report.unchanged': 'as in the week before',
  'report.changed': '{change}, {before, number} in the week before',
  'report.by_intent': 'Replies by intent',
  'report.intent_positive': 'Positive',
  'report.intent_negative': 'Negative',
  'report.intent_question': 'Question',
  'report.intent_neutral': 'Neutral',
  'report.intent_out_of_office': 'Out of office',
  'report.intent_automated': 'Automated',
  'report.no_replies': 'No connected mailbox received a reply.',
  'report.best_campaign':
    'Best campaign: {name} ({positive, number} positive of {replies, plural, one {# reply} other {# replies}}, {rate, number} % of {sent, number} sent)',
  'report.no_best_campaign': 'No campaign received a reply.',
  'report.mailboxes_well': 'All mailboxes are healthy.',
  'report.mailboxes': 'Mailboxes with problems',
  'report.more_mailboxes': 'and {count, number} more',
  'report.why': 'You get this email because weekly reports are on in your workspace.',
  'report.stop': 'Stop these emails',
  'report.open': 'Open Heron',
  'goals.event_passed_over': 'The event was skipped, because it kept failing ({kind})',
} as const;
