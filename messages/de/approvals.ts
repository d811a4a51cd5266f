/** Messages of the approvals area. */
export const approvals = {
  // Titles of actions that wait for a person.
  'action.launch': 'Kampagne „{name}“ starten',
  'action.leads': '{count, plural, one {# weiterem Lead} other {# weiteren Leads}} von „{name}“ schreiben',
  'action.email': 'E-Mail „{subject}“',
  'action.reply': 'Antwort „{subject}“',
  'action.order': '{count, plural, one {# Postfach} other {# Postfächer}} für {price} im Monat bestellen',

  // Reasons why an action waits.
  'approval_reason.no_policy': 'Der Zugang hat keine Richtlinie: Über jede Handlung entscheidet ein Mensch',
  'approval_reason.credential_revoked': 'Der Zugang wurde widerrufen',
  'approval_reason.policy_disabled': 'Die Richtlinie ist ausgeschaltet',
  'approval_reason.policy_expired': 'Die Richtlinie lief am {at, date, moment} ab',
  'approval_reason.capability_not_granted': 'Die Richtlinie erlaubt {capability} nicht',
  'approval_reason.mailbox_not_granted':
    'Die Richtlinie erlaubt {count, plural, one {eines} other {#}} der Postfächer nicht, die verwendet würden',
  'approval_reason.recipients_per_run_exceeded':
    '{count, plural, one {# Empfänger} other {# Empfänger}}; die Richtlinie erlaubt {most, number} auf einmal',
  'approval_reason.spend_not_granted':
    'Die Richtlinie nennt keinen Betrag im Monat: Jede Bestellung gibt ein Mensch frei',
  'approval_reason.spend_exceeded':
    'Die Bestellung kostet {cents, number} Cent im Monat; die Richtlinie erlaubt {most, number}',
  'approval_reason.actions_per_day_exceeded':
    'Heute {count, plural, one {# Handlung} other {# Handlungen}}; die Richtlinie erlaubt {most, number} am Tag',
  'approval_reason.recipients_per_day_exceeded':
    'Heute {count, plural, one {# Empfänger} other {# Empfänger}} und {more, number} weitere; die Richtlinie erlaubt {most, number} am Tag',
  'approval_reason.leads_per_day_exceeded':
    'Heute {count, plural, one {# Lead} other {# Leads}}; für diese Kampagne sind {most, number} am Tag erlaubt',

  // Messages about decisions, and about leads and steps of keys and applications.
  'approval.no_credential': 'Der Zugang fehlt',
  'approval.credential_gone': 'Den Zugang gibt es nicht mehr',
  'approval.people_only':
    'Über eine Freigabe entscheidet nur ein Mensch, der angemeldet ist und dessen Rolle senden darf',
  'approval.beyond_role': 'Deine Rolle erlaubt nicht, was du freigeben würdest: {capabilities}',
  'approval.allowance_of_leads': 'Ein Kontingent für weitere Leads gibt es nur zu freigegebenen Leads',
  'approval.leads_per_day': 'Die Leads am Tag müssen eine ganze Zahl von 1 bis {max, number} sein',
  'field.leads_only': 'gilt nur für freigegebene Leads (campaign_leads)',
  'approval.expired': 'Die Freigabe ist abgelaufen',
  'approval.expired.fix': 'Noch einmal darum bitten.',
  'approval.no_decision': 'Keine Entscheidung bis {at, date, moment}',
  'policy.beyond_role': 'Deine Rolle erlaubt nicht, was die Richtlinie erlaubt: {capabilities}',
  'policy.beyond_role.fix':
    'Diese Handlungen weglassen, die Richtlinie ausgeschaltet speichern, oder jemanden speichern lassen, dessen Rolle sie erlaubt.',
  'approval.already_approved': 'Die Freigabe wurde schon erteilt',
  'approval.already_denied': 'Die Freigabe wurde schon abgelehnt',
  'approval.already_executed': 'Die Freigabe wurde schon ausgeführt',
  'approval.already_pending': 'Die Freigabe steht noch aus',
  'approval.erased_email': 'E-Mail an einen gelöschten Kontakt',
  'approval.asked_again': 'Dieselbe Aktion wurde mit anderem Inhalt noch einmal angefragt',
  'approval.subject_gone': 'Das Angefragte wurde gelöscht',
  'approval.credential_ended': 'Der Zugang, der angefragt hat, gilt nicht mehr',
  'approval.content_changed': 'Der Inhalt hat sich seit der Freigabe geändert',
  'approval.not_carried_out': 'Die freigegebene Handlung endete, bevor sie ausgeführt war',
  'approval.mailboxes_ordered': 'Die Postfächer wurden inzwischen bestellt',
  'approval.email_cancelled': 'Die E-Mail wurde abgebrochen',
  'approval.contact_deleted': 'Der Kontakt wurde gelöscht',
  'approval.campaign_deleted': 'Die Kampagne wurde gelöscht',
  'approval.campaign_started': 'Die Kampagne wurde inzwischen gestartet',
  'approval.workspace_ends': 'Die Löschung des Arbeitsbereichs wurde geplant',
  'approval.run_cancelled': 'Der Lauf wurde abgebrochen',
  'approval.run_failed': 'Der Lauf ist gescheitert',
  'approval.run_denied': 'Der Lauf wurde abgelehnt',
  'leads.role': 'Deine Rolle darf einer Kampagne, die sendet, keine Leads hinzufügen',
  'leads.role.fix': 'Sie braucht manage_campaigns oder send_campaigns.',
  'leads.import_under_way': 'wartet auf das Ende seines Imports {import}; dann entscheidet die Richtlinie',
  'leads.beyond_policy':
    'Ein Schlüssel oder eine Anwendung kann eine Kampagne, die sendet, nur innerhalb der Richtlinie ändern: {reasons}',
  'leads.beyond_policy.fix':
    'Die Kampagne anhalten, ändern und wieder starten: Der Start wartet auf einen Menschen. Eine abgeschlossene Kampagne duplizieren.',
  'leads.wait_for_approval': 'wartet auf eine Freigabe: {reasons}',
  'leads.not_as_approved': 'weicht von der Freigabe ab: {fields}; wartet auf eine neue Freigabe',
  'leads.only_approval': 'Der Lead wartet auf eine Freigabe; nur ein Mensch kann ihn weiterlaufen lassen',
  'leads.only_approval.fix': 'Über die Freigabe entscheiden lassen, oder den Lead selbst weiterlaufen lassen.',
  'steps.beyond_author': 'Ein Schritt führt eine Handlung aus, die du selbst nicht darfst',
  'steps.starts_beyond_author':
    'Ein Schritt startet eine Automatisierung mit einer Handlung, die du selbst nicht darfst',
  'steps.beyond_author.fix': 'Jemand, der all diese Handlungen darf, muss den Schritt speichern.',
  'field.needs_right': 'ist {action}, das {right} verlangt',
  'field.needs_person': 'ist {action}, das nur ein Mensch speichern darf',
  'field.starts_needs_right': 'startet die Automatisierung „{automation}“: {action} verlangt {right}',
  'field.starts_needs_person': 'startet die Automatisierung „{automation}“: {action} darf nur ein Mensch speichern',
  'field.no_api_key': 'ist kein gültiger API-Schlüssel dieses Arbeitsbereichs',
  'field.no_grant': 'ist keine gültige Zustimmung zu einer Anwendung in diesem Arbeitsbereich',
  'field.key_and_grant': 'darf nicht neben api_key_id angegeben werden',
  'field.key_or_grant': 'fehlt, oder oauth_grant_id',
  'approval_reason.fields_changed': 'Weicht von der Freigabe ab: {fields}. Eine neue Freigabe ist nötig',
  'approval_reason.content_changed': 'Was freigegeben wurde, hat sich seither geändert: Es braucht eine neue Freigabe',
};
