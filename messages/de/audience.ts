/** Sätze des Raums audience. */
export const audience = {
  'labels.category_named': 'Bedingungen nennen die Kategorie; ohne sie würden sie andere Kontakte meinen',
  'labels.category_named.fix': 'Diese zuerst ändern oder löschen.',
  'contacts.field_named': 'Bedingungen nennen das Feld „{field}“; ohne es würden sie andere Kontakte meinen',
  'contacts.field_exists': 'Das Feld „{field}“ gibt es schon, seine Werte gingen verloren',
  'contacts.field_exists.count':
    '{count, plural, one {# Kontakt hat beide Felder} other {# Kontakte haben beide Felder}}',
  'contacts.field_exists.fix': 'Einen anderen Namen wählen oder das Feld mit diesem Namen zuerst löschen.',
  'contacts.all_unconfirmed': 'Die Filter nennen nichts, also wäre jeder Kontakt des Arbeitsbereichs gemeint',
  'contacts.all_unconfirmed.field': 'muss true sein, um jeden Kontakt zu meinen',
  'segments.names_it': 'wird vom Segment „{name}“ genannt',
  'automations.names_it': 'wird von der Automatisierung „{name}“ genannt',
  'campaigns.names_it': 'wird von einem Schritt der Kampagne „{name}“ genannt',
  'segments.conditions_faulty': 'Einige Bedingungen sind nicht zu gebrauchen',
  'segments.no_category': 'ist keine Kategorie dieses Arbeitsbereichs',
  'segments.no_campaign': 'ist keine Kampagne dieses Arbeitsbereichs',
  'events.nobody': 'muss die Kennung einer einzigen Person sein; das schreibt ein Programm, das keine kennt',
};
