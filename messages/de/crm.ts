/** Sätze des Raums crm. */
export const crm = {
  'crm.pipeline_has_deals': 'In der Pipeline sind Geschäfte',
  'crm.pipeline_has_deals.fix': 'Die Geschäfte erst verschieben oder löschen.',
  'crm.stage_has_deals': 'In der Stufe sind Geschäfte',
  'crm.stage_has_deals.fix': 'Die Geschäfte erst verschieben oder löschen.',
  'crm.stage_of_other_pipeline': 'ist eine Stufe einer anderen Pipeline',
  'crm.no_open_deal': 'Der Kontakt hat kein offenes Geschäft',
  'crm.amount_misfit': 'ist für einen Betrag in {currency} zu genau oder zu groß',

  'crm.too_many_tasks': 'Höchstens {max, number} Aufgaben auf einmal',
  'crm.too_many_tasks.fix': 'Die Liste teilen oder nach einem Filter wählen.',
  'crm.too_many_exclusions': 'Höchstens {max, number} ausgenommene Aufgaben auf einmal',
  'crm.too_many_exclusions.fix': 'Stattdessen den Filter enger fassen.',
  'crm.selection_too_large': 'Es sind mehr als {max, number} Aufgaben; nichts wurde geändert',
  'crm.selection_too_large.fix': 'Den Filter enger fassen.',
  'crm.filter_not_id': 'Ein Filter der Aufgaben ist keine ID',
  'crm.selection_form': 'braucht entweder Aufgaben mit IDs oder alle mit einem Filter',
  'crm.nothing_to_change': 'braucht Stand, Priorität oder beides',

  'crm.meeting_ends_early': 'muss nach dem Beginn liegen',
  'crm.meeting_with_whom': 'braucht genau einen Kontakt oder eine Adresse',
  'crm.meeting_canceled': 'Der Termin wurde abgesagt',
  'crm.meeting_canceled.fix': 'Den neuen Termin eintragen.',
  'crm.meeting_of_calendar': 'Der Termin wurde in einem Kalender gebucht',
  'crm.meeting_of_calendar.fix': 'Dort verschieben oder absagen.',

  'crm.action_text_empty': 'Ein Text der Aktion ist leer, sobald seine Felder ausgefüllt sind',
  'crm.action_texts_too_long': 'Die Texte der Aktion sind zu lang, sobald ihre Felder ausgefüllt sind',
  'crm.field_fault': '{field} {problem}',
  'crm.refused_row': 'Die Datenbank lehnte ab, was die Aktion schreibt',
};
