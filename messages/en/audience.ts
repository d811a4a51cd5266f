/** Sentences of the room audience. */
export const audience = {
  // Contacts.
  'audience.too_many_contacts': 'A request takes at most {max, number} contacts',
  'audience.too_many_contacts.fix': 'Split the list, or use POST /v1/contacts/import.',
  'audience.too_many_selected': 'A call takes at most {max, number} contacts',
  'audience.too_many_selected.fix': 'Split the list, or select with all and filters.',
  'audience.too_many_exclusions': 'A call takes at most {max, number} excluded contacts',
  'audience.too_many_exclusions.fix': 'Narrow the filters instead.',
  'audience.selection_too_large': 'The filters match more than {max, number} contacts; nothing was changed',
  'audience.selection_too_large.fix': 'Narrow the filters and repeat.',
  'audience.answer_too_large':
    'The custom fields of the selected contacts do not fit into one answer; nothing was changed',
  'audience.answer_too_large.fix': 'Select fewer contacts and repeat.',
  'audience.not_email': 'This is not an email address',
  'audience.filters_needed': 'Selecting all needs filters',
  'audience.filters_with_all': 'is required with all; an empty object matches every contact',
  'audience.suppressed': 'This address is suppressed',
  'audience.suppressed.fix': 'Remove its entry with DELETE /v1/suppressions/:id first.',
  'audience.no_verification': 'Address verification is off on this installation',
  'audience.no_verification.fix': 'The operator sets EMAIL_VERIFICATION.',
  'audience.contact_deleted': 'The contact was deleted',
  'audience.unknown_segment': 'is not a segment of this workspace',
  'audience.exports_running': 'other exports are running',

  // Labels.
  'audience.labels_tag': 'tags',
  'audience.labels_folder': 'folders',
  'audience.labels_category': 'categories',
  'audience.tag_chooses_senders': 'Some campaigns choose their mailboxes by this tag alone',
  'audience.tag_chooses_senders.fix': 'Give these campaigns another tag or senders of their own first.',
  'audience.would_send_from_all': 'The campaign "{name}" would send from every mailbox',

  // Product events and persons.
  'audience.event_owner': 'must be given, or the other one of email and contact_id, but not both',
  'audience.event_too_large': 'must be at most {kib, number} KiB',
  'audience.event_ahead': 'must be at most one hour in the future',
  'audience.event_contact_unknown': 'No contact has this address or id',
  'audience.event_contact_unknown.fix':
    'Create the contact first with POST /v1/contacts, or send the user_id or anonymous_id of a person without a contact.',
  'audience.event_not_found': 'Event not found',
  'audience.event_not_found.fix':
    'GET /v1/events lists the events of the workspace; they are deleted after their retention.',
  'audience.person_busy': 'Other requests are changing the person of this event',
  'audience.person_busy.fix': 'Send the request again.',
  'audience.conflict_busy': 'Other requests are changing the people of this conflict',
  'audience.conflict_busy.fix': 'Send the request again.',
  'audience.conflict_resolved': 'This conflict has been resolved already',
  'audience.conflict_resolved.fix': 'GET /v1/identity-conflicts lists the open conflicts.',
  'audience.both_have_contacts': 'Both people have a contact',
  'audience.both_have_contacts.fix': 'Delete one of the contacts, or dismiss the conflict.',
  'audience.person_has_contact': 'This person has a contact',
  'audience.person_has_contact.fix': 'Delete the contact with DELETE /v1/contacts/:id: its person is erased with it.',

  // Prospect catalogue.
  'audience.no_catalogue': 'This installation has no prospect catalogue',
  'audience.no_catalogue.fix': 'The operator sets PROSPECT_DB.',
  'audience.catalogue_empty': 'The prospect catalogue is empty',
  'audience.catalogue_empty.fix': 'The operator runs `heron catalogue load` on the database of PROSPECT_DB.',
  'audience.catalogue_slow': 'The prospect catalogue did not answer in time',
  'audience.catalogue_slow.fix': 'Narrow the filters and try again.',
  'audience.catalogue_selection': 'Some people cannot be imported; nothing was imported',
  'audience.catalogue_selection.fix': 'Leave these people out.',
  'audience.not_catalogue_id': 'is not an id of the catalogue',
  'audience.named_before': 'is named twice',
  'audience.not_in_catalogue': 'is not a person of the catalogue',
  'audience.no_valid_email': 'has no valid email address',
  'audience.too_many_bytes': 'must be at most {max, number} bytes',
  'audience.value_too_many_bytes': 'has a value of more than {max, number} bytes',
  'audience.half_character': 'has half of a character',
  'audience.not_whole': 'must be a whole number from {min, number} to {max, number}',
  'audience.fewer_than_min': 'must not be less than min_employees',

  // Imports of files.
} as const;
