/** Sentences of the room audience. */
export const audience = {
  'labels.category_named': 'The category is named by conditions, which would mean other contacts without it',
  'labels.category_named.fix': 'Change or delete these first.',
  'contacts.field_named': 'The field "{field}" is named by conditions, which would mean other contacts without it',
  'contacts.field_exists': 'The field "{field}" exists already, and its values would be lost',
  'contacts.field_exists.count': '{count, plural, one {# contact has both fields} other {# contacts have both fields}}',
  'contacts.field_exists.fix': 'Choose another name, or delete the field with that name first.',
  'contacts.all_unconfirmed': 'The filters name nothing, so every contact of the workspace is meant',
  'contacts.all_unconfirmed.field': 'must be true to mean every contact',
  'segments.names_it': 'is named by the segment "{name}"',
  'automations.names_it': 'is named by the automation "{name}"',
  'campaigns.names_it': 'is named by a step of the campaign "{name}"',
  'segments.conditions_faulty': 'Some conditions cannot be used',
  'segments.no_category': 'is no category of this workspace',
  'segments.no_campaign': 'is no campaign of this workspace',
  'events.nobody': 'must be the id of one person; this is what a client writes where it knows none',
} as const;
