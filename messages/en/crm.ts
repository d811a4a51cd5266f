/** Messages of the CRM. */
export const crm = {
  // Messages about deals and pipelines.
  'crm.pipelines': 'pipelines',
  'crm.stages': 'stages in a pipeline',
  'crm.task_types': 'task types',
  'crm.pipeline_has_deals': 'The pipeline has deals',
  'crm.pipeline_has_deals.fix': 'Move the deals with PATCH /v1/crm/deals/:id, or delete them, before the pipeline.',
  'crm.stage_has_deals': 'The stage has deals',
  'crm.stage_has_deals.fix': 'Move the deals with PATCH /v1/crm/deals/:id, or delete them, before the stage.',
  'crm.stage_of_other_pipeline': 'is a stage of another pipeline',
  'crm.no_open_deal': 'The contact has no open deal',
  'crm.amount_misfit': 'is too precise or too large for an amount of {currency}',

  // Messages about tasks.
  'crm.too_many_tasks': 'A call takes at most {max, number} tasks',
  'crm.too_many_tasks.fix': 'Split the list, or select with all and filters.',
  'crm.too_many_exclusions': 'A call takes at most {max, number} excluded tasks',
  'crm.too_many_exclusions.fix': 'Narrow the filters instead.',
  'crm.selection_too_large': 'More than {max, number} tasks match; nothing was changed',
  'crm.selection_too_large.fix': 'Narrow the filters.',
  'crm.filter_not_id': 'A filter of the tasks is not an id',
  'crm.selection_form': 'needs either tasks with ids, or all with filters',
  'crm.nothing_to_change': 'needs status, priority or both',

  // Titles of tasks that replies create.
  'crm.task_positive': 'Answer an interested reply',
  'crm.task_question': 'Answer a question',
  'crm.task_neutral': 'Read a reply',
  'crm.task_negative': 'Read a negative reply',
  'crm.task_out_of_office': 'Read an away message',
  'crm.task_automated': 'Read an automatic answer',
  'crm.task_of_campaign': '{title}: {campaign}',
  'crm.task_erasure': 'Erase the data of a person who asked for it',
  'crm.task_erasure.description':
    'A reply asks for the erasure of personal data. The law gives a month from its receipt. Deleting the contact erases the data and completes this task.',

  // Messages about meetings.
  'crm.meeting_ends_early': 'must be after scheduled_for',
  'crm.meeting_with_whom': 'needs exactly one of contact_id and invitee_email',
  'crm.meeting_canceled': 'The meeting was canceled',
  'crm.meeting_canceled.fix': 'Log the new meeting with POST /v1/meetings.',
  'crm.meeting_of_calendar': 'The meeting was booked in a calendar',
  'crm.meeting_of_calendar.fix': 'Reschedule or cancel it there: reschedule_url and cancel_url lead to it.',

  // Messages about actions of automations and campaign steps.
  'crm.action_text_empty': 'A text of the action is empty once its fields are filled in',
  'crm.action_texts_too_long': 'The texts of the action are too long once their fields are filled in',
  'crm.field_fault': '{field} {problem}',
  'crm.refused_row': 'The database rejected the data of the action',
} as const;
