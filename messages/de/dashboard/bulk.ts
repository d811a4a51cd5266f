export const bulk = {
  'bulk.bar': 'Aktionen für die ausgewählten Zeilen',
  'bulk.all': 'Alle passenden sind ausgewählt',
  'bulk.count': '{count, plural, one {Eine ausgewählt} other {# ausgewählt}}',
  'bulk.chooseAll': 'Alle passenden auswählen',
  'bulk.chooseAll.count': 'Alle {total} passenden auswählen',
  'bulk.clear': 'Aufheben',
  'bulk.campaign': 'In eine Kampagne aufnehmen',
  'bulk.campaign.why': 'Wer schon Lead der Kampagne ist, bleibt unverändert.',
  'bulk.campaign.which': 'Kampagne',
  'bulk.add': 'Aufnehmen',
  'bulk.added':
    '{count, plural, one {Ein Kontakt ist jetzt in der Kampagne} other {# Kontakte sind jetzt in der Kampagne}}',
  'bulk.tag': 'Schlagwort vergeben',
  'bulk.tag.which': 'Schlagwort',
  'bulk.tagged':
    '{count, plural, one {Ein Kontakt hat jetzt das Schlagwort} other {# Kontakte haben jetzt das Schlagwort}}',
  'bulk.untag': 'Schlagwort entfernen',
  'bulk.untagged':
    '{count, plural, one {Schlagwort bei einem Kontakt entfernt} other {Schlagwort bei # Kontakten entfernt}}',
  'bulk.leave': 'Aus dieser Kampagne entfernen',
  'bulk.left': '{count, plural, one {Ein Lead entfernt} other {# Leads entfernt}}',
  'bulk.verify': 'Adressen prüfen',
  'bulk.verified': '{count, plural, one {Eine Adresse wird geprüft} other {# Adressen werden geprüft}}',
  'bulk.markDeliverable': 'Als zustellbar markieren',
  'bulk.markedDeliverable':
    '{count, plural, one {Eine Adresse ist als zustellbar markiert} other {# Adressen sind als zustellbar markiert}}',
  'bulk.markUndeliverable': 'Als unzustellbar markieren',
  'bulk.markedUndeliverable':
    '{count, plural, one {Eine Adresse ist als unzustellbar markiert} other {# Adressen sind als unzustellbar markiert}}',
  'bulk.export': 'Als CSV exportieren',
  'bulk.suppress': 'Sperren',
  'bulk.suppress.why': 'An diese Adressen schreibt in diesem Arbeitsbereich keine Kampagne mehr.',
  'bulk.suppressed': '{count, plural, one {Eine Adresse gesperrt} other {# Adressen gesperrt}}',
  'bulk.reason': 'Grund',
  'bulk.more': 'Weitere Aktionen',
  'bulk.delete': 'Endgültig löschen',
  'bulk.delete.ask': 'Die ausgewählten Kontakte löschen?',
  'bulk.delete.why':
    'Ihre Kampagnen enden, ihre Daten werden gelöscht. Das lässt sich nicht rückgängig machen. Gesperrte Adressen bleiben gesperrt.',
  'bulk.delete.type': 'Zur Bestätigung {count} eingeben',
  'bulk.delete.differs': 'ist eine andere Zahl',
  'bulk.deleted': 'Die Kontakte sind gelöscht',
};
