/** Sätze des Raums directory: was eine Anfrage beim Namen nennt, Bedingungen an Kontakte, gesperrte Adressen. */
export const directory = {
  'directory.not_id': 'ist keine ID',
  'directory.unknown_contact': 'ist kein Kontakt dieses Arbeitsbereichs',
  'directory.unknown_deal': 'ist kein Geschäft dieses Arbeitsbereichs',
  'directory.unknown_campaign': 'ist keine Kampagne dieses Arbeitsbereichs',
  'directory.unknown_category': 'ist keine Kategorie dieses Arbeitsbereichs',
  'directory.unknown_goal': 'ist kein Ziel dieses Arbeitsbereichs',
  'directory.unknown_mailbox': 'ist kein Postfach dieses Arbeitsbereichs',
  'directory.unknown_member': 'ist kein Mitglied dieses Arbeitsbereichs',
  'directory.unknown_team': 'ist kein Team dieses Arbeitsbereichs',
  'directory.unknown_pipeline': 'ist keine Pipeline dieses Arbeitsbereichs',
  'directory.unknown_stage': 'ist keine Stufe dieses Arbeitsbereichs',
  'directory.unknown_automation': 'ist keine Automatisierung dieses Arbeitsbereichs',
  'directory.unknown_app_connection': 'ist keine App-Verbindung dieses Arbeitsbereichs',
  'directory.no_contact_named': 'nennt keinen Kontakt dieses Arbeitsbereichs',
  'directory.no_contact_matched': 'passt auf keinen Kontakt',
  'directory.nothing_selected': 'wählt nichts aus',

  'directory.color': 'muss eine Farbe wie #1a2b3c sein',
  'directory.currency': 'ist keine Währung nach ISO 4217',
  'directory.not_time_zone': 'ist keine Zeitzone der IANA-Datenbank wie Europe/Berlin',
  'directory.not_email': 'ist keine E-Mail-Adresse',
  'directory.unstorable': 'enthält ein Zeichen, das sich nicht speichern lässt',
  'directory.event_name': 'muss aus Teilen mit a-z, 0-9, _ und - bestehen, mit Punkten dazwischen',
  'directory.path_segment_empty': 'hat einen leeren Teil',
  'directory.path_segments': 'darf höchstens {max, plural, one {# Teil} other {# Teile}} haben',

  'directory.too_many_fields':
    'darf höchstens {max, number} eigene Felder haben, mit zusammen {characters, number} Zeichen',
  'directory.contacts_too_many_fields':
    'gibt {contacts, plural, one {# Kontakt} other {# Kontakten}} mehr als {max, number} eigene Felder oder darin mehr als {characters, number} Zeichen',
  'directory.custom_key': 'ist kein zulässiger Name eines eigenen Feldes',
  'directory.unknown_field': 'ist kein Feld von Segmenten',
  'directory.no_values': 'muss bei diesem Vergleich leer sein',
  'directory.one_value': 'muss genau einen Wert haben',
  'directory.time_value': 'muss ein Datum (JJJJ-MM-TT, UTC) oder ein Zeitpunkt nach RFC 3339 sein',
  'directory.one_campaign': 'braucht bei Stand oder Beteiligung genau eine Kampagne',
  'directory.unknown_lead_status': 'Diesen Stand eines Leads gibt es nicht',
  'directory.unknown_engagement': 'Diese Beteiligung gibt es nicht',
  'directory.lead_filter_campaign': 'Nach Stand und Beteiligung lässt sich nur in einer Kampagne filtern',
  'directory.lead_filter_campaign.fix': 'Genau eine Kampagne wählen.',

  'directory.opted_out': 'Der Kontakt hat sich abgemeldet',
  'directory.may_opt_out':
    'Eine Nachricht von dieser Adresse ist vielleicht eine Abmeldung: zuerst im Posteingang entscheiden',
  'directory.suppressed': 'Die Adresse ist gesperrt ({source})',
};
